/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collector: counts the marks of a process, as its environment says, and
 * writes a report when the process ends.
 *
 * `perfsage stat --regions` and LD_PRELOAD=libperfsage-preload.so make these calls
 * in programs that use only <perfsage/marks.h>. A program that
 * is linked with libperfsage, also statically, calls ps_collect_start itself. See
 * ps_collect(3) for the environment.
 */
#ifndef PERFSAGE_COLLECT_H
#define PERFSAGE_COLLECT_H

#include <perfsage/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Counts the marks of this process from now on, and the calling thread.
 *
 * The report is written when the process ends by exit() or by returning from
 * main. With PERFSAGE_FLUSH there are also interim reports (ps_collect(3)). A child
 * of fork() counts for itself, from its first mark on, and writes a report of its
 * own.
 *
 * Errors, after each of which nothing is counted and the program goes on:
 *   PS_EINVAL - a variable of the environment is wrong; ps_error_detail() names
 *       it
 *   PS_ECNFLCT - the collector hears the marks already: call ps_collect_end() first; or a profile
 *       hears them; or the call was made in a signal handler that interrupted another call of the
 *       collector
 *   as ps_topology_load, ps_eventset_add, ps_profile_create and ps_profile_join
 *
 * After ps_collect_end() the process can start again, as often as it likes. Another thread that
 * passed a mark of the earlier start keeps its counters and their descriptors, which go on
 * counting, until it enters a region after the new start, or ends. The earlier topology stays as
 * long. The names of the regions, about 1 KB for each start, stay until the process ends.
 *
 * Any thread, at any time. Loads the topology: some milliseconds.
 */
PS_PUBLIC int ps_collect_start(void);

/**
 * Writes the report, and stops counting.
 *
 * The report has the same counts of other threads as ps_paths_create(). If nothing is being
 * counted, the call does nothing. It also does nothing if the preloaded library has started the
 * collector, so that ps_collect_start() was refused.
 *
 * Errors:
 *   PS_ESYS - the report can't be written; ps_error_detail() says why
 *   PS_ECNFLCT - the call was made in a signal handler that interrupted another call of the
 *       collector
 *   as ps_paths_create
 */
PS_PUBLIC int ps_collect_end(void);

#ifdef __cplusplus
}
#endif

#endif

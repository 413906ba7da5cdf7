/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits of a region that take long, one by one. */
#ifndef PERFSAGE_SLOW_VISIT_H
#define PERFSAGE_SLOW_VISIT_H

#include <perfsage/log.h>
#include <perfsage/region.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A callback for slow visits: the library calls it at the end of a visit, in the
 * thread that made the visit.
 *
 * The function must return. Each call in it that uses a profile fails with
 * PS_ECNFLCT, and a mark does nothing. The work of the function itself is counted
 * in the region around the visit.
 *
 * context - as it was given to ps_region_set_slower_than
 * visit - a path of its own, valid until this function returns, with the names
 *     of the open regions (ps_path_name, ps_path_parent). ps_path_value and
 *     ps_path_values give the counts of this visit, including the regions inside
 *     it, with both shares. They return PS_ENOEVST if the counters could not be
 *     read where the visit began or ended. ps_path_visits gives one visit, with
 *     its whole time and its time on a CPU.
 * entered_ns, left_ns - CLOCK_MONOTONIC
 */
typedef void ps_slow_visit(void *context, const struct ps_path *visit, uint64_t entered_ns,
                           uint64_t left_ns);

/**
 * Reports the visits of a region that take longer than a limit, one by one.
 *
 * region - from ps_region_define
 * limit_ns - a visit of more nanoseconds is reported; 0: each visit
 * callback - is called for each visit over the limit. Several threads may call it at
 *     the same time. NULL: no more visits are reported
 * context - for the callback
 *
 * Errors:
 *   PS_EINVAL - region is NULL
 *   PS_ENOMEM - out of memory
 *   PS_ECLOST, PS_ECNFLCT - as ps_region_define
 *
 * For all threads, from their next visit on. In a sampled region
 * (ps_region_set_one_in) only the visits that are counted can be reported. If
 * there is no memory, a visit isn't reported, and ps_profile_faults counts it in
 * `failed`.
 *
 * Cost: each beginning and end of a region inside a visit of this region adds its
 * counts once more; a slow visit takes memory until the callback returns.
 *
 * The idea is that of the slow query logs of databases.
 */
PS_PUBLIC int ps_region_set_slower_than(struct ps_region *region, uint64_t limit_ns,
                                        ps_slow_visit *callback, void *context);

/**
 * Writes the visits of a region that take longer than a limit to a log, a record each.
 *
 * A region has one limit: this call replaces what ps_region_set_slower_than has
 * set, and the other way round. Each thread has a stream of records of the type
 * "visit". The points are "entered" and "left". The fields are "region" (the
 * region's name), "path" ("outer/inner"), "thread" (the kernel's number), "wall_ns",
 * and "one_in" (for how many visits this visit stands; 1 without sampling). In a
 * text that is too long, "..." replaces a part.
 *
 * region - from ps_region_define
 * limit_ns - a visit of more nanoseconds is written; 0: each visit
 * log - NULL: no more visits are written. ps_log_destroy may be called while visits
 *     are still written: the log is then closed with the profile
 *
 * Errors:
 *   PS_EINVAL - region is NULL
 *   PS_ENOMEM - out of memory
 *   PS_ESYS - the log is the parent process's
 *   PS_ECLOST, PS_ECNFLCT - as ps_region_define
 *
 * A visit is not written if its counts could not be read, or if there is no memory
 * or no space in the log. ps_profile_faults counts such a visit in `failed`, and
 * ps_log_lost counts it if it was found to take longer than the limit.
 *
 * Any thread; for all threads, from their next visit on. Cost: each beginning and
 * end of a region inside a visit of this region adds its counts once more; a visit
 * that is written costs in proportion to the paths that its thread has entered; each
 * thread with a written visit takes a block of the log.
 */
PS_PUBLIC int ps_region_log_slower_than(struct ps_region *region, uint64_t limit_ns,
                                        struct ps_log *log);

#ifdef __cplusplus
}
#endif
#endif

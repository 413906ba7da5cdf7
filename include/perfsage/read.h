/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counter calls: start, read, accumulate, stop, reset, store.
 *
 * A reading's value for an event is `base + count since the last ps_start, ps_reset or ps_accum`. base is 0 in a new
 * reading; ps_accum moves the count into base, so that the count starts over. Hence ps_read alone gives the
 * values of PAPI_read; a loop of ps_accum adds up; and ps_accum, ps_accum, ps_stop on one timestamp give
 * everything that was counted.
 *
 * Arguments that all calls here share:
 *   root       the root of a topology. The set is bound to the first one, until that topology is destroyed.
 *   timestamp  *timestamp == 0 makes a new reading; the timestamp of an earlier reading of this set updates that
 *              reading; any other number makes a new one. The reading's new timestamp (nanoseconds of CLOCK_MONOTONIC,
 *              unique in the set and increasing) is written back. NULL updates the set's latest reading, or
 *              makes the first.
 *   thread     may be NULL; receives the Thread where the counted task was seen.
 *
 * All calls return PS_OK, or an error with a sentence in ps_error_detail(). On an error (but PS_PARTIAL, which stores
 * a reading) timestamp and thread are untouched, and what was counted is not lost: it comes with the next
 * reading. Errors of all calls:
 *   PS_EINVAL   set or root is NULL; root is not a topology's root, or the set's readings are in another topology;
 *               the caller isn't the set's owner, and the owner is alive; or it has ended, and its final counts were
 *               taken already, by ps_read or ps_stop, once; ps_accum, ps_reset: or it has ended.
 *   PS_ECLOST   the set was inherited by fork(); or the program has closed the set's descriptors.
 *   PS_ECNFLCT  the set is in the middle of another call (a signal handler interrupted it), or was left in the middle
 *               of one that can't be finished.
 *   PS_ENOMEM   no memory for the reading.
 *   PS_ESYS     the kernel refused the read; the detail gives errno.
 *
 * ps_read and ps_accum allocate nothing if storage was reserved (ps_eventset_reserve), take no lock but when a
 * set meets a hardware thread for the first time, and may be called from a signal handler. A handler may leave them by
 * siglongjmp: the next call finishes what was begun, and nothing counted is lost. No call is a cancellation point. Updating
 * another reading than the latest costs about the same, on average; in a bounded history, or if the reading was accumulated
 * and then read, time in proportion to the readings made since.
 */
#ifndef PERFSAGE_READ_H
#define PERFSAGE_READ_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Starts counting, from 0. The first start opens the events; the set's owner is then the calling thread.
 *
 * A set whose owner has ended is taken over, once it is stopped (ps_stop takes the final counts).
 * PS_EINVAL: NULL, or the set has no event (as PAPI_start has it). PS_EISRUN: it is running. PS_EPERM, PS_ENOSUPP,
 * PS_EINVAL_DOM: an event can't be counted for this target; the detail names it. PS_ECOMBO: an event of a package or
 * another device, in a set that isn't attached to a CPU. PS_ECOUNT: not enough file
 * descriptors; the detail has the need and the limit. PS_ENOCNTR: every counter of the hardware is taken.
 * PS_ESYS: the thread that it is attached to has ended; or the CPUs that exact attribution needs are not told. All events
 * are opened, or none.
 */
PS_PUBLIC int ps_start(struct ps_eventset *set);

/** Sets the counts to 0, running or not; base stays. PS_ENOTRUN: never started. No kernel counter is reset. */
PS_PUBLIC int ps_reset(struct ps_eventset *set);

/**
 * Stores a reading; counting goes on. On a stopped set it stores the final counts once more.
 *
 * PS_ENOTRUN: the set was never started. PS_PARTIAL: the reading was stored, but a group of events could not be
 * read: its counter is in the error state. Cost: one read(2) a group.
 */
PS_PUBLIC int ps_read(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                      struct ps_thread **thread);

/** As ps_read; then the counts are moved into base and start over. Costs what ps_read costs. */
PS_PUBLIC int ps_accum(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                       struct ps_thread **thread);

/**
 * Stops counting and stores the final counts.
 *
 * PS_ENOTRUN: the set isn't running. If the storing fails, because root is not the right one for example, the set is stopped
 * all the same, and ps_read gives the counts.
 */
PS_PUBLIC int ps_stop(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                      struct ps_thread **thread);

/**
 * Stores counts that the caller has, as a reading: its value becomes base + counters; base stays. The set need not have been
 * started, and a running set's counts aren't touched.
 *
 * counters: n numbers in the order of the set's events. n: the number of events in the set.
 * PS_EINVAL: counters is NULL, n is negative or not the number of events. If the set was never started, its events are
 * opened, with ps_start's errors: PS_EPERM, PS_ECOUNT, PS_ENOSUPP, PS_ESYS. The part goes to the Thread where the
 * caller is (or the attached CPU, or where the attached thread was last).
 */
PS_PUBLIC int ps_store(struct ps_eventset *set, const long long *counters, int n, struct ps_component *root,
                       uint64_t *timestamp, struct ps_thread **thread);

#ifdef __cplusplus
}
#endif
#endif

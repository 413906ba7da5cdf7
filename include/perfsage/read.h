/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counter calls: start, read, accumulate, stop, reset, store. The last two
 * calls, ps_eventset_values and ps_eventset_counts, copy a stored reading to an
 * array. The rules below are not for these two calls.
 *
 * A reading's value for an event is
 *     base + count since the last ps_start, ps_reset or ps_accum.
 * base is 0 in a new reading. ps_accum moves the count into base, so that the
 * count starts over. Hence ps_read alone gives the values of PAPI_read; a loop
 * of ps_accum adds up; and ps_accum, ps_accum, ps_stop on one timestamp give
 * everything that was counted.
 *
 * Arguments that the counter calls share:
 *
 * set - the event set
 * root - the root of a topology. The set is bound to the first one, until that
 *     topology is destroyed.
 * timestamp - *timestamp == 0 makes a new reading. The timestamp of an earlier
 *     reading of this set updates that reading. Any other number makes a new
 *     reading. The call writes the reading's new timestamp (nanoseconds of
 *     CLOCK_MONOTONIC, unique in the set and increasing) to *timestamp. NULL
 *     updates the set's latest reading, or makes the first reading.
 * thread - may be NULL; receives the Thread where the counted task was seen
 *
 * All calls return PS_OK, or an error with a sentence in ps_error_detail(). On
 * an error timestamp and thread are untouched, and no count is lost: the next
 * reading contains the counts. Exception: with PS_PARTIAL the reading is stored.
 *
 * Errors of all calls:
 *   PS_EINVAL - set or root is NULL
 *   PS_EINVAL - root is not a topology's root, or the set's readings are in
 *       another topology
 *   PS_EINVAL - the set counts its owner, the caller is another thread, and the
 *       owner is alive; or the owner has ended, and ps_read or ps_stop has taken
 *       its final counts already (ps_accum, ps_reset: or the owner has ended)
 *   PS_ECLOST - the set was inherited by fork(), or the program has closed the
 *       set's descriptors
 *   PS_ECNFLCT - the set is in the middle of another call (a signal handler
 *       interrupted it), or was left in the middle of one that can't be
 *       finished
 *   PS_ENOMEM - out of memory
 *   PS_ESYS - the kernel refused the read; ps_error_detail() gives errno
 *
 * ps_read and ps_accum take a lock only when a set meets a hardware thread for
 * the first time. If storage was reserved (ps_eventset_reserve), ps_read and
 * ps_accum allocate nothing, and are allowed in a signal handler. Exceptions are
 * sets that keep tasks apart (ps_eventset_set_tasks), and sets that are
 * attributed by looks. A handler is allowed to leave ps_read and ps_accum by
 * siglongjmp: the next call finishes the interrupted call, and no count is lost.
 * ps_read(3) has all conditions. No call is a cancellation point; a reading of a
 * PAPI event set can be.
 *
 * On average, updating a reading that is not the latest costs about as much as
 * updating the latest. In a bounded history, or if the reading was accumulated
 * and then read, the update takes time in proportion to the readings made since.
 */
#ifndef PERFSAGE_READ_H
#define PERFSAGE_READ_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Starts counting, from 0.
 *
 * The first start opens all events, or none; the calling thread then owns the
 * set. ps_start takes over a set whose owner has ended, once it is stopped
 * (ps_stop takes the final counts).
 *
 * set - a set that isn't running
 *
 * Errors, besides those above:
 *   PS_EINVAL - the set has no event (as in PAPI_start)
 *   PS_EISRUN - the set is running
 *   PS_EPERM, PS_ENOSUPP, PS_EINVAL_DOM - an event can't be counted for this target;
 *       ps_error_detail() names it
 *   PS_ECOMBO - an event of a package or another device is in a set that isn't
 *       attached to a CPU; or a set that is attached to a process has a probe with path= or func=,
 *       and doesn't count by BPF: each fork of the process would fail
 *   PS_ECOUNT - there are not enough file descriptors; ps_error_detail() gives the need and the
 *       limit
 *   PS_ENOCNTR - every counter of the hardware is taken
 *   PS_ECNFLCT - another set or program has attached the eBPF program of an event
 *       (ps_eventset_set_bpf)
 *   PS_PARTIAL - the set counts, but the attached process created threads in
 *       each of eight attempts to open the events: some of these threads can be
 *       counted twice or not at all
 *   PS_ESYS - the attached thread has ended; or the CPUs can't be found out,
 *       which exact attribution needs
 */
PS_PUBLIC int ps_start(struct ps_eventset *set);

/**
 * Sets the counts to 0, running or not; base stays. No perf event is reset.
 *
 * set - a set that was started
 *
 * Errors, besides those above:
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 */
PS_PUBLIC int ps_reset(struct ps_eventset *set);

/**
 * Stores a reading; counting goes on.
 *
 * On a stopped set it stores the final counts once more.
 *
 * set, root, timestamp, thread - see above
 *
 * Errors, besides those above:
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 *   PS_PARTIAL - the reading was stored, but lacks new counts of a group: mostly
 *       because a pinned event got no hardware counter
 *
 * Cost: one read(2) for each group.
 */
PS_PUBLIC int ps_read(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                      struct ps_thread **thread);

/**
 * Stores a reading as ps_read does; then the counts move into base and start
 * over.
 *
 * set, root, timestamp, thread - see above
 *
 * Errors and cost: those of ps_read.
 */
PS_PUBLIC int ps_accum(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                       struct ps_thread **thread);

/**
 * Stops counting and stores the final counts.
 *
 * If storing fails, for example because root is the root of another topology,
 * the set is stopped nevertheless, and ps_read gives the counts.
 *
 * set, root, timestamp, thread - see above
 *
 * Errors, besides those above:
 *   PS_ENOTRUN - the set isn't running
 *   PS_PARTIAL - as for ps_read
 */
PS_PUBLIC int ps_stop(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                      struct ps_thread **thread);

/**
 * Stores counts that the caller has, as a reading.
 *
 * The reading's value becomes base + counters; base stays. It is not necessary
 * to start the set before. The counts of a running set do not change. The part
 * goes to the Thread where the caller is (or to the attached CPU, or to the
 * Thread where the attached thread was last).
 *
 * counters - n numbers in the order of the set's events
 * n - the number of events in the set
 * set, root, timestamp, thread - see above
 *
 * Errors, besides those above:
 *   PS_EINVAL - counters is NULL, or n is not the number of events
 *   PS_EPERM, PS_ECOUNT, PS_ENOSUPP, PS_ENOCNTR, PS_EINVAL_DOM, PS_ESYS - the
 *       set was never started, so its events are opened, which fails as in
 *       ps_start
 *   PS_ENOSUPP - the set wraps a PAPI event set whose events count in several
 *       places
 */
PS_PUBLIC int ps_store(struct ps_eventset *set, const long long *counters, int n,
                       struct ps_component *root, uint64_t *timestamp, struct ps_thread **thread);

/**
 * Copies a reading of this set to an array: a value for each event, in the
 * set's order.
 *
 * Each value is the sum over all hardware threads. Counts of other sets are not
 * in these values. So PAPI_stop(set, values) becomes ps_stop and this call.
 *
 * set - the set
 * timestamp - the reading's; 0: the set's latest
 * values - receives ps_eventset_event_count(set) values, with the weakest
 *     status and attribution of the parts; untouched on failure, unless the
 *     reading was dropped or restamped while it was being copied
 * count - the number of elements in values
 *
 * Errors:
 *   PS_EINVAL - set or values is NULL, or the set has no event
 *   PS_EBUF - count is less than the number of events
 *   PS_ENOEVST - the set has no reading with this timestamp, or none at all; or
 *       its events were changed after that reading
 *
 * Any thread, as ps_eventset_reading. No lock, no allocation. Cost: that of a
 * ps_eventset_reading for each event.
 */
PS_PUBLIC int ps_eventset_values(const struct ps_eventset *set, uint64_t timestamp,
                                 struct ps_value *values, size_t count);

/**
 * Does what ps_eventset_values does, for plain numbers.
 *
 * A plain number can't say that it is an estimate, a lower bound or unknown. So
 * the call fails if not all events have been counted all the time
 * (PS_STATUS_COUNTED), or if a number is beyond 64 bits. Other flags, such as PS_VALUE_USER_ONLY,
 * are not shown.
 *
 * set, timestamp, count - as for ps_eventset_values
 * counts - receives a number for each event; untouched on failure, with the
 *     exception that ps_eventset_values has
 *
 * Errors, besides those of ps_eventset_values:
 *   PS_ENOSUPP - an event has no plain count: ps_error_detail() names the event
 *       and the reason
 *
 * Threads as for ps_eventset_values; twice its cost.
 */
PS_PUBLIC int ps_eventset_counts(const struct ps_eventset *set, uint64_t timestamp,
                                 long long *counts, size_t count);

#ifdef __cplusplus
}
#endif
#endif

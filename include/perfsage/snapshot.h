/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: the totals of an event set at one moment, kept by the program. The interval between
 * any two is chosen afterwards.
 */
#ifndef PERFSAGE_SNAPSHOT_H
#define PERFSAGE_SNAPSHOT_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>
#include <perfsage/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The totals of an event set at one moment, by hardware thread. */
struct ps_snapshot;

/**
 * Takes a snapshot: reads the counters, and stores nothing in the tree.
 *
 * The set's readings are the same as without snapshots. ps_start, ps_reset and
 * ps_accum set the counts of readings to 0, but not the totals of snapshots: these
 * totals grow while the set runs.
 *
 * set - a set that was started; the snapshot of a stopped set has the final counts
 * snapshot - if *snapshot is NULL, a snapshot is made, which belongs to the caller;
 *     otherwise *snapshot is overwritten. Untouched on failure. If a signal handler
 *     jumps out of the call, take the snapshot again before you use it.
 *
 * Returns PS_OK, or PS_PARTIAL as ps_read.
 *
 * Errors:
 *   PS_EINVAL - set or snapshot is NULL, or the calling thread may not read the set
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 *   PS_ENOMEM, PS_ESYS, PS_ECLOST, PS_ECNFLCT, PS_EPERM - as ps_read
 *
 * The threads that may call ps_read may call this. Cost: that of a reading. Memory
 * is allocated for a new snapshot, when the set has met more hardware threads than
 * the snapshot has room for, and when the set's events have changed.
 */
PS_PUBLIC int ps_snapshot_take(struct ps_eventset *set, struct ps_snapshot **snapshot);

/**
 * When the snapshot was taken: nanoseconds of CLOCK_MONOTONIC.
 *
 * snapshot - NULL gives 0
 */
PS_PUBLIC uint64_t ps_snapshot_timestamp(const struct ps_snapshot *snapshot);

/**
 * What was counted between two snapshots of one set.
 *
 * set - the snapshots are of this set; its events are the same as when the
 *     snapshots were taken
 * from, to - the snapshot `from` isn't later than the snapshot `to`. If `from` is
 *     NULL, the interval begins at the last ps_start, ps_reset or ps_accum before
 *     the first ps_snapshot_take with the set's present events and target; for an
 *     event that ps_eventset_reset_event restarted in between, at that call
 * component - what was counted on the hardware threads below it; NULL: on all
 * values - receives a value for each event, in the set's order, with the
 *     timestamp of `to`; untouched on failure
 * count - the size of the array: at least the number of the set's events
 *
 * A value's attribution and flags cover more time than the interval: the attribution
 * is the weakest that the set's counts had on these hardware threads since the last
 * ps_start, ps_reset or ps_accum, and the flags are all that they had since then. If
 * one of these was called in the interval, both cover all the time since the set
 * began to count for snapshots. If the attribution of any hardware thread is last-cpu,
 * also outside the component, the attribution is last-cpu.
 *
 * Errors:
 *   PS_EINVAL - set, `to` or values is NULL; a snapshot is of another set, or was
 *       taken before the set's events, groups, target or attribution changed;
 *       `from` is later than `to`
 *   PS_EBUF - the array is too small
 *   PS_ENOEVST - before `to` the set counted nothing on the hardware threads of the
 *       component, not even time; on the whole machine this is a count of 0
 *   PS_EINVAL_DOM - one count of an event covers more than the component
 *   PS_ENOMEM - out of memory
 *
 * Any thread, while no other one uses the set or the snapshots. Cost: in
 * proportion to the events and the hardware threads that the set has met.
 */
PS_PUBLIC int ps_snapshot_difference(const struct ps_eventset *set, const struct ps_snapshot *from,
                                     const struct ps_snapshot *to,
                                     const struct ps_component *component, struct ps_value *values,
                                     size_t count);

/** Frees a snapshot, before or after its set is destroyed; NULL does nothing. */
PS_PUBLIC void ps_snapshot_destroy(struct ps_snapshot *snapshot);

#ifdef __cplusplus
}
#endif
#endif

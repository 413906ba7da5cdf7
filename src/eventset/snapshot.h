/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A snapshot is all that was ever assigned to a set's slots. A slot's counts start over many times;
 * the counts before are kept in `passed`. So passed + counts only grows. Each of the two has its
 * own label: an interval that begins after the counts started over doesn't get the label of earlier
 * counts.
 */
#ifndef PS_EVENTSET_SNAPSHOT_H
#define PS_EVENTSET_SNAPSHOT_H

#include "base/stack.h"
#include "eventset/eventset.h"
#include "eventset/parts.h"

static inline uint64_t ps__slot_label(const struct ps__slot *slot)
{
	return ps__label_make(slot->counts_mark,
	                      ps__mark_join(slot->passed.mark, slot->counts_mark),
	                      slot->passed.times);
}

/* Notes the mark of counts that start over: intervals that began before get this mark. */
static inline void ps__slot_pass_mark(struct ps__slot *slot, uint16_t mark)
{
	slot->passed.mark = ps__mark_join(slot->passed.mark, mark);
	slot->passed.times++;
}

static inline void ps__snapshot_copy(const struct ps__slot *slot, uint64_t *part, size_t width)
{
	part[0] = ps__slot_label(slot);
	for (size_t word = 0; word < width; word++)
		part[1 + word] = slot->passed.words[word] + slot->counts[word];
}

/* fast_path_open.c: opens the fast path after a snapshot on the slow path. slot: where the task
 * is. */
void ps__set_open_fast_snapshot(struct ps_eventset *set, struct ps__slot *slot);

/* Adds a slot's counts to `passed`, and holds signals. Then returns true: the caller sets the
 * counts to 0, and releases `held`. A call must not be left between these steps. False if there are
 * no snapshots. */
static inline bool ps__slot_begin_pass(const struct ps_eventset *set, struct ps__slot *slot,
                                       struct ps__held *held)
{
	size_t width = ps__recording_width(set->recorder.recording);

	if (__builtin_expect(!set->snapshots, 1))
		return false;
	ps__signals_hold(held);
	for (size_t word = 0; word < width; word++)
		slot->passed.words[word] += slot->counts[word];
	ps__slot_pass_mark(slot, slot->counts_mark);
	return true;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: what a set's slots have been assigned in all. A slot's counts start over again and
 * again; what they had then is kept in `passed`. So passed + counts only grows.
 */
#ifndef PS_EVENTSET_SNAPSHOT_H
#define PS_EVENTSET_SNAPSHOT_H

#include "base/stack.h"
#include "eventset/eventset.h"
#include "eventset/parts.h"

static inline void ps__snapshot_copy(const struct ps__slot *slot, uint64_t *part, size_t width)
{
	part[0] = slot->counts_mark;
	for (size_t word = 0; word < width; word++)
		part[1 + word] = slot->passed[word] + slot->counts[word];
}

/* fast_path_open.c: after a snapshot on the slow path; the slot is the task's. */
void ps__set_open_fast_snapshot(struct ps_eventset *set, struct ps__slot *slot);

/* Before a slot's counts are set to 0. If it returns true, the caller releases `held` after that:
 * a call must not be left between the two. */
static inline bool ps__slot_begin_pass(const struct ps_eventset *set, struct ps__slot *slot,
                                       struct ps__held *held)
{
	size_t width = ps__recording_width(set->recorder.recording);

	if (__builtin_expect(!set->snapshots, 1))
		return false;
	ps__signals_hold(held);
	for (size_t word = 0; word < width; word++)
		slot->passed[word] += slot->counts[word];
	return true;
}

#endif

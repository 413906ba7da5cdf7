/* SPDX-License-Identifier: BSD-3-Clause */
/* Other rooms ask here for an event set's parts. They don't see its struct. */
#ifndef PS_EVENTSET_PARTS_H
#define PS_EVENTSET_PARTS_H

#include "event/event.h"

#include <stdbool.h>
#include <stdint.h>

struct ps_eventset;
struct ps__history;
struct ps__recording;

/* Valid until the set's events change; NULL if it has no such event. */
const struct ps__event *ps__set_event(const struct ps_eventset *set, size_t index);
/* Does it count what runs on a CPU, and not tasks? */
bool ps__set_counts_cpu(const struct ps_eventset *set);
/* Adds a copy of an event whose attr was changed after it was parsed. call: whose errors these are;
 * they are ps_eventset_add's. */
int ps__set_add_event(struct ps_eventset *set, const struct ps__event *event, const char *call);

/* Neither attached to a target, nor PAPI's. */
bool ps__set_counts_its_caller(const struct ps_eventset *set);

/* Counts the groups of hardware events of a set that was opened: several take turns. */
size_t ps__set_count_hardware_groups(const struct ps_eventset *set);

/* Tasks left the control group that a running set counts: its counts are the least that there can
 * have been, from the next fetch to the next start. */
void ps__set_note_missing(struct ps_eventset *set);

/* So many copies of events in each created task are worth a cheaper method: they take a quarter of
 * a millisecond. */
#define PS__COSTLY_COPIES 256

/* So many copies more than one of each event add a third to what creating a thread takes
 * (doc/measurements). */
#define PS__CHEAP_COPIES 15

/* time_share.c. The copies of events and clocks that a created task takes; 0: the set's counts
 * aren't shared out by time, or it isn't open. */
size_t ps__set_time_share_copies(const struct ps_eventset *set);
/* Do looks tell the times? Each look between two readings makes the estimate better:
 * method_time_share.c. */
bool ps__set_has_looks(const struct ps_eventset *set);
void ps__set_look(struct ps_eventset *set);

/* reading.c: what was counted goes to slots; *slot is the task's. PS_OK, PS_PARTIAL, or a code with
 * a detail. */
struct ps__slot;
int ps__set_collect(struct ps_eventset *set, struct ps__slot **slot);

/*
 * The label of a snapshot's part. Bits 0-15: the mark (PS__MARK_*) of the counts since they started
 * over last; 16-31: the mark of all counts that snapshots are of; 32-63: how often they started
 * over. It is one word, as the fast path copies it.
 */
static inline uint64_t ps__label_make(uint16_t mark, uint16_t mark_of_all, uint32_t times)
{
	return mark | (uint64_t)mark_of_all << 16 | (uint64_t)times << 32;
}

/* The mark of what was counted between two snapshots; from: 0 where the first one has no part. The
 * mark of all may be too weak. It is never too strong. */
static inline uint16_t ps__label_between(uint64_t from, uint64_t to)
{
	return (uint16_t)(from >> 32 == to >> 32 ? to : to >> 16);
}

/* A snapshot has a part for each hardware thread that its set had met: the label, and the counts in
 * a row's order. A part only grows from one snapshot to the next. */
struct ps_snapshot {
	uint64_t of; /* which set, with which events: never 0, and no other's */
	uint64_t timestamp;
	size_t width; /* words of a part, behind its label */
	size_t count; /* parts, as they were met */
	size_t room;
	uint64_t *parts;
	/* Snapshots with the same number, but 0, differ in their part `own` alone */
	uint64_t opening;
	size_t own;
};

static inline uint64_t *ps__snapshot_part(const struct ps_snapshot *snapshot, size_t index)
{
	return snapshot->parts + index * (1 + snapshot->width);
}

/* snapshot.c: ps_snapshot_take where ps__fast_take_snapshot can't; the pointer isn't NULL. The
 * caller is the function that tried the fast path: whether a call was left is told by where the
 * next one's stack is (base/stack.h). */
int ps__set_take_snapshot_slowly(struct ps_eventset *set, struct ps_snapshot **snapshot);
/* snapshot.c: what the words of a part mean; NULL: the set was never started. Valid until its
 * events change. */
const struct ps__recording *ps__set_recording(const struct ps_eventset *set);
/* The CPU of a part, -1: of none, and its struct ps__history's place. */
int ps__set_part_cpu(const struct ps_eventset *set, size_t index, uint32_t *place);
/* Where a part's counts are stored; NULL: the set has fewer parts. */
const struct ps__history *ps__set_part_history(const struct ps_eventset *set, size_t index);

/* event_names.c: as ps__set_find_event, one name after the other; the set is only read. */
ptrdiff_t ps__set_look_up_event(const struct ps_eventset *set, const char *name);

#endif

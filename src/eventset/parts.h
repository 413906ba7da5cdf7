/* SPDX-License-Identifier: BSD-3-Clause */
/* What other rooms ask about an event set, whose struct they don't see. */
#ifndef PS_EVENTSET_PARTS_H
#define PS_EVENTSET_PARTS_H

#include "event/event.h"

#include <stdbool.h>
#include <stdint.h>

struct ps_eventset;
struct ps__history;
struct ps__recording;

/* Returns NULL if there is no such event. Valid until the set's events change. */
const struct ps__event *ps__set_event(const struct ps_eventset *set, size_t index);
/* True if the set is attached to a CPU. */
bool ps__set_counts_cpu(const struct ps_eventset *set);
/* ps_eventset_add_attr: adds a copy of an event whose attr was changed after it was parsed. Errors:
 * those of ps_eventset_add. */
int ps__set_add_event(struct ps_eventset *set, const struct ps__event *event);

/* True if the set is not attached, and doesn't wrap PAPI's. */
bool ps__set_counts_its_caller(const struct ps_eventset *set);

/* The number of groups of hardware events; if above 1, they take turns. The set must be open. */
size_t ps__set_count_hardware_groups(const struct ps_eventset *set);

/* Notes that tasks left the control group that a running set counts: until the next start, readings
 * say that their counts are incomplete. */
void ps__set_note_missing(struct ps_eventset *set);

/* If each created task would copy this many events, a cheaper method is preferred, even if it
 * estimates: the copies take a quarter of a millisecond. */
#define PS__COSTLY_COPIES 256

/* This many copies, beside one of each event, make the creation of a thread a third slower
 * (doc/measurements). */
#define PS__CHEAP_COPIES 15

/* task_cpus.c: returns how many copies a created task takes if so many events are opened on each
 * CPU. */
size_t ps__set_per_cpu_copies(size_t events);
/* Returns the same for events that are opened only on the CPUs that are online, as those of a
 * control group and by BPF are. */
size_t ps__set_online_copies(size_t events);

/* time_share.c: returns the number of events and clocks that a created task copies; 0: the set's
 * counts aren't divided by time, or it isn't open. */
size_t ps__set_time_share_copies(const struct ps_eventset *set);
/* True if looks (looks.h) tell the times. Each ps__set_look between two readings makes the estimate
 * better (method_time_share.c). */
bool ps__set_has_looks(const struct ps_eventset *set);
void ps__set_look(struct ps_eventset *set);

/* reading.c: assigns all counts to slots; *slot is the task's. PS_OK, PS_PARTIAL, or a code with a
 * detail. */
struct ps__slot;
int ps__set_collect(struct ps_eventset *set, struct ps__slot **slot);

/*
 * The label of a snapshot's part. Bits 0-15: the mark (PS__MARK_*) of the counts since they last
 * started over. 16-31: the joined mark of all counts of the snapshot. 32-63: how often the counts
 * started over. It is one word, so that the fast path copies it with one store.
 */
static inline uint64_t ps__label_make(uint16_t mark, uint16_t mark_of_all, uint32_t times)
{
	return mark | (uint64_t)mark_of_all << 16 | (uint64_t)times << 32;
}

/* Returns the mark of what was counted between two snapshots. from: 0 if the first snapshot lacks
 * the part. If the counts started over in between, the mark of all counts is taken: it may be too
 * weak, but is never too strong. */
static inline uint16_t ps__label_between(uint64_t from, uint64_t to)
{
	return (uint16_t)(from >> 32 == to >> 32 ? to : to >> 16);
}

/* A snapshot has a part for each hardware thread that its set had met: the label, and the counts in
 * a row's order. Counts never fall from one snapshot to the next. */
struct ps_snapshot {
	uint64_t of; /* number of the set with its list of events; never 0, and unique */
	uint64_t timestamp;
	size_t width; /* words of a part after its label */
	size_t count; /* number of parts, in the order of the set's slots */
	size_t room;
	uint64_t *parts;
	/* Number of the fast path's opening. Snapshots with the same number differ only in the part
	 * with index `own`. 0: none */
	uint64_t opening;
	size_t own;
};

static inline uint64_t *ps__snapshot_part(const struct ps_snapshot *snapshot, size_t index)
{
	return snapshot->parts + index * (1 + snapshot->width);
}

/* snapshot.c: takes a snapshot where ps__fast_take_snapshot can't; the pointer isn't NULL. It must
 * be called by the function that tried the fast path: the stack's address tells whether a call was
 * left (base/stack.h). */
int ps__set_take_snapshot_slowly(struct ps_eventset *set, struct ps_snapshot **snapshot);
/* snapshot.c: returns the recording, which says what the words of a part mean. NULL if the set was
 * never started. Valid until the set's events change. */
const struct ps__recording *ps__set_recording(const struct ps_eventset *set);
/* Returns the CPU of a part; -1: no CPU. *place receives `place` of the part's history. */
int ps__set_part_cpu(const struct ps_eventset *set, size_t index, uint32_t *place);
/* The history of a part; NULL if the set has fewer parts. */
const struct ps__history *ps__set_part_history(const struct ps_eventset *set, size_t index);

/* event_names.c: as ps__set_find_event, but without the hash table, so the set isn't changed. */
ptrdiff_t ps__set_look_up_event(const struct ps_eventset *set, const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aggregates: the last counts of destroyed event sets, added up by hardware
 * thread. A total looks at the aggregates and at the sets that are alive, so
 * its cost does not depend on the number of destroyed sets. All sets with the
 * same list of events share one aggregate. Their readings stay where they are,
 * for look-ups by timestamp.
 *
 * A set may be destroyed, or go on in a new recording, while a total is
 * computed. The total must count it once. So the writer announces each change,
 * and a reader that sees one starts again.
 */
#ifndef PS_STORE_AGGREGATE_H
#define PS_STORE_AGGREGATE_H

#include "store/recording.h"

/* One Thread's: for each column of the model a value, or 0 as its timestamp. */
struct ps__aggregate_part;

struct ps__aggregate {
	struct ps__aggregate *next; /* written before it is published */
	/* The first of the recordings with this list of events */
	const struct ps__recording *model;
	_Atomic(struct ps__aggregate_part *)
	    parts[]; /* by the Thread's index; released with its words, or NULL */
};

static inline const struct ps__aggregate *ps__aggregate_first(const struct ps_topology *topology)
{
	/* Pairs with the release in aggregate.c. */
	return atomic_load_explicit(&topology->readings.aggregates, memory_order_acquire);
}

/* The sum of a column on the index'th Thread; false if there is none. */
bool ps__aggregate_value(const struct ps__aggregate *aggregate, size_t index, size_t column,
                         struct ps_value *out);

/* A set is destroyed, with this recording as its last one. For lack of memory
 * it stays among those that are looked at. */
void ps__aggregate_retire(struct ps__recording *recording);

/* A set has gone on in another recording: the list that totals walk is kept
 * short. Not for signal handlers, as the one before. */
void ps__aggregate_tidy(struct ps_topology *topology);

void ps__aggregate_free(struct ps_topology *topology);

/* Nothing of destroyed sets is in totals any more; nobody may be at them. False in a forked
 * child. */
bool ps__aggregate_clear(struct ps_topology *topology);

/* The current recordings: the last one of each set. Others are found by their
 * `older`. */
static inline const struct ps__recording *
ps__recording_first_current(const struct ps_topology *topology)
{
	/* Pairs with the release in ps__recording_bind. */
	return atomic_load_explicit(&topology->readings.current, memory_order_acquire);
}

static inline const struct ps__recording *
ps__recording_next_current(const struct ps__recording *recording)
{
	return atomic_load_explicit(&recording->next_current, memory_order_acquire);
}

/* In the list for those who are at it, but of no account. */
static inline bool ps__recording_is_current(const struct ps__recording *recording)
{
	return !atomic_load_explicit(&recording->is_retired, memory_order_acquire) &&
	       !atomic_load_explicit(&recording->newer, memory_order_acquire);
}

/* Around a change of what is current, and of aggregates. No lock: sets are
 * bound in signal handlers, too. */
static inline void ps__change_begin(struct ps_topology *topology)
{
	/* What is changed is stored with release, so who sees it sees this at
	 * his second look. */
	atomic_fetch_add_explicit(&topology->readings.changers, 1, memory_order_acq_rel);
}

static inline void ps__change_end(struct ps_topology *topology)
{
	atomic_fetch_add_explicit(&topology->readings.changes, 1, memory_order_release);
	atomic_fetch_sub_explicit(&topology->readings.changers, 1, memory_order_release);
}

/* Waits until nobody changes anything. In a forked child nobody is there to be
 * waited for. */
uint64_t ps__change_wait(const struct ps_topology *topology);

/* True if anything was changed since, or is being changed: what was looked at
 * must be looked at again. */
bool ps__change_came(const struct ps_topology *topology, uint64_t changes);

#endif

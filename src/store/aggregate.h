/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aggregates: the last counts of destroyed event sets, added up by hardware thread. A total looks
 * at the aggregates and at the sets that are alive, so its cost does not depend on the number of
 * destroyed sets. All sets with the same list of events share one aggregate. The readings of
 * destroyed sets stay where they are, for look-ups by timestamp.
 *
 * While a total is computed, another thread may destroy a set, or the set may go on in a new
 * recording. The total must count the set once. So the writer announces each change, and a reader
 * that sees a change starts again.
 */
#ifndef PS_STORE_AGGREGATE_H
#define PS_STORE_AGGREGATE_H

#include "store/recording.h"

/* One Thread's sums: a value for each column of the model, with timestamp 0 if there is none. */
struct ps__aggregate_part;

struct ps__aggregate {
	struct ps__aggregate *next; /* written before it is published */
	/* The first of the recordings with this list of events */
	const struct ps__recording *model;
	_Atomic(struct ps__aggregate_part *)
	    parts[]; /* by the Thread's index, or NULL; stored with release after its words */
};

static inline const struct ps__aggregate *ps__aggregate_first(const struct ps_topology *topology)
{
	/* Pairs with the release in aggregate.c. */
	return atomic_load_explicit(&topology->readings.aggregates, memory_order_acquire);
}

/* Reads the sum of a column on the Thread with this index. Returns false if there is none. */
bool ps__aggregate_value(const struct ps__aggregate *aggregate, size_t index, size_t column,
                         struct ps_value *out);

/* Adds the last counts of a destroyed set to an aggregate. recording is the set's last one. If out
 * of memory, totals go on reading the recordings themselves. */
void ps__aggregate_retire(struct ps__recording *recording);

/* Prunes the list of recordings that totals walk, after a set has gone on in another recording.
 * Signal handlers must not call this function or ps__aggregate_retire. */
void ps__aggregate_tidy(struct ps_topology *topology);

void ps__aggregate_free(struct ps_topology *topology);

/* Removes destroyed sets from totals. No thread may compute a total meanwhile. Returns false in a
 * forked child, or if the topology was destroyed. */
bool ps__aggregate_clear(struct ps_topology *topology);

/* Returns the first of the current recordings, which are the last ones of all sets. A set's older
 * recordings are found by `older`. */
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

/* True if totals count this recording. A recording that no longer counts may stay in the list for
 * some time. */
static inline bool ps__recording_is_current(const struct ps__recording *recording)
{
	return !atomic_load_explicit(&recording->is_retired, memory_order_acquire) &&
	       !atomic_load_explicit(&recording->newer, memory_order_acquire);
}

/* The writer calls these before and after a change of the aggregates or of the list of current
 * recordings. They take no lock, because sets are bound in signal handlers, too. */
static inline void ps__change_begin(struct ps_topology *topology)
{
	/* Changes are stored with release. So a reader that sees a change sees this count when it
	 * looks a second time. */
	atomic_fetch_add_explicit(&topology->readings.changers, 1, memory_order_acq_rel);
}

static inline void ps__change_end(struct ps_topology *topology)
{
	atomic_fetch_add_explicit(&topology->readings.changes, 1, memory_order_release);
	atomic_fetch_sub_explicit(&topology->readings.changers, 1, memory_order_release);
}

/* Waits until no change is under way, and returns the number of changes. Doesn't wait in a forked
 * child: the thread that was making the change is not there. */
uint64_t ps__change_wait(const struct ps_topology *topology);

/* True if something has changed since ps__change_wait returned `changes`, or is being changed. The
 * reader must then start again. */
bool ps__change_came(const struct ps_topology *topology, uint64_t changes);

#endif

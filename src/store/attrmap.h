/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribute maps as readers see them: from an event's name to the parts that a Thread holds.
 * Look-ups, totals and exporters read through these functions, which write nothing.
 */
#ifndef PS_STORE_ATTRMAP_H
#define PS_STORE_ATTRMAP_H

#include "store/recording.h"
#include "store/sum.h"

/* Returns the newest history of a Thread; the others follow by age. Pairs with the release in
 * ps__recording_attach_history. */
static inline const struct ps__history *ps__thread_first_history(const struct ps_thread *thread)
{
	return atomic_load_explicit(&thread->histories, memory_order_acquire);
}

/* Returns the shown name of an event that was added under this name; NULL if there is none, or if
 * this name is itself shown. It searches all recordings, so it is called only when a look-up
 * failed. */
const char *ps__topology_shown_name(const struct ps_topology *topology, const char *event);

/* The column of an event, by the name that is shown; or -1. */
ptrdiff_t ps__recording_find(const struct ps__recording *recording, const char *event);

/* One row's value of a column, as the public struct shows it. False if a writer
 * changed the history meanwhile. */
bool ps__recording_value(const struct ps__history *history, size_t row, size_t column,
                         struct ps_value *out);

/* Like ps__recording_value, for a row that is outside of the history but has the same form. No
 * writer may change this row meanwhile. */
bool ps__history_show(const struct ps__history *history, struct ps__history_row row, size_t column,
                      struct ps_value *out);

/* Threads by their index in the topology's array: [first, end). */
struct ps__range {
	size_t first;
	size_t end;
};

/* Returns the Threads below a component. The Machine's Threads include the unknown Thread, because
 * its counts belong to the machine. */
struct ps__range ps__component_range(const struct ps_component *component);

static inline size_t ps__thread_index(const struct ps_thread *thread)
{
	return (size_t)(thread - thread->component->topology->threads);
}

/* True if the CPU is below the component. NULL has all CPUs; the Machine also has CPUs that the
 * tree lacks. */
static inline bool ps__component_has_cpu(const struct ps_component *component, int cpu)
{
	if (!component)
		return true;
	struct ps__range range = ps__component_range(component);
	size_t index = ps__thread_index(ps__topology_thread(component->topology, cpu));
	return index >= range.first && index < range.end;
}

/* The newest history of a recording. Pairs with the release in
 * ps__recording_add_history. */
static inline const struct ps__history *
ps__recording_first_history(const struct ps__recording *recording)
{
	return atomic_load_explicit(&recording->histories, memory_order_acquire);
}

/* Adds up the parts of the reading with this timestamp, or of the recording's latest reading if it
 * is 0, in a range. Returns the number of parts. */
size_t ps__recording_sum(const struct ps__recording *recording, size_t column,
                         struct ps__range range, uint64_t timestamp, struct ps_value *out);

/* Chooses the column of a recording that is summed up: by an event's name, or by what a metric
 * needs. find returns -1 if there is no such column. */
struct ps__selector {
	ptrdiff_t (*find)(const struct ps__recording *recording,
	                  const struct ps__selector *selector);
	const char *name;    /* the event's name, also for messages */
	uint64_t timestamp;  /* of the readings that are summed up; 0: each set's latest */
	const void *context; /* for find */
	size_t operand;      /* for find */
};
ptrdiff_t ps__select_by_name(const struct ps__recording *recording,
                             const struct ps__selector *selector);

/* True if the recording's set has gone on in a newer recording that has the event and a reading. A
 * sum never mixes two readings of one set. */
bool ps__recording_is_superseded(const struct ps__recording *recording,
                                 const struct ps__selector *selector);

/*
 * Sums up the selected columns, as ps_component_total does, or as ps_component_reading if the
 * selector has a timestamp. PS_ENOEVNT and PS_EINVAL_DOM come without a detail sentence;
 * ps__component_fail_scope sets the sentence of PS_EINVAL_DOM.
 */
int ps__component_sum(const struct ps_component *component, const struct ps__selector *selector,
                      struct ps_value *out);
/* True if each count of the scope lies completely inside or completely outside of the component. */
bool ps__component_holds(const struct ps_component *component, enum ps_scope scope);
int ps__component_fail_scope(const struct ps_component *component,
                             const struct ps__selector *selector);

/* Returns the component that one count of the scope covers, seen from a Thread: the outermost
 * component of the scope's type above the Thread, or the Thread itself if there is none. */
const struct ps_component *ps__component_covered(const struct ps_component *thread,
                                                 enum ps_scope scope);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists a Thread's readings of an event, how many were dropped, and the events that have any. */
#include "base/error.h"
#include "store/attrmap.h"

#include <perfsage/thread.h>

static void readings_reverse(struct ps_value *values, size_t begin, size_t end)
{
	while (begin + 1 < end) {
		struct ps_value swapped = values[begin];
		values[begin++] = values[--end];
		values[end] = swapped;
	}
}

/* Rotates an array left by `steps`. */
static void readings_rotate(struct ps_value *values, size_t count, size_t steps)
{
	readings_reverse(values, 0, steps);
	readings_reverse(values, steps, count);
	readings_reverse(values, 0, count);
}

/* A walk over all parts of an event on a Thread, oldest first. */
struct merge {
	const struct ps_thread *thread;
	const char *event;
	uint64_t last;
};

/* Finds the oldest part of a history that is newer than `after`. */
static bool readings_next_part(const struct ps__history *history, size_t column, uint64_t after,
                               struct ps_value *out)
{
	const struct ps__recording *recording = history->recording;
	uint64_t sequence;
	bool found;

	do {
		sequence = ps__recording_read_begin(recording);
		size_t row = ps__history_find_after(history, after);
		size_t count = atomic_load_explicit(&history->count, memory_order_acquire);
		while (row < count && ps__history_is_gone(history, row))
			row++;
		found = row < count && ps__recording_value(history, row, column, out);
	} while (ps__recording_read_retry(recording, sequence));
	return found;
}

/* Gives the next part in time of all histories. Parts with the same timestamp are added up. False
 * at the end. */
static bool readings_merge_next(struct merge *merge, struct ps_value *out)
{
	size_t parts = 0;

	for (const struct ps__history *history = ps__thread_first_history(merge->thread); history;
	     history = history->next_in_thread) {
		ptrdiff_t column = ps__recording_find(history->recording, merge->event);
		struct ps_value part;
		if (column < 0 || !readings_next_part(history, (size_t)column, merge->last, &part))
			continue;
		if (parts && part.timestamp > out->timestamp)
			continue;
		if (parts && part.timestamp < out->timestamp)
			parts = 0;
		ps__value_merge(out, &parts, &part);
	}
	if (parts == 0)
		return false;
	ps__value_finish(out);
	merge->last = out->timestamp;
	return true;
}

static bool readings_has_event(const struct ps_thread *thread, const char *event)
{
	for (const struct ps__history *history = ps__thread_first_history(thread); history;
	     history = history->next_in_thread) {
		if (ps__recording_find(history->recording, event) >= 0)
			return true;
	}
	return false;
}

/* The name under which the Thread has the event; NULL if it has none. */
static const char *readings_resolve(const struct ps_thread *thread, const char *event)
{
	if (readings_has_event(thread, event))
		return event;
	const char *shown = ps__topology_shown_name(thread->component->topology, event);
	return shown && readings_has_event(thread, shown) ? shown : NULL;
}

int ps_thread_readings(const struct ps_thread *thread, const char *event, struct ps_value *out,
                       size_t capacity, size_t *count)
{
	struct merge merge = {.thread = thread};
	struct ps_value value;
	size_t total = 0;

	if (!thread || !event || !count || (!out && capacity))
		return ps__fail(
		    PS_EINVAL, "ps_thread_readings: thread, event, count and out must not be NULL");
	merge.event = readings_resolve(thread, event);
	if (!merge.event)
		return ps__fail(PS_ENOEVNT, "no event set has counted '%s' on CPU %d", event,
		                thread->cpu);
	while (readings_merge_next(&merge, &value)) {
		/* The newest parts are kept: the array is a ring until it is rotated below. */
		if (capacity)
			out[total % capacity] = value;
		total++;
	}
	*count = total;
	if (total <= capacity)
		return PS_OK;
	if (capacity)
		readings_rotate(out, capacity, total % capacity);
	return ps__fail(PS_EBUF, "'%s' has %zu readings on CPU %d and the array holds %zu", event,
	                total, thread->cpu, capacity);
}

static uint64_t readings_count_dropped(const struct ps__history *history)
{
	uint64_t sequence, dropped;

	do {
		sequence = ps__recording_read_begin(history->recording);
		dropped = atomic_load_explicit(&history->first, memory_order_acquire) -
		          atomic_load_explicit(&history->swept, memory_order_acquire);
	} while (ps__recording_read_retry(history->recording, sequence));
	return dropped;
}

uint64_t ps_thread_dropped(const struct ps_thread *thread, const char *event)
{
	uint64_t dropped = 0;

	if (!thread || !event)
		return 0;
	event = readings_resolve(thread, event);
	if (!event)
		return 0;
	for (const struct ps__history *history = ps__thread_first_history(thread); history;
	     history = history->next_in_thread) {
		if (ps__recording_find(history->recording, event) >= 0)
			dropped += readings_count_dropped(history);
	}
	return dropped;
}

/* True if an older history has an event of this name. */
static bool readings_has_older(const struct ps__history *history, const char *name)
{
	for (history = history->next_in_thread; history; history = history->next_in_thread) {
		if (ps__recording_find(history->recording, name) >= 0)
			return true;
	}
	return false;
}

static size_t readings_count_histories(const struct ps_thread *thread)
{
	size_t count = 0;

	for (const struct ps__history *history = ps__thread_first_history(thread); history;
	     history = history->next_in_thread)
		count++;
	return count;
}

/* Returns the index'th history, counted from the oldest. The list begins with the newest. */
static const struct ps__history *readings_history_at(const struct ps_thread *thread, size_t count,
                                                     size_t index)
{
	const struct ps__history *history = ps__thread_first_history(thread);

	for (size_t steps = count - 1 - index; steps > 0; steps--)
		history = history->next_in_thread;
	return history;
}

const char *ps_thread_event_name(const struct ps_thread *thread, size_t index)
{
	if (!thread)
		return NULL;
	size_t count = readings_count_histories(thread);
	for (size_t i = 0; i < count; i++) {
		const struct ps__history *history = readings_history_at(thread, count, i);
		for (size_t column = 0; column < history->recording->columns; column++) {
			const char *name = history->recording->column[column].name;
			if (!readings_has_older(history, name) && index-- == 0)
				return name;
		}
	}
	return NULL;
}

size_t ps_thread_event_count(const struct ps_thread *thread)
{
	size_t count = 0;

	while (ps_thread_event_name(thread, count))
		count++;
	return count;
}

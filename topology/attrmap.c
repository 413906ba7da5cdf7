/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Thread holds: lookups by event and timestamp, beside a writer, without a lock. */
#include "topology/attrmap.h"

#include "base/error.h"

#include <perfsage/thread.h>
#include <string.h>

uint64_t ps__series_read_begin(const struct ps__series *series)
{
	uint64_t sequence;

	do {
		/* Pairs with ps__series_write_end. */
		sequence = atomic_load_explicit(&series->sequence, memory_order_acquire);
	} while (sequence & 1);
	return sequence;
}

ptrdiff_t ps__series_find(const struct ps__series *series, const char *event)
{
	for (size_t index = 0; index < series->columns; index++) {
		if (strcmp(series->column[index].name, event) == 0)
			return (ptrdiff_t)index;
	}
	return -1;
}

static uint32_t value_flags(uint16_t mark, const struct ps__column *column)
{
	uint32_t flags = column->user_only ? PS_VALUE_USER_ONLY : 0;

	flags |= mark & PS__MARK_MOVED ? PS_VALUE_MOVED : 0;
	flags |= mark & PS__MARK_WENT_BACK ? PS_VALUE_WENT_BACK : 0;
	flags |= mark & PS__MARK_ENDED ? PS_VALUE_ENDED : 0;
	flags |= mark & PS__MARK_INTERRUPTED ? PS_VALUE_INTERRUPTED : 0;
	return flags;
}

/* What the times say of the raw count: fills value and status. */
static void scale(struct ps_value *value)
{
	value->value = (long long)value->raw;
	value->status = PS_STATUS_COUNTED;
	if (value->running_ns >= value->enabled_ns)
		return;
	if (value->running_ns == 0) {
		value->status = PS_STATUS_NEVER_SCHEDULED;
		return;
	}
	value->status = PS_STATUS_SCALED;
	/* 128 bits: a count of an hour at 4 GHz times the nanoseconds of an hour is 2^85. */
	value->value = (long long)((unsigned __int128)value->raw * value->enabled_ns / value->running_ns);
}

bool ps__series_value(const struct ps__log *log, size_t row, size_t column, struct ps_value *out)
{
	const struct ps__series *series = log->series;
	const struct ps__column *about = &series->column[column];
	struct ps__chunk *chunk = ps__log_chunk(log, row);

	if (!chunk)
		return false;
	_Atomic uint64_t *words = ps__log_words(log, chunk, row);
	uint16_t mark = atomic_load_explicit(ps__log_mark(chunk, row), memory_order_acquire);
	struct ps_value value = {
	    .timestamp = atomic_load_explicit(&words[0], memory_order_acquire),
	    .raw = atomic_load_explicit(&words[1 + 2 * series->groups + column], memory_order_acquire),
	    .attribution = (enum ps_attribution)(mark & PS__MARK_ATTRIBUTION),
	    .flags = value_flags(mark, about),
	};
	if (about->group != PS__NO_GROUP) {
		value.enabled_ns = atomic_load_explicit(&words[1 + 2 * about->group], memory_order_acquire);
		value.running_ns = atomic_load_explicit(&words[2 + 2 * about->group], memory_order_acquire);
	}
	scale(&value);
	if (about->group == PS__NO_GROUP && !(mark & PS__MARK_STORED))
		value.status = PS_STATUS_NOT_SUPPORTED;
	*out = value;
	return true;
}

/* The weaker of two: an event that one part's core can't count takes nothing from what others counted. */
static enum ps_status weaker_status(enum ps_status one, enum ps_status other)
{
	if (one == PS_STATUS_NOT_SUPPORTED)
		return other;
	if (other == PS_STATUS_NOT_SUPPORTED)
		return one;
	return one > other ? one : other;
}

void ps__value_merge(struct ps_value *sum, size_t *parts, const struct ps_value *part)
{
	if ((*parts)++ == 0) {
		*sum = *part;
		return;
	}
	if (part->timestamp > sum->timestamp)
		sum->timestamp = part->timestamp;
	sum->value += part->value;
	sum->raw += part->raw;
	sum->enabled_ns += part->enabled_ns;
	sum->running_ns += part->running_ns;
	sum->status = weaker_status(sum->status, part->status);
	if (part->attribution > sum->attribution)
		sum->attribution = part->attribution;
	sum->flags |= part->flags | PS_VALUE_MERGED;
}

/* The first log of a Thread; newer ones come first. Pairs with the release in ps__series_attach_log. */
static struct ps__log *first_log(const struct ps_thread *thread)
{
	return atomic_load_explicit(&thread->logs, memory_order_acquire);
}

/* The part in one log at a timestamp, or the newest (0). False if there is none. */
static bool read_part(const struct ps__log *log, size_t column, uint64_t timestamp, struct ps_value *out)
{
	const struct ps__series *series = log->series;
	uint64_t sequence;
	bool found;

	do {
		sequence = ps__series_read_begin(series);
		ptrdiff_t row = timestamp ? ps__log_find(log, timestamp)
		                          : (ptrdiff_t)atomic_load_explicit(&log->count, memory_order_acquire) - 1;
		found = row >= 0 && ps__series_value(log, (size_t)row, column, out);
	} while (ps__series_read_retry(series, sequence));
	return found;
}

int ps_thread_reading(const struct ps_thread *thread, const char *event, uint64_t timestamp, struct ps_value *out)
{
	struct ps_value best = {0};
	size_t parts = 0;
	bool known = false;

	if (!thread || !event || !out)
		return ps__fail(PS_EINVAL, "ps_thread_reading: thread, event and out must not be NULL");
	for (const struct ps__log *log = first_log(thread); log; log = log->next_in_thread) {
		ptrdiff_t column = ps__series_find(log->series, event);
		struct ps_value part;
		if (column < 0)
			continue;
		known = true;
		if (!read_part(log, (size_t)column, timestamp, &part) || (parts && part.timestamp < best.timestamp))
			continue;
		/* The same moment in two sets, or a newer one that takes the place of what was found. */
		if (parts && part.timestamp > best.timestamp)
			parts = 0;
		ps__value_merge(&best, &parts, &part);
	}
	if (!known)
		return ps__fail(PS_ENOEVNT, "no event set has counted '%s' on CPU %d", event, thread->cpu);
	if (parts == 0)
		return ps__fail(PS_ENOEVST, "'%s' has no reading with timestamp %llu on CPU %d", event,
		                (unsigned long long)timestamp, thread->cpu);
	*out = best;
	return PS_OK;
}

static void reverse(struct ps_value *values, size_t begin, size_t end)
{
	while (begin + 1 < end) {
		struct ps_value swapped = values[begin];
		values[begin++] = values[--end];
		values[end] = swapped;
	}
}

/* Turns an array left by `steps`. */
static void rotate(struct ps_value *values, size_t count, size_t steps)
{
	reverse(values, 0, steps);
	reverse(values, steps, count);
	reverse(values, 0, count);
}

/* A walk over all parts of an event on a Thread, oldest first. */
struct merge {
	const struct ps_thread *thread;
	const char *event;
	uint64_t last;
};

/* The oldest part of a log that is newer than `after`. */
static bool next_part(const struct ps__log *log, size_t column, uint64_t after, struct ps_value *out)
{
	const struct ps__series *series = log->series;
	uint64_t sequence;
	bool found;

	do {
		sequence = ps__series_read_begin(series);
		size_t row = ps__log_find_after(log, after);
		found = row < atomic_load_explicit(&log->count, memory_order_acquire) &&
		        ps__series_value(log, row, column, out);
	} while (ps__series_read_retry(series, sequence));
	return found;
}

/* The next part in time over all logs; parts with one timestamp are one. False at the end. */
static bool merge_next(struct merge *merge, struct ps_value *out)
{
	size_t parts = 0;

	for (const struct ps__log *log = first_log(merge->thread); log; log = log->next_in_thread) {
		ptrdiff_t column = ps__series_find(log->series, merge->event);
		struct ps_value part;
		if (column < 0 || !next_part(log, (size_t)column, merge->last, &part))
			continue;
		if (parts && part.timestamp > out->timestamp)
			continue;
		if (parts && part.timestamp < out->timestamp)
			parts = 0;
		ps__value_merge(out, &parts, &part);
	}
	if (parts)
		merge->last = out->timestamp;
	return parts > 0;
}

static bool has_event(const struct ps_thread *thread, const char *event)
{
	for (const struct ps__log *log = first_log(thread); log; log = log->next_in_thread) {
		if (ps__series_find(log->series, event) >= 0)
			return true;
	}
	return false;
}

int ps_thread_readings(const struct ps_thread *thread, const char *event, struct ps_value *out, size_t capacity,
                       size_t *count)
{
	struct merge merge = {.thread = thread, .event = event};
	struct ps_value value;
	size_t total = 0;

	if (!thread || !event || !count || (!out && capacity))
		return ps__fail(PS_EINVAL, "ps_thread_readings: thread, event, count and out must not be NULL");
	if (!has_event(thread, event))
		return ps__fail(PS_ENOEVNT, "no event set has counted '%s' on CPU %d", event, thread->cpu);
	while (merge_next(&merge, &value)) {
		/* The newest ones are wanted: the array is a ring until it is turned below. */
		if (capacity)
			out[total % capacity] = value;
		total++;
	}
	*count = total;
	if (total <= capacity)
		return PS_OK;
	if (capacity)
		rotate(out, capacity, total % capacity);
	return ps__fail(PS_EBUF, "'%s' has %zu readings on CPU %d and the array holds %zu", event, total, thread->cpu,
	                capacity);
}

uint64_t ps_thread_dropped(const struct ps_thread *thread, const char *event)
{
	uint64_t dropped = 0;

	if (!thread || !event)
		return 0;
	for (const struct ps__log *log = first_log(thread); log; log = log->next_in_thread) {
		if (ps__series_find(log->series, event) >= 0)
			dropped += atomic_load_explicit(&log->first, memory_order_acquire);
	}
	return dropped;
}

/* Does an older log have an event of this name? */
static bool has_older(const struct ps__log *log, const char *name)
{
	for (log = log->next_in_thread; log; log = log->next_in_thread) {
		if (ps__series_find(log->series, name) >= 0)
			return true;
	}
	return false;
}

static size_t count_logs(const struct ps_thread *thread)
{
	size_t count = 0;

	for (const struct ps__log *log = first_log(thread); log; log = log->next_in_thread)
		count++;
	return count;
}

/* The index'th log from the oldest on: the list has the newest first. */
static const struct ps__log *log_at(const struct ps_thread *thread, size_t count, size_t index)
{
	const struct ps__log *log = first_log(thread);

	for (size_t steps = count - 1 - index; steps > 0; steps--)
		log = log->next_in_thread;
	return log;
}

const char *ps_thread_event_name(const struct ps_thread *thread, size_t index)
{
	if (!thread)
		return NULL;
	size_t count = count_logs(thread);
	for (size_t place = 0; place < count; place++) {
		const struct ps__log *log = log_at(thread, count, place);
		for (size_t column = 0; column < log->series->columns; column++) {
			const char *name = log->series->column[column].name;
			if (!has_older(log, name) && index-- == 0)
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

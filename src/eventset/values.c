/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a reading of one event set to an array, in the order of its events: for programs that have
 * values[], as with PAPI. */
#include "base/error.h"
#include "eventset/eventset.h"
#include "store/attrmap.h"

#include <string.h>

struct values {
	const struct ps_eventset *set;
	const struct ps__recording *recording;
	uint64_t timestamp; /* 0: the latest */
};

/* Returns the event's column. Normally the columns are the set's events. */
static ptrdiff_t values_column_of(const struct values *from, size_t index)
{
	const struct ps__recording *recording = from->recording;
	const char *name = from->set->events.list[index].name;

	if (index < recording->columns && strcmp(recording->column[index].name, name) == 0)
		return (ptrdiff_t)index;
	return ps__recording_find(recording, name);
}

/* Computes one event's sum over all hardware threads. False if there is no such reading. */
static bool values_sum(const struct values *from, size_t index, struct ps_value *out)
{
	const struct ps__recording *recording = from->recording;
	struct ps__range whole = ps__component_range(recording->topology->root);
	size_t column = (size_t)values_column_of(from, index);
	struct ps_value value;

	if (ps__recording_sum(recording, column, whole, from->timestamp, &value) == 0)
		return false;
	ps__value_finish(&value);
	*out = value;
	return true;
}

static bool values_has_reading(const struct ps__recording *recording, uint64_t timestamp)
{
	struct ps__range whole = ps__component_range(recording->topology->root);
	struct ps_value value;

	if (!timestamp)
		return atomic_load_explicit(&recording->latest, memory_order_acquire) != 0;
	return ps__recording_sum(recording, 0, whole, timestamp, &value) > 0;
}

static int values_fail_none(uint64_t timestamp)
{
	if (!timestamp)
		return ps__fail(PS_ENOEVST, "the event set has no reading yet: make one with "
		                            "ps_read, ps_accum or ps_stop");
	return ps__fail(PS_ENOEVST, "the event set has no reading with timestamp %llu",
	                (unsigned long long)timestamp);
}

/* Finds the recording that has the reading. It must have all of the set's events. */
static int values_find(struct values *from)
{
	const struct ps__recording *recording = from->set->recorder.last_bound;

	while (recording && !values_has_reading(recording, from->timestamp))
		recording = recording->older;
	if (!recording)
		return values_fail_none(from->timestamp);
	from->recording = recording;
	for (size_t index = 0; index < from->set->events.count; index++) {
		if (values_column_of(from, index) < 0)
			return ps__fail(PS_ENOEVST,
			                "the reading has no '%s', as the event set's events were "
			                "changed after it: make a new reading, or look the others "
			                "up with ps_eventset_reading",
			                from->set->events.list[index].name);
	}
	return PS_OK;
}

static int values_begin(struct values *from, const void *array, size_t count, const char *call)
{
	if (!from->set || !array)
		return ps__fail(PS_EINVAL, "%s: the %s is NULL", call,
		                from->set ? "array" : "event set");
	if (from->set->events.count == 0)
		return ps__fail(PS_EINVAL, "%s: the event set has no event", call);
	if (count < from->set->events.count)
		return ps__fail(PS_EBUF,
		                "%s: the array holds %zu values, and the set has %zu events", call,
		                count, from->set->events.count);
	return values_find(from);
}

int ps_eventset_values(const struct ps_eventset *set, uint64_t timestamp, struct ps_value *values,
                       size_t count)
{
	struct values from = {.set = set, .timestamp = timestamp};
	uint64_t sequence;
	bool found;
	int code = values_begin(&from, values, count, "ps_eventset_values");

	if (code < 0)
		return code;
	/* All values must be of one reading: a writer may come between two sums. */
	do {
		sequence = ps__recording_read_begin(from.recording);
		found = true;
		for (size_t index = 0; found && index < set->events.count; index++)
			found = values_sum(&from, index, &values[index]);
	} while (ps__recording_read_retry(from.recording, sequence));
	return found ? PS_OK : values_fail_none(timestamp);
}

static bool values_is_count(const struct ps_value *value)
{
	return value->status == PS_STATUS_COUNTED && !(value->flags & PS_VALUE_SATURATED);
}

/* Counts the events before the first one without a plain count, whose value *other receives. */
static size_t values_count_plain(const struct values *from, struct ps_value *other)
{
	size_t index = 0;

	while (index < from->set->events.count && values_sum(from, index, other) &&
	       values_is_count(other))
		index++;
	return index;
}

/* Explains why an event has no plain count. Only PAPI keeps an event that happens in the kernel in
 * a set that excludes the kernel. */
static int values_fail_other(const struct ps__event *event, const struct ps_value *value)
{
	if (event->user_only && event->kernel_side)
		return ps__fail(PS_ENOSUPP,
		                "'%s' happens in the kernel, and PAPI counts it in user space "
		                "alone, so PAPI's 0 is no count: call "
		                "PAPI_set_domain(PAPI_DOM_ALL) before PAPI_create_eventset, or "
		                "add the event with the modifier :k=1. The kernel must permit it: "
		                "perf_event_paranoid at most 1, or CAP_PERFMON",
		                event->name);
	return ps__fail(PS_ENOSUPP,
	                "'%s' is no plain count here (%s): ps_eventset_values gives what is known "
	                "of it",
	                event->name,
	                value->flags & PS_VALUE_SATURATED ? "beyond 64 bits"
	                                                  : ps_status_name(value->status));
}

int ps_eventset_counts(const struct ps_eventset *set, uint64_t timestamp, long long *counts,
                       size_t count)
{
	struct values from = {.set = set, .timestamp = timestamp};
	struct ps_value value = {0};
	uint64_t sequence;
	size_t plain;
	int code = values_begin(&from, counts, count, "ps_eventset_counts");

	if (code < 0)
		return code;
	do {
		sequence = ps__recording_read_begin(from.recording);
		plain = values_count_plain(&from, &value);
		for (size_t index = 0; plain == set->events.count && index < plain; index++) {
			if (values_sum(&from, index, &value))
				counts[index] = value.value;
		}
	} while (ps__recording_read_retry(from.recording, sequence));
	if (plain == set->events.count)
		return PS_OK;
	return values_is_count(&value) ? values_fail_none(timestamp)
	                               : values_fail_other(&set->events.list[plain], &value);
}

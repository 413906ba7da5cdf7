/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the counts between two points of a log, as ps_snapshot_difference does. */
#include "base/error.h"
#include "eventset/difference.h"
#include "snapshot/reader.h"

static const struct ps__log_state *state_of(const struct ps_log_reader *reader, unsigned point)
{
	const struct ps__log_cursor *cursor = &reader->cursor;
	unsigned index = point & ~PS_LOG_PREVIOUS;

	if (!cursor->source || index >= cursor->source->info.point_count)
		return NULL;
	return point & PS_LOG_PREVIOUS ? &cursor->before[index] : &cursor->now[index];
}

uint64_t ps_log_time(const struct ps_log_reader *reader, unsigned point)
{
	const struct ps__log_state *state =
	    reader && reader->cursor.is_at_record ? state_of(reader, point) : NULL;

	return state ? state->time : 0;
}

/* Returns a place's part in a state; NULL: nothing was counted there before. */
static const uint64_t *interval_part_before(const struct ps__log_state *state, uint32_t place,
                                            size_t hint, size_t width)
{
	if (!state)
		return NULL;
	if (hint < state->count && state->places[hint] == place)
		return ps__log_part(state, hint, width);
	for (size_t index = 0; index < state->count; index++) {
		if (state->places[index] == place)
			return ps__log_part(state, index, width);
	}
	return NULL;
}

/* The points of an interval. */
struct points {
	const struct ps__log_source *source;
	const struct ps__log_state *from, *to; /* from: NULL: the log's start */
};

static struct ps__difference_part interval_part(const void *context, size_t index)
{
	const struct points *points = context;
	const struct ps__log_source *source = points->source;
	uint32_t place = points->to->places[index];

	return (struct ps__difference_part){
	    .from = interval_part_before(points->from, place, index, source->width),
	    .to = ps__log_part(points->to, index, source->width),
	    .history = source->places[place].history,
	    .cpu = source->places[place].cpu};
}

static int interval_check(const struct ps_log_reader *reader, unsigned from, unsigned to,
                          const struct ps_value *values, size_t count)
{
	if (!reader || !values)
		return ps__fail(PS_EINVAL, "ps_log_interval: the %s is NULL",
		                reader ? "array" : "reader");
	if (!reader->cursor.is_at_record)
		return ps__fail(PS_ENOEVST, "ps_log_interval: the reader is at no record");
	const struct ps_log_info *info = &reader->cursor.source->info;
	bool has_from = from == PS_LOG_START || state_of(reader, from);
	if (!has_from || !state_of(reader, to))
		return ps__fail(PS_EINVAL,
		                "ps_log_interval: there is no point %u: the type has %zu",
		                (has_from ? to : from) & ~PS_LOG_PREVIOUS, info->point_count);
	if (count < info->event_count)
		return ps__fail(PS_EBUF,
		                "ps_log_interval: the array holds %zu values, and the stream has "
		                "%zu events",
		                count, info->event_count);
	uint64_t end = ps_log_time(reader, to);
	uint64_t begin = from == PS_LOG_START ? end : ps_log_time(reader, from);
	if (begin == 0 || end == 0)
		return ps__fail(PS_ENOEVST, "ps_log_interval: a point was not taken before this "
		                            "record, or the record before is missing");
	if (begin > end)
		return ps__fail(PS_ENOEVST, "ps_log_interval: the first point was taken after the "
		                            "second one");
	return PS_OK;
}

int ps_log_interval(struct ps_log_reader *reader, unsigned from, unsigned to,
                    const struct ps_component *component, struct ps_value *values, size_t count)
{
	int result = interval_check(reader, from, to, values, count);

	if (result != PS_OK)
		return result;
	const struct ps__log_source *source = reader->cursor.source;
	struct points points = {.source = source,
	                        .from = from == PS_LOG_START ? NULL : state_of(reader, from),
	                        .to = state_of(reader, to)};
	struct ps__difference difference = {.call = "ps_log_interval",
	                                    .recording = source->recording,
	                                    .component = component,
	                                    .timestamp = points.to->time,
	                                    .part_count = points.to->count,
	                                    .part = interval_part,
	                                    .points = &points};
	result = ps__difference_sum_up(&difference, values);
	for (size_t event = 0; result == PS_OK && event < source->info.event_count; event++) {
		if (points.to->paused & ps__log_paused_bit(event))
			values[event].flags |= PS_VALUE_PAUSED;
	}
	return result;
}

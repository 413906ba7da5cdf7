/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the counts between two points of a log, as ps_snapshot_difference does. */
#include "base/error.h"
#include "base/os.h"
#include "snapshot/reader.h"
#include "store/attrmap.h"

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
static const uint64_t *interval_part(const struct ps__log_state *state, uint32_t place, size_t hint,
                                     size_t width)
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

/* The sum that is being made, and a row for differences. */
struct sum {
	struct ps_value *values;
	_Atomic uint64_t *row;
	uint16_t doubt; /* a mark that all parts get */
	size_t parts;   /* number of parts that were added */
	/* 1 + the index of a part below the component that didn't change; 0: there is none */
	size_t zero;
};

/* Writes the differences to the row. True if any of them, counts or times, is not 0. */
static bool interval_subtract(const struct sum *sum, const uint64_t *from, const uint64_t *to,
                              size_t width)
{
	uint64_t any = 0;

	for (size_t word = 1; word <= width; word++) {
		uint64_t change = to[word] - (from ? from[word] : 0);
		any |= change;
		atomic_store_explicit(&sum->row[word], change, memory_order_relaxed);
	}
	return any != 0;
}

static uint16_t interval_label(const struct ps__log_source *source, const uint64_t *from,
                               const struct ps__log_state *to, size_t index)
{
	return ps__label_between(from ? from[0] : 0, ps__log_part(to, index, source->width)[0]);
}

/* Returns the marks that make all parts doubtful. A part with such a mark can have counts of any
 * other part, even of another component. Unchanged parts are left out: their labels can be from
 * before the interval. */
static uint16_t interval_find_doubt(const struct sum *sum, const struct ps__log_source *source,
                                    const struct ps__log_state *from,
                                    const struct ps__log_state *to)
{
	uint16_t doubt = 0;

	for (size_t index = 0; index < to->count; index++) {
		const uint64_t *before =
		    interval_part(from, to->places[index], index, source->width);
		if (interval_subtract(sum, before, ps__log_part(to, index, source->width),
		                      source->width))
			doubt = ps__mark_join(
			    doubt, ps__mark_doubt(interval_label(source, before, to, index)));
	}
	return doubt;
}

static void interval_add(struct sum *sum, const struct ps__log_source *source, const uint64_t *from,
                         const struct ps__log_state *to, size_t index)
{
	const struct ps__history *history = source->places[to->places[index]].history;
	_Atomic uint16_t mark;

	atomic_store_explicit(&sum->row[0], to->time, memory_order_relaxed);
	atomic_init(&mark, ps__mark_join(interval_label(source, from, to, index), sum->doubt));
	for (size_t event = 0; event < source->info.event_count; event++) {
		const struct ps__history_row row = {sum->row, &mark};
		struct ps_value value;
		size_t count = sum->parts;
		ps__history_show(history, row, event, &value);
		if (to->paused & ps__log_paused_bit(event))
			value.flags |= PS_VALUE_PAUSED;
		ps__value_merge(&sum->values[event], &count, &value);
	}
	sum->parts++;
}

static void interval_add_parts(struct sum *sum, const struct ps__log_source *source,
                               const struct ps__log_state *from, const struct ps__log_state *to,
                               const struct ps_component *component)
{
	sum->doubt = interval_find_doubt(sum, source, from, to);
	for (size_t index = 0; index < to->count; index++) {
		uint32_t place = to->places[index];
		if (component && !ps__component_has_cpu(component, source->places[place].cpu))
			continue;
		sum->zero = index + 1;
		const uint64_t *before = interval_part(from, place, index, source->width);
		if (interval_subtract(sum, before, ps__log_part(to, index, source->width),
		                      source->width))
			interval_add(sum, source, before, to, index);
	}
	if (sum->parts > 0 || sum->zero == 0)
		return;
	/* The set has met a hardware thread of the component, but counted nothing there. */
	size_t index = sum->zero - 1;
	const uint64_t *part = ps__log_part(to, index, source->width);
	interval_subtract(sum, part, part, source->width);
	interval_add(sum, source, interval_part(from, to->places[index], index, source->width), to,
	             index);
}

static int interval_check_scopes(const struct ps__log_source *source,
                                 const struct ps_component *component)
{
	for (size_t event = 0; component && event < source->info.event_count; event++) {
		const struct ps__column *column = &source->recording->column[event];
		if (!ps__component_holds(component, column->scope))
			return ps__fail(PS_EINVAL_DOM,
			                "one count of '%s' covers a whole %s: ask for a component "
			                "that consists of such",
			                column->name, ps_scope_name(column->scope));
	}
	return PS_OK;
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

static int interval_sum_up(const struct ps_log_reader *reader, unsigned from, unsigned to,
                           const struct ps_component *component, struct ps_value *values)
{
	const struct ps__log_source *source = reader->cursor.source;
	size_t events = source->info.event_count;
	struct sum sum = {.values = ps__os_calloc(events + 1, sizeof *sum.values),
	                  .row = ps__os_calloc(1 + source->width, sizeof *sum.row)};
	int result = PS_OK;

	if (!sum.values || !sum.row)
		result = ps__fail_memory("an interval of a log");
	else
		interval_add_parts(&sum, source,
		                   from == PS_LOG_START ? NULL : state_of(reader, from),
		                   state_of(reader, to), component);
	if (result == PS_OK && sum.parts == 0)
		result = ps__fail(PS_ENOEVST, "ps_log_interval: the set met no hardware thread of "
		                              "that component");
	for (size_t event = 0; result == PS_OK && event < events; event++) {
		ps__value_finish(&sum.values[event]);
		values[event] = sum.values[event];
	}
	ps__os_free(sum.values);
	ps__os_free((void *)sum.row);
	return result;
}

int ps_log_interval(struct ps_log_reader *reader, unsigned from, unsigned to,
                    const struct ps_component *component, struct ps_value *values, size_t count)
{
	int result = interval_check(reader, from, to, values, count);

	if (result == PS_OK)
		result = interval_check_scopes(reader->cursor.source, component);
	return result == PS_OK ? interval_sum_up(reader, from, to, component, values) : result;
}

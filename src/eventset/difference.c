/* SPDX-License-Identifier: BSD-3-Clause */
/* Subtracts the parts of two points, and joins the marks of all that changed in between. */
#include "eventset/difference.h"

#include "base/error.h"
#include "base/os.h"
#include "eventset/parts.h"
#include "store/attrmap.h"

/* The sum that is being made, and a row for a part's differences. */
struct sum {
	const struct ps__difference *difference;
	struct ps_value *values;
	_Atomic uint64_t *row;
	uint16_t doubt; /* a mark that all parts get */
	size_t parts;   /* number of parts that were added */
};

/* Writes the differences to the row. True if any of them, counts or times, is not 0. */
static bool difference_subtract(const struct sum *sum, const uint64_t *from, const uint64_t *to)
{
	size_t width = ps__recording_width(sum->difference->recording);
	uint64_t any = 0;

	for (size_t word = 1; word <= width; word++) {
		uint64_t change = to[word] - (from ? from[word] : 0);
		any |= change;
		atomic_store_explicit(&sum->row[word], change, memory_order_relaxed);
	}
	return any != 0;
}

static uint16_t difference_label(const struct ps__difference_part *part)
{
	return ps__label_between(part->from ? part->from[0] : 0, part->to[0]);
}

/* Joins the doubts (ps__mark_doubt) of all parts that changed: a part in doubt may have counts of
 * any other part, also of one outside the component. A part that didn't change is left out, because
 * its label may be from before the interval. */
static uint16_t difference_find_doubt(const struct sum *sum)
{
	const struct ps__difference *difference = sum->difference;
	uint16_t doubt = 0;

	for (size_t index = 0; index < difference->part_count; index++) {
		struct ps__difference_part part = difference->part(difference->points, index);
		if (difference_subtract(sum, part.from, part.to))
			doubt = ps__mark_join(doubt, ps__mark_doubt(difference_label(&part)));
	}
	return doubt;
}

/* Adds the part's values in the row to the sums of all events. */
static void difference_add(struct sum *sum, const struct ps__difference_part *part)
{
	_Atomic uint16_t mark;

	atomic_init(&mark, ps__mark_join(difference_label(part), sum->doubt));
	for (size_t event = 0; event < sum->difference->recording->columns; event++) {
		const struct ps__history_row row = {sum->row, &mark};
		struct ps_value value;
		size_t count = sum->parts;
		ps__history_show(part->history, row, event, &value);
		ps__value_merge(&sum->values[event], &count, &value);
	}
	sum->parts++;
}

static void difference_add_parts(struct sum *sum)
{
	const struct ps__difference *difference = sum->difference;
	struct ps__difference_part zero = {.to = NULL};
	/* On the whole machine nothing is a count, too. */
	bool is_whole = !difference->component || !difference->component->parent;

	for (size_t index = 0; index < difference->part_count; index++) {
		struct ps__difference_part part = difference->part(difference->points, index);
		if (!ps__component_has_cpu(difference->component, part.cpu))
			continue;
		if (difference_subtract(sum, part.from, part.to))
			difference_add(sum, &part);
		else if (is_whole || difference_subtract(sum, NULL, part.to))
			zero = part;
	}
	/* The set is known to have counted nothing there in the interval. */
	if (sum->parts == 0 && zero.to) {
		difference_subtract(sum, zero.to, zero.to);
		difference_add(sum, &zero);
	}
}

static int difference_check_scopes(const struct ps__difference *difference)
{
	for (size_t event = 0; difference->component && event < difference->recording->columns;
	     event++) {
		const struct ps__column *column = &difference->recording->column[event];
		if (!ps__component_holds(difference->component, column->scope))
			return ps__fail(PS_EINVAL_DOM,
			                "one count of '%s' covers a whole %s: ask for a component "
			                "that consists of such",
			                column->name, ps_scope_name(column->scope));
	}
	return PS_OK;
}

int ps__difference_sum_up(const struct ps__difference *difference, struct ps_value *values)
{
	size_t events = difference->recording->columns;
	int result = difference_check_scopes(difference);

	if (result != PS_OK)
		return result;
	struct sum sum = {
	    .difference = difference,
	    .values = ps__os_calloc(events + 1, sizeof *sum.values),
	    .row = ps__os_calloc(1 + ps__recording_width(difference->recording), sizeof *sum.row)};
	if (sum.values && sum.row) {
		atomic_store_explicit(&sum.row[0], difference->timestamp, memory_order_relaxed);
		sum.doubt = difference_find_doubt(&sum);
		difference_add_parts(&sum);
		if (sum.parts == 0)
			result = ps__fail(PS_ENOEVST,
			                  "%s: the set met no hardware thread of that component",
			                  difference->call);
	} else {
		result = ps__fail_memory("the counts of an interval");
	}
	for (size_t event = 0; result == PS_OK && event < events; event++) {
		ps__value_finish(&sum.values[event]);
		values[event] = sum.values[event];
	}
	ps__os_free(sum.values);
	ps__os_free((void *)sum.row);
	return result;
}

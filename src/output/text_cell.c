/* SPDX-License-Identifier: BSD-3-Clause */
/* A cell of the text output: a label behind its branches, a number, a heading, how it is known. */
#include "output/text.h"

#include "output/label.h"
#include "output/number.h"

#include <string.h>

#define DEEPEST 63 /* bits of a row's branches */

static struct ps__look text_look(const struct ps__text *text, const char *unit, double scale)
{
	return (struct ps__look){
	    .unit = unit, .scale = scale, .si = text->options.flags & PS_PRINT_SI};
}

static void text_set_heading(struct ps__text *text, size_t column)
{
	struct ps__grid_cell about = {.columns = text->cell.length, .style = PS__STYLE_HEADING};

	ps__grid_set(&text->grid, 0, column, &text->cell, about);
	ps__buffer_restart(&text->cell);
}

/* An event that wasn't counted below the first row has no column. */
static bool text_has_event(const struct ps__text *text, size_t event)
{
	return ps__table_cell(&text->table, 0, event)->parts > 0;
}

/* Times with an SI prefix bear their unit in each cell; a ratio's unit is
 * known, a rate's isn't. */
void ps__text_set_headings(struct ps__text *text)
{
	const struct ps__table *table = &text->table;

	ps__buffer_restart(&text->cell);
	ps__buffer_add(&text->cell, "Component");
	text_set_heading(text, 0);
	for (size_t event = 0; event < table->event_count; event++) {
		struct ps__look look =
		    text_look(text, table->columns[event].unit, table->columns[event].scale);
		ps__label_add_event(&text->cell, ps__table_event(table, event),
		                    ps__known_heading_unit(&look));
		text_set_heading(text, 1 + event);
	}
	for (size_t i = 0; i < table->metric_count; i++) {
		const char *unit = table->metrics[i].ask.metric->unit;
		ps__label_add_event(&text->cell, table->metrics[i].name,
		                    strcmp(unit, "1/s") == 0 ? unit : "");
		text_set_heading(text, 1 + table->event_count + i);
	}
	ps__buffer_add(&text->cell, "Attribution");
	text_set_heading(text, text->grid.column_count - 1);
}

static enum ps__style text_style_of_number(const char *cell)
{
	if (strcmp(cell, "0") == 0)
		return PS__STYLE_FAINT;
	if (*cell == 'n')
		return PS__STYLE_UNKNOWN;
	return *cell == '~' ? PS__STYLE_ESTIMATE : PS__STYLE_PLAIN;
}

static void text_set_number(struct ps__text *text, size_t row, size_t column, size_t mark)
{
	struct ps__grid_cell about = {.columns = text->cell.length,
	                              .mark = mark,
	                              .style = text_style_of_number(ps__buffer_text(&text->cell))};

	ps__grid_set(&text->grid, 1 + row, column, &text->cell, about);
}

/* "2.130k +- 0.3%": the deviation of one of the runs. */
static void text_add_mean(struct ps__text *text, const struct ps__cell *cell,
                          const struct ps__look *look)
{
	double percent = ps__spread_percent(cell->spread);

	ps__known_add_mean(&text->cell, &cell->value, cell->spread->mean, look);
	if (cell->spread->samples < 2 || !ps__known_has_number(cell->value.status))
		return;
	ps__buffer_add(&text->cell, " +-%s", percent < 9.95 ? " " : "");
	ps__number_add_fixed(&text->cell, percent, 1);
	ps__buffer_add(&text->cell, "%%");
}

static void text_set_event(struct ps__text *text, size_t row, size_t event)
{
	const struct ps__table_column *column = &text->table.columns[event];
	const struct ps__cell *cell = ps__table_cell(&text->table, row, event);
	struct ps__look look = text_look(text, column->unit, column->scale);
	size_t mark = 0;

	if (!cell->parts || !text_has_event(text, event))
		return;
	/* Sums have no words of their own, but this one happens to sums. */
	text->known.flags |= cell->value.flags & PS_VALUE_SATURATED;
	ps__buffer_restart(&text->cell);
	if (cell->spread) {
		text_add_mean(text, cell, &look);
	} else {
		ps__known_add_value(&text->cell, &cell->value, &look);
		mark = strlen(ps__known_mark(cell->value.status, cell->value.flags, &look));
	}
	text_set_number(text, row, 1 + event, mark);
}

/* Metrics' estimates and what of them is unknown is explained below, too. */
static void text_set_metric(struct ps__text *text, size_t row, size_t metric)
{
	struct ps__look look = text_look(text, text->table.metrics[metric].ask.metric->unit, 1);
	struct ps_metric_value value;

	if (!ps__table_metric(&text->table, row, metric, &value))
		return;
	ps__known_note_metric(&text->known, &value);
	ps__buffer_restart(&text->cell);
	ps__known_add_metric(&text->cell, &value, &look);
	text_set_number(text, row, 1 + text->table.event_count + metric,
	                text->cell.length > 0 && ps__known_is_user_only(value.status, value.flags));
}

/* Is this number shown in no line below it? A NUMA node's is its parent's. In a
 * choice of lines each says it. */
static bool text_is_lowest(const struct ps__text *text, size_t row, size_t event)
{
	const struct ps__table *table = &text->table;

	if (!ps__table_cell(table, row, event)->parts)
		return false;
	if (text->options.types || text->options.flags & PS_PRINT_FLAT)
		return true;
	if (row > 0 && table->rows[row].component->type == PS_COMPONENT_NUMA)
		return false;
	for (size_t below = row + 1;
	     below < table->row_count && table->rows[below].depth > table->rows[row].depth;
	     below++) {
		if (table->rows[below].component->type != PS_COMPONENT_NUMA &&
		    ps__table_cell(table, below, event)->parts)
			return false;
	}
	return true;
}

/* How the numbers of a row are known: of those that are shown in no line
 * below. */
static void text_set_known(struct ps__text *text, size_t row)
{
	struct ps__known known = {0};

	for (size_t event = 0; event < text->table.event_count; event++) {
		if (!text_has_event(text, event) || !text_is_lowest(text, row, event))
			continue;
		ps__known_note(&known, &ps__table_cell(&text->table, row, event)->value);
		ps__known_note(&text->known, &ps__table_cell(&text->table, row, event)->value);
	}
	ps__buffer_restart(&text->cell);
	ps__known_add_words(&text->cell, &known);
	ps__grid_set(
	    &text->grid, 1 + row, text->grid.column_count - 1, &text->cell,
	    (struct ps__grid_cell){.columns = text->cell.length, .style = PS__STYLE_FAINT});
}

/* From the last row up: a line goes on at a depth if there was a row of that
 * depth, and none above it since. */
void ps__text_find_branches(struct ps__text *text)
{
	uint64_t open = 0;

	for (size_t row = text->table.row_count; row-- > 0;) {
		int depth = text->table.rows[row].depth;
		uint64_t bit = UINT64_C(1) << (depth < DEEPEST ? depth : DEEPEST);
		text->branches[row] = open & (2 * bit - 1);
		open = (open & (bit - 1)) | bit;
	}
}

static void text_add_branches(struct ps__text *text, size_t row)
{
	int depth = text->table.rows[row].depth;
	uint64_t branches = text->branches[row];
	bool has_colour = text->options.flags & PS_PRINT_COLOUR;

	if (has_colour)
		ps__style_begin(&text->cell, PS__STYLE_FAINT);
	for (int level = 1; level <= depth; level++) {
		bool goes_on = branches >> (level < DEEPEST ? level : DEEPEST) & 1;
		if (level < depth)
			ps__buffer_add(&text->cell, "%s", goes_on ? "\u2502 " : "  ");
		else
			ps__buffer_add(&text->cell, "%s",
			               goes_on ? "\u251c\u2500" : "\u2514\u2500");
	}
	if (has_colour)
		ps__style_end(&text->cell, PS__STYLE_FAINT);
}

size_t ps__text_label(struct ps__text *text, size_t row, bool details)
{
	int depth = text->options.flags & PS_PRINT_FLAT ? 0 : text->table.rows[row].depth;

	ps__buffer_restart(&text->cell);
	if (depth && text->options.flags & PS_PRINT_UTF8)
		text_add_branches(text, row);
	else
		ps__buffer_add(&text->cell, "%*s", 2 * depth, "");
	size_t before = text->cell.length;
	ps__label_add_component(&text->cell, text->table.rows[row].component, details);
	return 2 * (size_t)depth + text->cell.length - before;
}

void ps__text_set_row(struct ps__text *text, size_t row)
{
	size_t columns = ps__text_label(text, row, false);

	ps__grid_set(&text->grid, 1 + row, 0, &text->cell,
	             (struct ps__grid_cell){.columns = columns});
	for (size_t event = 0; event < text->table.event_count; event++)
		text_set_event(text, row, event);
	for (size_t metric = 0; metric < text->table.metric_count; metric++)
		text_set_metric(text, row, metric);
	text_set_known(text, row);
}

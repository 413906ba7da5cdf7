/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in one place of the text output: a label behind its branches, a number, a heading, how it is known. */
#include "export/text.h"

#include "export/label.h"

#include <string.h>

#define DEEPEST 63 /* bits of a row's branches */

static struct ps__buffer *new_cell(struct ps__text *text)
{
	ps__buffer_restart(&text->cell);
	return &text->cell;
}

static struct ps__look look_of(const struct ps__text *text, const struct ps__text_column *column)
{
	bool si = text->options.flags & PS_PRINT_SI;

	if (column->kind == PS__TEXT_METRIC)
		return (struct ps__look){
		    .unit = text->table.metrics[column->index].ask.metric->unit, .scale = 1, .si = si};
	return (struct ps__look){.unit = text->table.columns[column->index].unit,
	                         .scale = text->table.columns[column->index].scale,
	                         .si = si};
}

/* Times with an SI prefix bear their unit in each cell; a ratio's unit is known, a rate's isn't. */
void ps__text_heading(struct ps__text *text, const struct ps__text_column *column)
{
	struct ps__buffer *cell = new_cell(text);

	if (column->kind == PS__TEXT_KNOWN) {
		ps__buffer_add(cell, "How it is known");
		return;
	}
	struct ps__look look = look_of(text, column);
	if (column->kind == PS__TEXT_METRIC)
		ps__label_add_event(cell, text->table.metrics[column->index].name,
		                    strcmp(look.unit, "1/s") == 0 ? look.unit : "");
	else
		ps__label_add_event(cell, ps__table_event(&text->table, column->index),
		                    ps__known_heading_unit(&look));
}

static size_t add_metric(struct ps__text *text, size_t row, const struct ps__text_column *column)
{
	struct ps__look look = look_of(text, column);
	struct ps_metric_value value;

	if (!ps__table_metric(&text->table, row, column->index, &value))
		return 0;
	ps__known_add_metric(&text->cell, &value, &look);
	return text->cell.length > 0 && ps__known_is_user_only(value.status, value.flags);
}

size_t ps__text_cell(struct ps__text *text, size_t row, const struct ps__text_column *column)
{
	struct ps__known known = {0};

	new_cell(text);
	if (column->kind == PS__TEXT_KNOWN) {
		ps__text_note(text, row, &known);
		ps__known_add_words(&text->cell, &known);
		return 0;
	}
	if (column->kind == PS__TEXT_METRIC)
		return add_metric(text, row, column);
	struct ps__look look = look_of(text, column);
	const struct ps__cell *cell = ps__table_cell(&text->table, row, column->index);
	if (!cell->parts)
		return 0;
	/* Sums have no words of their own, but this one happens to sums. */
	text->known.flags |= cell->value.flags & PS_VALUE_SATURATED;
	ps__known_add_value(&text->cell, &cell->value, &look);
	return strlen(ps__known_mark(cell->value.status, cell->value.flags, &look));
}

void ps__text_label(struct ps__text *text, size_t row, bool details)
{
	ps__label_add_component(new_cell(text), text->table.rows[row].component, details);
}

size_t ps__text_indent(const struct ps__text *text, size_t row)
{
	return text->options.flags & PS_PRINT_FLAT ? 0 : 2 * (size_t)text->table.rows[row].depth;
}

/* From the last row up: a line goes on at a depth if there was a row of that depth, and none above it since. */
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

void ps__text_add_branches(struct ps__text *text, size_t row)
{
	int depth = text->table.rows[row].depth;
	uint64_t branches = text->branches[row];

	if (!(text->options.flags & PS_PRINT_UTF8) || text->options.flags & PS_PRINT_FLAT) {
		ps__buffer_add(&text->buffer, "%*s", (int)ps__text_indent(text, row), "");
		return;
	}
	if (depth == 0)
		return;
	ps__text_style(text, PS__STYLE_FAINT);
	for (int level = 1; level <= depth; level++) {
		bool goes_on = branches >> (level < DEEPEST ? level : DEEPEST) & 1;
		if (level < depth)
			ps__buffer_add(&text->buffer, "%s", goes_on ? "\u2502 " : "  ");
		else
			ps__buffer_add(&text->buffer, "%s", goes_on ? "\u251c\u2500" : "\u2514\u2500");
	}
	ps__text_end_style(text, PS__STYLE_FAINT);
}

/* Is this number shown in no line below it? A NUMA node's is its parent's. In a choice of lines each says it. */
static bool is_lowest(const struct ps__text *text, size_t row, size_t event)
{
	const struct ps__table *table = &text->table;

	if (!ps__table_cell(table, row, event)->parts)
		return false;
	if (text->options.types || text->options.flags & PS_PRINT_FLAT)
		return true;
	if (row > 0 && table->rows[row].component->type == PS_COMPONENT_NUMA)
		return false;
	for (size_t below = row + 1; below < table->row_count && table->rows[below].depth > table->rows[row].depth;
	     below++) {
		if (table->rows[below].component->type != PS_COMPONENT_NUMA &&
		    ps__table_cell(table, below, event)->parts)
			return false;
	}
	return true;
}

void ps__text_note(const struct ps__text *text, size_t row, struct ps__known *known)
{
	for (size_t event = 0; event < text->table.event_count; event++) {
		if (text->columns[event].width && is_lowest(text, row, event))
			ps__known_note(known, &ps__table_cell(&text->table, row, event)->value);
	}
}

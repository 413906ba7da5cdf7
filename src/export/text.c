/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree with its counters, as text: a line for each component, a column for each event, and at the end of the line
 * how the numbers are known. What nothing was counted in is left out.
 */
#include "base/error.h"
#include "base/os.h"
#include "export/buffer.h"
#include "export/known.h"
#include "export/label.h"
#include "export/table.h"

#include <perfsage/print.h>
#include <string.h>

struct column {
	size_t width;  /* 0: the event isn't shown */
	bool has_mark; /* room for a "u" behind the digits, so that these stand in line */
};

struct text {
	struct ps__buffer buffer;
	struct ps__buffer cell; /* for measuring and aligning one */
	struct ps__table table;
	struct column *columns; /* of the events */
	size_t label_width;
	struct ps__known known; /* of all that is shown */
};

/* Forgets the text of the last cell, so that the next one starts anew. */
static struct ps__buffer *new_cell(struct text *text)
{
	text->cell.length = 0;
	return &text->cell;
}

static const char *cell_text(const struct text *text)
{
	return text->cell.failed ? "" : text->cell.text;
}

static size_t wider(size_t width, const struct text *text)
{
	return text->cell.length > width ? text->cell.length : width;
}

/* As wide as the event's name and every number in it. */
static void measure_column(struct text *text, size_t event)
{
	struct column *column = &text->columns[event];
	size_t width;

	for (size_t row = 0; row < text->table.row_count; row++) {
		const struct ps__cell *cell = ps__table_cell(&text->table, row, event);
		column->has_mark |= cell->parts && ps__known_is_user_only(&cell->value);
	}
	ps__label_add_event(new_cell(text), text->table.events[event]);
	width = text->cell.length;
	for (size_t row = 0; row < text->table.row_count; row++) {
		const struct ps__cell *cell = ps__table_cell(&text->table, row, event);
		if (!cell->parts)
			continue;
		ps__known_add_value(new_cell(text), &cell->value);
		width = wider(width, text);
	}
	column->width = width + column->has_mark;
}

static void measure(struct text *text)
{
	const struct ps__table *table = &text->table;

	text->label_width = strlen("Component");
	for (size_t row = 0; row < table->row_count; row++) {
		if (!table->rows[row].counted)
			continue;
		ps__buffer_add(new_cell(text), "%*s", 2 * table->rows[row].depth, "");
		ps__label_add_component(&text->cell, table->rows[row].component, false);
		text->label_width = wider(text->label_width, text);
	}
	for (size_t event = 0; event < table->event_count; event++) {
		if (ps__table_cell(table, 0, event)->parts)
			measure_column(text, event);
	}
}

static void add_cell(struct text *text, size_t event, bool is_marked)
{
	const struct column *column = &text->columns[event];

	ps__buffer_add(&text->cell, "%s", column->has_mark && !is_marked ? " " : "");
	ps__buffer_add(&text->buffer, "  %*s", (int)column->width, cell_text(text));
}

static void add_head(struct text *text)
{
	ps__buffer_add(&text->buffer, "%-*s", (int)text->label_width, "Component");
	for (size_t event = 0; event < text->table.event_count; event++) {
		if (!text->columns[event].width)
			continue;
		ps__label_add_event(new_cell(text), text->table.events[event]);
		add_cell(text, event, false);
	}
	ps__buffer_add(&text->buffer, "  How it is known\n");
}

static void add_value(struct text *text, size_t row, size_t event)
{
	const struct ps__cell *cell = ps__table_cell(&text->table, row, event);

	ps__buffer_add(new_cell(text), "%s", "");
	if (cell->parts)
		ps__known_add_value(&text->cell, &cell->value);
	add_cell(text, event, cell->parts && ps__known_is_user_only(&cell->value));
}

/* Is this number shown in no line below it? A NUMA node's is its parent's. */
static bool is_lowest(const struct ps__table *table, size_t row, size_t event)
{
	if (!ps__table_cell(table, row, event)->parts)
		return false;
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

static void add_row(struct text *text, size_t row)
{
	const struct ps__table *table = &text->table;
	struct ps__known known = {0};

	ps__buffer_add(new_cell(text), "%*s", 2 * table->rows[row].depth, "");
	ps__label_add_component(&text->cell, table->rows[row].component, false);
	ps__buffer_add(&text->buffer, "%-*s", (int)text->label_width, cell_text(text));
	for (size_t event = 0; event < table->event_count; event++) {
		if (!text->columns[event].width)
			continue;
		add_value(text, row, event);
		if (!is_lowest(table, row, event))
			continue;
		ps__known_note(&known, &ps__table_cell(table, row, event)->value);
		ps__known_note(&text->known, &ps__table_cell(table, row, event)->value);
	}
	ps__buffer_add(&text->buffer, "  ");
	ps__known_add_words(&text->buffer, &known);
	ps__buffer_trim(&text->buffer);
	ps__buffer_add(&text->buffer, "\n");
}

static void add_counts(struct text *text)
{
	size_t left_out = 0;

	measure(text);
	add_head(text);
	for (size_t row = 0; row < text->table.row_count; row++) {
		bool is_unknown = text->table.rows[row].component == text->table.topology->unknown;
		if (text->table.rows[row].counted)
			add_row(text, row);
		else
			left_out += !is_unknown;
	}
	ps__buffer_add(&text->buffer, "\n");
	ps__known_add_legend(&text->buffer, &text->known);
	if (left_out)
		ps__buffer_add(&text->buffer, "%zu component%s without a count %s not shown.\n", left_out,
		               left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
}

static void add_bare_tree(struct text *text)
{
	for (size_t row = 0; row < text->table.row_count; row++) {
		const struct ps_component *component = text->table.rows[row].component;
		if (component == text->table.topology->unknown && row > 0)
			continue;
		ps__buffer_add(&text->buffer, "%*s", 2 * text->table.rows[row].depth, "");
		ps__label_add_component(&text->buffer, component, true);
		ps__buffer_add(&text->buffer, "\n");
	}
	ps__buffer_add(&text->buffer, "\nNothing has been counted here.\n");
}

int ps_print(struct ps_component *root, FILE *stream)
{
	struct text text = {0};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_print: the %s is NULL", root ? "stream" : "component");
	int code = ps__table_create(&text.table, root);
	if (code < 0)
		return code;
	text.columns = ps__os_calloc(text.table.event_count, sizeof *text.columns);
	if (!text.columns) {
		code = ps__fail_memory("the printed text");
		goto clear_table;
	}
	if (text.table.rows[0].counted)
		add_counts(&text);
	else
		add_bare_tree(&text);
	text.buffer.failed |= text.cell.failed;
	code = ps__buffer_finish(&text.buffer, stream);
	ps__os_free(text.cell.text);
	ps__os_free(text.columns);
clear_table:
	ps__table_clear(&text.table);
	return code;
}

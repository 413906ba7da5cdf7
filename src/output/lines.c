/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of the printed tree, from its rows. */
#include "output/lines.h"

#include "base/error.h"
#include "base/os.h"

/* A longer table is folded; this is two screens of a small terminal. */
#define MOST_LINES 40

/* Relative difference that similar counts may have, tried in this order: -1 folds nothing, 1
 * accepts any. */
static const double tolerances[] = {-1, 0.25, 0.5, 1};

static bool lines_have_same_counts(const struct ps__table *table, size_t one, size_t other)
{
	for (size_t column = 0; column < table->column_count; column++) {
		const struct ps__cell *a = ps__table_cell(table, one, column);
		const struct ps__cell *b = ps__table_cell(table, other, column);
		if ((a->parts == 0) != (b->parts == 0))
			return false;
		if (a->parts > 0 &&
		    (a->value.value != b->value.value || a->value.status != b->value.status))
			return false;
	}
	return true;
}

size_t ps__lines_only_below(const struct ps__lines *lines, const struct ps__table *table,
                            size_t row)
{
	size_t only = PS__LINES_NONE;

	for (size_t below = row + 1; below < lines->end[row]; below = lines->end[below]) {
		if (lines->layout != PS__LAYOUT_TYPES && ps__lines_is_beside(table, below))
			continue;
		if (only != PS__LINES_NONE)
			return PS__LINES_NONE;
		only = below;
	}
	return only;
}

/* Returns the only row below if it has the same counts; else PS__LINES_NONE. */
static size_t lines_next_in_chain(const struct ps__lines *lines, const struct ps__table *table,
                                  size_t row)
{
	bool has_chains = lines->layout == PS__LAYOUT_TREE || lines->layout == PS__LAYOUT_TYPES;
	size_t only = has_chains ? ps__lines_only_below(lines, table, row) : PS__LINES_NONE;

	return only != PS__LINES_NONE && lines_have_same_counts(table, row, only) ? only
	                                                                          : PS__LINES_NONE;
}

static void lines_add_below(struct ps__lines *lines, const struct ps__table *table, size_t row,
                            int depth)
{
	if (lines->tolerance >= 0 && ps__lines_fold(lines, table, row, depth))
		return;
	for (size_t below = row + 1; below < lines->end[row]; below = lines->end[below]) {
		if (lines->layout == PS__LAYOUT_TREE && ps__lines_is_beside(table, below))
			continue;
		struct ps__line *line = ps__lines_add(lines, below, depth);
		size_t last = below;
		for (size_t next = last; next != PS__LINES_NONE;
		     next = lines_next_in_chain(lines, table, next))
			last = next;
		line->row = last;
		lines_add_below(lines, table, last, depth + 1);
	}
}

static void lines_add_all(struct ps__lines *lines, const struct ps__table *table)
{
	lines->count = 0;
	lines->folded = 0;
	for (size_t row = 0; row < table->row_count; row++)
		lines->line_of[row] = PS__LINES_NONE;
	if (lines->layout == PS__LAYOUT_BARE)
		ps__lines_add(lines, 0, 0);
	lines_add_below(lines, table, 0, lines->layout == PS__LAYOUT_BARE);
	if (lines->layout != PS__LAYOUT_BARE)
		ps__lines_add(lines, 0, 0);
}

static void lines_find_ends(struct ps__lines *lines, const struct ps__table *table)
{
	for (size_t row = 0; row < table->row_count; row++) {
		size_t end = row + 1;
		while (end < table->row_count && table->rows[end].depth > table->rows[row].depth)
			end++;
		lines->end[row] = end;
	}
}

int ps__lines_create(struct ps__lines *lines, const struct ps__table *table, enum ps__layout layout)
{
	bool may_fold = layout >= PS__LAYOUT_LIST;

	*lines = (struct ps__lines){.layout = layout};
	lines->lines = ps__os_calloc(table->row_count, sizeof *lines->lines);
	lines->end = ps__os_calloc(table->row_count, sizeof *lines->end);
	lines->line_of = ps__os_calloc(table->row_count, sizeof *lines->line_of);
	lines->threads = ps__os_calloc(table->row_count, sizeof *lines->threads);
	lines->kinds = ps__os_calloc(table->row_count, sizeof *lines->kinds);
	if (!lines->lines || !lines->end || !lines->line_of || !lines->threads || !lines->kinds)
		return ps__fail_memory("the printed text");
	lines_find_ends(lines, table);
	if (layout == PS__LAYOUT_ALIKE)
		return PS_OK;
	for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++) {
		lines->tolerance = tolerances[i];
		lines_add_all(lines, table);
		if (!may_fold || lines->count <= MOST_LINES)
			break;
	}
	return PS_OK;
}

void ps__lines_clear(struct ps__lines *lines)
{
	ps__os_free(lines->lines);
	ps__os_free(lines->end);
	ps__os_free(lines->line_of);
	ps__os_free(lines->threads);
	ps__os_free(lines->kinds);
}

size_t ps__lines_next(const struct ps__lines *lines, size_t line, size_t from)
{
	size_t end = lines->end[0];

	while (from < end && lines->line_of[from] != line)
		from++;
	return from < end ? from : PS__LINES_NONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts hardware threads with similar counts into one line of the printed tree. The line shows the
 * range of their counts, so it is true however much they differ.
 */
#include "output/lines.h"

#include "output/known.h"

#include <math.h>

/* Smallest number of hardware threads that share a line. */
#define LEAST_ALIKE 4

/* True for memory and packages: their sums are always shown, so nothing is folded across them. */
static bool fold_is_place(const struct ps_component *component)
{
	return component->type == PS_COMPONENT_PACKAGE || component->type == PS_COMPONENT_DIE ||
	       component->type == PS_COMPONENT_GROUP || component->type == PS_COMPONENT_NUMA;
}

/* True if a row has a count that no hardware thread below it has, such as a cache's event. */
static bool fold_has_own(const struct ps__lines *lines, const struct ps__table *table, size_t row,
                         size_t column)
{
	if (!ps__table_cell(table, row, column)->parts)
		return false;
	for (size_t below = row + 1; below < lines->end[row]; below++) {
		if (table->rows[below].component->type == PS_COMPONENT_THREAD &&
		    ps__table_cell(table, below, column)->parts)
			return false;
	}
	return true;
}

/* True if folding would hide a line that shows more than the sum of its hardware threads. */
static bool fold_would_hide(const struct ps__lines *lines, const struct ps__table *table,
                            size_t row)
{
	for (size_t below = row + 1; below < lines->end[row]; below++) {
		const struct ps_component *component = table->rows[below].component;
		bool is_memory_of_row =
		    component->type == PS_COMPONENT_NUMA && table->rows[below].parent == row;
		if (component->type == PS_COMPONENT_THREAD || is_memory_of_row)
			continue;
		if (fold_is_place(component))
			return true;
		for (size_t column = 0; column < table->event_count; column++) {
			if (fold_has_own(lines, table, below, column))
				return true;
		}
	}
	return false;
}

static bool fold_is_near(const struct ps_value *one, const struct ps_value *other, double tolerance)
{
	double a = (double)one->value, b = (double)other->value;

	uint32_t signs = PS_VALUE_USER_ONLY | PS_VALUE_SATURATED;

	/* Numbers that are known in different ways are never alike. */
	if (one->status != other->status || one->attribution != other->attribution ||
	    (one->flags & signs) != (other->flags & signs))
		return false;
	if (tolerance >= 1)
		return true;
	if (one->flags != other->flags)
		return false;
	return !ps__known_has_number(one->status) ||
	       fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool fold_is_alike(const struct ps__table *table, size_t one, size_t other, double tolerance)
{
	const struct ps_component *unknown = table->topology->unknown;

	if (one != other &&
	    (table->rows[one].component == unknown || table->rows[other].component == unknown))
		return false;
	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__cell *a = ps__table_cell(table, one, event);
		const struct ps__cell *b = ps__table_cell(table, other, event);
		if ((a->parts == 0) != (b->parts == 0))
			return false;
		if (a->parts && !fold_is_near(&a->value, &b->value, tolerance))
			return false;
	}
	return true;
}

/* Returns the number of threads that are like the first one and have no line yet. If line isn't
 * PS__LINES_NONE, they share it from now on. */
static size_t fold_find_alike(struct ps__lines *lines, const struct ps__table *table,
                              const size_t *threads, size_t count, size_t line)
{
	size_t alike = 0;

	for (size_t i = 0; i < count; i++) {
		if (lines->line_of[threads[i]] != PS__LINES_NONE ||
		    !fold_is_alike(table, threads[0], threads[i], lines->tolerance))
			continue;
		if (line != PS__LINES_NONE)
			lines->line_of[threads[i]] = line;
		alike++;
	}
	return alike;
}

static void fold_undo(struct ps__lines *lines, size_t first_line, size_t row)
{
	lines->count = first_line;
	for (size_t below = row; below < lines->end[row]; below++)
		lines->line_of[below] = PS__LINES_NONE;
}

static size_t fold_list_threads(struct ps__lines *lines, const struct ps__table *table, size_t row)
{
	size_t count = 0;

	for (size_t below = row + 1; below < lines->end[row]; below++) {
		if (table->rows[below].component->type == PS_COMPONENT_THREAD)
			lines->threads[count++] = below;
	}
	return count;
}

/* Adds the lines of NUMA nodes that no label names, as if nothing was folded. */
static void fold_add_memory(struct ps__lines *lines, const struct ps__table *table, size_t row,
                            int depth)
{
	if (lines->layout == PS__LAYOUT_TREE)
		return;
	for (size_t below = row + 1; below < lines->end[row]; below++) {
		if (table->rows[below].component->type == PS_COMPONENT_NUMA)
			ps__lines_add(lines, below, depth);
	}
}

/* Adds a line for each group of similar counts, in the order of their first hardware threads. */
static void fold_add(struct ps__lines *lines, const struct ps__table *table, size_t count,
                     int depth)
{
	for (size_t i = 0; i < count; i++) {
		const size_t *threads = &lines->threads[i];
		if (lines->line_of[*threads] != PS__LINES_NONE)
			continue;
		size_t alike = fold_find_alike(lines, table, threads, count - i, PS__LINES_NONE);
		struct ps__line *line = ps__lines_add(lines, *threads, depth);
		if (alike < LEAST_ALIKE) {
			lines->line_of[*threads] = lines->count - 1;
			continue;
		}
		line->alike = alike;
		fold_find_alike(lines, table, threads, count - i, lines->count - 1);
	}
}

bool ps__lines_fold(struct ps__lines *lines, const struct ps__table *table, size_t row, int depth)
{
	size_t first_line = lines->count;
	size_t count = fold_list_threads(lines, table, row);

	if (count < LEAST_ALIKE || fold_would_hide(lines, table, row))
		return false;
	fold_add_memory(lines, table, row, depth);
	fold_add(lines, table, count, depth);
	if (lines->count - first_line > count / 2) {
		fold_undo(lines, first_line, row);
		return false;
	}
	for (size_t line = first_line; line < lines->count; line++)
		lines->folded += lines->lines[line].alike;
	return true;
}

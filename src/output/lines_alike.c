/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a tree without counts. Components that are alike, with all below them, may share a
 * line: hardware threads are folded first, packages last. Components that differ in size, kind or
 * anything below them are not alike, so irregular parts keep their own lines.
 */
#include "output/lines.h"

#include <string.h>

/* Types in the order in which they are folded. A chain has the rank of its outermost component. */
enum {
	RANK_THREAD,
	RANK_CORE,
	RANK_CACHE, /* L1; each outer cache level has the next rank */
	RANK_GROUP = RANK_CACHE + 5,
	RANK_PACKAGE
};
_Static_assert(RANK_PACKAGE + 1 == PS__LINES_MOST_FOLDS, "each rank is a step");

static int alike_rank(const struct ps_component *component)
{
	switch (component->type) {
	case PS_COMPONENT_THREAD:
		return RANK_THREAD;
	case PS_COMPONENT_CORE:
		return RANK_CORE;
	case PS_COMPONENT_CACHE:
		return component->cache_level < 1   ? RANK_CACHE
		       : component->cache_level > 5 ? RANK_GROUP - 1
		                                    : RANK_CACHE + component->cache_level - 1;
	case PS_COMPONENT_PACKAGE:
		return RANK_PACKAGE;
	default:
		return RANK_GROUP;
	}
}

static bool alike_is_same_itself(const struct ps_component *one, const struct ps_component *other)
{
	return one->type == other->type && one->cache_level == other->cache_level &&
	       one->size_bytes == other->size_bytes && one->core_kind == other->core_kind &&
	       one->allowed == other->allowed &&
	       strcmp(ps_component_subtype(one), ps_component_subtype(other)) == 0;
}

static bool alike_is_same_below(const struct ps__lines *lines, size_t one, size_t other)
{
	const size_t *end = lines->end;

	if (end[one] - one != end[other] - other)
		return false;
	for (size_t a = one + 1, b = other + 1; a < end[one]; a = end[a], b = end[b]) {
		if (lines->kinds[a] != lines->kinds[b])
			return false;
	}
	return true;
}

/* Goes from the last row up, so that the kinds of all rows below a row are known first. */
void ps__lines_find_kinds(struct ps__lines *lines, const struct ps__table *table)
{
	size_t *kinds = lines->threads, count = 0;

	for (size_t row = table->row_count, kind; row-- > 0; lines->kinds[row] = kinds[kind]) {
		for (kind = 0; kind < count; kind++) {
			if (alike_is_same_itself(table->rows[row].component,
			                         table->rows[kinds[kind]].component) &&
			    alike_is_same_below(lines, row, kinds[kind]))
				break;
		}
		if (kind == count)
			kinds[count++] = row;
	}
}

/* Puts all children of a row that have this kind into the newest line. Returns their number. */
static size_t alike_take(struct ps__lines *lines, size_t row, size_t kind)
{
	size_t taken = 0;

	for (size_t below = row + 1; below < lines->end[row]; below = lines->end[below]) {
		if (lines->kinds[below] != kind)
			continue;
		lines->line_of[below] = lines->count - 1;
		taken++;
	}
	return taken;
}

/* Lets the line show all rows of its kind below the rows of the parent's line. Rows that are alike
 * have the same shape, so the same offset leads from each outermost row to the innermost one of its
 * chain. */
static void alike_fold(struct ps__lines *lines, size_t parent, struct ps__line *line)
{
	const struct ps__line *above = &lines->lines[parent];
	size_t in_chain = above->row - above->top, kind = lines->kinds[line->row];
	size_t each = alike_take(lines, above->row, kind);

	if (!above->alike) {
		line->alike = each > 1 ? each : 0;
		return;
	}
	line->each = each;
	line->alike = each;
	for (size_t row = above->top + 1;
	     (row = ps__lines_next(lines, parent, row)) != PS__LINES_NONE; row++)
		line->alike += alike_take(lines, row + in_chain, kind);
}

/* True if below the row there are only hardware threads of one kind, two or more. */
static bool alike_has_cpus_only(const struct ps__lines *lines, const struct ps__table *table,
                                size_t row)
{
	size_t first = row + 1, below = first;

	for (; below < lines->end[row] && lines->kinds[below] == lines->kinds[first]; below++) {
		if (table->rows[below].component->type != PS_COMPONENT_THREAD)
			return false;
	}
	return below == lines->end[row] && below - first > 1;
}

static void alike_add_below(struct ps__lines *lines, const struct ps__table *table, size_t parent,
                            int rank);

static void alike_add(struct ps__lines *lines, const struct ps__table *table, size_t parent,
                      size_t row, int rank)
{
	struct ps__line *line = ps__lines_add(lines, row, lines->lines[parent].depth + 1);

	lines->line_of[row] = lines->count - 1;
	if (lines->lines[parent].alike || alike_rank(table->rows[row].component) < rank)
		alike_fold(lines, parent, line);
	for (size_t next = row; next != PS__LINES_NONE;
	     next = ps__lines_only_below(lines, table, next))
		line->row = next;
	line->ends_in_cpus =
	    rank > RANK_THREAD && !line->alike && alike_has_cpus_only(lines, table, line->row);
	if (!line->ends_in_cpus)
		alike_add_below(lines, table, lines->count - 1, rank);
}

static void alike_add_below(struct ps__lines *lines, const struct ps__table *table, size_t parent,
                            int rank)
{
	size_t row = lines->lines[parent].row;

	for (size_t below = row + 1; below < lines->end[row]; below = lines->end[below]) {
		bool is_beside = row > 0 && ps__lines_is_beside(table, below);
		if (!is_beside && lines->line_of[below] == PS__LINES_NONE)
			alike_add(lines, table, parent, below, rank);
	}
}

void ps__lines_add_alike(struct ps__lines *lines, const struct ps__table *table, int folds)
{
	lines->count = 0;
	for (size_t row = 0; row < table->row_count; row++)
		lines->line_of[row] = PS__LINES_NONE;
	ps__lines_add(lines, 0, 0);
	alike_add_below(lines, table, 0, folds);
}

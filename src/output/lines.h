/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which rows of a table share a line of the printed tree. A chain of components with the
 * same counts is one line. On a big machine hardware threads with similar counts share a line. The
 * first row, the sum of all, is the last line, where a reader looks first. In a tree without
 * counts, components that are alike share a line, and the first row is the first line.
 */
#ifndef PS_OUTPUT_LINES_H
#define PS_OUTPUT_LINES_H

#include "output/table.h"

enum ps__layout {
	PS__LAYOUT_BARE,  /* a line for each row, the first row first */
	PS__LAYOUT_ALIKE, /* as BARE, but chains are one line, and rows that are alike may share
	                   * one */
	PS__LAYOUT_EACH,  /* a line for each row, the first row last */
	PS__LAYOUT_LIST,  /* no chains; similar hardware threads share a line if there are many */
	PS__LAYOUT_TREE,  /* as LIST, with chains; a NUMA node is named in its parent's line */
	PS__LAYOUT_TYPES  /* as TREE, for chosen types only: a NUMA node has its own line */
};

struct ps__line {
	size_t row;   /* the row whose numbers are shown; the first of several that share the
	               * line */
	size_t top;   /* the outermost row of the chain; equal to row if there is no chain */
	size_t alike; /* number of hardware threads or like rows that share the line; 0: one row
	               * only */
	size_t each;  /* number of these in each row of the line above; 0: the line above is one row
	               */
	bool ends_in_cpus; /* the hardware threads below are named in this line */
	int depth;
};

struct ps__lines {
	struct ps__line *lines;
	size_t count;
	size_t folded;    /* number of hardware threads that share a line with others */
	size_t *end;      /* for each row: the index after the last row below it */
	size_t *line_of;  /* for each row: its shared line, or PS__LINES_NONE */
	size_t *threads;  /* buffer: the rows of hardware threads below one component */
	size_t *kinds;    /* PS__LAYOUT_ALIKE: rows with equal kinds are alike, with all below
	                   * them */
	double tolerance; /* relative difference that similar counts may have; below 0: no
	                   * folding */
	enum ps__layout layout;
};

#define PS__LINES_NONE SIZE_MAX

/* Makes the lines of a table whose rows were selected. PS_ENOMEM. The caller clears lines, also
 * after a failure. */
int ps__lines_create(struct ps__lines *lines, const struct ps__table *table,
                     enum ps__layout layout);
void ps__lines_clear(struct ps__lines *lines);

/* Returns the first row at or after from that shares the line; PS__LINES_NONE if there is none. */
size_t ps__lines_next(const struct ps__lines *lines, size_t line, size_t from);

/* Returns the only child of a row, not counting NUMA nodes; PS__LINES_NONE if it has none or
 * several. */
size_t ps__lines_only_below(const struct ps__lines *lines, const struct ps__table *table,
                            size_t row);

/* lines_fold.c: puts the hardware threads below a row into shared lines. Returns false, and changes
 * nothing, if there are too few of them, if a line would be hidden (fold_would_hide), or if the
 * number of lines would not be at least halved. */
bool ps__lines_fold(struct ps__lines *lines, const struct ps__table *table, size_t row, int depth);

/* lines_alike.c: makes the lines of PS__LAYOUT_ALIKE, in place of earlier ones. The caller calls
 * ps__lines_find_kinds before. folds: 0 (each row has a line, or is in a chain) to
 * PS__LINES_MOST_FOLDS (all rows that are alike share a line). */
#define PS__LINES_MOST_FOLDS 9
void ps__lines_find_kinds(struct ps__lines *lines, const struct ps__table *table);
void ps__lines_add_alike(struct ps__lines *lines, const struct ps__table *table, int folds);

/* True if a row is a NUMA node: it is named in its parent's label and has no line of its own.
 * With PS__LAYOUT_ALIKE a NUMA node of the first row has a line, too. */
static inline bool ps__lines_is_beside(const struct ps__table *table, size_t row)
{
	return table->rows[row].component->type == PS_COMPONENT_NUMA;
}

static inline struct ps__line *ps__lines_add(struct ps__lines *lines, size_t row, int depth)
{
	struct ps__line *line = &lines->lines[lines->count++];

	*line = (struct ps__line){.row = row, .top = row, .depth = depth};
	return line;
}

#endif

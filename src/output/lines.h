/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rows of a table stand in which line of the printed tree. A chain of components with the
 * same counts is one line. On a big machine hardware threads with like counts share a line. The
 * first row, the sum of all, is the last line: there it is seen last. In a tree without counts,
 * components that are alike share a line, and the first row is the first line.
 */
#ifndef PS_OUTPUT_LINES_H
#define PS_OUTPUT_LINES_H

#include "output/table.h"

enum ps__layout {
	PS__LAYOUT_BARE,  /* a line for each row, the first row first */
	PS__LAYOUT_ALIKE, /* the same with chains; like rows share a line if there are many */
	PS__LAYOUT_EACH,  /* a line for each row, the first row last */
	PS__LAYOUT_LIST,  /* no chains; like hardware threads share a line if there are many */
	PS__LAYOUT_TREE,  /* the same with chains; memory is named beside the component above it */
	PS__LAYOUT_TYPES  /* the same of chosen types, which may lack that one: memory has lines */
};

struct ps__line {
	size_t row;   /* whose numbers it shows; of like ones the first */
	size_t top;   /* the outermost row of its chain; row, if it is none */
	size_t alike; /* how many hardware threads, or like rows, share it; 0: it is one row's */
	size_t each;  /* of them, in each of those that share the line above; 0: one row's line */
	bool ends_in_cpus; /* the hardware threads below it stand in this line */
	int depth;
};

struct ps__lines {
	struct ps__line *lines;
	size_t count;
	size_t folded;   /* hardware threads that share a line */
	size_t *end;     /* for each row: behind the last one below it */
	size_t *line_of; /* for each row: the line that it shares, or PS__LINES_NONE */
	size_t *threads; /* room for the rows of hardware threads below one component */
	size_t *kinds;   /* PS__LAYOUT_ALIKE: rows of the same kind are alike with all below them */
	double tolerance; /* by which like counts may differ; below 0: nothing is folded */
	enum ps__layout layout;
};

#define PS__LINES_NONE SIZE_MAX

/* Takes a table whose rows were selected. PS_ENOMEM; to be cleared all the same. */
int ps__lines_create(struct ps__lines *lines, const struct ps__table *table,
                     enum ps__layout layout);
void ps__lines_clear(struct ps__lines *lines);

/* The first row that shares a line, from a row on; PS__LINES_NONE: there are no more. */
size_t ps__lines_next(const struct ps__lines *lines, size_t line, size_t from);

/* The only row below that isn't memory; PS__LINES_NONE if there isn't one alone. */
size_t ps__lines_only_below(const struct ps__lines *lines, const struct ps__table *table,
                            size_t row);

/* lines_fold.c: puts the hardware threads below a row into lines, if that makes at most half as
 * many; false if it doesn't, and nothing has changed. */
bool ps__lines_fold(struct ps__lines *lines, const struct ps__table *table, size_t row, int depth);

/* lines_alike.c: the lines of PS__LAYOUT_ALIKE, of which there are none before, or other ones.
 * folds: from 0 (each row has a line, or is in a chain) to PS__LINES_MOST_FOLDS (all like rows
 * share one). Kinds are found before. */
#define PS__LINES_MOST_FOLDS 9
void ps__lines_find_kinds(struct ps__lines *lines, const struct ps__table *table);
void ps__lines_add_alike(struct ps__lines *lines, const struct ps__table *table, int folds);

/* Memory beside a component has no line below it, but a name in its label. With
 * PS__LAYOUT_ALIKE, the first row's has a line. */
static inline bool ps__lines_is_beside(const struct ps__table *table, size_t row)
{
	return table->rows[row].component->type == PS_COMPONENT_NUMA;
}

/* Adds a line for one row. */
static inline struct ps__line *ps__lines_add(struct ps__lines *lines, size_t row, int depth)
{
	struct ps__line *line = &lines->lines[lines->count++];

	*line = (struct ps__line){.row = row, .top = row, .depth = depth};
	return line;
}

#endif

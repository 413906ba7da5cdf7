/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rows of a table stand in which line of the printed tree. A chain of components with the
 * same counts is one line. On a big machine hardware threads with like counts share a line. The
 * first row, the sum of all, is the last line: there it is seen last.
 */
#ifndef PS_OUTPUT_LINES_H
#define PS_OUTPUT_LINES_H

#include "output/table.h"

enum ps__layout {
	PS__LAYOUT_BARE, /* a line for each row, the first row first */
	PS__LAYOUT_EACH, /* the same, the first row last */
	PS__LAYOUT_LIST, /* no chains; like hardware threads share a line if there are many */
	PS__LAYOUT_TREE  /* the same with chains */
};

struct ps__line {
	size_t row;   /* whose numbers it shows; of like ones the first */
	size_t top;   /* the outermost row of its chain; row, if it is none */
	size_t alike; /* how many hardware threads share it; 0: it is one row's */
	int depth;
};

struct ps__lines {
	struct ps__line *lines;
	size_t count;
	size_t folded;    /* hardware threads that share a line */
	size_t *end;      /* for each row: behind the last one below it */
	size_t *line_of;  /* for each row: the line that it shares, or PS__LINES_NONE */
	size_t *threads;  /* room for the rows of hardware threads below one component */
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

/* lines_fold.c: puts the hardware threads below a row into lines, if that makes at most half as
 * many; false if it doesn't, and nothing has changed. */
bool ps__lines_fold(struct ps__lines *lines, const struct ps__table *table, size_t row, int depth);

/* Adds a line for one row. */
static inline struct ps__line *ps__lines_add(struct ps__lines *lines, size_t row, int depth)
{
	struct ps__line *line = &lines->lines[lines->count++];

	*line = (struct ps__line){.row = row, .top = row, .depth = depth};
	return line;
}

#endif

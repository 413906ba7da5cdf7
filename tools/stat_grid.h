/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in rows and columns, folded to the terminal's width. */
#ifndef PS_TOOLS_STAT_GRID_H
#define PS_TOOLS_STAT_GRID_H

#include <stdbool.h>
#include <stdio.h>

struct stat_grid {
	size_t row_count;
	size_t column_count;
	char **cells;       /* row by row, the headings' first; NULL: empty */
	size_t *widths;     /* of the columns; 0: there is nothing in it */
	bool ends_in_words; /* the last column stands at the left, too */
};

/* -1 if memory is out. */
int stat_grid_create(struct stat_grid *grid, size_t rows, size_t columns);
void stat_grid_destroy(struct stat_grid *grid);

/* The text is copied; in the place of one that was there. */
void stat_grid_set(struct stat_grid *grid, size_t row, size_t column, const char *text);

/*
 * Prints it. The first column is repeated in front of each block of columns that fit into the width (0: all of them). It
 * stands at the left, the others at the right. A column with nothing below its heading is left out.
 */
void stat_grid_print(struct stat_grid *grid, size_t width, FILE *stream);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in rows and columns that fits the width of a terminal: the tree with its counters, and
 * tables of tasks. */
#ifndef PS_OUTPUT_GRID_H
#define PS_OUTPUT_GRID_H

#include "output/buffer.h"

enum ps__style {
	PS__STYLE_PLAIN,
	PS__STYLE_HEADING,
	PS__STYLE_FAINT,   /* branches, zeros, explanations */
	PS__STYLE_UNKNOWN, /* values that are unknown */
	PS__STYLE_ESTIMATE
};

/* Add the terminal's escape sequences for a style. */
void ps__style_begin(struct ps__buffer *buffer, enum ps__style style);
void ps__style_end(struct ps__buffer *buffer, enum ps__style style);

struct ps__grid_cell {
	size_t offset; /* in the grid's text */
	size_t bytes;
	size_t columns; /* width on the screen, without escape sequences */
	size_t mark;    /* number of these columns that follow the digits: "u" or " u" */
	enum ps__style style;
};

struct ps__grid_column {
	size_t width;     /* 0: the column has only a heading, and isn't shown */
	size_t mark;      /* width of the longest mark; aligns the digits */
	bool is_left_out; /* the screen is too narrow for it */
};

struct ps__grid {
	size_t row_count;
	size_t column_count;
	struct ps__grid_cell *cells; /* row by row, the headings first */
	struct ps__grid_column *columns;
	struct ps__buffer text; /* the text of all cells */
	struct ps__buffer cell; /* the text of the cell that is set next */
	size_t first_derived;   /* index of the first column of derived values */
	size_t kept_derived;    /* number of derived columns that are left out last */
	bool ends_in_words;     /* the last column is left-aligned, as the first one is */
	bool has_colour;
};

/* Returns PS_OK or PS_ENOMEM. The caller clears the grid, also after a failure. */
int ps__grid_create(struct ps__grid *grid, size_t rows, size_t columns);
void ps__grid_clear(struct ps__grid *grid);

/* Move grid->cell into a cell, and empty it. The cells of row 0 have the style of headings. A
 * number's style follows from its text, such as "0", "n/s" or "~42". */
void ps__grid_set(struct ps__grid *grid, size_t row, size_t column);
void ps__grid_set_number(struct ps__grid *grid, size_t row, size_t column, size_t mark);
/* Uses only the members columns, mark and style of `about`. columns: 0 stands for the columns of
 * the text, which then has no escape sequences. */
void ps__grid_set_as(struct ps__grid *grid, size_t row, size_t column, struct ps__grid_cell about);

/* Adds the grid. If it is wider than `width` (0: no limit), leaves out columns, from the right. The
 * first column of numbers always stays, and kept_derived columns are left out last. The words at
 * the end are left out first, but only if all rows with words have the same words. */
void ps__grid_add(struct ps__grid *grid, struct ps__buffer *buffer, size_t width);

/* Adds a line such as "Attribution of all: exact" if the column of words was left out. */
void ps__grid_add_only_words(const struct ps__grid *grid, struct ps__buffer *buffer);

/* Adds a line with the columns that were left out, and the remedy: "Not shown, as the width is 80:
 * cycles, IPC (...)". A long list is shortened: "CPU 3, CPU 4, CPU 5 and 506 more, to CPU 511". If
 * the table is still wider than the screen, a line before it tells the table's width. */
void ps__grid_add_left_out(const struct ps__grid *grid, struct ps__buffer *buffer, size_t width,
                           const char *remedy);

#endif

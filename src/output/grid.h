/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in rows and columns, in the width of a terminal: the tree with its counters, and tables of
 * tasks. */
#ifndef PS_OUTPUT_GRID_H
#define PS_OUTPUT_GRID_H

#include "output/buffer.h"

enum ps__style {
	PS__STYLE_PLAIN,
	PS__STYLE_HEADING,
	PS__STYLE_FAINT,   /* branches, zeros, explanations */
	PS__STYLE_UNKNOWN, /* what isn't known */
	PS__STYLE_ESTIMATE
};

/* The style of a cell's text, such as "0", "n/s" or "~42". */
enum ps__style ps__style_of_number(const char *cell);

/* Escape sequences of a terminal. */
void ps__style_begin(struct ps__buffer *buffer, enum ps__style style);
void ps__style_end(struct ps__buffer *buffer, enum ps__style style);

struct ps__grid_cell {
	size_t offset; /* in the grid's text */
	size_t bytes;
	size_t columns; /* of the screen; the style takes none */
	size_t mark;    /* how many of them stand behind the digits: "u" or " u" */
	enum ps__style style;
};

struct ps__grid_column {
	size_t width;     /* 0: nothing stands below its heading; it isn't shown */
	size_t mark;      /* room for the longest mark, so that digits stand in line */
	bool is_left_out; /* there is no room for it */
};

struct ps__grid {
	size_t row_count;
	size_t column_count;
	struct ps__grid_cell *cells; /* row by row, the headings first */
	struct ps__grid_column *columns;
	struct ps__buffer text; /* of all cells */
	size_t first_derived;   /* columns of derived values begin here */
	size_t kept_derived;    /* so many of them stay until one count alone is left */
	bool ends_in_words;     /* the last column stands at the left, as the first one does */
	bool has_colour;
};

/* PS_ENOMEM; to be cleared all the same. */
int ps__grid_create(struct ps__grid *grid, size_t rows, size_t columns);
void ps__grid_clear(struct ps__grid *grid);

/* Copies the text; of about only columns, mark and style are read. */
void ps__grid_set(struct ps__grid *grid, size_t row, size_t column, const struct ps__buffer *text,
                  struct ps__grid_cell about);

/* Columns at the right end that have no room in the width are left out (0: none); of the numbers
 * one is always shown, and the derived values that are kept go last. Words at the end go first if
 * they are the same in all rows that have any; else they stay. */
void ps__grid_add(struct ps__grid *grid, struct ps__buffer *buffer, size_t width);

/* "Attribution of all: exact": the words, if they were left out. */
void ps__grid_add_only_words(const struct ps__grid *grid, struct ps__buffer *buffer);

/* "Not shown, as the width is 80: cycles, IPC (...)": the numbers that were left out, and what can
 * be done. Many are not all named: "CPU 3, CPU 4, CPU 5 and 506 more, to CPU 511". Before them the
 * width that the table takes if the screen is narrower. */
void ps__grid_add_left_out(const struct ps__grid *grid, struct ps__buffer *buffer, size_t width,
                           const char *remedy);

#endif

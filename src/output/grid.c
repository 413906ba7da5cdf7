/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out cells: each column is as wide as its widest cell, and the grid has as many columns as
 * fit on the screen. */
#include "output/grid.h"

#include "base/error.h"
#include "base/os.h"
#include "base/printable.h"

#include <string.h>

/* The terminal's escape sequences for the styles. Every terminal has eight colours; those used here
 * are readable on both black and white. */
static const char *const sequences[] = {
    [PS__STYLE_PLAIN] = "",
    [PS__STYLE_HEADING] = "\033[1m",
    [PS__STYLE_FAINT] = "\033[2m",
    [PS__STYLE_UNKNOWN] = "\033[31m",
    [PS__STYLE_ESTIMATE] = "\033[36m",
};

void ps__style_begin(struct ps__buffer *buffer, enum ps__style style)
{
	ps__buffer_add(buffer, "%s", sequences[style]);
}

void ps__style_end(struct ps__buffer *buffer, enum ps__style style)
{
	if (style != PS__STYLE_PLAIN)
		ps__buffer_add(buffer, "\033[0m");
}

int ps__grid_create(struct ps__grid *grid, size_t rows, size_t columns)
{
	*grid = (struct ps__grid){.row_count = rows, .column_count = columns};
	grid->cells = ps__os_calloc(rows * columns, sizeof *grid->cells);
	grid->columns = ps__os_calloc(columns, sizeof *grid->columns);
	return grid->cells && grid->columns ? PS_OK : ps__fail_memory("the printed text");
}

void ps__grid_clear(struct ps__grid *grid)
{
	ps__os_free(grid->cells);
	ps__os_free(grid->columns);
	ps__buffer_clear(&grid->text);
	ps__buffer_clear(&grid->cell);
}

static struct ps__grid_cell *grid_cell(const struct ps__grid *grid, size_t row, size_t column)
{
	return &grid->cells[row * grid->column_count + column];
}

void ps__grid_set_as(struct ps__grid *grid, size_t row, size_t column, struct ps__grid_cell about)
{
	const char *text = ps__buffer_text(&grid->cell);

	if (!about.columns)
		about.columns = ps__printable_columns(text, grid->cell.length, PS__CHARSET_UTF8);
	if (row == 0)
		about.style = PS__STYLE_HEADING;
	about.offset = grid->text.length;
	ps__buffer_add(&grid->text, "%s", text);
	about.bytes = grid->text.length - about.offset;
	grid->text.failed |= grid->cell.failed;
	ps__buffer_restart(&grid->cell);
	*grid_cell(grid, row, column) = about;
}

void ps__grid_set(struct ps__grid *grid, size_t row, size_t column)
{
	ps__grid_set_as(grid, row, column, (struct ps__grid_cell){0});
}

static enum ps__style grid_style_of_number(const char *cell)
{
	if (strcmp(cell, "0") == 0)
		return PS__STYLE_FAINT;
	if (*cell == 'n')
		return PS__STYLE_UNKNOWN;
	return *cell == '~' ? PS__STYLE_ESTIMATE : PS__STYLE_PLAIN;
}

void ps__grid_set_number(struct ps__grid *grid, size_t row, size_t column, size_t mark)
{
	enum ps__style style = grid_style_of_number(ps__buffer_text(&grid->cell));

	ps__grid_set_as(grid, row, column, (struct ps__grid_cell){.mark = mark, .style = style});
}

/* Sets the column's width to that of its heading and its widest cell. */
static void grid_measure(struct ps__grid *grid, size_t column)
{
	struct ps__grid_column *about = &grid->columns[column];
	size_t width = grid_cell(grid, 0, column)->columns;
	bool is_used = false;

	for (size_t row = 1; row < grid->row_count; row++) {
		const struct ps__grid_cell *cell = grid_cell(grid, row, column);
		is_used |= cell->columns > 0;
		width = cell->columns > width ? cell->columns : width;
		about->mark = cell->mark > about->mark ? cell->mark : about->mark;
	}
	about->width = is_used ? width + about->mark : 0;
}

static void grid_add_text(const struct ps__grid *grid, struct ps__buffer *buffer,
                          const struct ps__grid_cell *cell)
{
	bool has_style = grid->has_colour && cell->bytes;

	if (has_style)
		ps__style_begin(buffer, cell->style);
	if (cell->bytes)
		ps__buffer_add(buffer, "%.*s", (int)cell->bytes,
		               ps__buffer_text(&grid->text) + cell->offset);
	if (has_style)
		ps__style_end(buffer, cell->style);
}

static void grid_add_cell(const struct ps__grid *grid, struct ps__buffer *buffer, size_t row,
                          size_t column)
{
	const struct ps__grid_cell *cell = grid_cell(grid, row, column);
	const struct ps__grid_column *about = &grid->columns[column];
	size_t used = cell->columns + about->mark - cell->mark;
	bool is_left = grid->ends_in_words && column + 1 == grid->column_count;
	size_t pad = !is_left && about->width > used ? about->width - used : 0;

	if (!about->width || about->is_left_out)
		return;
	ps__buffer_add(buffer, "  %*s", (int)pad, "");
	grid_add_text(grid, buffer, cell);
	ps__buffer_add(buffer, "%*s", (int)(about->mark - cell->mark), "");
}

static void grid_add_row(const struct ps__grid *grid, struct ps__buffer *buffer, size_t row)
{
	const struct ps__grid_cell *label = grid_cell(grid, row, 0);

	grid_add_text(grid, buffer, label);
	ps__buffer_add(buffer, "%*s", (int)(grid->columns[0].width - label->columns), "");
	for (size_t column = 1; column < grid->column_count; column++)
		grid_add_cell(grid, buffer, row, column);
	ps__buffer_trim(buffer);
	ps__buffer_add(buffer, "\n");
}

static size_t grid_width(const struct ps__grid *grid)
{
	size_t width = grid->columns[0].width;

	for (size_t column = 1; column < grid->column_count; column++) {
		if (grid->columns[column].width && !grid->columns[column].is_left_out)
			width += 2 + grid->columns[column].width;
	}
	return width;
}

/* Returns a cell with the words, if all rows that have words have the same ones; NULL if they
 * differ or there are none. */
static const struct ps__grid_cell *grid_only_words(const struct ps__grid *grid, size_t column)
{
	const char *text = ps__buffer_text(&grid->text);
	const struct ps__grid_cell *only = NULL;

	for (size_t row = 1; row < grid->row_count; row++) {
		const struct ps__grid_cell *cell = grid_cell(grid, row, column);
		if (!cell->bytes)
			continue;
		if (only && (cell->bytes != only->bytes ||
		             memcmp(text + cell->offset, text + only->offset, cell->bytes) != 0))
			return NULL;
		only = cell;
	}
	return only;
}

/* Leaves out columns from last down to first, until the grid fits. */
static void grid_leave_out(struct ps__grid *grid, size_t last, size_t first, size_t width)
{
	for (size_t column = last; column >= first && grid_width(grid) > width; column--)
		grid->columns[column].is_left_out = true;
}

static void grid_fit(struct ps__grid *grid, size_t width)
{
	size_t last = grid->column_count - 1;

	if (grid->ends_in_words && grid_width(grid) > width && grid_only_words(grid, last))
		grid->columns[last].is_left_out = true;
	if (grid->kept_derived) {
		grid_leave_out(grid, last - grid->ends_in_words,
		               grid->first_derived + grid->kept_derived, width);
		grid_leave_out(grid, grid->first_derived - 1, 2, width);
	}
	grid_leave_out(grid, last - grid->ends_in_words, 2, width);
}

void ps__grid_add(struct ps__grid *grid, struct ps__buffer *buffer, size_t width)
{
	buffer->failed |= grid->text.failed;
	if (buffer->failed)
		return;
	for (size_t column = 0; column < grid->column_count; column++)
		grid_measure(grid, column);
	if (width)
		grid_fit(grid, width);
	for (size_t row = 0; row < grid->row_count; row++)
		grid_add_row(grid, buffer, row);
}

static void grid_add_plain(const struct ps__grid *grid, struct ps__buffer *buffer,
                           const struct ps__grid_cell *cell)
{
	ps__buffer_add(buffer, "%.*s", (int)cell->bytes,
	               ps__buffer_text(&grid->text) + cell->offset);
}

void ps__grid_add_only_words(const struct ps__grid *grid, struct ps__buffer *buffer)
{
	size_t last = grid->column_count - 1;

	if (!grid->ends_in_words || !grid->columns[last].is_left_out)
		return;
	grid_add_plain(grid, buffer, grid_cell(grid, 0, last));
	ps__buffer_add(buffer, " of all: ");
	grid_add_plain(grid, buffer, grid_only_words(grid, last));
	ps__buffer_add(buffer, "\n");
}

static bool grid_is_left_out(const struct ps__grid *grid, size_t column)
{
	return grid->columns[column].is_left_out && grid->columns[column].width;
}

#define MOST_NAMES 8
#define SOME_NAMES 3 /* if there are more than MOST_NAMES */

/* If even the last number that remains doesn't fit, tells the width that the table takes. */
static void grid_add_least_width(const struct ps__grid *grid, struct ps__buffer *buffer,
                                 size_t width)
{
	if (width && grid_width(grid) > width)
		ps__buffer_add(buffer, "The width is %zu: this table takes %zu at least.\n", width,
		               grid_width(grid));
}

void ps__grid_add_left_out(const struct ps__grid *grid, struct ps__buffer *buffer, size_t width,
                           const char *remedy)
{
	size_t end = grid->column_count - grid->ends_in_words, count = 0, named = 0, last = 0;

	for (size_t column = 1; column < end; column++) {
		if (grid_is_left_out(grid, column)) {
			last = column;
			count++;
		}
	}
	grid_add_least_width(grid, buffer, width);
	if (count == 0)
		return;
	ps__buffer_add(buffer, "Not shown, as the width is %zu: ", width);
	for (size_t column = 1; column < end && (count <= MOST_NAMES || named < SOME_NAMES);
	     column++) {
		if (!grid_is_left_out(grid, column))
			continue;
		ps__buffer_add(buffer, "%s", named++ ? ", " : "");
		grid_add_plain(grid, buffer, grid_cell(grid, 0, column));
	}
	if (named < count) {
		ps__buffer_add(buffer, " and %zu more, to ", count - named);
		grid_add_plain(grid, buffer, grid_cell(grid, 0, last));
	}
	ps__buffer_add(buffer, "%s\n", remedy);
}

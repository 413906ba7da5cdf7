/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of perfsage stat that the library doesn't print: of sums over runs and intervals. */
#include "tools/stat_grid.h"

#include "tools/paragraph.h"

#include <stdlib.h>
#include <string.h>

int stat_grid_create(struct stat_grid *grid, size_t rows, size_t columns)
{
	*grid = (struct stat_grid){
	    .row_count = rows, .column_count = columns, .cells = calloc(rows * columns, sizeof(char *))};
	grid->widths = calloc(columns, sizeof *grid->widths);
	return grid->cells && grid->widths ? 0 : -1;
}

void stat_grid_destroy(struct stat_grid *grid)
{
	for (size_t cell = 0; grid->cells && cell < grid->row_count * grid->column_count; cell++)
		free(grid->cells[cell]);
	free(grid->cells);
	free(grid->widths);
}

void stat_grid_set(struct stat_grid *grid, size_t row, size_t column, const char *text)
{
	char **cell = &grid->cells[row * grid->column_count + column];
	struct ps__buffer shown = {0};

	tool_put(&shown, text);
	free(*cell);
	*cell = strdup(ps__buffer_text(&shown));
	ps__buffer_clear(&shown);
}

static const char *text_at(const struct stat_grid *grid, size_t row, size_t column)
{
	const char *text = grid->cells[row * grid->column_count + column];

	return text ? text : "";
}

static size_t measure(const struct stat_grid *grid, size_t column)
{
	const char *heading = text_at(grid, 0, column);
	size_t width = tool_columns(heading, strlen(heading));
	bool is_used = false;

	for (size_t row = 1; row < grid->row_count; row++) {
		const char *text = text_at(grid, row, column);
		size_t columns = tool_columns(text, strlen(text));
		is_used |= columns > 0;
		width = columns > width ? columns : width;
	}
	return is_used ? width : 0;
}

/* Blanks are kept back until something follows, so that no line ends in them. */
static void put(FILE *stream, size_t *blanks, const char *text)
{
	if (!*text)
		return;
	fprintf(stream, "%*s%s", (int)*blanks, "", text);
	*blanks = 0;
}

static void print_row(const struct stat_grid *grid, size_t row, size_t first, size_t end, FILE *stream)
{
	size_t blanks = 0;

	for (size_t column = 0; column < end; column = column ? column + 1 : first) {
		const char *text = text_at(grid, row, column);
		size_t width = grid->widths[column];
		if (!width)
			continue;
		size_t pad = width - tool_columns(text, strlen(text));
		bool is_last = column + 1 == grid->column_count;
		bool is_left = column == 0 || (is_last && grid->ends_in_words);
		blanks += (column ? 2 : 0) + (is_left ? 0 : pad);
		put(stream, &blanks, text);
		blanks += is_left ? pad : 0;
	}
	fputc('\n', stream);
}

/* One column fits at least. */
static size_t end_of_block(const struct stat_grid *grid, size_t first, size_t width)
{
	size_t used = grid->widths[0];
	bool has_column = false;

	for (size_t column = first; column < grid->column_count; column++) {
		size_t own = grid->widths[column];
		if (!own)
			continue;
		used += 2 + own;
		if (width && used > width && has_column)
			return column;
		has_column = true;
	}
	return grid->column_count;
}

void stat_grid_print(struct stat_grid *grid, size_t width, FILE *stream)
{
	size_t end;

	for (size_t column = 0; column < grid->column_count; column++)
		grid->widths[column] = measure(grid, column);
	for (size_t first = 1; first < grid->column_count; first = end) {
		end = end_of_block(grid, first, width);
		if (first > 1)
			fputc('\n', stream);
		for (size_t row = 0; row < grid->row_count; row++)
			print_row(grid, row, first, end, stream);
	}
}

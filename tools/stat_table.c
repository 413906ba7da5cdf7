/* SPDX-License-Identifier: BSD-3-Clause */
/* Tallies as a table, a line for each component. */
#include "number.h"
#include "stat_tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_BYTES (2 * TOOL_NUMBER_BYTES)

/* What a table is made of. */
struct table {
	const struct stat_tally *tally;
	const struct stat_output *output;
	bool shows_means;
	unsigned types; /* 0: all */
	size_t label_width;
	size_t *widths; /* of the events' columns */
};

static const struct stat_cell *cell_at(const struct table *table, size_t row, size_t event)
{
	return &table->tally->cells[row * table->tally->event_count + event];
}

/* The level of the outermost caches: the first that a walk from the machine down meets. */
static int last_level(const struct stat_tally *tally)
{
	for (size_t row = 0; row < tally->row_count; row++) {
		if (tally->rows[row].cache_level)
			return tally->rows[row].cache_level;
	}
	return 0;
}

bool stat_table_has(const struct stat_tally *tally, const struct stat_output *output, size_t row)
{
	const struct stat_tally_row *what = &tally->rows[row];
	unsigned types = stat_output_types(output);
	int level = output->options->cache_level;
	bool is_counted = false;

	for (size_t event = 0; event < tally->event_count; event++)
		is_counted |= tally->cells[row * tally->event_count + event].is_seen;
	if (!is_counted)
		return false;
	if (row == 0 || types == 0)
		return true;
	if (level == PS_CACHE_LAST_LEVEL)
		level = last_level(tally);
	return (types & what->type_bit) && (level <= 0 || what->cache_level == level);
}

static void format_number(const struct table *table, char *out, double value, const char *event)
{
	if (table->output->options->is_raw)
		snprintf(out, TOOL_NUMBER_BYTES, "%.0f", value);
	else
		tool_number_si(out, value, event);
}

static void format_cell(const struct table *table, char *out, size_t row, size_t event)
{
	const struct stat_cell *cell = cell_at(table, row, event);
	const char *name = ps_eventset_event_name(table->tally->model, event);
	char number[TOOL_NUMBER_BYTES];

	*out = '\0';
	if (!cell->is_seen)
		return;
	if (cell->status == PS_STATUS_NOT_SUPPORTED || cell->samples == 0) {
		strcpy(out, cell->status == PS_STATUS_NEVER_SCHEDULED ? "never" : "n/s");
		return;
	}
	format_number(table, number, table->shows_means ? cell->mean : cell->sum, name);
	double share = cell->mean != 0 ? 100 * stat_cell_deviation(cell) / fabs(cell->mean) : 0;
	const char *sign = cell->status == PS_STATUS_COUNTED ? "" : "~";
	if (table->shows_means)
		snprintf(out, CELL_BYTES, "%s%s +-%4.1f%%", sign, number, share);
	else
		snprintf(out, CELL_BYTES, "%s%s", sign, number);
}

static size_t longer(size_t width, size_t length)
{
	return length > width ? length : width;
}

static size_t indent_of(const struct table *table, size_t row)
{
	return table->types ? 0 : 2 * (size_t)table->tally->rows[row].depth;
}

static void measure(struct table *table)
{
	char text[CELL_BYTES];

	table->label_width = strlen("Component");
	for (size_t event = 0; event < table->tally->event_count; event++)
		table->widths[event] = strlen(ps_eventset_event_name(table->tally->model, event));
	for (size_t row = 0; row < table->tally->row_count; row++) {
		if (!stat_table_has(table->tally, table->output, row))
			continue;
		table->label_width =
		    longer(table->label_width, indent_of(table, row) + strlen(table->tally->rows[row].name));
		for (size_t event = 0; event < table->tally->event_count; event++) {
			format_cell(table, text, row, event);
			table->widths[event] = longer(table->widths[event], strlen(text));
		}
	}
}

static void print_row(const struct table *table, size_t row, FILE *stream)
{
	char text[CELL_BYTES];
	size_t indent = indent_of(table, row);

	fprintf(stream, "%*s%-*s", (int)indent, "", (int)(table->label_width - indent), table->tally->rows[row].name);
	for (size_t event = 0; event < table->tally->event_count; event++) {
		format_cell(table, text, row, event);
		fprintf(stream, "  %*s", (int)table->widths[event], text);
	}
	fputc('\n', stream);
}

static void show_table(const struct stat_tally *tally, const struct stat_output *output, bool shows_means)
{
	struct table table = {.tally = tally,
	                      .output = output,
	                      .shows_means = shows_means,
	                      .types = stat_output_types(output),
	                      .widths = calloc(tally->event_count + 1, sizeof *table.widths)};

	if (!table.widths)
		return;
	measure(&table);
	fprintf(output->stream, "%-*s", (int)table.label_width, "Component");
	for (size_t event = 0; event < tally->event_count; event++)
		fprintf(output->stream, "  %*s", (int)table.widths[event],
		        ps_eventset_event_name(tally->model, event));
	fputc('\n', output->stream);
	for (size_t row = 0; row < tally->row_count; row++) {
		if (stat_table_has(tally, output, row))
			print_row(&table, row, output->stream);
	}
	fputc('\n', output->stream);
	free(table.widths);
}

void stat_tally_show_sums(const struct stat_tally *tally, const struct stat_output *output)
{
	fprintf(output->stream, "All intervals together\n\n");
	show_table(tally, output, false);
}

void stat_tally_show_means(const struct stat_tally *tally, const struct stat_output *output)
{
	char mean[TOOL_NUMBER_BYTES];
	double share = tally->elapsed.mean > 0 ? 100 * stat_cell_deviation(&tally->elapsed) / tally->elapsed.mean : 0;

	fprintf(output->stream, "Means of %zu runs, with the standard deviation of one run\n\n",
	        tally->elapsed.samples);
	show_table(tally, output, true);
	tool_number_duration(mean, tally->elapsed.mean);
	fprintf(output->stream, "elapsed     %s +-%4.1f%%\n", mean, share);
}

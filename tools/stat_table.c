/* SPDX-License-Identifier: BSD-3-Clause */
/* Tallies as a table, a line for each component: counts, metrics of their sums, and how they are known. */
#include "tools/complaint.h"
#include "tools/stat_grid.h"
#include "tools/stat_tally.h"
#include "tools/stat_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a table is made of. */
struct table {
	const struct stat_tally *tally;
	const struct stat_output *output;
	bool shows_means;
	size_t *shown; /* rows of the tally */
	size_t shown_count;
	struct ps_value *known; /* what the legend explains */
	size_t known_count;
	struct stat_grid grid;
};

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
		is_counted |= stat_tally_cell(tally, row, event)->is_seen;
	if (!is_counted)
		return false;
	if (row == 0 || types == 0)
		return true;
	if (level == PS_CACHE_LAST_LEVEL)
		level = last_level(tally);
	return (types & what->type_bit) && (level <= 0 || what->cache_level == level);
}

static void set_count(struct table *table, size_t line, size_t event)
{
	size_t row = table->shown[line];
	const struct stat_cell *cell = stat_tally_cell(table->tally, row, event);
	const struct ps_value *total = stat_tally_total(table->tally, row, event);
	bool is_raw = table->output->options->is_raw;
	struct ps__buffer text = {0};

	if (!cell->is_seen)
		return;
	if (table->shows_means)
		stat_value_add_mean(&text, table->tally->model, event, total, cell->mean, is_raw);
	else
		stat_value_add(&text, table->tally->model, event, total, is_raw);
	if (table->shows_means && stat_value_is_known(total->status) && cell->samples > 1)
		ps__buffer_add(&text, " +-%4.1f%%",
		               cell->mean != 0 ? 100 * stat_cell_deviation(cell) / fabs(cell->mean) : 0);
	stat_grid_set(&table->grid, line + 1, event + 1, ps__buffer_text(&text));
	ps__buffer_clear(&text);
}

/* In a tree it is said where the parts are: in no line that has one with the same count below it. */
static bool is_lowest(const struct table *table, size_t line, size_t event)
{
	const struct stat_tally_row *rows = table->tally->rows;
	size_t row = table->shown[line];
	unsigned numa = PS_TYPE_BIT(PS_COMPONENT_NUMA);

	if (!stat_tally_cell(table->tally, row, event)->is_seen)
		return false;
	if (stat_output_types(table->output))
		return true;
	if (row > 0 && rows[row].type_bit == numa)
		return false;
	for (size_t below = line + 1; below < table->shown_count && rows[table->shown[below]].depth > rows[row].depth;
	     below++) {
		if (rows[table->shown[below]].type_bit != numa &&
		    stat_tally_cell(table->tally, table->shown[below], event)->is_seen)
			return false;
	}
	return true;
}

static void set_known(struct table *table, size_t line)
{
	struct ps_value *first = table->known + table->known_count;
	size_t count = 0, length = 0;
	char *text = NULL;

	for (size_t event = 0; event < table->tally->event_count; event++) {
		if (is_lowest(table, line, event))
			first[count++] = *stat_tally_total(table->tally, table->shown[line], event);
	}
	table->known_count += count;
	FILE *stream = open_memstream(&text, &length);
	if (!stream)
		return;
	ps_print_known(first, count, stream);
	if (fclose(stream) == 0)
		stat_grid_set(&table->grid, line + 1, table->grid.column_count - 1, text);
	free(text);
}

static void set_line(struct table *table, size_t line)
{
	const struct stat_tally *tally = table->tally;
	const struct stat_tally_row *row = &tally->rows[table->shown[line]];
	int indent = stat_output_types(table->output) ? 0 : 2 * row->depth;
	struct ps__buffer text = {0};
	struct ps_metric_value metric;

	ps__buffer_add(&text, "%*s%s", indent, "", row->name);
	stat_grid_set(&table->grid, line + 1, 0, ps__buffer_text(&text));
	for (size_t event = 0; event < tally->event_count; event++)
		set_count(table, line, event);
	for (size_t index = 0; index < tally->metrics.count; index++) {
		const char *name = tally->metrics.names[index];
		if (!stat_tally_metric(tally, table->shown[line], name, &metric))
			continue;
		ps__buffer_restart(&text);
		stat_metric_add(&text, name, &metric, table->output->options->is_raw);
		stat_grid_set(&table->grid, line + 1, tally->event_count + 1 + index, ps__buffer_text(&text));
	}
	ps__buffer_clear(&text);
	set_known(table, line);
}

static void set_headings(struct table *table)
{
	const struct stat_tally *tally = table->tally;
	struct ps__buffer text = {0};

	stat_grid_set(&table->grid, 0, 0, "Component");
	for (size_t event = 0; event < tally->event_count; event++) {
		ps__buffer_restart(&text);
		stat_value_add_heading(&text, tally->model, event, table->output->options->is_raw);
		stat_grid_set(&table->grid, 0, event + 1, ps__buffer_text(&text));
	}
	ps__buffer_clear(&text);
	for (size_t index = 0; index < tally->metrics.count; index++)
		stat_grid_set(&table->grid, 0, tally->event_count + 1 + index, tally->metrics.names[index]);
	stat_grid_set(&table->grid, 0, table->grid.column_count - 1, "How it is known");
}

static int create(struct table *table)
{
	const struct stat_tally *tally = table->tally;

	table->shown = calloc(tally->row_count, sizeof *table->shown);
	table->known = calloc(tally->row_count * tally->event_count, sizeof *table->known);
	for (size_t row = 0; table->shown && row < tally->row_count; row++) {
		if (stat_table_has(tally, table->output, row))
			table->shown[table->shown_count++] = row;
	}
	int result =
	    stat_grid_create(&table->grid, table->shown_count + 1, tally->event_count + tally->metrics.count + 2);
	table->grid.ends_in_words = true;
	return table->shown && table->known ? result : -1;
}

void stat_table_show(const struct stat_tally *tally, const struct stat_output *output, bool shows_means)
{
	struct table table = {.tally = tally, .output = output, .shows_means = shows_means};

	if (create(&table) == 0) {
		set_headings(&table);
		for (size_t line = 0; line < table.shown_count; line++)
			set_line(&table, line);
		stat_grid_print(&table.grid, output->screen.width, output->stream);
		fputc('\n', output->stream);
		ps_print_legend(table.known, table.known_count, output->screen.width, output->stream);
		fputc('\n', output->stream);
	} else {
		tool_complain("out of memory");
	}
	stat_grid_destroy(&table.grid);
	free(table.shown);
	free(table.known);
}

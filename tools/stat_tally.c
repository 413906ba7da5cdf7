/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of all intervals or runs, added up cell by cell as the library adds up parts. Each run has a topology of its
 * own, so rows and columns are matched by their place: all are of one machine and of one set of events.
 */
#include "tools/stat_tally.h"

#include "output/known.h"
#include "tools/complaint.h"
#include "topology/attrmap.h"

#include <stdlib.h>

int stat_tally_create(struct stat_tally *tally, const struct stat_output *output, const struct stat_count *count)
{
	*tally = (struct stat_tally){.is_for_people = output->options->format == PS_FORMAT_TEXT};
	return stat_quality_create(&tally->quality, count->model);
}

void stat_tally_destroy(struct stat_tally *tally)
{
	ps__table_clear(&tally->table);
	free(tally->spreads);
	stat_metrics_clear(&tally->metrics);
	stat_quality_destroy(&tally->quality);
	ps_topology_destroy(tally->topology);
}

static int make_table(const struct stat_tally *tally, struct ps_component *root, struct ps__table *out)
{
	const char *const *names = (const char *const *)tally->metrics.names;

	if (ps__table_create(out, root, names, tally->metrics.count) == PS_OK)
		return 0;
	return tool_complain("%s", ps_error_detail()), -1;
}

/* The rows and columns are those of the first table that has any: one from before the first reading has no events. */
static int begin_table(struct stat_tally *tally, struct ps_component *root)
{
	ps__table_clear(&tally->table);
	free(tally->spreads);
	stat_metrics_clear(&tally->metrics);
	stat_metrics_find(&tally->metrics, root, tally->is_for_people, true);
	if (make_table(tally, root, &tally->table) < 0)
		return -1;
	size_t cells = tally->table.row_count * tally->table.column_count;
	for (size_t cell = 0; cell < cells; cell++)
		tally->table.cells[cell] = (struct ps__cell){.parts = 0};
	for (size_t metric = 0; metric < tally->table.metric_count; metric++)
		tally->table.metrics[metric].has_whole = false;
	tally->table.is_sum = true;
	tally->spreads = calloc(tally->table.row_count * tally->table.event_count + 1, sizeof *tally->spreads);
	return tally->spreads ? 0 : (tool_complain("out of memory"), -1);
}

/* An unknown value has a part in the sum's status, and no sample. */
static void add_sample(struct stat_tally *tally, const struct ps__cell *cell, size_t row, size_t event)
{
	struct ps__spread *spread = &tally->spreads[row * tally->table.event_count + event];

	if (cell->parts == 0)
		ps__spread_add(spread, 0);
	else if (ps__known_has_number(cell->value.status))
		ps__spread_add(spread, (double)cell->value.value);
}

static void add_wholes(struct ps__table *sum, const struct ps__table *one)
{
	for (size_t index = 0; index < sum->metric_count; index++) {
		struct ps__table_metric *metric = &sum->metrics[index];
		size_t parts = metric->has_whole;
		if (one->metrics[index].has_whole)
			ps__value_merge(&metric->whole, &parts, &one->metrics[index].whole);
		metric->has_whole = parts > 0;
	}
}

static void add_table(struct stat_tally *tally, const struct ps__table *one)
{
	struct ps__table *sum = &tally->table;

	for (size_t row = 0; row < sum->row_count; row++) {
		for (size_t column = 0; column < sum->column_count; column++) {
			const struct ps__cell *cell = ps__table_cell(one, row, column);
			struct ps__cell *all = ps__table_cell(sum, row, column);
			if (cell->parts)
				ps__value_merge(&all->value, &all->parts, &cell->value);
			if (column < sum->event_count)
				add_sample(tally, cell, row, column);
		}
	}
	add_wholes(sum, one);
}

int stat_tally_add(struct stat_tally *tally, struct stat_count *count, bool has_ended)
{
	struct ps__table one;

	if (has_ended)
		stat_quality_add_run(&tally->quality, count);
	else
		stat_quality_add_interval(&tally->quality, count);
	if (tally->table.event_count == 0 && begin_table(tally, count->root) < 0)
		return -1;
	if (make_table(tally, count->root, &one) < 0)
		return -1;
	/* Else nothing was counted in it. */
	if (one.row_count == tally->table.row_count && one.column_count == tally->table.column_count)
		add_table(tally, &one);
	ps__table_clear(&one);
	return 0;
}

void stat_tally_keep(struct stat_tally *tally, struct stat_count *count)
{
	if (tally->table.topology != count->topology)
		return;
	tally->topology = count->topology;
	count->topology = NULL;
}

struct ps_value stat_tally_total(const struct stat_tally *tally, size_t row, size_t event)
{
	struct ps_value total = ps__table_cell(&tally->table, row, event)->value;

	ps__value_finish(&total);
	return total;
}

void stat_tally_finish(struct stat_tally *tally, bool is_mean)
{
	struct ps__table *table = &tally->table;

	for (size_t row = 0; row < table->row_count; row++) {
		table->rows[row].counted = false;
		for (size_t column = 0; column < table->column_count; column++) {
			struct ps__cell *cell = ps__table_cell(table, row, column);
			ps__value_finish(&cell->value);
			if (column >= table->event_count)
				continue;
			table->rows[row].counted |= cell->parts > 0;
			cell->spread = is_mean ? &tally->spreads[row * table->event_count + column] : NULL;
		}
	}
	for (size_t metric = 0; metric < table->metric_count; metric++)
		ps__value_finish(&table->metrics[metric].whole);
}

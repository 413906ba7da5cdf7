/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding up readings that are each on a tree of their own, or follow each other on one. */
#include "tools/stat_tally.h"

#include "tools/complaint.h"
#include "tools/stat_value.h"
#include "topology/attrmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int add_row(struct ps_component *component, void *context)
{
	struct stat_tally *tally = context;
	struct stat_tally_row *grown = realloc(tally->rows, (tally->row_count + 1) * sizeof *grown);

	if (!grown)
		return -1;
	tally->rows = grown;
	struct stat_tally_row *row = &grown[tally->row_count++];
	*row = (struct stat_tally_row){.name = strdup(ps_component_name(component)),
	                               .type = ps_component_type_name(ps_component_type(component)),
	                               .id = ps_component_os_id(component),
	                               .depth = ps_component_depth(component),
	                               .type_bit = PS_TYPE_BIT(ps_component_type(component)),
	                               .cache_level = ps_component_cache_level(component)};
	if (row->id < 0)
		row->id = ps_component_logical_id(component);
	return row->name ? 0 : -1;
}

static int allocate(struct stat_tally *tally)
{
	tally->cells = calloc(tally->row_count * tally->event_count, sizeof *tally->cells);
	tally->totals = calloc(tally->row_count * tally->event_count, sizeof *tally->totals);
	return tally->cells && tally->totals ? 0 : -1;
}

int stat_tally_create(struct stat_tally *tally, const struct stat_output *output, const struct stat_count *count)
{
	*tally = (struct stat_tally){.model = count->model, .event_count = ps_eventset_event_count(count->model)};
	if (stat_quality_create(&tally->quality, count->model) < 0)
		return -1;
	stat_metrics_find(&tally->metrics, count->root, output->options->format == PS_FORMAT_TEXT, true);
	if (ps_component_for_each(count->root, add_row, tally) == 0 && allocate(tally) == 0)
		return 0;
	tool_complain("out of memory");
	stat_tally_destroy(tally);
	return -1;
}

void stat_tally_destroy(struct stat_tally *tally)
{
	for (size_t row = 0; row < tally->row_count; row++)
		free(tally->rows[row].name);
	free(tally->rows);
	free(tally->cells);
	free(tally->totals);
	stat_metrics_clear(&tally->metrics);
	stat_quality_destroy(&tally->quality);
}

static void add_sample(struct stat_cell *cell, double value)
{
	double distance = value - cell->mean;

	if (cell->samples == 0 || value < cell->least)
		cell->least = value;
	if (cell->samples == 0 || value > cell->most)
		cell->most = value;
	cell->samples++;
	cell->mean += distance / (double)cell->samples;
	cell->squares += distance * (value - cell->mean);
}

/* An unknown value has a part in the sum's status, and no sample. */
static void add_value(struct stat_cell *cell, struct ps_value *total, const struct ps_value *value)
{
	ps__value_merge(&cell->sum, &cell->parts, value);
	*total = cell->sum;
	ps__value_finish(total);
	cell->is_seen = true;
	if (stat_value_is_known(value->status))
		add_sample(cell, (double)value->value);
}

struct walk {
	struct stat_tally *tally;
	size_t row;
};

static int add_component(struct ps_component *component, void *context)
{
	struct walk *walk = context;
	struct stat_tally *tally = walk->tally;
	size_t first = walk->row * tally->event_count;

	if (walk->row == tally->row_count)
		return 1;
	for (size_t event = 0; event < tally->event_count; event++) {
		struct ps_value value;
		if (ps_component_total(component, ps_eventset_event_name(tally->model, event), &value) == PS_OK)
			add_value(&tally->cells[first + event], &tally->totals[first + event], &value);
		else
			add_sample(&tally->cells[first + event], 0);
	}
	walk->row++;
	return 0;
}

void stat_tally_add(struct stat_tally *tally, struct stat_count *count, bool has_ended)
{
	struct walk walk = {.tally = tally};

	ps_component_for_each(count->root, add_component, &walk);
	if (has_ended)
		stat_quality_add_run(&tally->quality, count);
	else
		stat_quality_add_interval(&tally->quality, count);
}

bool stat_tally_metric(const struct stat_tally *tally, size_t row, const char *metric, struct ps_metric_value *out)
{
	return ps_metric_of_sums(tally->model, metric, stat_tally_total(tally, row, 0), stat_tally_total(tally, 0, 0),
	                         out) == PS_OK &&
	       !isnan(out->value);
}

void stat_tally_add_elapsed(struct stat_tally *tally, double seconds)
{
	add_sample(&tally->elapsed, seconds);
}

double stat_cell_deviation(const struct stat_cell *cell)
{
	return cell->samples < 2 ? (double)NAN : sqrt(cell->squares / (double)(cell->samples - 1));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding up readings that are each on a tree of their own, or follow each other on one. */
#include "stat_tally.h"

#include "complaint.h"

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

int stat_tally_create(struct stat_tally *tally, const struct ps_eventset *model, struct ps_component *root)
{
	*tally = (struct stat_tally){.model = model, .event_count = ps_eventset_event_count(model)};
	if (ps_component_for_each(root, add_row, tally) == 0)
		tally->cells = calloc(tally->row_count * tally->event_count, sizeof *tally->cells);
	if (tally->cells)
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
}

static void add_sample(struct stat_cell *cell, double value)
{
	double distance = value - cell->mean;

	if (cell->samples == 0 || value < cell->least)
		cell->least = value;
	if (cell->samples == 0 || value > cell->most)
		cell->most = value;
	cell->samples++;
	cell->sum += value;
	cell->mean += distance / (double)cell->samples;
	cell->squares += distance * (value - cell->mean);
}

/* What is unknown leaves its mark and no number. */
static void add_value(struct stat_cell *cell, const struct ps_value *value)
{
	if (!cell->is_seen || value->status > cell->status)
		cell->status = value->status;
	if (!cell->is_seen || value->attribution > cell->attribution)
		cell->attribution = value->attribution;
	cell->is_seen = true;
	if (value->status == PS_STATUS_COUNTED || value->status == PS_STATUS_SCALED)
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
	struct stat_cell *cells = tally->cells + walk->row * tally->event_count;

	if (walk->row == tally->row_count)
		return 1;
	for (size_t event = 0; event < tally->event_count; event++) {
		struct ps_value value;
		if (ps_component_total(component, ps_eventset_event_name(tally->model, event), &value) == PS_OK)
			add_value(&cells[event], &value);
		else
			add_sample(&cells[event], 0);
	}
	walk->row++;
	return 0;
}

void stat_tally_add(struct stat_tally *tally, struct ps_component *root)
{
	struct walk walk = {.tally = tally};

	ps_component_for_each(root, add_component, &walk);
}

void stat_tally_add_elapsed(struct stat_tally *tally, double seconds)
{
	add_sample(&tally->elapsed, seconds);
}

double stat_cell_deviation(const struct stat_cell *cell)
{
	return cell->samples < 2 ? 0 : sqrt(cell->squares / (double)(cell->samples - 1));
}

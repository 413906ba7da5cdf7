/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of one path: it shows the path's counts instead of readings. */
#include "base/error.h"
#include "base/os.h"
#include "output/table.h"
#include "region/paths.h"
#include "region/profile.h"
#include "store/attrmap.h"

static int table_path_add_columns(struct ps__table *table, const struct ps_eventset *model)
{
	size_t events = ps_eventset_event_count(model);

	/* The last column has no counts; it serves metrics whose events weren't counted. */
	table->columns = ps__os_calloc(events + 1, sizeof *table->columns);
	if (!table->columns)
		return PS_ENOMEM;
	for (size_t event = 0; event < events; event++)
		table->columns[event] = (struct ps__table_column){
		    .selector = {.find = ps__select_by_name,
		                 .name = ps_eventset_event_name(model, event)},
		    .unit = ps_eventset_event_unit(model, event),
		    .scale = ps_eventset_event_scale(model, event),
		};
	table->columns[events] = (struct ps__table_column){.unit = "", .scale = 1};
	table->event_count = events;
	table->column_count = events + 1;
	table->cells = ps__os_calloc(table->row_count * table->column_count, sizeof *table->cells);
	return table->cells ? PS_OK : PS_ENOMEM;
}

static void table_path_add_own(struct ps__table *table, const size_t *row_of_thread,
                               const struct ps_path *path)
{
	for (const struct ps__part *part = path->parts; part; part = part->next) {
		size_t row = row_of_thread[ps__thread_index(part->thread)];
		for (size_t event = 0; part->threads && event < table->event_count; event++) {
			struct ps__cell *cell = ps__table_cell(table, row, event);
			ps__value_merge(&cell->value, &cell->parts, &part->values[event]);
		}
	}
}

/* Finds the metrics' operands. The whole of a share is the sum of all paths on the whole
 * machine. */
static void table_path_find_metrics(struct ps__table *table, const struct ps_path *path)
{
	const struct ps_paths *paths = path->paths;
	const struct ps_component *machine = paths->profile->root;
	struct ps_value *whole;
	size_t event;

	for (size_t index = 0; index < table->metric_count; index++) {
		struct ps__table_metric *metric = &table->metrics[index];
		for (size_t operand = 0; operand < PS__METRIC_MOST_OPERANDS; operand++)
			metric->operands[operand] = table->event_count;
		if (!ps__metric_choose_events(&metric->ask, paths->profile->model,
		                              metric->operands) ||
		    !ps__metric_is_share(metric->ask.metric))
			continue;
		event = metric->operands[metric->ask.metric->whole];
		whole = &metric->whole;
		metric->has_whole =
		    ps_path_value(paths->root, machine, table->columns[event].selector.name,
		                  PS_SHARE_INCLUSIVE, whole) == PS_OK;
	}
}

static int table_path_build(struct ps__table *table, const struct ps_path *path,
                            enum ps_share share)
{
	size_t *row_of_thread = NULL;
	int code = ps__table_add_rows(table, path->paths->profile->root, &row_of_thread);

	if (code == PS_OK)
		code = table_path_add_columns(table, path->paths->profile->model);
	for (const struct ps_path *below = path; code == PS_OK && below;
	     below = share == PS_SHARE_INCLUSIVE ? ps__path_next_below(path, below) : NULL)
		table_path_add_own(table, row_of_thread, below);
	ps__os_free(row_of_thread);
	if (code != PS_OK)
		return code;
	ps__table_finish(table);
	table_path_find_metrics(table, path);
	return PS_OK;
}

int ps__table_create_of_path(struct ps__table *out, const struct ps_path *path, enum ps_share share,
                             const char *const *metrics, size_t metric_count)
{
	*out = (struct ps__table){.is_sum = true};
	int code = ps__table_find_metrics(out, metrics, metric_count);

	if (code == PS_OK)
		code = table_path_build(out, path, share);
	if (code == PS_OK)
		return PS_OK;
	ps__table_clear(out);
	return code == PS_ENOMEM ? ps__fail_memory("the totals of a path") : code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up the tables of all intervals or runs, cell by cell, as the library adds parts. Each run
 * has its own topology, so rows and columns are matched by index. A run whose rows are other
 * components is left out.
 */
#include "tools/stat_aggregate.h"

#include "base/os.h"
#include "output/known.h"
#include "output/number.h"
#include "output/text.h"
#include "store/attrmap.h"
#include "tools/stat_show.h"
#include "tools/terminal.h"

#include <stdlib.h>
#include <string.h>

int stat_aggregate_create(struct stat_aggregate *aggregate, const struct stat_output *output,
                          const struct stat_count *count)
{
	*aggregate = (struct stat_aggregate){
	    .options = output->options, .is_for_people = output->options->format == PS_FORMAT_TEXT};
	return stat_quality_create(&aggregate->quality, count->model);
}

static void aggregate_clear_table(struct stat_aggregate *aggregate)
{
	ps__table_clear(&aggregate->table);
	aggregate->table = (struct ps__table){.row_count = 0};
	ps__os_free(aggregate->spreads);
	ps__os_free(aggregate->has_unknown);
	aggregate->spreads = NULL;
	aggregate->has_unknown = NULL;
	stat_metrics_clear(&aggregate->metrics);
}

void stat_aggregate_destroy(struct stat_aggregate *aggregate)
{
	aggregate_clear_table(aggregate);
	stat_quality_destroy(&aggregate->quality);
	ps_topology_destroy(aggregate->topology);
}

static int aggregate_create_table(const struct stat_aggregate *aggregate, struct ps_component *root,
                                  struct ps__table *out)
{
	const char *const *names = (const char *const *)aggregate->metrics.names.names;

	if (ps__table_create(out, root, names, aggregate->metrics.names.count) == PS_OK)
		return 0;
	return tool_complain_detail();
}

/* Takes rows and columns from the first table that has events. A table that was made before the
 * first reading has no events. */
static int aggregate_begin_table(struct stat_aggregate *aggregate, struct ps_component *root)
{
	aggregate_clear_table(aggregate);
	if (stat_metrics_find(&aggregate->metrics, aggregate->options, root,
	                      aggregate->is_for_people, true) < 0 ||
	    aggregate_create_table(aggregate, root, &aggregate->table) < 0)
		return -1;
	size_t cells = aggregate->table.row_count * aggregate->table.column_count;
	for (size_t cell = 0; cell < cells; cell++)
		aggregate->table.cells[cell] = (struct ps__cell){.parts = 0};
	for (size_t metric = 0; metric < aggregate->table.metric_count; metric++)
		aggregate->table.metrics[metric].has_whole = false;
	aggregate->table.is_sum = true;
	size_t events = aggregate->table.row_count * aggregate->table.event_count;
	aggregate->spreads = ps__os_calloc(events + 1, sizeof *aggregate->spreads);
	aggregate->has_unknown = ps__os_calloc(events + 1, sizeof *aggregate->has_unknown);
	if (aggregate->spreads && aggregate->has_unknown)
		return 0;
	/* Without spreads, the table must not be used for the next repetition. */
	aggregate_clear_table(aggregate);
	return tool_complain("out of memory");
}

/* True if the event's total is a lower bound. The counts that are missing could have been on any
 * component. */
static bool aggregate_is_bound(const struct ps__table *one, size_t event)
{
	const struct ps__cell *whole = ps__table_cell(one, 0, event);

	return whole->parts && whole->value.status == PS_STATUS_INCOMPLETE;
}

/* Adds a sample to a cell. An unknown value changes the sum's status, but gives no sample. */
static void aggregate_add_sample(struct stat_aggregate *aggregate, const struct ps__table *one,
                                 size_t row, size_t event)
{
	const struct ps__cell *cell = ps__table_cell(one, row, event);
	size_t index = row * aggregate->table.event_count + event;
	struct ps__spread *spread = &aggregate->spreads[index];

	if (cell->parts == 0 && aggregate_is_bound(one, event))
		aggregate->has_unknown[index] = true;
	else if (cell->parts == 0)
		ps__spread_add(spread, 0);
	else if (ps__known_has_number(cell->value.status))
		ps__spread_add(spread, (double)cell->value.value);
}

static void aggregate_add_whole_events(struct ps__table *sum, const struct ps__table *one)
{
	for (size_t index = 0; index < sum->metric_count; index++) {
		struct ps__table_metric *metric = &sum->metrics[index];
		size_t parts = metric->has_whole;
		if (one->metrics[index].has_whole)
			ps__value_merge(&metric->whole, &parts, &one->metrics[index].whole);
		metric->has_whole = parts > 0;
	}
}

static void aggregate_add_table(struct stat_aggregate *aggregate, const struct ps__table *one)
{
	struct ps__table *sum = &aggregate->table;

	for (size_t row = 0; row < sum->row_count; row++) {
		for (size_t column = 0; column < sum->column_count; column++) {
			const struct ps__cell *cell = ps__table_cell(one, row, column);
			struct ps__cell *all = ps__table_cell(sum, row, column);
			if (cell->parts) {
				all->is_absent = cell->is_absent && (all->is_absent || !all->parts);
				ps__value_merge(&all->value, &all->parts, &cell->value);
			}
			if (column < sum->event_count)
				aggregate_add_sample(aggregate, one, row, column);
		}
	}
	aggregate_add_whole_events(sum, one);
}

static bool aggregate_is_same(const struct ps_component *one, const struct ps_component *other)
{
	return ps_component_type(one) == ps_component_type(other) &&
	       ps_component_cache_level(one) == ps_component_cache_level(other) &&
	       ps_component_depth(one) == ps_component_depth(other) &&
	       ps_component_os_id(one) == ps_component_os_id(other);
}

/* True if the rows are the same components. They aren't if a CPU came online or went offline, or if
 * the cpuset changed. */
static bool aggregate_has_rows(const struct ps__table *sum, const struct ps__table *one)
{
	if (one->row_count != sum->row_count)
		return false;
	for (size_t row = 0; row < sum->row_count; row++) {
		if (!aggregate_is_same(sum->rows[row].component, one->rows[row].component))
			return false;
	}
	return true;
}

int stat_aggregate_add(struct stat_aggregate *aggregate, struct stat_count *count, bool has_ended)
{
	struct ps__table one;

	if (aggregate->table.event_count == 0 && aggregate_begin_table(aggregate, count->root) < 0)
		return -1;
	if (aggregate_create_table(aggregate, count->root, &one) < 0)
		return -1;
	bool has_rows = aggregate_has_rows(&aggregate->table, &one);
	/* A table with other columns has no counts. */
	if (has_rows && one.column_count == aggregate->table.column_count)
		aggregate_add_table(aggregate, &one);
	ps__table_clear(&one);
	if (!has_rows)
		return 1;
	if (has_ended)
		stat_quality_add_run(&aggregate->quality, count);
	else
		stat_quality_add_interval(&aggregate->quality, count);
	return 0;
}

void stat_aggregate_keep(struct stat_aggregate *aggregate, struct stat_count *count)
{
	if (aggregate->table.topology != count->topology)
		return;
	aggregate->topology = count->topology;
	count->topology = NULL;
}

struct ps_value stat_aggregate_total(const struct stat_aggregate *aggregate, size_t row,
                                     size_t event)
{
	struct ps_value total = ps__table_cell(&aggregate->table, row, event)->value;

	ps__value_finish(&total);
	return total;
}

/* Makes a sum with unknown parts a lower bound. Drops a lower bound of 0, because it tells
 * nothing. */
static void aggregate_settle_unknown(struct ps__cell *cell)
{
	if (!ps__known_has_number(cell->value.status))
		return;
	cell->value.status = PS_STATUS_INCOMPLETE;
	if (cell->value.value == 0)
		cell->parts = 0;
}

/* Computes the values when everything has been added. is_mean: means are shown, not sums. */
static void aggregate_finish(struct stat_aggregate *aggregate, bool is_mean)
{
	struct ps__table *table = &aggregate->table;

	table->runs = is_mean ? aggregate->elapsed.samples : 0;
	for (size_t row = 0; row < table->row_count; row++) {
		table->rows[row].counted = false;
		for (size_t column = 0; column < table->column_count; column++) {
			struct ps__cell *cell = ps__table_cell(table, row, column);
			ps__value_finish(&cell->value);
			if (column >= table->event_count)
				continue;
			if (cell->parts &&
			    aggregate->has_unknown[row * table->event_count + column])
				aggregate_settle_unknown(cell);
			table->rows[row].counted |= cell->parts > 0 && !cell->is_absent;
			cell->spread =
			    is_mean ? &aggregate->spreads[row * table->event_count + column] : NULL;
		}
	}
	for (size_t metric = 0; metric < table->metric_count; metric++)
		ps__value_finish(&table->metrics[metric].whole);
	stat_rates_take_table(&aggregate->quality, table);
}

void stat_runs_add_status(struct stat_runs *runs, const struct stat_facts *facts)
{
	size_t kind = 0;

	if (!facts->has_command || !facts->exit_status)
		return;
	runs->failed++;
	while (kind < runs->kind_count && runs->kinds[kind].status != facts->exit_status)
		kind++;
	if (kind == STAT_MOST_KINDS) {
		runs->others++;
		return;
	}
	if (kind == runs->kind_count)
		runs->kinds[runs->kind_count++] = (struct stat_run_kind){
		    .status = facts->exit_status, .first = facts->repetition};
	runs->kinds[kind].count++;
}

bool stat_runs_add(struct stat_runs *runs, const struct stat_facts *facts)
{
	if (facts->signal) {
		runs->interrupted = facts->repetition;
		runs->signal = facts->signal;
		return false;
	}
	runs->counted++;
	return true;
}

/* Adds a line for each status other than 0, and for runs that are left out. */
static void aggregate_show_runs(const struct stat_runs *runs, struct ps__buffer *out)
{
	for (size_t index = 0; index < runs->kind_count; index++) {
		const struct stat_run_kind *kind = &runs->kinds[index];
		stat_footer_line("ended", out);
		ps__buffer_add(out, "%lld of %lld runs ", kind->count,
		               runs->counted - runs->left_out);
		stat_footer_status(kind->status, out);
		ps__buffer_add(out, kind->count > 1 ? ", first run %lld\n" : ", run %lld\n",
		               kind->first);
	}
	if (runs->others)
		ps__buffer_add(out, "%-12s%lld of %lld runs with other statuses\n", "",
		               runs->others, runs->counted - runs->left_out);
	if (runs->left_out) {
		stat_footer_line("left out", out);
		ps__buffer_add(
		    out,
		    "%lld of %lld runs, on other CPUs than the first: CPUs came online or "
		    "went offline, or the cpuset changed\n",
		    runs->left_out, runs->counted);
	}
	if (runs->interrupted)
		ps__buffer_add(out, "interrupted run %lld, by signal %d (%s): it is left out\n",
		               runs->interrupted, runs->signal, strsignal(runs->signal));
}

static int text_add_aggregate(struct stat_aggregate *aggregate, const struct stat_output *output,
                              struct ps__buffer *out)
{
	struct ps_print_options how = stat_print_options(output);

	int code = ps__text_add_table(&aggregate->table, &how, out, NULL);
	ps__buffer_add(out, "\n");
	return code == PS_OK ? 0 : tool_complain_detail();
}

static int text_add_means(struct stat_aggregate *aggregate, const struct stat_output *output,
                          struct ps__buffer *out)
{
	const struct ps__spread *elapsed = &aggregate->elapsed;

	bool is_mean = elapsed->samples > 1;
	struct ps__buffer line = {0};

	ps__buffer_add(&line, "%s of %zu run%s%s", is_mean ? "Means" : "Counts", elapsed->samples,
	               is_mean ? "s" : "",
	               stat_options_counts_command(output->options) ? " of " : ", ");
	stat_describe_target(output->options, &line);
	ps__buffer_add(&line, "%s", is_mean ? ", with the standard deviation of one run" : "");
	tool_put_rank(&line, 0);
	stat_add_heading(&line, output, out);
	return text_add_aggregate(aggregate, output, out);
}

/* Returns the CPU time of all runs. This must be the only event, as it is with --regions. NaN if it
 * is unknown. */
static double aggregate_cpu_s(const struct stat_aggregate *aggregate)
{
	const struct ps_value *sums = aggregate->quality.sums;

	return sums && sums[0].status == PS_STATUS_COUNTED ? (double)sums[0].value / 1e9
	                                                   : (double)NAN;
}

static int aggregate_show_means(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                                const struct stat_output *output)
{
	const struct ps__spread *elapsed = &aggregate->elapsed;
	struct ps__buffer out = {0}, lines = {0};
	int result;

	if (output->regions) {
		result = stat_show_reports(output, aggregate_cpu_s(aggregate), &out, &lines);
		ps__buffer_add(&out, "\n");
	} else {
		result = text_add_means(aggregate, output, &out);
	}
	stat_footer_line("elapsed", &lines);
	ps__number_add_duration(&lines, elapsed->mean);
	if (elapsed->samples > 1 && elapsed->mean > 0)
		ps__buffer_add(&lines, " +-%4.1f%%", ps__spread_percent(elapsed));
	ps__buffer_add(&lines, "\n");
	aggregate_show_runs(runs, &lines);
	stat_rates_show(&aggregate->quality, stat_aggregate_s(aggregate), &lines);
	stat_footer_quality(&aggregate->quality, &lines);
	stat_footer_fold(&lines, output, &out);
	return tool_write(&out, output->stream) < 0 ? -1 : result;
}

int stat_means_show(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                    const struct stat_output *output)
{
	int result = 0;

	aggregate_finish(aggregate, true);
	aggregate->quality.is_of_regions = output->regions;
	if (output->regions && output->options->format != PS_FORMAT_TEXT)
		result = stat_show_regions_data(output, aggregate_cpu_s(aggregate));
	if (output->options->format == PS_FORMAT_JSON)
		result |= stat_export_means(aggregate, runs, output);
	else if (output->options->format == PS_FORMAT_TEXT)
		result = aggregate_show_means(aggregate, runs, output);
	return result;
}

int stat_total_show(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                    const struct stat_output *output)
{
	struct ps__buffer out = {0}, lines = {0};

	aggregate_finish(aggregate, false);
	if (output->options->format == PS_FORMAT_JSON)
		return stat_export_total(aggregate, facts, output);
	if (output->options->format != PS_FORMAT_TEXT)
		return 0;
	ps__buffer_add(&out, "All intervals together");
	tool_put_rank(&out, facts->pid);
	ps__buffer_add(&out, "\n\n");
	int result = text_add_aggregate(aggregate, output, &out);
	stat_footer(&aggregate->quality, facts, &output->options->target, &lines);
	stat_footer_fold(&lines, output, &out);
	return tool_write(&out, output->stream) < 0 ? -1 : result;
}

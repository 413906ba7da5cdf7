/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths as JSON: an object for each path, the root path first. ps_report(3) describes every
 * field.
 */
#include "output/json.h"
#include "output/path_table.h"
#include "output/report.h"
#include "region/paths.h"
#include "topology/tree.h"

#include <perfsage/error.h>

static void path_json_add_place(struct ps__json *json, const struct ps__path_table *table,
                                size_t row)
{
	ps__json_add_unsigned(json, "id", row);
	ps__json_add_known(json, "parent", table->rows[row].parent, row > 0);
	ps__json_add_string(json, "name", ps_path_name(table->rows[row].path));
}

static void path_json_add_names(struct ps__json *json, struct ps__path_table *table, size_t row)
{
	if (table->rows[row].depth > PS__PATH_MOST_NAMES) {
		ps__json_add_null(json, "path");
		return;
	}
	size_t depth = ps__path_table_name(table, row);
	ps__json_open_line(json, "path", '[');
	for (size_t level = 0; level < depth; level++)
		ps__json_add_string(json, NULL, table->names[level]);
	ps__json_close_line(json, ']');
}

static void path_json_add_times(struct ps__json *json, const struct ps__path_row *row)
{
	const struct ps_visits *visits = &row->path->visits;
	uint64_t wall_ns = row->wall_ns[PS_SHARE_EXCLUSIVE];
	uint64_t on_cpu_ns = row->on_cpu_ns[PS_SHARE_EXCLUSIVE];
	size_t end = PS_VISIT_TIMES;

	while (end > 0 && visits->times[end - 1] == 0)
		end--;
	ps__json_add_unsigned(json, "visits", visits->count);
	ps__json_add_unsigned(json, "visits_counted", visits->counted);
	ps__json_add_known(json, "visits_uncounted", row->path->uncounted,
	                   row->path->uncounted != UINT64_MAX);
	ps__json_open_line(json, "times", '{');
	ps__json_add_known(json, "wall_ns", wall_ns, wall_ns != UINT64_MAX);
	ps__json_add_known(json, "on_cpu_ns", on_cpu_ns, on_cpu_ns != UINT64_MAX);
	ps__json_add_known(json, "inside_ns", row->wall_ns[PS_SHARE_INCLUSIVE] - wall_ns,
	                   wall_ns != UINT64_MAX);
	ps__json_add_known(json, "shortest_ns", visits->shortest_ns, visits->counted > 0);
	ps__json_add_known(json, "longest_ns", visits->longest_ns, visits->counted > 0);
	ps__json_open(json, "histogram", '[');
	for (size_t time = 0; time < end; time++)
		ps__json_add_unsigned(json, NULL, visits->times[time]);
	ps__json_close(json, ']');
	ps__json_close_line(json, '}');
}

static void path_json_add_count(struct ps__json *json, const char *event,
                                const struct ps__path_sum *sum)
{
	if (sum->parts && ps__report_is_known(&sum->value))
		ps__json_add_integer(json, event, sum->value.value);
	else
		ps__json_add_null(json, event);
}

static void path_json_add_how(struct ps__json *json, const struct ps_value *value)
{
	ps__json_add_how(json, value->status, value->attribution, value->flags);
	ps__json_add_double(json, "coverage", ps__report_coverage(value));
}

static void path_json_add_counts(struct ps__json *json, const struct ps__path_table *table,
                                 size_t row, enum ps_share share)
{
	ps__json_open_line(json, ps__share_name(share), '{');
	for (size_t event = 0; event < table->event_count; event++)
		path_json_add_count(json, ps_eventset_event_name(table->model, event),
		                    ps__path_table_at(table, row, event, share));
	ps__json_close_line(json, '}');
}

/* Adds the values that the program passed in the path itself. Names without a value there are left
 * out. */
static void path_json_add_values(struct ps__json *json, const struct ps__path_table *table,
                                 size_t row)
{
	ps__json_open(json, "values", '{');
	for (size_t value = 0; value < table->value_count; value++) {
		struct ps_mark_value sum =
		    ps__path_table_value(table, row, value, PS_SHARE_EXCLUSIVE);
		if (sum.count == 0)
			continue;
		ps__json_open_line(json, ps__path_table_value_name(table, value), '{');
		ps__json_add_integer(json, "sum", sum.sum);
		ps__json_add_unsigned(json, "count", sum.count);
		ps__json_add_string(json, "status",
		                    ps_status_name(ps__path_table_value_status(table, row)));
		ps__json_add_flags(json, sum.flags);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, '}');
}

static void path_json_add_labels(struct ps__json *json, const struct ps__path_table *table,
                                 size_t row)
{
	ps__json_open(json, "labels", '[');
	for (size_t event = 0; event < table->event_count; event++) {
		for (size_t share = 0; share < PS__SHARES; share++) {
			const struct ps__path_sum *sum =
			    ps__path_table_at(table, row, event, (enum ps_share)share);
			if (!sum->parts)
				continue;
			ps__json_open_line(json, NULL, '{');
			ps__json_add_string(json, "event",
			                    ps_eventset_event_name(table->model, event));
			ps__json_add_string(json, "share", ps__share_name(share));
			path_json_add_how(json, &sum->value);
			ps__json_close_line(json, '}');
		}
	}
	ps__json_close(json, ']');
}

static void path_json_add_metric(struct ps__json *json, const struct ps__path_table *table,
                                 size_t row, const struct ps__path_metric *metric)
{
	struct ps_metric_value value;

	for (size_t share = 0; share < PS__SHARES; share++) {
		if (ps__path_table_metric(table, row, (enum ps_share)share, metric, &value))
			ps__json_add_metric(json, metric->name, metric->ask.metric,
			                    ps__share_name(share), &value);
	}
}

static void path_json_add_metrics(struct ps__json *json, const struct ps__path_table *table,
                                  size_t row)
{
	ps__json_open(json, "metrics", '[');
	for (size_t i = 0; i < table->metric_count; i++)
		path_json_add_metric(json, table, row, &table->metrics[i]);
	ps__json_close(json, ']');
}

static void path_json_add_part_labels(struct ps__json *json, const struct ps__path_table *table,
                                      size_t row, const struct ps_component *component)
{
	ps__json_open(json, "labels", '[');
	for (size_t event = 0; event < table->event_count; event++) {
		struct ps__path_sum sum = ps__path_table_own(table, row, component, event);
		if (!sum.parts)
			continue;
		ps__json_open(json, NULL, '{');
		ps__json_add_string(json, "event", ps_eventset_event_name(table->model, event));
		path_json_add_how(json, &sum.value);
		ps__json_close(json, '}');
	}
	ps__json_close(json, ']');
}

/* Adds what the path counted on a component. The component is left out if it has no part of any
 * event, unless idle components are wanted. */
static void path_json_add_part(struct ps__json *json, const struct ps__path_table *table,
                               size_t row, const struct ps_component *component)
{
	size_t events = table->event_count;

	if (!(table->options->flags & PS_PATHS_IDLE) &&
	    !ps__path_table_has_own(table, row, component))
		return;
	ps__json_open_line(json, NULL, '{');
	ps__json_add_component(json, component);
	ps__json_open(json, "exclusive", '{');
	for (size_t event = 0; event < events; event++) {
		struct ps__path_sum sum = ps__path_table_own(table, row, component, event);
		path_json_add_count(json, ps_eventset_event_name(table->model, event), &sum);
	}
	ps__json_close(json, '}');
	path_json_add_part_labels(json, table, row, component);
	ps__json_close_line(json, '}');
}

static void path_json_add_path(struct ps__json *json, struct ps__path_table *table, size_t row)
{
	ps__json_open(json, NULL, '{');
	path_json_add_place(json, table, row);
	path_json_add_names(json, table, row);
	path_json_add_times(json, &table->rows[row]);
	path_json_add_counts(json, table, row, PS_SHARE_EXCLUSIVE);
	path_json_add_counts(json, table, row, PS_SHARE_INCLUSIVE);
	path_json_add_values(json, table, row);
	path_json_add_metrics(json, table, row);
	path_json_add_labels(json, table, row);
	ps__json_open(json, "parts", '[');
	for (size_t i = 0; i < table->component_count; i++)
		path_json_add_part(json, table, row, table->components[i]);
	ps__json_close(json, ']');
	ps__json_close(json, '}');
}

static void path_json_add_lists(struct ps__json *json, const struct ps__path_table *table)
{
	const struct ps_eventset *model = table->model;

	ps__json_open(json, "events", '[');
	for (size_t event = 0; event < table->event_count; event++)
		ps__json_add_event(json, ps_eventset_event_name(model, event),
		                   ps_eventset_event_unit(model, event),
		                   ps_eventset_event_scale(model, event),
		                   ps_eventset_event_scope(model, event));
	ps__json_close(json, ']');
	ps__json_open(json, "metrics", '[');
	for (size_t i = 0; i < table->metric_count; i++)
		ps__json_describe_metric(json, table->metrics[i].name,
		                         table->metrics[i].ask.metric);
	ps__json_close(json, ']');
}

static void path_json_add_faults(struct ps__json *json, const struct ps__path_fault *faults,
                                 const char *uncounted_why)
{
	ps__json_open_line(json, "faults", '{');
	for (size_t index = 0; index < PS__PATH_FAULTS; index++)
		ps__json_add_unsigned(json, faults[index].name, faults[index].count);
	if (uncounted_why)
		ps__json_add_string(json, "uncounted_why", uncounted_why);
	ps__json_close_line(json, '}');
}

int ps__path_json_write(struct ps__path_table *table, struct ps__buffer *buffer)
{
	const struct ps_paths_options *options = table->options;
	struct ps__json json = ps__json_create(buffer, options->flags & PS_PATHS_COMPACT);
	struct ps__path_fault faults[PS__PATH_FAULTS];
	const char *uncounted_why;
	int code = ps__path_faults_find(table->profile, faults, &uncounted_why);

	if (code < 0)
		return code;
	ps__json_open(&json, NULL, '{');
	ps__json_add_head(&json, table->root->topology, options->fields, options->field_count);
	path_json_add_lists(&json, table);
	ps__json_open(&json, "regions", '[');
	for (size_t row = 0; row < table->row_count; row++)
		path_json_add_path(&json, table, row);
	ps__json_close(&json, ']');
	path_json_add_faults(&json, faults, uncounted_why);
	ps__json_close(&json, '}');
	return PS_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths as comma-separated values (RFC 4180): a row for each combination of component, path,
 * event or metric, and share. ps_report(3) describes how a path is written as one field. */
#include "base/printable.h"
#include "output/csv.h"
#include "output/path_label.h"
#include "output/path_table.h"
#include "output/report.h"
#include "region/paths.h"
#include "topology/tree.h"

#include <inttypes.h>
#include <perfsage/error.h>

static const char header[] =
    "path,visits,visits_counted,wall_ns,on_cpu_ns,inside_ns,shortest_ns,longest_ns,share,type,id,"
    "os_id,name,"
    "event,value,unit,status,attribution,flags,coverage,count,raw,enabled_ns,running_ns,timestamp,"
    "kind,path_id,parent_id,region,visits_uncounted,faults";

static void path_csv_add_path(struct ps__buffer *buffer, struct ps__path_table *table, size_t row)
{
	bool has_names = table->rows[row].depth <= PS__PATH_MOST_NAMES;
	size_t depth = has_names ? ps__path_table_name(table, row) : 0;
	struct ps__buffer path = {0};

	for (size_t level = 0; level < depth; level++) {
		ps__buffer_add(&path, "%s", level ? "/" : "");
		ps__path_label_add_escaped(&path, table->names[level]);
	}
	ps__csv_add_first(buffer, ps__buffer_text(&path));
	buffer->failed |= path.failed;
	ps__buffer_clear(&path);
}

static void path_csv_add_time(struct ps__buffer *buffer, uint64_t time_ns, bool is_known)
{
	ps__buffer_add(buffer, ",");
	if (is_known)
		ps__buffer_add(buffer, "%" PRIu64, time_ns);
}

static void path_csv_add_visits(struct ps__buffer *buffer, const struct ps__path_row *row)
{
	const struct ps_visits *visits = &row->path->visits;
	uint64_t wall_ns = row->wall_ns[PS_SHARE_EXCLUSIVE];
	uint64_t on_cpu_ns = row->on_cpu_ns[PS_SHARE_EXCLUSIVE];

	ps__buffer_add(buffer, ",%" PRIu64 ",%" PRIu64, visits->count, visits->counted);
	path_csv_add_time(buffer, wall_ns, wall_ns != UINT64_MAX);
	path_csv_add_time(buffer, on_cpu_ns, on_cpu_ns != UINT64_MAX);
	path_csv_add_time(buffer, row->wall_ns[PS_SHARE_INCLUSIVE] - wall_ns,
	                  wall_ns != UINT64_MAX);
	path_csv_add_time(buffer, visits->shortest_ns, visits->counted > 0);
	path_csv_add_time(buffer, visits->longest_ns, visits->counted > 0);
}

static void path_csv_add_component(struct ps__buffer *buffer, const struct ps_component *component)
{
	ps__csv_add_field(buffer, ps_component_type_name(component->type));
	ps__buffer_add(buffer, ",%d,", ps__report_id(component));
	if (component->os_id >= 0)
		ps__buffer_add(buffer, "%d", component->os_id);
	ps__csv_add_field(buffer, component->name);
}

/* Adds the fields that come before the event. */
static void path_csv_begin_row(struct ps__buffer *buffer, struct ps__path_table *table, size_t row,
                               enum ps_share share, const struct ps_component *component)
{
	path_csv_add_path(buffer, table, row);
	path_csv_add_visits(buffer, &table->rows[row]);
	ps__csv_add_field(buffer, ps__share_name(share));
	path_csv_add_component(buffer, component);
}

/* Adds the number; an empty field if it is unknown. */
static void path_csv_add_uncounted(struct ps__buffer *buffer, uint64_t uncounted)
{
	if (uncounted == UINT64_MAX)
		ps__buffer_add(buffer, ",");
	else
		ps__buffer_add(buffer, ",%" PRIu64, uncounted);
}

static void path_csv_end_row(struct ps__buffer *buffer, const struct ps__path_table *table,
                             size_t row)
{
	ps__buffer_add(buffer, ",%zu,", row);
	if (row > 0)
		ps__buffer_add(buffer, "%zu", table->rows[row].parent);
	ps__csv_add_field(buffer, ps_path_name(table->rows[row].path));
	path_csv_add_uncounted(buffer, table->rows[row].path->uncounted);
	ps__csv_add_field(buffer, table->faults);
	ps__csv_end_row(buffer, table->options->fields, table->options->field_count);
}

static void path_csv_add_event(struct ps__buffer *buffer, struct ps__path_table *table, size_t row,
                               size_t event, const struct ps_component *component)
{
	const struct ps__csv_event about = {
	    .name = ps_eventset_event_name(table->model, event),
	    .unit = ps_eventset_event_unit(table->model, event),
	    .scale = ps_eventset_event_scale(table->model, event),
	};

	for (size_t index = 0; index < PS__SHARES; index++) {
		enum ps_share share = (enum ps_share)index;
		const struct ps__path_sum *sum = ps__path_table_at(table, row, event, share);
		path_csv_begin_row(buffer, table, row, share, component);
		if (sum->parts)
			ps__csv_add_value(buffer, &about, &sum->value);
		else
			ps__csv_add_nothing(buffer, about.name, ps__report_unit(about.unit),
			                    "event");
		path_csv_end_row(buffer, table, row);
	}
}

static void path_csv_add_metric(struct ps__buffer *buffer, struct ps__path_table *table, size_t row,
                                const struct ps__path_metric *metric,
                                const struct ps_component *component)
{
	for (size_t index = 0; index < PS__SHARES; index++) {
		enum ps_share share = (enum ps_share)index;
		struct ps_metric_value value;
		path_csv_begin_row(buffer, table, row, share, component);
		if (ps__path_table_metric(table, row, share, metric, &value))
			ps__csv_add_metric(buffer, metric->name, metric->ask.metric, &value);
		else
			ps__csv_add_nothing(buffer, metric->name, metric->ask.metric->unit,
			                    "metric");
		path_csv_end_row(buffer, table, row);
	}
}

/* Adds the rows of a value that the program passed. They are marked by their unit "sum". */
static void path_csv_add_mark_value(struct ps__buffer *buffer, struct ps__path_table *table,
                                    size_t row, size_t value)
{
	for (size_t index = 0; index < PS__SHARES; index++) {
		enum ps_share share = (enum ps_share)index;
		struct ps_mark_value sum = ps__path_table_value(table, row, value, share);
		const char *flag = ps_value_flag_name(sum.flags, 0);
		if (sum.count == 0)
			continue;
		path_csv_begin_row(buffer, table, row, share, table->root);
		ps__csv_add_field(buffer, ps__path_table_value_name(table, value));
		ps__buffer_add(buffer, ",%" PRId64 ",sum,%s,,%s,,%" PRIu64 ",,,,,value", sum.sum,
		               ps_status_name(ps__path_table_value_status(table, row)),
		               flag ? flag : "", sum.count);
		path_csv_end_row(buffer, table, row);
	}
}

/* True if anything was counted in the path or below it. */
static bool path_csv_has_parts(const struct ps__path_table *table, size_t row)
{
	size_t parts = 0;

	for (size_t event = 0; event < table->event_count; event++)
		parts += ps__path_table_at(table, row, event, PS_SHARE_INCLUSIVE)->parts;
	return parts > 0;
}

/* Writes a component's current sums. Leaves out paths without counts, unless the component is the
 * machine or idle components are wanted. */
static void path_csv_add_rows(struct ps__buffer *buffer, struct ps__path_table *table,
                              const struct ps_component *component)
{
	for (size_t row = 0; row < table->row_count; row++) {
		if (component != table->root && !(table->options->flags & PS_PATHS_IDLE) &&
		    !path_csv_has_parts(table, row))
			continue;
		for (size_t event = 0; event < table->event_count; event++)
			path_csv_add_event(buffer, table, row, event, component);
		for (size_t value = 0; component == table->root && value < table->value_count;
		     value++)
			path_csv_add_mark_value(buffer, table, row, value);
		for (size_t i = 0; i < table->metric_count; i++)
			path_csv_add_metric(buffer, table, row, &table->metrics[i], component);
	}
}

/* Makes a text such as "uncounted=6 inside=1". The text describes the whole document, but each row
 * repeats it. */
static int path_csv_find_faults(const struct ps__path_table *table, struct ps__buffer *out)
{
	struct ps__path_fault faults[PS__PATH_FAULTS];
	int code = ps__path_faults_find(table->profile, faults, NULL);

	for (size_t index = 0; code == PS_OK && index < PS__PATH_FAULTS; index++) {
		if (faults[index].count)
			ps__buffer_add(out, "%s%s=%" PRIu64, out->length ? " " : "",
			               faults[index].name, faults[index].count);
	}
	return code;
}

static void path_csv_add_all(struct ps__buffer *buffer, struct ps__path_table *table)
{
	const struct ps_paths_options *options = table->options;

	if (!(options->flags & PS_PATHS_NO_HEADER))
		ps__csv_add_header(buffer, header, options->fields, options->field_count);
	path_csv_add_rows(buffer, table, table->root);
	for (size_t i = 0; i < table->component_count; i++) {
		if (table->components[i] == table->root)
			continue;
		ps__path_table_sum(table, table->components[i]);
		path_csv_add_rows(buffer, table, table->components[i]);
	}
}

int ps__path_csv_write(struct ps__path_table *table, struct ps__buffer *buffer)
{
	struct ps__buffer faults = {0};
	int code = path_csv_find_faults(table, &faults);

	table->faults = ps__buffer_text(&faults);
	if (code == PS_OK)
		path_csv_add_all(buffer, table);
	table->faults = NULL;
	buffer->failed |= faults.failed;
	ps__buffer_clear(&faults);
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree as JSON (RFC 8259). ps_export(3) describes every field;
 * share/perfsage.schema.json is the schema. */
#include "output/json.h"

#include "output/label.h"
#include "output/report.h"

#include <perfsage/error.h>
#include <perfsage/version.h>

#define SCHEMA 1 /* increases if a field is removed or changes its meaning */

static void json_add_value(struct ps__json *json, const struct ps__table_column *column,
                           const struct ps_value *value)
{
	ps__json_open_line(json, NULL, '{');
	ps__json_add_string(json, "event", column->selector.name);
	ps__json_add_value(json, value, column->unit, column->scale);
	ps__json_add_double(json, "coverage", ps__report_coverage(value));
	if (ps__report_is_known(value))
		ps__json_add_unsigned(json, "raw", value->raw);
	else
		ps__json_add_null(json, "raw");
	ps__json_add_unsigned(json, "enabled_ns", value->enabled_ns);
	ps__json_add_unsigned(json, "running_ns", value->running_ns);
	ps__json_add_unsigned(json, "timestamp", value->timestamp);
	ps__json_close_line(json, '}');
}

void ps__json_add_metric(struct ps__json *json, const char *name, const struct ps__metric *metric,
                         const char *share, const struct ps_metric_value *value)
{
	ps__json_open_line(json, NULL, '{');
	ps__json_add_string(json, "metric", name);
	if (share)
		ps__json_add_string(json, "share", share);
	ps__json_add_double(json, "value", value->value);
	ps__json_add_string(json, "unit", metric->unit);
	ps__json_add_how(json, value->status, value->attribution, value->flags);
	ps__json_add_unsigned(json, "timestamp", value->timestamp);
	ps__json_close_line(json, '}');
}

static void json_add_numbers(struct ps__json *json, const struct ps__table *table, size_t row)
{
	struct ps_metric_value metric;

	ps__json_open(json, "values", '[');
	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__cell *cell = ps__table_cell(table, row, event);
		if (cell->parts)
			json_add_value(json, &table->columns[event], &cell->value);
	}
	ps__json_close(json, ']');
	ps__json_open(json, "metrics", '[');
	for (size_t i = 0; i < table->metric_count; i++) {
		if (ps__table_metric(table, row, i, &metric))
			ps__json_add_metric(json, table->metrics[i].name,
			                    table->metrics[i].ask.metric, NULL, &metric);
	}
	ps__json_close(json, ']');
}

void ps__json_add_component(struct ps__json *json, const struct ps_component *component)
{
	ps__json_add_string(json, "type", ps_component_type_name(component->type));
	ps__json_add_integer(json, "id", ps__report_id(component));
	ps__json_add_known(json, "os_id", (uint64_t)component->os_id, component->os_id >= 0);
	ps__json_add_string(json, "name", component->name);
}

static void json_add_about(struct ps__json *json, const struct ps_component *component)
{
	ps__json_add_component(json, component);
	if (component->type == PS_COMPONENT_CACHE)
		ps__json_add_integer(json, "level", component->cache_level);
	if (component->size_bytes)
		ps__json_add_unsigned(json, "size_bytes", component->size_bytes);
	if (*ps_component_subtype(component))
		ps__json_add_string(json, "subtype", component->subtype);
	if (component->core_kind != PS_CORE_KIND_UNKNOWN)
		ps__json_add_string(json, "core_kind", ps__label_core_kind(component->core_kind));
	ps__json_add_bool(json, "allowed", component->allowed);
}

/* Adds the rows as nested objects. Rows come parents first, so all objects that aren't ancestors of
 * the next row are closed before it. */
static void json_add_tree(struct ps__json *json, const struct ps__table *table)
{
	int open_rows = 0;

	for (size_t row = 0; row < table->row_count; row++) {
		for (; open_rows > table->rows[row].depth; open_rows--) {
			ps__json_close(json, ']');
			ps__json_close(json, '}');
		}
		ps__json_open(json, row ? NULL : "tree", '{');
		json_add_about(json, table->rows[row].component);
		json_add_numbers(json, table, row);
		ps__json_open(json, "children", '[');
		open_rows++;
	}
	for (; open_rows > 0; open_rows--) {
		ps__json_close(json, ']');
		ps__json_close(json, '}');
	}
}

static void json_add_attribute(struct ps__json *json, const char *key,
                               const struct ps_component *component, const char *attribute)
{
	const char *value = component ? ps_component_attribute(component, attribute) : NULL;

	if (value)
		ps__json_add_string(json, key, value);
}

static void json_add_machine(struct ps__json *json, const struct ps_topology *topology)
{
	struct ps_component *root = topology->root;

	ps__json_open(json, "machine", '{');
	ps__json_add_unsigned(json, "threads", topology->thread_count);
	ps__json_add_unsigned(json, "cores", ps_component_count(root, PS_COMPONENT_CORE));
	ps__json_add_unsigned(json, "packages", ps_component_count(root, PS_COMPONENT_PACKAGE));
	if (topology->is_stand_in)
		ps__json_add_string(json, "origin", topology->origin);
	json_add_attribute(json, "host", root, "HostName");
	json_add_attribute(json, "system", root, "OSName");
	json_add_attribute(json, "release", root, "OSRelease");
	json_add_attribute(json, "architecture", root, "Architecture");
	json_add_attribute(json, "cpu_model",
	                   ps_component_find_logical(root, PS_COMPONENT_PACKAGE, 0, 0), "CPUModel");
	ps__json_close(json, '}');
}

void ps__json_add_fields(struct ps__json *json, const struct ps_export_field *fields,
                         size_t field_count)
{
	for (size_t i = 0; i < field_count; i++) {
		if (fields[i].text)
			ps__json_add_string(json, fields[i].name, fields[i].text);
		else
			ps__json_add_double(json, fields[i].name, fields[i].number);
	}
}

void ps__json_add_head(struct ps__json *json, const struct ps_topology *topology,
                       const struct ps_export_field *fields, size_t field_count)
{
	ps__json_add_string(json, "perfsage", ps_version());
	ps__json_add_integer(json, "schema", SCHEMA);
	if (field_count) {
		ps__json_open(json, "run", '{');
		ps__json_add_fields(json, fields, field_count);
		ps__json_close(json, '}');
	}
	json_add_machine(json, topology);
}

void ps__json_add_event(struct ps__json *json, const char *event, const char *unit, double scale,
                        enum ps_scope scope)
{
	ps__json_open_line(json, NULL, '{');
	ps__json_add_string(json, "event", event);
	ps__json_add_string(json, "unit", ps__report_unit(unit));
	ps__json_add_double(json, "scale", scale);
	ps__json_add_string(json, "scope", ps_scope_name(scope));
	ps__json_close_line(json, '}');
}

void ps__json_describe_metric(struct ps__json *json, const char *name,
                              const struct ps__metric *metric)
{
	ps__json_open_line(json, NULL, '{');
	ps__json_add_string(json, "metric", name);
	ps__json_add_string(json, "unit", metric->unit);
	ps__json_add_string(json, "description", metric->description);
	ps__json_close_line(json, '}');
}

static void json_add_lists(struct ps__json *json, const struct ps__table *table)
{
	ps__json_open(json, "events", '[');
	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__table_column *column = &table->columns[event];
		ps__json_add_event(json, column->selector.name, column->unit, column->scale,
		                   column->scope);
	}
	ps__json_close(json, ']');
	ps__json_open(json, "metrics", '[');
	for (size_t i = 0; i < table->metric_count; i++)
		ps__json_describe_metric(json, table->metrics[i].name,
		                         table->metrics[i].ask.metric);
	ps__json_close(json, ']');
}

int ps__json_write(struct ps__report *report, struct ps__buffer *buffer)
{
	const struct ps_export_options *options = report->options;
	struct ps__json json = ps__json_create(buffer, options->flags & PS_EXPORT_COMPACT);

	ps__report_select(report);
	ps__json_open(&json, NULL, '{');
	ps__json_add_head(&json, report->table.topology, options->fields, options->field_count);
	json_add_lists(&json, &report->table);
	json_add_tree(&json, &report->table);
	ps__json_close(&json, '}');
	return PS_OK;
}

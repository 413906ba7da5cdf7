/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree as JSON (RFC 8259). ps_export(3) describes every field; share/perfsage.schema.json is the schema. */
#include "base/printable.h"
#include "export/number.h"
#include "export/report.h"

#include <inttypes.h>
#include <math.h>
#include <perfsage/error.h>
#include <perfsage/version.h>
#include <string.h>

#define SCHEMA 1 /* a number that changes when a field is taken away or gets another meaning */

struct writer {
	struct ps__buffer *buffer;
	bool compact;
	bool is_first; /* in the object or array that is open: no comma before it */
	int depth;
	int line_depth; /* what is deeper stands in one line; 0: nothing */
};

/* How many bytes from here on stand for themselves. */
static size_t plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' && text[length] != '\\')
		length++;
	return length;
}

/* JSON's escapes are in UTF-16. */
static void add_escape(struct writer *writer, uint32_t code)
{
	if (code > 0xffff)
		ps__buffer_add(writer->buffer, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(code >> 10),
		               0xdc00 + (unsigned)(code & 0x3ff));
	else
		ps__buffer_add(writer->buffer, "\\u%04x", (unsigned)code);
}

/* What a terminal must not get is escaped: a program that reads the JSON has it as it was. */
static void add_text(struct writer *writer, const char *text)
{
	ps__buffer_add(writer->buffer, "\"");
	for (size_t plain = plain_length(text); *text; plain = plain_length(text)) {
		if (plain) {
			ps__buffer_add(writer->buffer, "%.*s", (int)plain, text);
			text += plain;
			continue;
		}
		uint32_t code;
		size_t length = ps__printable_decode(text, &code);
		if (code == PS__NO_CHARACTER)
			ps__buffer_add(writer->buffer, "\\ufffd");
		else if (code == '"' || code == '\\')
			ps__buffer_add(writer->buffer, "\\%c", *text);
		else if (!ps__printable_is(code))
			add_escape(writer, code);
		else
			ps__buffer_add(writer->buffer, "%.*s", (int)length, text);
		text += length;
	}
	ps__buffer_add(writer->buffer, "\"");
}

static bool is_in_line(const struct writer *writer)
{
	return writer->compact || (writer->line_depth && writer->depth > writer->line_depth);
}

/* What stands before a value: a comma, and in an object its key. */
static void begin(struct writer *writer, const char *key)
{
	if (!writer->is_first)
		ps__buffer_add(writer->buffer, !writer->compact && is_in_line(writer) ? ", " : ",");
	if (writer->depth > 0 && !is_in_line(writer))
		ps__buffer_add(writer->buffer, "\n%*s", writer->depth, "");
	writer->is_first = false;
	if (!key)
		return;
	add_text(writer, key);
	ps__buffer_add(writer->buffer, writer->compact ? ":" : ": ");
}

static void open(struct writer *writer, const char *key, char bracket)
{
	begin(writer, key);
	ps__buffer_add(writer->buffer, "%c", bracket);
	writer->is_first = true;
	writer->depth++;
}

static void close(struct writer *writer, char bracket)
{
	bool was_in_line = is_in_line(writer);

	writer->depth--;
	if (!writer->is_first && !was_in_line)
		ps__buffer_add(writer->buffer, "\n%*s", writer->depth, "");
	ps__buffer_add(writer->buffer, "%c", bracket);
	writer->is_first = false;
}

/* An object that stands in one line, as there are many of its kind. */
static void open_line(struct writer *writer)
{
	begin(writer, NULL);
	ps__buffer_add(writer->buffer, "{");
	writer->is_first = true;
	writer->line_depth = writer->depth++;
}

static void close_line(struct writer *writer)
{
	close(writer, '}');
	writer->line_depth = 0;
}

static void add_string(struct writer *writer, const char *key, const char *text)
{
	begin(writer, key);
	add_text(writer, text);
}

static void add_integer(struct writer *writer, const char *key, long long number)
{
	begin(writer, key);
	ps__buffer_add(writer->buffer, "%lld", number);
}

static void add_unsigned(struct writer *writer, const char *key, uint64_t number)
{
	begin(writer, key);
	ps__buffer_add(writer->buffer, "%" PRIu64, number);
}

static void add_bool(struct writer *writer, const char *key, bool value)
{
	begin(writer, key);
	ps__buffer_add(writer->buffer, value ? "true" : "false");
}

/* NaN and infinities, which JSON has no words for, are null. */
static void add_double(struct writer *writer, const char *key, double number)
{
	begin(writer, key);
	if (isfinite(number))
		ps__number_add_exact(writer->buffer, number);
	else
		ps__buffer_add(writer->buffer, "null");
}

static void add_null(struct writer *writer, const char *key)
{
	add_double(writer, key, (double)NAN);
}

static void add_how(struct writer *writer, enum ps_status status, enum ps_attribution attribution, uint32_t flags)
{
	const char *flag;

	add_string(writer, "status", ps_status_name(status));
	add_string(writer, "attribution", ps_attribution_name(attribution));
	open(writer, "flags", '[');
	for (size_t i = 0; (flag = ps_value_flag_name(flags, i)); i++)
		add_string(writer, NULL, flag);
	close(writer, ']');
}

static void add_number(struct writer *writer, const struct ps__table_column *column, const struct ps_value *value)
{
	if (!ps__report_is_known(value)) {
		add_null(writer, "value");
		add_null(writer, "count");
		return;
	}
	if (column->scale == 1)
		add_integer(writer, "value", value->value);
	else
		add_double(writer, "value", (double)value->value * column->scale);
	add_integer(writer, "count", value->value);
}

static void add_value(struct writer *writer, const struct ps__table_column *column, const struct ps_value *value)
{
	open_line(writer);
	add_string(writer, "event", column->selector.name);
	add_number(writer, column, value);
	add_string(writer, "unit", ps__report_unit(column));
	add_how(writer, value->status, value->attribution, value->flags);
	add_double(writer, "coverage", ps__report_coverage(value));
	add_unsigned(writer, "raw", value->raw);
	add_unsigned(writer, "enabled_ns", value->enabled_ns);
	add_unsigned(writer, "running_ns", value->running_ns);
	add_unsigned(writer, "timestamp", value->timestamp);
	close_line(writer);
}

static void add_metric(struct writer *writer, const struct ps__table_metric *metric,
                       const struct ps_metric_value *value)
{
	open_line(writer);
	add_string(writer, "metric", metric->name);
	add_double(writer, "value", value->value);
	add_string(writer, "unit", metric->ask.metric->unit);
	add_how(writer, value->status, value->attribution, value->flags);
	add_unsigned(writer, "timestamp", value->timestamp);
	close_line(writer);
}

static void add_numbers(struct writer *writer, const struct ps__table *table, size_t row)
{
	struct ps_metric_value metric;

	open(writer, "values", '[');
	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__cell *cell = ps__table_cell(table, row, event);
		if (cell->parts)
			add_value(writer, &table->columns[event], &cell->value);
	}
	close(writer, ']');
	open(writer, "metrics", '[');
	for (size_t i = 0; i < table->metric_count; i++) {
		if (ps__table_metric(table, row, i, &metric))
			add_metric(writer, &table->metrics[i], &metric);
	}
	close(writer, ']');
}

static const char *kind_name(enum ps_core_kind kind)
{
	static const char *const names[] = {
	    [PS_CORE_KIND_EFFICIENT] = "efficient",
	    [PS_CORE_KIND_MIDDLE] = "middle",
	    [PS_CORE_KIND_PERFORMANCE] = "performance",
	};

	return names[kind];
}

static void add_about(struct writer *writer, const struct ps_component *component)
{
	add_string(writer, "type", ps_component_type_name(component->type));
	add_integer(writer, "id", ps__report_id(component));
	if (component->os_id >= 0)
		add_integer(writer, "os_id", component->os_id);
	else
		add_null(writer, "os_id");
	add_string(writer, "name", component->name);
	if (component->type == PS_COMPONENT_CACHE)
		add_integer(writer, "level", component->cache_level);
	if (component->size_bytes)
		add_unsigned(writer, "size_bytes", component->size_bytes);
	if (*ps_component_subtype(component))
		add_string(writer, "subtype", component->subtype);
	if (component->core_kind != PS_CORE_KIND_UNKNOWN)
		add_string(writer, "core_kind", kind_name(component->core_kind));
	add_bool(writer, "allowed", component->allowed);
}

/* Rows come parents first: what a row leaves open is closed before the next one that isn't below it. */
static void add_tree(struct writer *writer, const struct ps__table *table)
{
	int open_rows = 0;

	for (size_t row = 0; row < table->row_count; row++) {
		for (; open_rows > table->rows[row].depth; open_rows--) {
			close(writer, ']');
			close(writer, '}');
		}
		open(writer, row ? NULL : "tree", '{');
		add_about(writer, table->rows[row].component);
		add_numbers(writer, table, row);
		open(writer, "children", '[');
		open_rows++;
	}
	for (; open_rows > 0; open_rows--) {
		close(writer, ']');
		close(writer, '}');
	}
}

static void add_run(struct writer *writer, const struct ps_export_options *options)
{
	open(writer, "run", '{');
	for (size_t i = 0; i < options->field_count; i++) {
		const struct ps_export_field *field = &options->fields[i];
		if (field->text)
			add_string(writer, field->name, field->text);
		else
			add_double(writer, field->name, field->number);
	}
	close(writer, '}');
}

static void add_attribute(struct writer *writer, const char *key, const struct ps_component *component,
                          const char *attribute)
{
	const char *value = component ? ps_component_attribute(component, attribute) : NULL;

	if (value)
		add_string(writer, key, value);
}

static void add_machine(struct writer *writer, const struct ps_topology *topology)
{
	struct ps_component *root = topology->root;

	open(writer, "machine", '{');
	add_unsigned(writer, "threads", topology->thread_count);
	add_unsigned(writer, "cores", ps_component_count(root, PS_COMPONENT_CORE));
	add_unsigned(writer, "packages", ps_component_count(root, PS_COMPONENT_PACKAGE));
	if (topology->is_stand_in)
		add_string(writer, "origin", topology->origin);
	add_attribute(writer, "host", root, "HostName");
	add_attribute(writer, "system", root, "OSName");
	add_attribute(writer, "release", root, "OSRelease");
	add_attribute(writer, "architecture", root, "Architecture");
	add_attribute(writer, "cpu_model", ps_component_find_logical(root, PS_COMPONENT_PACKAGE, 0, 0), "CPUModel");
	close(writer, '}');
}

static void add_lists(struct writer *writer, const struct ps__table *table)
{
	open(writer, "events", '[');
	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__table_column *column = &table->columns[event];
		open_line(writer);
		add_string(writer, "event", column->selector.name);
		add_string(writer, "unit", ps__report_unit(column));
		add_double(writer, "scale", column->scale);
		add_string(writer, "scope", ps_scope_name(column->scope));
		close_line(writer);
	}
	close(writer, ']');
	open(writer, "metrics", '[');
	for (size_t i = 0; i < table->metric_count; i++) {
		const struct ps__metric *metric = table->metrics[i].ask.metric;
		open_line(writer);
		add_string(writer, "metric", table->metrics[i].name);
		add_string(writer, "unit", metric->unit);
		add_string(writer, "description", metric->description);
		close_line(writer);
	}
	close(writer, ']');
}

int ps__json_write(struct ps__report *report, struct ps__buffer *buffer)
{
	struct writer writer = {
	    .buffer = buffer, .compact = report->options->flags & PS_EXPORT_COMPACT, .is_first = true};

	ps__report_select(report);
	open(&writer, NULL, '{');
	add_string(&writer, "perfsage", ps_version());
	add_integer(&writer, "schema", SCHEMA);
	if (report->options->field_count)
		add_run(&writer, report->options);
	add_machine(&writer, report->table.topology);
	add_lists(&writer, &report->table);
	add_tree(&writer, &report->table);
	close(&writer, '}');
	ps__buffer_add(buffer, "\n");
	return PS_OK;
}

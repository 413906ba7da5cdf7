/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts as comma-separated values (RFC 4180): a header, then a row for each component and each
 * event or metric. */
#include "output/csv.h"

#include "base/printable.h"
#include "output/number.h"
#include "output/report.h"

#include <inttypes.h>
#include <math.h>
#include <perfsage/error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char header[] = "type,id,os_id,name,parent,event,value,unit,status,attribution,flags,"
			     "coverage,count,raw,enabled_ns,running_ns,timestamp,kind";

/* Returns the length of the leading bytes that need no quoting or replacement. */
static size_t csv_plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"')
		length++;
	return length;
}

/* Quotes the field if it has a comma, a quote or a line end. Bytes that aren't UTF-8 become
 * U+FFFD. */
void ps__csv_add_first(struct ps__buffer *buffer, const char *text)
{
	const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";

	ps__buffer_add(buffer, "%s", quote);
	while (*text) {
		uint32_t code;
		size_t plain = csv_plain_length(text);
		if (plain) {
			ps__buffer_add(buffer, "%.*s", (int)plain, text);
			text += plain;
			continue;
		}
		size_t length = ps__printable_decode(text, &code);
		if (code == PS__NO_CHARACTER)
			ps__buffer_add(buffer, "\xef\xbf\xbd");
		else
			ps__buffer_add(buffer, "%s%.*s", *text == '"' ? "\"" : "", (int)length,
			               text);
		text += length;
	}
	ps__buffer_add(buffer, "%s", quote);
}

void ps__csv_add_field(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add(buffer, ",");
	ps__csv_add_first(buffer, text);
}

void ps__csv_add_double(struct ps__buffer *buffer, double number)
{
	ps__buffer_add(buffer, ",");
	if (isfinite(number))
		ps__number_add_exact(buffer, number);
}

static void csv_add_component(struct ps__buffer *buffer, const struct ps__table *table, size_t row)
{
	const struct ps_component *component = table->rows[row].component;

	ps__csv_add_first(buffer, ps_component_type_name(component->type));
	ps__buffer_add(buffer, ",%d,", ps__report_id(component));
	if (component->os_id >= 0)
		ps__buffer_add(buffer, "%d", component->os_id);
	ps__csv_add_field(buffer, component->name);
	ps__csv_add_field(buffer, row ? table->rows[table->rows[row].parent].component->name : "");
}

void ps__csv_add_how(struct ps__buffer *buffer, enum ps_status status,
                     enum ps_attribution attribution, uint32_t flags)
{
	const char *flag;

	ps__csv_add_field(buffer, ps_status_name(status));
	ps__csv_add_field(buffer, ps_attribution_name(attribution));
	ps__buffer_add(buffer, ",");
	for (size_t i = 0; (flag = ps_value_flag_name(flags, i)); i++)
		ps__buffer_add(buffer, "%s%s", i ? " " : "", flag);
}

void ps__csv_add_value(struct ps__buffer *buffer, const struct ps__csv_event *event,
                       const struct ps_value *value)
{
	bool is_known = ps__report_is_known(value);

	ps__csv_add_field(buffer, event->name);
	if (is_known && event->scale == 1)
		ps__buffer_add(buffer, ",%lld", value->value);
	else
		ps__csv_add_double(buffer,
		                   is_known ? (double)value->value * event->scale : (double)NAN);
	ps__csv_add_field(buffer, ps__report_unit(event->unit));
	ps__csv_add_how(buffer, value->status, value->attribution, value->flags);
	ps__csv_add_double(buffer, ps__report_coverage(value));
	ps__buffer_add(buffer, ",");
	if (is_known)
		ps__buffer_add(buffer, "%lld,%" PRIu64, value->value, value->raw);
	else
		ps__buffer_add(buffer, ",");
	if (event->has_no_times)
		ps__buffer_add(buffer, ",,");
	else
		ps__buffer_add(buffer, ",%" PRIu64 ",%" PRIu64, value->enabled_ns,
		               value->running_ns);
	ps__buffer_add(buffer, ",%" PRIu64 ",event", value->timestamp);
}

void ps__csv_add_metric(struct ps__buffer *buffer, const char *name,
                        const struct ps__metric *metric, const struct ps_metric_value *value)
{
	ps__csv_add_field(buffer, name);
	ps__csv_add_double(buffer, value->value);
	ps__csv_add_field(buffer, metric->unit);
	ps__csv_add_how(buffer, value->status, value->attribution, value->flags);
	ps__buffer_add(buffer, ",,,,,,%" PRIu64 ",metric", value->timestamp);
}

void ps__csv_add_nothing(struct ps__buffer *buffer, const char *name, const char *unit,
                         const char *kind)
{
	ps__csv_add_field(buffer, name);
	ps__buffer_add(buffer, ",");
	ps__csv_add_field(buffer, unit);
	ps__buffer_add(buffer, ",,,,,,,,,,%s", kind);
}

void ps__csv_end_row(struct ps__buffer *buffer, const struct ps_export_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fields[i].text)
			ps__csv_add_field(buffer, fields[i].text);
		else
			ps__csv_add_double(buffer, fields[i].number);
	}
	ps__buffer_add(buffer, "\r\n");
}

void ps__csv_add_header(struct ps__buffer *buffer, const char *columns,
                        const struct ps_export_field *fields, size_t count)
{
	ps__buffer_add(buffer, "%s", columns);
	for (size_t i = 0; i < count; i++)
		ps__csv_add_field(buffer, fields[i].name);
	ps__buffer_add(buffer, "\r\n");
}

static void csv_add_row(const struct ps__report *report, struct ps__buffer *buffer, size_t row)
{
	const struct ps__table *table = &report->table;
	const struct ps_export_options *options = report->options;
	struct ps_metric_value metric;

	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__table_column *column = &table->columns[event];
		const struct ps__cell *cell = ps__table_cell(table, row, event);
		csv_add_component(buffer, table, row);
		const struct ps__csv_event about = {column->selector.name, column->unit,
		                                    column->scale, false};
		if (cell->parts)
			ps__csv_add_value(buffer, &about, &cell->value);
		else
			ps__csv_add_nothing(buffer, about.name, ps__report_unit(about.unit),
			                    "event");
		ps__csv_end_row(buffer, options->fields, options->field_count);
	}
	for (size_t i = 0; i < table->metric_count; i++) {
		const struct ps__table_metric *asked = &table->metrics[i];
		csv_add_component(buffer, table, row);
		if (ps__table_metric(table, row, i, &metric))
			ps__csv_add_metric(buffer, asked->name, asked->ask.metric, &metric);
		else
			ps__csv_add_nothing(buffer, asked->name, asked->ask.metric->unit, "metric");
		ps__csv_end_row(buffer, options->fields, options->field_count);
	}
}

int ps__csv_write(struct ps__report *report, struct ps__buffer *buffer)
{
	const struct ps_export_options *options = report->options;

	ps__report_select(report);
	if (!(options->flags & PS_EXPORT_NO_HEADER))
		ps__csv_add_header(buffer, header, options->fields, options->field_count);
	for (size_t row = 0; row < report->table.row_count; row++)
		csv_add_row(report, buffer, row);
	return PS_OK;
}

/* True if the line is a heading. Headings begin with one of these columns; no row does. */
static bool csv_is_heading(const char *line)
{
	static const char *const columns[] = {"type,", "path,"};

	for (size_t index = 0; index < sizeof columns / sizeof columns[0]; index++) {
		if (strncmp(line, columns[index], strlen(columns[index])) == 0)
			return true;
	}
	return false;
}

/* True if the line ends inside a quoted field. The next line is then part of this field, and can't
 * be a heading. */
static bool csv_ends_in_quotes(const char *line, bool is_quoted)
{
	for (; *line; line++)
		is_quoted ^= *line == '"';
	return is_quoted;
}

char *ps__csv_read_heading(FILE *stream)
{
	char *line = NULL, *heading = NULL;
	size_t room = 0;
	bool is_quoted = false;

	while (getline(&line, &room, stream) >= 0) {
		bool is_heading = !is_quoted && csv_is_heading(line);
		is_quoted = csv_ends_in_quotes(line, is_quoted);
		if (!is_heading)
			continue;
		free(heading);
		heading = line;
		line = NULL;
		room = 0;
	}
	free(line);
	return heading;
}

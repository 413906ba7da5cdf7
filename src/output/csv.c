/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts as comma-separated values (RFC 4180): a header, then a row for
 * each component and event or metric. */
#include "base/printable.h"
#include "output/number.h"
#include "output/report.h"

#include <inttypes.h>
#include <math.h>
#include <perfsage/error.h>
#include <string.h>

static const char header[] = "type,id,os_id,name,parent,event,value,unit,status,attribution,flags,"
			     "coverage,count,raw,enabled_ns,running_ns,timestamp";

/* The length of the leading bytes that need no quoting or replacement. */
static size_t csv_plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"')
		length++;
	return length;
}

/* Quoted if it holds what has a meaning; bytes that are no UTF-8 become
 * U+FFFD. */
static void csv_add_text(struct ps__buffer *buffer, const char *text)
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

static void csv_add_field(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add(buffer, ",");
	csv_add_text(buffer, text);
}

static void csv_add_double(struct ps__buffer *buffer, double number)
{
	ps__buffer_add(buffer, ",");
	if (isfinite(number))
		ps__number_add_exact(buffer, number);
}

static void csv_add_component(struct ps__buffer *buffer, const struct ps__table *table, size_t row)
{
	const struct ps_component *component = table->rows[row].component;

	csv_add_text(buffer, ps_component_type_name(component->type));
	ps__buffer_add(buffer, ",%d,", ps__report_id(component));
	if (component->os_id >= 0)
		ps__buffer_add(buffer, "%d", component->os_id);
	csv_add_field(buffer, component->name);
	csv_add_field(buffer, row ? table->rows[table->rows[row].parent].component->name : "");
}

static void csv_add_how(struct ps__buffer *buffer, enum ps_status status,
                        enum ps_attribution attribution, uint32_t flags)
{
	const char *flag;

	csv_add_field(buffer, ps_status_name(status));
	csv_add_field(buffer, ps_attribution_name(attribution));
	ps__buffer_add(buffer, ",");
	for (size_t i = 0; (flag = ps_value_flag_name(flags, i)); i++)
		ps__buffer_add(buffer, "%s%s", i ? " " : "", flag);
}

static void csv_add_value(struct ps__buffer *buffer, const struct ps__table_column *column,
                          const struct ps_value *value)
{
	bool is_known = ps__report_is_known(value);

	csv_add_field(buffer, column->selector.name);
	if (is_known && column->scale == 1)
		ps__buffer_add(buffer, ",%lld", value->value);
	else
		csv_add_double(buffer,
		               is_known ? (double)value->value * column->scale : (double)NAN);
	csv_add_field(buffer, ps__report_unit(column->unit));
	csv_add_how(buffer, value->status, value->attribution, value->flags);
	csv_add_double(buffer, ps__report_coverage(value));
	ps__buffer_add(buffer, ",");
	if (is_known)
		ps__buffer_add(buffer, "%lld", value->value);
	ps__buffer_add(buffer, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, value->raw,
	               value->enabled_ns, value->running_ns, value->timestamp);
}

static void csv_add_metric(struct ps__buffer *buffer, const struct ps__table_metric *metric,
                           const struct ps_metric_value *value)
{
	csv_add_field(buffer, metric->name);
	csv_add_double(buffer, value->value);
	csv_add_field(buffer, metric->ask.metric->unit);
	csv_add_how(buffer, value->status, value->attribution, value->flags);
	ps__buffer_add(buffer, ",,,,,,%" PRIu64, value->timestamp);
}

/* Every component has the same rows, or those of two runs would not match:
 * without a reading nothing is known but the unit. */
static void csv_add_nothing(struct ps__buffer *buffer, const char *name, const char *unit)
{
	csv_add_field(buffer, name);
	ps__buffer_add(buffer, ",");
	csv_add_field(buffer, unit);
	ps__buffer_add(buffer, ",,,,,,,,,");
}

/* The caller's own fields, and the end of the row. */
static void csv_end_row(struct ps__buffer *buffer, const struct ps_export_options *options)
{
	for (size_t i = 0; i < options->field_count; i++) {
		if (options->fields[i].text)
			csv_add_field(buffer, options->fields[i].text);
		else
			csv_add_double(buffer, options->fields[i].number);
	}
	ps__buffer_add(buffer, "\r\n");
}

static void csv_add_row(const struct ps__report *report, struct ps__buffer *buffer, size_t row)
{
	const struct ps__table *table = &report->table;
	struct ps_metric_value metric;

	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__table_column *column = &table->columns[event];
		const struct ps__cell *cell = ps__table_cell(table, row, event);
		csv_add_component(buffer, table, row);
		if (cell->parts)
			csv_add_value(buffer, column, &cell->value);
		else
			csv_add_nothing(buffer, column->selector.name,
			                ps__report_unit(column->unit));
		csv_end_row(buffer, report->options);
	}
	for (size_t i = 0; i < table->metric_count; i++) {
		const struct ps__table_metric *asked = &table->metrics[i];
		csv_add_component(buffer, table, row);
		if (ps__table_metric(table, row, i, &metric))
			csv_add_metric(buffer, asked, &metric);
		else
			csv_add_nothing(buffer, asked->name, asked->ask.metric->unit);
		csv_end_row(buffer, report->options);
	}
}

int ps__csv_write(struct ps__report *report, struct ps__buffer *buffer)
{
	const struct ps_export_options *options = report->options;

	ps__report_select(report);
	if (!(options->flags & PS_EXPORT_NO_HEADER)) {
		ps__buffer_add(buffer, "%s", header);
		for (size_t i = 0; i < options->field_count; i++)
			csv_add_field(buffer, options->fields[i].name);
		ps__buffer_add(buffer, "\r\n");
	}
	for (size_t row = 0; row < report->table.row_count; row++)
		csv_add_row(report, buffer, row);
	return PS_OK;
}

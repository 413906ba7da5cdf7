/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log intervals as CSV and JSON. */
#include "tools/log_intervals.h"

#include "output/csv.h"
#include "output/label.h"

static const char *unit_of(const struct interval_row *row)
{
	return *row->look.unit ? row->look.unit : "count";
}

/* Adds a number in the event's unit. */
static void add_csv_number(struct ps__buffer *text, const struct interval_row *row,
                           long long number)
{
	if (row->look.scale == 1)
		ps__buffer_add(text, ",%lld", number);
	else
		ps__csv_add_double(text, (double)number * row->look.scale);
}

static void put_csv_numbers(struct ps__buffer *text, const struct interval_row *row)
{
	const struct tool_log_statistics *all = &row->statistics;
	const struct ps_value *total = &row->sum->total;

	add_csv_number(text, row, total->value);
	ps__csv_add_double(text, all->mean * row->look.scale);
	add_csv_number(text, row, all->least);
	for (size_t index = 0; index < 3; index++)
		add_csv_number(text, row, all->percentiles[index]);
	add_csv_number(text, row, all->most);
	if (row->event)
		ps__csv_add_how(text, total->status, total->attribution, total->flags);
	else
		ps__buffer_add(text, ",,,");
}

void log_intervals_put_csv(struct interval_output *output, const struct interval_row *row)
{
	struct ps__buffer component = {0}, *text = &output->text;

	ps__csv_add_first(text, output->log->options.group ? row->group->text : "");
	if (row->component)
		ps__label_add_component(&component, row->component, false);
	ps__csv_add_field(text, ps__buffer_text(&component));
	ps__buffer_clear(&component);
	ps__csv_add_field(text, row->event ? row->event : "time");
	ps__csv_add_field(text, unit_of(row));
	ps__buffer_add(text, ",%zu,%zu", row->sum->count, row->sum->unknown);
	if (row->sum->count)
		put_csv_numbers(text, row);
	else
		ps__buffer_add(text, ",,,,,,,,,,");
	/* Distinguishes the group of empty texts from the records without the field. */
	ps__csv_add_field(text, !output->log->options.group ? ""
	                        : row->group->is_set        ? "yes"
	                                                    : "no");
	tool_log_add_missing_csv(output->log, text);
	ps__buffer_add(text, "\n");
}

/* Adds a number in the event's unit. */
static void add_json_number(struct ps__json *json, const struct interval_row *row, const char *key,
                            long long number)
{
	if (row->look.scale == 1)
		ps__json_add_integer(json, key, number);
	else
		ps__json_add_double(json, key, (double)number * row->look.scale);
}

static void put_json_histogram(struct ps__json *json, const struct interval_row *row)
{
	const struct tool_log_statistics *all = &row->statistics;

	ps__json_open(json, "histogram", '[');
	for (size_t bin = 0; bin <= TOOL_LOG_BINS; bin++) {
		if (!all->bins[bin])
			continue;
		ps__json_open(json, NULL, '{');
		if (bin)
			add_json_number(json, row, "from", 1LL << (bin - 1));
		else
			ps__json_add_null(json, "from");
		ps__json_add_unsigned(json, "count", all->bins[bin]);
		ps__json_close(json, '}');
	}
	ps__json_close(json, ']');
}

static void put_json_numbers(struct ps__json *json, const struct interval_row *row)
{
	const struct tool_log_statistics *all = &row->statistics;
	const struct ps_value *total = &row->sum->total;

	add_json_number(json, row, "sum", total->value);
	ps__json_add_double(json, "mean", all->mean * row->look.scale);
	add_json_number(json, row, "min", all->least);
	add_json_number(json, row, "p50", all->percentiles[0]);
	add_json_number(json, row, "p90", all->percentiles[1]);
	add_json_number(json, row, "p99", all->percentiles[2]);
	add_json_number(json, row, "max", all->most);
	if (row->event)
		ps__json_add_how(json, total->status, total->attribution, total->flags);
}

void log_intervals_put_json(struct interval_output *output, const struct interval_row *row)
{
	struct ps__json *json = &output->json;
	struct ps__buffer component = {0};

	ps__json_open_line(json, NULL, '{');
	if (output->log->options.group)
		ps__json_add_string(json, "group", row->group->is_set ? row->group->text : NULL);
	if (row->component) {
		ps__label_add_component(&component, row->component, false);
		ps__json_add_string(json, "component", ps__buffer_text(&component));
		ps__buffer_clear(&component);
	}
	ps__json_add_string(json, "event", row->event ? row->event : "time");
	ps__json_add_string(json, "unit", unit_of(row));
	ps__json_add_unsigned(json, "intervals", row->sum->count);
	ps__json_add_unsigned(json, "unknown", row->sum->unknown);
	if (row->sum->count)
		put_json_numbers(json, row);
	if (row->sum->count && output->log->options.has_histogram)
		put_json_histogram(json, row);
	ps__json_close_line(json, '}');
}

void log_intervals_begin_json(struct interval_output *output)
{
	const struct tool_log_options *options = &output->log->options;
	struct ps__json *json = &output->json;

	*json = ps__json_create(&output->text, false);
	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "log", options->path);
	ps__json_add_string(json, "type", options->type);
	ps__json_add_string(json, "from", options->from.name);
	ps__json_add_bool(json, "from_previous", options->from.is_previous);
	ps__json_add_string(json, "to", options->to.name);
	ps__json_add_bool(json, "to_previous", options->to.is_previous);
	ps__json_add_string(json, "group", options->group);
	ps__json_open(json, "intervals", '[');
}

void log_intervals_end_json(struct interval_output *output)
{
	struct ps__json *json = &output->json;

	ps__json_close(json, ']');
	tool_log_add_missing_json(output->log, json);
	ps__json_close(json, '}');
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log intervals: what was counted between two points, in all records together. */
#include "tools/log_intervals.h"

#include "output/label.h"
#include "output/number.h"
#include "tools/command.h"
#include "tools/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_one(struct interval_output *output, struct interval_row row,
                    struct tool_log_sum *sum, interval_put *put)
{
	row.sum = sum;
	if (sum->count)
		tool_log_sum_up(sum, &row.statistics);
	if (sum->count || sum->unknown)
		put(output, &row);
}

static void put_group(struct interval_output *output, struct tool_log_group *group,
                      interval_put *put)
{
	const struct tool_log_groups *all = &output->groups;
	struct interval_row row = {.group = group, .look = {.unit = "ns", .scale = 1}};

	put_one(output, row, &group->time, put);
	for (size_t index = 0; index < all->component_count; index++) {
		for (size_t event = 0; event < all->event_count; event++) {
			row.component = all->components[index];
			row.event = output->log->events.names[event];
			row.look = output->log->looks[event];
			put_one(output, row, &group->sums[index * all->event_count + event], put);
		}
	}
}

static void put_all(struct interval_output *output, interval_put *put)
{
	for (size_t group = 0; group < output->groups.count; group++)
		put_group(output, &output->groups.groups[group], put);
}

/* Text */

static void add_what(struct ps__buffer *buffer, const struct interval_row *row)
{
	if (row->component) {
		ps__label_add_component(buffer, row->component, false);
		ps__buffer_add(buffer, "  ");
	}
	tool_put(buffer, row->event ? row->event : "time");
	if (row->event && *row->look.unit)
		ps__buffer_add(buffer, " (%s)", row->look.unit);
}

enum {
	COLUMN_WHAT,
	COLUMN_COUNT,
	COLUMN_SUM,
	COLUMN_MEAN,
	COLUMN_LEAST,
	COLUMN_P50,
	COLUMN_P90,
	COLUMN_P99,
	COLUMN_MOST,
	COLUMN_UNKNOWN,
	COLUMN_KNOWN,
	COLUMNS
};

static void set_styled(struct interval_output *output, size_t row, size_t column,
                       struct ps__buffer *text, enum ps__style style)
{
	size_t columns = tool_columns(ps__buffer_text(text), text->length);

	ps__grid_set(&output->grid, row, column, text,
	             (struct ps__grid_cell){.columns = columns, .style = style});
	ps__buffer_restart(text);
}

static void set_cell(struct interval_output *output, size_t row, size_t column,
                     struct ps__buffer *text)
{
	set_styled(output, row, column, text, row == 0 ? PS__STYLE_HEADING : PS__STYLE_PLAIN);
}

static void set_number(struct interval_output *output, size_t column, struct ps__buffer *text)
{
	set_styled(output, output->at, column, text, ps__style_of_number(ps__buffer_text(text)));
}

static void put_times(struct interval_output *output, const struct interval_row *row,
                      struct ps__buffer *text)
{
	const struct tool_log_statistics *all = &row->statistics;
	const double times_ns[] = {(double)row->sum->total.value,
	                           all->mean,
	                           (double)all->least,
	                           (double)all->percentiles[0],
	                           (double)all->percentiles[1],
	                           (double)all->percentiles[2],
	                           (double)all->most};

	for (size_t index = 0; index < sizeof times_ns / sizeof times_ns[0]; index++) {
		ps__number_add_time(text, times_ns[index]);
		set_number(output, COLUMN_SUM + index, text);
	}
}

/* A number of one interval is as well known as the least known one. */
static void put_counts(struct interval_output *output, const struct interval_row *row,
                       struct ps__buffer *text)
{
	const struct tool_log_statistics *all = &row->statistics;
	const long long numbers[] = {all->least, all->percentiles[0], all->percentiles[1],
	                             all->percentiles[2], all->most};
	struct ps_value value = row->sum->total;

	ps__known_add_value(text, &value, &row->look);
	set_number(output, COLUMN_SUM, text);
	ps__buffer_add(text, "%s",
	               value.status == PS_STATUS_SCALED       ? "~"
	               : value.status == PS_STATUS_INCOMPLETE ? ">="
	                                                      : "");
	ps__number_add_plain(text, all->mean * row->look.scale);
	ps__buffer_add(text, "%s", ps__known_mark(value.status, value.flags, &row->look));
	set_number(output, COLUMN_MEAN, text);
	for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
		value.value = numbers[index];
		value.flags &= ~(uint32_t)PS_VALUE_SATURATED;
		ps__known_add_value(text, &value, &row->look);
		set_number(output, COLUMN_LEAST + index, text);
	}
}

static void put_text_row(struct interval_output *output, const struct interval_row *row)
{
	struct ps__buffer text = {0};

	if (output->log->options.group) {
		ps__buffer_add(&text, "%s=", output->log->options.group);
		tool_put(&text, row->group->text);
		ps__buffer_add(&text, "  ");
	}
	add_what(&text, row);
	set_cell(output, output->at, COLUMN_WHAT, &text);
	ps__buffer_add(&text, "%zu", row->sum->count);
	set_cell(output, output->at, COLUMN_COUNT, &text);
	if (row->sum->count && row->event)
		put_counts(output, row, &text);
	else if (row->sum->count)
		put_times(output, row, &text);
	if (row->sum->unknown) {
		ps__buffer_add(&text, "%zu", row->sum->unknown);
		set_cell(output, output->at, COLUMN_UNKNOWN, &text);
	}
	if (row->event && row->sum->count) {
		ps__known_add_words(&text, &row->sum->known);
		set_cell(output, output->at, COLUMN_KNOWN, &text);
	}
	ps__buffer_clear(&text);
	output->at++;
}

static void put_headings(struct interval_output *output)
{
	static const char *const headings[COLUMNS] = {"Interval", "intervals", "sum",        "mean",
	                                              "min",      "p50",       "p90",        "p99",
	                                              "max",      "not known", "Attribution"};
	struct ps__buffer text = {0};

	for (size_t column = 0; column < COLUMNS; column++) {
		ps__buffer_add(&text, "%s", headings[column]);
		set_cell(output, 0, column, &text);
	}
	ps__buffer_clear(&text);
	output->at = 1;
}

/* Where a bin begins, in the event's unit. */
static void add_bin(struct ps__buffer *text, const struct interval_row *row, size_t bin)
{
	uint64_t from = UINT64_C(1) << (bin - 1);

	if (row->look.scale == 1)
		ps__buffer_add(text, "%" PRIu64, from);
	else
		ps__number_add_plain(text, (double)from * row->look.scale);
}

static void put_histogram(struct interval_output *output, const struct interval_row *row)
{
	const struct tool_log_statistics *all = &row->statistics;
	struct ps__buffer from = {0};

	if (row->sum->count == 0)
		return;
	ps__buffer_add(&output->text, "\n");
	if (output->log->options.group) {
		tool_put(&output->text, row->group->text);
		ps__buffer_add(&output->text, "  ");
	}
	add_what(&output->text, row);
	ps__buffer_add(&output->text, "%s\n", row->event ? "" : " (ns)");
	for (size_t bin = 0; bin <= TOOL_LOG_BINS; bin++) {
		if (all->bins[bin] == 0)
			continue;
		ps__buffer_restart(&from);
		if (bin)
			add_bin(&from, row, bin);
		if (bin)
			ps__buffer_add(&output->text, "  %11s and more  %zu\n",
			               ps__buffer_text(&from), all->bins[bin]);
		else
			ps__buffer_add(&output->text, "  %20s  %zu\n", "0 or less", all->bins[0]);
	}
	ps__buffer_clear(&from);
}

static void add_point(struct ps__buffer *buffer, const struct tool_log_point *point,
                      const char *otherwise)
{
	ps__buffer_add(buffer, "%s", point->is_previous ? "previous:" : "");
	tool_put(buffer, point->name ? point->name : otherwise);
}

static int put_text(struct interval_output *output)
{
	const struct tool_log_options *options = &output->log->options;
	size_t rows = output->groups.count *
	              (1 + output->groups.component_count * output->groups.event_count);
	struct tool_screen screen = tool_screen_of(STDOUT_FILENO);

	ps__buffer_add(&output->text, "from ");
	add_point(&output->text, &options->from, "the first point");
	ps__buffer_add(&output->text, " to ");
	add_point(&output->text, &options->to, "the last point");
	ps__buffer_add(&output->text, "\n\n");
	if (ps__grid_create(&output->grid, rows + 1, COLUMNS) != PS_OK) {
		ps__grid_clear(&output->grid);
		return tool_complain("%s", ps_error_detail());
	}
	output->grid.ends_in_words = true;
	output->grid.has_colour = screen.has_colour;
	put_headings(output);
	put_all(output, put_text_row);
	output->grid.row_count = output->at;
	tool_add_grid(&output->text, &output->grid, screen.width, " (--csv and --json have all)");
	ps__grid_clear(&output->grid);
	if (options->has_histogram)
		put_all(output, put_histogram);
	return TOOL_OK;
}

static int put(struct interval_output *output)
{
	if (output->log->options.format == TOOL_LOG_TEXT)
		return put_text(output);
	if (output->log->options.format == TOOL_LOG_JSON) {
		log_intervals_begin_json(output);
		put_all(output, log_intervals_put_json);
		log_intervals_end_json(output);
		return TOOL_OK;
	}
	ps__buffer_add(&output->text,
	               "group,component,event,unit,intervals,unknown,sum,mean,min,p50,p90,p99,"
	               "max,status,attribution,flags" TOOL_LOG_MISSING_COLUMNS "\n");
	put_all(output, log_intervals_put_csv);
	return TOOL_OK;
}

int tool_log_intervals(struct tool_log *log)
{
	struct interval_output output = {.log = log};
	int status = tool_log_groups_create(&output.groups, log) < 0 ||
	                     tool_log_groups_collect(&output.groups, log) < 0
	                 ? TOOL_FAILED
	                 : TOOL_OK;

	if (status == TOOL_OK && output.groups.count == 0)
		tool_complain("no record has such an interval");
	if (status == TOOL_OK)
		status = put(&output);
	if (status == TOOL_OK && tool_write(&output.text, stdout) < 0)
		status = TOOL_FAILED;
	ps__buffer_clear(&output.text);
	tool_log_groups_clear(&output.groups);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log intervals as text: a table, which is limited on a terminal, and histograms. */
#include "tools/log_intervals.h"

#include "output/label.h"
#include "output/number.h"
#include "output/path_label.h"
#include "tools/command.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_ROWS 40

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
	COLUMN_SUM, /* the only column on a narrow screen */
	COLUMN_MEAN,
	COLUMN_COUNT,
	COLUMN_UNKNOWN,
	COLUMN_LEAST,
	COLUMN_P50,
	COLUMN_P90,
	COLUMN_P99,
	COLUMN_MOST,
	COLUMN_KNOWN,
	COLUMNS
};

static void put_times(struct interval_output *output, const struct interval_row *row)
{
	const struct tool_log_statistics *all = &row->statistics;
	const struct {
		size_t column;
		double ns;
	} times[] = {{COLUMN_SUM, (double)row->sum->total.value},
	             {COLUMN_MEAN, all->mean},
	             {COLUMN_LEAST, (double)all->least},
	             {COLUMN_P50, (double)all->percentiles[0]},
	             {COLUMN_P90, (double)all->percentiles[1]},
	             {COLUMN_P99, (double)all->percentiles[2]},
	             {COLUMN_MOST, (double)all->most}};

	for (size_t index = 0; index < sizeof times / sizeof times[0]; index++) {
		ps__number_add_time(&output->grid.cell, times[index].ns);
		ps__grid_set_number(&output->grid, output->at, times[index].column, 0);
	}
}

static void add_mean(struct ps__buffer *text, const struct interval_row *row)
{
	const struct ps_value *total = &row->sum->total;

	ps__buffer_add(text, "%s", ps__known_prefix_of_some(total, &row->look));
	ps__number_add_plain(text, row->statistics.mean * row->look.scale);
	ps__buffer_add(text, "%s", ps__known_mark(total->status, total->flags, &row->look));
}

/* Shows the numbers of single intervals with the sign of the weakest one. */
static void put_counts(struct interval_output *output, const struct interval_row *row)
{
	struct ps__buffer *text = &output->grid.cell;
	const struct tool_log_statistics *all = &row->statistics;
	const long long numbers[] = {all->least, all->percentiles[0], all->percentiles[1],
	                             all->percentiles[2], all->most};
	const struct ps_value *total = &row->sum->total;

	ps__known_add_value(text, total, &row->look);
	ps__grid_set_number(&output->grid, output->at, COLUMN_SUM, 0);
	add_mean(text, row);
	ps__grid_set_number(&output->grid, output->at, COLUMN_MEAN, 0);
	for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
		ps__known_add_one_of(text, numbers[index], total, &row->look);
		ps__grid_set_number(&output->grid, output->at, COLUMN_LEAST + index, 0);
	}
}

/* Adds a line with the group's name, cut to leave room for the numbers. */
static void put_group_name(struct interval_output *output, const struct tool_log_group *group)
{
	struct ps__buffer *text = &output->grid.cell, name = {0};

	ps__buffer_add(&name, "%s%s", output->log->options.group,
	               group->is_set ? "=" : " was never set");
	tool_put(&name, group->text);
	ps__path_label_add_name(text, ps__buffer_text(&name), ps__label_width(output->screen.width),
	                        output->screen.has_utf8 ? PS_PATHS_UTF8 : 0);
	text->failed |= name.failed;
	ps__buffer_clear(&name);
	ps__grid_set(&output->grid, output->at++, COLUMN_WHAT);
}

void log_intervals_put_text(struct interval_output *output, const struct interval_row *row)
{
	struct ps__buffer *text = &output->grid.cell;

	if (output->log->options.group && row->sum == &row->group->time)
		put_group_name(output, row->group);
	ps__buffer_add(text, "%s", output->log->options.group ? "  " : "");
	add_what(text, row);
	ps__grid_set(&output->grid, output->at, COLUMN_WHAT);
	ps__buffer_add(text, "%zu", row->sum->count);
	ps__grid_set(&output->grid, output->at, COLUMN_COUNT);
	if (!row->sum->count)
		ps__buffer_add(text, "not known");
	if (!row->sum->count)
		ps__grid_set_number(&output->grid, output->at, COLUMN_SUM, 0);
	else if (row->event)
		put_counts(output, row);
	else
		put_times(output, row);
	if (row->sum->unknown) {
		ps__buffer_add(text, "%zu", row->sum->unknown);
		ps__grid_set(&output->grid, output->at, COLUMN_UNKNOWN);
	}
	if (row->event && row->sum->count) {
		ps__known_add_words(text, &row->sum->known);
		ps__grid_set(&output->grid, output->at, COLUMN_KNOWN);
	}
	output->at++;
}

static void put_headings(struct interval_output *output)
{
	static const char *const headings[COLUMNS] = {"Interval",  "sum", "mean",       "intervals",
	                                              "not known", "min", "p50",        "p90",
	                                              "p99",       "max", "Attribution"};

	for (size_t column = 0; column < COLUMNS; column++) {
		ps__buffer_add(&output->grid.cell, "%s", headings[column]);
		ps__grid_set(&output->grid, 0, column);
	}
	output->at = 1;
}

/* Adds the beginning of a bin, in the event's unit. */
static void add_bin(struct ps__buffer *text, const struct interval_row *row, size_t bin)
{
	uint64_t from = UINT64_C(1) << (bin - 1);

	if (row->look.scale == 1)
		ps__buffer_add(text, "%" PRIu64, from);
	else
		ps__number_add_plain(text, (double)from * row->look.scale);
}

void log_intervals_put_histogram(struct interval_output *output, const struct interval_row *row)
{
	const struct tool_log_statistics *all = &row->statistics;
	struct ps__buffer from = {0};

	if (row->sum->count == 0)
		return;
	ps__buffer_add(&output->text, "\n");
	if (output->log->options.group) {
		tool_put(&output->text, row->group->is_set ? row->group->text : "never set");
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
			ps__buffer_add(&output->text, "  from %15s  %zu\n", ps__buffer_text(&from),
			               all->bins[bin]);
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

/* Limits the rows to --rows or the terminal's limit, but to at least one component of one group. */
static void limit_rows(struct interval_output *output)
{
	const struct tool_log_groups *all = &output->groups;
	size_t rows = (size_t)output->log->options.rows,
	       events = all->event_count ? all->event_count : 1;

	if (!rows && output->screen.is_terminal)
		rows = TERMINAL_ROWS;
	if (!rows || !all->count)
		return;
	output->most_groups = rows / (1 + events);
	if (output->most_groups > all->count)
		output->most_groups = all->count;
	if (output->most_groups == 0)
		output->most_groups = 1;
	rows /= output->most_groups;
	output->most_components = rows > events ? (rows - 1) / events : 1;
}

static void add_components(struct interval_output *output, struct ps__buffer *line)
{
	bool has_groups = output->most_groups > 1;

	ps__buffer_add(line, "and %s%zu more ", has_groups ? "up to " : "", output->left_out);
	ps__label_add_type(line, output->groups.components[0], output->left_out);
	ps__buffer_add(line, "%s", has_groups ? " of each " : "");
	tool_put(line, has_groups ? output->log->options.group : "");
	ps__buffer_add(line, ", none with a larger known sum of ");
	tool_put(line, output->log->events.names[0]);
	ps__buffer_add(line, ": --rows shows more, --csv and --json all");
}

/* Adds how many groups and components aren't shown. */
static void put_left_out(struct interval_output *output)
{
	size_t groups = output->groups.count - output->most_groups;
	struct ps__buffer line = {0};

	if (output->left_out) {
		add_components(output, &line);
		tool_paragraph_of(&output->text, &line, 0, output->screen.width);
	}
	if (groups) {
		ps__buffer_add(&line, "and %zu more value%s of ", groups, groups == 1 ? "" : "s");
		tool_put(&line, output->log->options.group);
		ps__buffer_add(&line, ": --rows shows more, --csv and --json all");
		tool_paragraph_of(&output->text, &line, 0, output->screen.width);
	}
}

int log_intervals_begin_text(struct interval_output *output)
{
	const struct tool_log_options *options = &output->log->options;

	output->screen = tool_screen_of(STDOUT_FILENO);
	limit_rows(output);
	ps__buffer_add(&output->text, "from ");
	add_point(&output->text, &options->from, "the first point");
	ps__buffer_add(&output->text, " to ");
	add_point(&output->text, &options->to, "the last point");
	ps__buffer_add(&output->text, "\n\n");
	size_t rows =
	    output->most_groups * (2 + output->groups.component_count * output->groups.event_count);
	if (ps__grid_create(&output->grid, rows + 1, COLUMNS) != PS_OK) {
		ps__grid_clear(&output->grid);
		return tool_complain_detail();
	}
	output->grid.ends_in_words = true;
	output->grid.has_colour = output->screen.has_colour;
	put_headings(output);
	return 0;
}

void log_intervals_end_text(struct interval_output *output)
{
	output->grid.row_count = output->at;
	tool_add_grid(&output->text, &output->grid, output->screen.width,
	              " (--csv and --json have all)");
	put_left_out(output);
	ps__grid_clear(&output->grid);
}

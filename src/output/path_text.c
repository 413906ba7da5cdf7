/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths as text: a line for each path, then what was counted outside any region, and the total.
 * The columns are visits, times, events and metrics; or, for each event in turn, the components of
 * a type.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/parts.h"
#include "output/known.h"
#include "output/label.h"
#include "output/path_label.h"
#include "output/path_table.h"
#include "output/wrap.h"
#include "region/node.h"
#include "region/paths.h"

#include <inttypes.h>
#include <string.h>

enum path_column {
	COLUMN_LABEL,
	COLUMN_VISITS,
	COLUMN_WALL,
	COLUMN_ON_CPU,
	COLUMN_FIRST_EVENT
};

struct path_text {
	struct ps__path_table *table;
	const struct ps_paths_options *options;
	struct ps__buffer *buffer;
	struct ps__grid grid;
	struct ps__known known; /* of all that is shown */
	bool has_unknown;       /* a component's cell shows "-" */
	bool lacks_numbers;     /* a sum of numbers shows "?" */
	uint64_t *branches;     /* for each row */
};

/* A line shows a row. The regions come first, then the root path without its regions, then the
 * total. */
struct path_line {
	size_t row;
	enum ps_share share;
	bool is_total;
};

static size_t path_text_lines(const struct path_text *text)
{
	return text->table->row_count + 1;
}

static struct path_line path_text_line(const struct path_text *text, size_t line)
{
	if (line + 1 < text->table->row_count)
		return (struct path_line){.row = line + 1, .share = text->options->share};
	return (struct path_line){.is_total = line == text->table->row_count,
	                          .share = line == text->table->row_count ? PS_SHARE_INCLUSIVE
	                                                                  : PS_SHARE_EXCLUSIVE};
}

static struct ps__look path_text_look(const struct path_text *text, const char *unit, double scale)
{
	return (struct ps__look){
	    .unit = unit, .scale = scale, .si = !(text->options->flags & PS_PATHS_RAW)};
}

static struct ps__look path_text_look_of(const struct path_text *text, size_t event)
{
	return path_text_look(text, ps_eventset_event_unit(text->table->model, event),
	                      ps_eventset_event_scale(text->table->model, event));
}

static void path_text_set_label(struct path_text *text, size_t line)
{
	struct path_line about = path_text_line(text, line);
	size_t columns = 0;

	if (about.row == 0)
		ps__buffer_add(&text->grid.cell, "%s",
		               about.is_total ? "total" : "(outside any region)");
	else
		columns = ps__path_label_add(&text->grid.cell, text->table, about.row,
		                             text->branches[about.row]);
	ps__grid_set_as(&text->grid, 1 + line, COLUMN_LABEL,
	                (struct ps__grid_cell){.columns = columns});
}

/* Fills the last column, whose heading was made by path_text_begin. */
static void path_text_set_known(struct path_text *text, size_t line, const struct ps__known *known)
{
	ps__known_add_words(&text->grid.cell, known);
	ps__grid_set_as(&text->grid, 1 + line, text->grid.column_count - 1,
	                (struct ps__grid_cell){.style = PS__STYLE_FAINT});
}

/* Notes a value for the legend and for its line's words. The total has no words of its own: its
 * value is noted only for the legend. */
static void path_text_note(struct path_text *text, struct path_line about,
                           const struct ps_value *value, struct ps__known *known)
{
	ps__known_note(&text->known, value);
	if (!about.is_total)
		ps__known_note(known, value);
}

/* Shows "-": beside other components' numbers an empty cell would look like a 0. */
static void path_text_set_unknown(struct path_text *text, size_t line, size_t column)
{
	if (!text->table->component_count)
		return;
	ps__buffer_add(&text->grid.cell, "-");
	ps__grid_set_number(&text->grid, 1 + line, column, 0);
	text->has_unknown = true;
}

static void path_text_set_event(struct path_text *text, size_t line, size_t column, size_t event,
                                struct ps__known *known)
{
	struct path_line about = path_text_line(text, line);
	const struct ps__path_sum *sum =
	    ps__path_table_at(text->table, about.row, event, about.share);
	struct ps__look look = path_text_look_of(text, event);

	look.is_share = ps__path_table_is_share(text->table, about.row, event, about.share);
	if (!sum->parts) {
		path_text_set_unknown(text, line, column);
		return;
	}
	path_text_note(text, about, &sum->value, known);
	ps__known_add_value(&text->grid.cell, &sum->value, &look);
	ps__grid_set_number(&text->grid, 1 + line, column,
	                    strlen(ps__known_mark(sum->value.status, sum->value.flags, &look)));
}

/* Leaves the cell empty if no value was passed. A sum that lacks numbers is no lower bound, because
 * these numbers may be below 0: it gets a mark of its own. */
static void path_text_set_value(struct path_text *text, size_t line, size_t column, size_t value)
{
	struct path_line about = path_text_line(text, line);
	struct ps_mark_value sum = ps__path_table_value(text->table, about.row, value, about.share);
	struct ps_value shown = {.value = sum.sum, .flags = sum.flags};
	struct ps__look look = path_text_look(text, "", 1);
	bool lacks = ps__path_table_value_status(text->table, about.row) == PS_STATUS_INCOMPLETE;

	if (sum.count == 0)
		return;
	text->lacks_numbers |= lacks;
	text->known.flags |= sum.flags;
	ps__known_add_value(&text->grid.cell, &shown, &look);
	ps__buffer_add(&text->grid.cell, "%s", lacks ? "?" : "");
	ps__grid_set_number(&text->grid, 1 + line, column, lacks);
}

static void path_text_set_metric(struct path_text *text, size_t line, size_t column,
                                 struct ps__path_metric *metric)
{
	struct path_line about = path_text_line(text, line);
	struct ps__look look = path_text_look(text, metric->ask.metric->unit, 1);
	struct ps_metric_value value;

	if (!ps__path_table_metric(text->table, about.row, about.share, metric, &value))
		return;
	look.is_share = ps__path_table_metric_is_share(text->table, about.row, about.share, metric);
	ps__known_note_metric(&text->known, &value);
	ps__known_add_metric(&text->grid.cell, &value, &look);
	metric->has_number |= text->grid.cell.length > 0;
	ps__grid_set_number(&text->grid, 1 + line, column,
	                    text->grid.cell.length > 0 &&
	                        ps__known_is_user_only(value.status, value.flags));
}

/* True if the line's times are estimates. The time of visits that were not counted is estimated,
 * and subtracted from the time of the path around them. The total isn't an estimate, because it was
 * measured. */
static bool path_text_is_estimate(const struct path_text *text, struct path_line about)
{
	const struct ps_path *path = text->table->rows[about.row].path;

	return !about.is_total &&
	       (path->visits.counted != path->visits.count || (path->doubt & PS__HAS_UNCHOSEN));
}

static void path_text_set_time(struct path_text *text, size_t line, size_t column, uint64_t time_ns)
{
	struct path_line about = path_text_line(text, line);
	struct ps_value value = {.value = (long long)time_ns};
	struct ps__look look = path_text_look(text, "ns", 1);

	if (time_ns == UINT64_MAX)
		return;
	if (path_text_is_estimate(text, about)) {
		value.status = PS_STATUS_SCALED;
	} else if (text->table->rows[about.row].path->uncounted) {
		value.status = PS_STATUS_INCOMPLETE;
	}
	text->known.statuses |= 1u << value.status;
	ps__known_add_value(&text->grid.cell, &value, &look);
	ps__grid_set_number(&text->grid, 1 + line, column, 0);
}

/* Shows visits and times; the root path has no visits. */
static void path_text_set_visits(struct path_text *text, size_t line)
{
	struct path_line about = path_text_line(text, line);
	const struct ps__path_row *row = &text->table->rows[about.row];

	if (about.row > 0) {
		ps__buffer_add(&text->grid.cell, "%s%" PRIu64, row->path->uncounted ? ">=" : "",
		               row->path->visits.count);
		ps__grid_set_number(&text->grid, 1 + line, COLUMN_VISITS, 0);
	}
	path_text_set_time(text, line, COLUMN_WALL, row->wall_ns[about.share]);
	path_text_set_time(text, line, COLUMN_ON_CPU, row->on_cpu_ns[about.share]);
}

static void path_text_head_time(struct path_text *text, size_t column, const char *heading)
{
	struct ps__look look = path_text_look(text, "ns", 1);

	ps__label_add_event(&text->grid.cell, heading, ps__known_heading_unit(&look));
	ps__grid_set(&text->grid, 0, column);
}

static void path_text_add_event_name(struct path_text *text, struct ps__buffer *to, size_t event)
{
	struct ps__look look = path_text_look_of(text, event);

	ps__label_add_event(to, ps_eventset_event_name(text->table->model, event),
	                    ps__known_heading_unit(&look));
}

static void path_text_add_metric_name(const struct path_text *text, struct ps__buffer *to,
                                      const struct ps__path_metric *metric)
{
	ps__label_add_metric(to, metric->name, ps__metric_heading_unit(metric->ask.metric),
	                     ps__set_look_up_event(text->table->model, metric->name) >= 0);
}

/* Begins the table. numbers: number of columns between the label and the words. */
static int path_text_begin(struct path_text *text, size_t numbers)
{
	int code = ps__grid_create(&text->grid, path_text_lines(text) + 1, numbers + 2);

	if (code < 0)
		return code;
	text->grid.ends_in_words = true;
	text->grid.has_colour = text->options->flags & PS_PATHS_COLOUR;
	ps__buffer_add(&text->grid.cell, "Region");
	ps__grid_set(&text->grid, 0, COLUMN_LABEL);
	for (size_t line = 0; line < path_text_lines(text); line++)
		path_text_set_label(text, line);
	ps__buffer_add(&text->grid.cell, "Attribution");
	ps__grid_set(&text->grid, 0, numbers + 1);
	return PS_OK;
}

static void path_text_end(struct path_text *text)
{
	struct ps__buffer lines = {0};

	ps__grid_add(&text->grid, text->buffer, text->options->width);
	ps__grid_add_only_words(&text->grid, &lines);
	ps__grid_add_left_out(&text->grid, &lines, text->options->width, "");
	ps__wrap_add_lines(text->buffer, &lines, PS__KNOWN_INDENT, text->options->width);
	ps__buffer_clear(&lines);
	ps__grid_clear(&text->grid);
	text->grid = (struct ps__grid){0};
}

static size_t path_text_first_metric(const struct ps__path_table *table)
{
	return COLUMN_FIRST_EVENT + table->event_count + table->value_count;
}

/* Shows the value's name, cut if it is long. */
static void path_text_head_value(struct path_text *text, size_t column, size_t value)
{
	ps__path_label_add_name(&text->grid.cell, ps__path_table_value_name(text->table, value),
	                        ps__label_width(text->options->width), text->options->flags);
	ps__buffer_add(&text->grid.cell, " (sum)");
	ps__grid_set(&text->grid, 0, column);
}

static void path_text_set_headings(struct path_text *text)
{
	const struct ps__path_table *table = text->table;

	ps__buffer_add(&text->grid.cell, "Visits");
	ps__grid_set(&text->grid, 0, COLUMN_VISITS);
	path_text_head_time(text, COLUMN_WALL, "Wall time");
	path_text_head_time(text, COLUMN_ON_CPU, "On CPU");
	for (size_t event = 0; event < table->event_count; event++) {
		path_text_add_event_name(text, &text->grid.cell, event);
		ps__grid_set(&text->grid, 0, COLUMN_FIRST_EVENT + event);
	}
	for (size_t value = 0; value < table->value_count; value++)
		path_text_head_value(text, COLUMN_FIRST_EVENT + table->event_count + value, value);
	for (size_t i = 0; i < table->metric_count; i++) {
		path_text_add_metric_name(text, &text->grid.cell, &table->metrics[i]);
		ps__grid_set(&text->grid, 0, path_text_first_metric(table) + i);
	}
}

static int path_text_add_all(struct path_text *text)
{
	const struct ps__path_table *table = text->table;
	size_t events = table->event_count, first_metric = path_text_first_metric(table);
	int code = path_text_begin(text, first_metric - 1 + table->metric_count);

	if (code < 0)
		return code;
	path_text_set_headings(text);
	for (size_t line = 0; line < path_text_lines(text); line++) {
		struct ps__known known = {0};
		path_text_set_visits(text, line);
		for (size_t event = 0; event < events; event++)
			path_text_set_event(text, line, COLUMN_FIRST_EVENT + event, event, &known);
		for (size_t value = 0; value < table->value_count; value++)
			path_text_set_value(text, line, COLUMN_FIRST_EVENT + events + value, value);
		for (size_t i = 0; i < table->metric_count; i++)
			path_text_set_metric(text, line, first_metric + i, &table->metrics[i]);
		path_text_set_known(text, line, &known);
	}
	path_text_end(text);
	return PS_OK;
}

/* Fills a component's column. block: index of an event; metrics follow the events. */
static void path_text_set_component(struct path_text *text, size_t column, size_t block,
                                    struct ps__known *known)
{
	size_t events = text->table->event_count;
	const struct ps_component *component = text->table->components[column];

	ps__path_table_sum(text->table, component);
	ps__label_add_component(&text->grid.cell, component, false);
	ps__grid_set(&text->grid, 0, 1 + column);
	for (size_t line = 0; line < path_text_lines(text); line++) {
		if (block < events)
			path_text_set_event(text, line, 1 + column, block, &known[line]);
		else
			path_text_set_metric(text, line, 1 + column,
			                     &text->table->metrics[block - events]);
	}
}

static int path_text_add_block(struct path_text *text, size_t block, struct ps__known *known)
{
	size_t events = text->table->event_count, lines = path_text_lines(text);
	int code = path_text_begin(text, text->table->component_count);

	if (code < 0)
		return code;
	memset(known, 0, lines * sizeof *known);
	for (size_t column = 0; column < text->table->component_count; column++)
		path_text_set_component(text, column, block, known);
	for (size_t line = 0; line < lines; line++)
		path_text_set_known(text, line, &known[line]);
	ps__buffer_add(text->buffer, "%s", block ? "\n" : "");
	if (block < events)
		path_text_add_event_name(text, text->buffer, block);
	else
		path_text_add_metric_name(text, text->buffer,
		                          &text->table->metrics[block - events]);
	ps__buffer_add(text->buffer, ":\n");
	path_text_end(text);
	return PS_OK;
}

static int path_text_add_blocks(struct path_text *text)
{
	size_t blocks = text->table->event_count + text->table->metric_count;
	struct ps__known *known = ps__os_calloc(path_text_lines(text), sizeof *known);
	int code = known ? PS_OK : ps__fail_memory("the printed text");

	for (size_t block = 0; code == PS_OK && block < blocks; block++)
		code = path_text_add_block(text, block, known);
	ps__os_free(known);
	return code;
}

static int path_text_add_legend(struct path_text *text)
{
	struct ps__buffer lines = {0};
	int code = PS_OK;

	if (!(text->options->flags & PS_PATHS_NO_LEGEND)) {
		if (!text->table->whole[0].parts)
			ps__buffer_add(&lines, "Nothing has been counted here.\n");
		if (text->has_unknown)
			ps__buffer_add(&lines,
			               "%-11s  nothing is known to have been counted there\n", "-");
		ps__known_add_legend(&lines, &text->known);
		if (text->lacks_numbers)
			ps__buffer_add(&lines,
			               "%-11s  numbers of threads or processes that were not "
			               "counted are missing: the sum may be more or less\n",
			               "?");
		for (size_t i = 0; i < text->table->metric_count; i++) {
			if (!text->table->metrics[i].has_number)
				ps__known_add_unknown(&lines, text->table->metrics[i].name);
		}
		code = ps__path_faults_add(text->table, &lines);
	}
	ps__buffer_add(text->buffer, "%s", lines.length ? "\n" : "");
	ps__wrap_add_lines(text->buffer, &lines, PS__KNOWN_INDENT, text->options->width);
	ps__buffer_clear(&lines);
	return code;
}

int ps__path_text_write(struct ps__path_table *table, struct ps__buffer *buffer)
{
	struct path_text text = {.table = table, .options = table->options, .buffer = buffer};
	int code = ps__path_label_find_branches(table, &text.branches);

	if (code == PS_OK)
		code =
		    table->component_count ? path_text_add_blocks(&text) : path_text_add_all(&text);
	if (code == PS_OK)
		code = path_text_add_legend(&text);
	buffer->failed |= text.grid.cell.failed;
	ps__grid_clear(&text.grid);
	ps__os_free(text.branches);
	return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log cost: what one unit of each kind of work costs, from intervals of mixed work. */
#include "base/os.h"
#include "base/vector.h"
#include "output/csv.h"
#include "output/grid.h"
#include "output/json_writer.h"
#include "output/known.h"
#include "output/number.h"
#include "output/wrap.h"
#include "store/attrmap.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FOOTER_INDENT 18
#define ROUNDING      1e-12

/* Rows with the work and its cost. */
struct rows {
	double *work, *cost;
	size_t count, work_room, cost_room;
	size_t columns;
	size_t unknown;       /* number of intervals whose work or cost is unknown */
	struct ps__look look; /* notation of the cost */
	/* Weakest status and attribution of all counts; its number isn't used */
	struct ps_value weakest;
	size_t merged;
	struct ps__known known;
};

struct result {
	struct ps_unit_cost *costs; /* for each kind of work; then the constant */
	struct ps_unit_cost_fit fit;
};

static bool read_work(const struct tool_log *log, double *out)
{
	for (size_t index = 0; index < log->options.work.count; index++) {
		struct ps_log_value value;
		if (ps_log_value(log->reader, log->view.work[index], &value) != PS_OK ||
		    !value.is_set || value.kind == PS_LOG_TEXT)
			return false;
		out[index] = value.kind == PS_LOG_INTEGER ? (double)value.integer : value.real;
		if (!isfinite(out[index]))
			return false;
	}
	return true;
}

/* Merges a value's status and attribution into rows->weakest, because a cost is only as certain as
 * the weakest count. Leaves out the numbers: their sum may exceed 64 bits although no cost does. */
static void rows_note(struct rows *rows, const struct ps_value *value)
{
	const struct ps_value how = {
	    .status = value->status, .attribution = value->attribution, .flags = value->flags};

	ps__known_note(&rows->known, value);
	ps__value_merge(&rows->weakest, &rows->merged, &how);
}

static int add_row(struct tool_log *log, const struct ps_log_record *record, void *context)
{
	struct rows *rows = context;
	struct ps_value value;
	uint64_t duration_ns;

	int found = tool_log_interval(log, record, NULL, &value, &duration_ns);
	if (found <= 0)
		return found;
	if (!PS__VECTOR_RESERVE(&rows->work, rows->count * rows->columns,
	                        (rows->count + 1) * rows->columns, &rows->work_room) ||
	    !PS__VECTOR_GROW(&rows->cost, rows->count, &rows->cost_room))
		return tool_complain_memory("the intervals of the log");
	/* A lower bound can't be used as a measured cost. */
	if (!ps__value_is_known(&value) ||
	    !read_work(log, rows->work + rows->count * rows->columns)) {
		rows->unknown++;
		return 0;
	}
	rows->cost[rows->count++] = (double)value.value * rows->look.scale;
	rows_note(rows, &value);
	return 0;
}

/* Complains about the columns of work. Adds their names, because the library knows the columns only
 * by number. */
static int complain_work(const struct tool_log *log, const char *detail)
{
	struct ps__buffer names = {0};

	for (size_t index = 0; index < log->options.work.count; index++)
		ps__buffer_add(&names, "%s%s", index ? "," : "", log->options.work.names[index]);
	tool_complain("--work %s of '%s', columns from 0 on: %s", ps__buffer_text(&names),
	              log->options.path, detail);
	ps__buffer_clear(&names);
	return -1;
}

/* Names the columns that have no value, because the rows can't distinguish them. */
static void complain_columns(const struct tool_log *log, const struct result *result)
{
	struct ps__buffer names = {0};

	for (size_t index = 0; index < log->options.work.count; index++) {
		if (isnan(result->costs[index].value))
			ps__buffer_add(&names, "%s'%s'", names.length ? ", " : "",
			               log->options.work.names[index]);
	}
	if (isnan(result->fit.constant.value))
		ps__buffer_add(&names, "%sthe constant", names.length ? ", " : "");
	tool_complain("the costs of %s can't be told apart: the work is 0 or proportional in all "
	              "records. Measure other mixtures, or leave some out of --work",
	              ps__buffer_text(&names));
	ps__buffer_clear(&names);
}

static int rows_solve(struct tool_log *log, const struct rows *rows, struct result *result)
{
	const struct ps_unit_cost_options options = {
	    .size = sizeof options,
	    .flags = (log->options.has_constant ? PS_UNIT_COST_CONSTANT : 0) |
	             (log->options.is_non_negative ? PS_UNIT_COST_NON_NEGATIVE : 0)};

	if (rows->count == 0)
		return tool_complain(
		    "no record has such an interval with all of its work and its cost known");
	result->fit.size = sizeof result->fit;
	int code = ps_unit_cost_with(rows->work, rows->cost, rows->count, rows->columns, &options,
	                             result->costs, &result->fit);
	if (code == PS_PARTIAL)
		complain_columns(log, result);
	else if (code != PS_OK)
		return complain_work(log, ps_error_detail());
	return 0;
}

static const char *rows_unit(const struct rows *rows)
{
	return *rows->look.unit ? rows->look.unit : "count";
}

static void cost_put_json_cost(struct ps__json *json, const char *key, const char *name,
                               const struct ps_unit_cost *cost)
{
	ps__json_open_line(json, key, '{');
	if (name)
		ps__json_add_string(json, "work", name);
	ps__json_add_double(json, "value", cost->value);
	ps__json_add_double(json, "error", cost->error);
	ps__json_add_double(json, "low", cost->low);
	ps__json_add_double(json, "high", cost->high);
	ps__json_close_line(json, '}');
}

static void cost_put_json(const struct tool_log *log, const struct rows *rows,
                          const struct result *result, struct ps__buffer *text)
{
	struct ps__json json = ps__json_create(text, false);

	ps__json_open(&json, NULL, '{');
	ps__json_add_string(&json, "log", log->options.path);
	ps__json_add_string(&json, "of", log->events.names[0]);
	ps__json_add_string(&json, "unit", rows_unit(rows));
	ps__json_add_how(&json, rows->weakest.status, rows->weakest.attribution,
	                 rows->weakest.flags);
	ps__json_add_unsigned(&json, "intervals", rows->count);
	ps__json_add_unsigned(&json, "unknown", rows->unknown);
	tool_log_add_missing_json(log, &json);
	ps__json_open(&json, "costs", '[');
	for (size_t index = 0; index < rows->columns; index++)
		cost_put_json_cost(&json, NULL, log->options.work.names[index],
		                   &result->costs[index]);
	ps__json_close(&json, ']');
	if (log->options.has_constant)
		cost_put_json_cost(&json, "constant", NULL, &result->fit.constant);
	ps__json_add_double(&json, "residual", result->fit.residual);
	ps__json_add_double(&json, "condition", result->fit.condition);
	ps__json_close(&json, '}');
}

/* Adds a number; a small one with three significant digits, because a unit of work may be a byte. A
 * number below `least` is a rounding error, and shown as 0. */
static void add_shown(struct ps__buffer *text, double number, double least, const char *before,
                      const char *behind)
{
	if (isnan(number)) {
		ps__buffer_add(text, "not known");
		return;
	}
	ps__buffer_add(text, "%s", before);
	if (fabs(number) < 0.1 && fabs(number) >= least && number != 0)
		ps__number_add_plain(text, number);
	else
		ps__buffer_add(text, "%.3f", fabs(number) < 0.1 ? 0 : number);
	ps__buffer_add(text, "%s", behind);
}

/* Adds a number that was computed from the counts, with their marks. */
static void add_marked(struct ps__buffer *text, const struct rows *rows, double number,
                       double least)
{
	const struct ps_value *how = &rows->weakest;

	add_shown(text, number, least, how->status == PS_STATUS_SCALED ? "~" : "",
	          ps__known_mark(how->status, how->flags, &rows->look));
}

/* Returns the limit for costs: smaller ones are rounding errors of the largest cost. */
static double least_cost(const struct rows *rows, const struct result *result)
{
	double most = isnan(result->fit.constant.value) ? 0 : fabs(result->fit.constant.value);

	for (size_t index = 0; index < rows->columns; index++) {
		if (fabs(result->costs[index].value) > most)
			most = fabs(result->costs[index].value);
	}
	return most * ROUNDING;
}

static void set_cost(struct ps__grid *grid, size_t row, const char *name, const struct rows *rows,
                     const struct ps_unit_cost *cost, double least)
{
	const double numbers[] = {cost->value, cost->error, cost->low, cost->high};

	tool_put(&grid->cell, name);
	ps__grid_set(grid, row, 0);
	for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
		add_marked(&grid->cell, rows, numbers[index], least);
		ps__grid_set(grid, row, index + 1);
	}
}

static void cost_put_costs(const struct tool_log *log, const struct rows *rows,
                           const struct result *result, struct ps__buffer *text)
{
	static const char *const headings[] = {"Work", "cost", "error", "95% from", "to"};
	const size_t columns = sizeof headings / sizeof headings[0];
	struct tool_screen screen = tool_screen_of(STDOUT_FILENO);
	double least = least_cost(rows, result);
	struct ps__grid grid;

	text->failed |=
	    ps__grid_create(&grid, rows->columns + 1 + log->options.has_constant, columns) != PS_OK;
	for (size_t index = 0; !text->failed && index < columns; index++) {
		ps__buffer_add(&grid.cell, "%s", headings[index]);
		ps__grid_set(&grid, 0, index);
	}
	for (size_t index = 0; !text->failed && index < rows->columns; index++)
		set_cost(&grid, index + 1, log->options.work.names[index], rows,
		         &result->costs[index], least);
	if (!text->failed && log->options.has_constant)
		set_cost(&grid, rows->columns + 1, "and each interval", rows, &result->fit.constant,
		         least);
	if (!text->failed) {
		grid.has_colour = screen.has_colour;
		tool_add_grid(text, &grid, screen.width, " (--csv and --json have all)");
	}
	ps__grid_clear(&grid);
}

static void cost_put_text(const struct tool_log *log, const struct rows *rows,
                          const struct result *result, struct ps__buffer *text)
{
	size_t width = tool_screen_of(STDOUT_FILENO).width;
	struct ps__buffer lines = {0};

	tool_put(&lines, log->events.names[0]);
	ps__buffer_add(&lines, "%s%s%s of one unit of work, by least squares over %zu intervals\n",
	               *rows->look.unit ? " (" : "", rows->look.unit, *rows->look.unit ? ")" : "",
	               rows->count);
	ps__wrap_add_lines(text, &lines, 0, width);
	ps__buffer_add(text, "\n");
	cost_put_costs(log, rows, result, text);
	ps__buffer_restart(&lines);
	ps__buffer_add(&lines, "%-*s", FOOTER_INDENT, "not explained");
	add_marked(&lines, rows, result->fit.residual, ROUNDING);
	ps__buffer_add(&lines, "\n%-*s", FOOTER_INDENT, "condition number");
	add_shown(&lines, result->fit.condition, 0, "", "");
	ps__buffer_add(&lines, "\n%-*s", FOOTER_INDENT, "attribution");
	ps__known_add_words(&lines, &rows->known);
	ps__buffer_add(&lines, "\n");
	if (rows->unknown)
		ps__buffer_add(&lines, "%-*s%zu interval%s, as the work or cost isn't known\n",
		               FOOTER_INDENT, "left out", rows->unknown,
		               rows->unknown == 1 ? "" : "s");
	ps__buffer_add(text, "\n");
	ps__wrap_add_lines(text, &lines, FOOTER_INDENT, width);
	ps__buffer_clear(&lines);
}

static void cost_put_csv(const struct tool_log *log, const struct rows *rows,
                         const struct result *result, struct ps__buffer *text)
{
	ps__buffer_add(text,
	               "of,work,value,error,low,high,residual,condition,intervals,unknown,status,"
	               "attribution,flags,unit" TOOL_LOG_MISSING_COLUMNS "\n");
	for (size_t index = 0; index <= log->options.work.count; index++) {
		bool is_constant = index == log->options.work.count;
		const struct ps_unit_cost *cost =
		    is_constant ? &result->fit.constant : &result->costs[index];
		if (is_constant && !log->options.has_constant)
			break;
		ps__csv_add_first(text, log->events.names[0]);
		ps__csv_add_field(text, is_constant ? "" : log->options.work.names[index]);
		ps__csv_add_double(text, cost->value);
		ps__csv_add_double(text, cost->error);
		ps__csv_add_double(text, cost->low);
		ps__csv_add_double(text, cost->high);
		ps__csv_add_double(text, result->fit.residual);
		ps__csv_add_double(text, result->fit.condition);
		ps__buffer_add(text, ",%zu,%zu", rows->count, rows->unknown);
		ps__csv_add_how(text, rows->weakest.status, rows->weakest.attribution,
		                rows->weakest.flags);
		ps__csv_add_field(text, rows_unit(rows));
		tool_log_add_missing_csv(log, text);
		ps__buffer_add(text, "\n");
	}
}

static int cost_put(const struct tool_log *log, const struct rows *rows,
                    const struct result *result)
{
	struct ps__buffer text = {0};

	if (log->options.format == TOOL_LOG_JSON)
		cost_put_json(log, rows, result, &text);
	else if (log->options.format == TOOL_LOG_CSV)
		cost_put_csv(log, rows, result, &text);
	else
		cost_put_text(log, rows, result, &text);
	return tool_write(&text, stdout);
}

int tool_log_cost(struct tool_log *log)
{
	struct rows rows = {.columns = log->options.work.count, .look = log->looks[0]};
	struct result result = {ps__os_calloc(rows.columns, sizeof *result.costs), {0}};
	int status = TOOL_FAILED;

	if (!result.costs)
		tool_complain_memory("the intervals of the log");
	else if (tool_log_each(log, add_row, &rows) == 0 && rows_solve(log, &rows, &result) == 0)
		status = cost_put(log, &rows, &result);
	ps__os_free(result.costs);
	ps__os_free(rows.work);
	ps__os_free(rows.cost);
	return status;
}

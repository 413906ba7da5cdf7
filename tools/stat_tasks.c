/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of software threads and hardware threads: a line for each pair that counted anything.
 * With --by, components of a type replace the hardware threads. */
#include "tools/stat_tasks.h"

#include "output/csv.h"
#include "output/grid.h"
#include "output/json_writer.h"
#include "output/known.h"
#include "output/label.h"
#include "tools/stat_show.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Process, task, name and CPU form one column, so that a narrow screen drops none of them. */
#define WHOSE         "%8s %8s %s%*s %*s"
#define WHOSE_PROCESS "%8s %s%*s"
#define TERMINAL_ROWS 40
#define NAME_COLUMNS  16
#define CPU_COLUMNS   6
#define WHERE_COLUMNS 12 /* the component: "NUMA node 12" */

static void tasks_set_whose(struct ps__grid *grid, size_t line, const char *pid, const char *tid,
                            const char *name, const char *where, enum matrix_kind kind)
{
	struct ps__buffer shown = {0};
	size_t columns = tool_columns(name, strlen(name));
	int pad = columns < NAME_COLUMNS ? (int)(NAME_COLUMNS - columns) : 0;

	tool_put(&shown, name);
	if (kind == MATRIX_OF_PROCESSES)
		ps__buffer_add(&grid->cell, WHOSE_PROCESS, pid, ps__buffer_text(&shown), pad, "");
	else
		ps__buffer_add(&grid->cell, WHOSE, pid, tid, ps__buffer_text(&shown), pad, "",
		               kind == MATRIX_OF_THREADS ? CPU_COLUMNS : WHERE_COLUMNS, where);
	ps__grid_set(grid, line, 0);
	ps__buffer_clear(&shown);
}

static struct ps__look tasks_look_of(const struct matrix *matrix, size_t event,
                                     const struct stat_output *output)
{
	return (struct ps__look){.unit = ps_eventset_event_unit(matrix->model, event),
	                         .scale = ps_eventset_event_scale(matrix->model, event),
	                         .si = !output->options->look.is_raw};
}

static void tasks_set_line(struct ps__grid *grid, size_t line, const struct stat_output *output,
                           const struct matrix *matrix, const struct task_row *row)
{
	char pid[12], tid[12] = "";
	struct ps__buffer where = {0};

	snprintf(pid, sizeof pid, "%d", (int)row->pid);
	if (matrix->kind == MATRIX_OF_PROCESSES && !row->tid)
		*pid = '\0';
	if (row->tid)
		snprintf(tid, sizeof tid, "%d", (int)row->tid);
	if (matrix->kind == MATRIX_OF_THREADS)
		ps__buffer_add(&where, "%d", row->cpu);
	else
		ps__label_add_name(&where, row->where);
	tasks_set_whose(grid, line, pid, tid, row->name, ps__buffer_text(&where), matrix->kind);
	ps__buffer_clear(&where);
	for (size_t event = 0; event + 1 < grid->column_count; event++) {
		struct ps_value value = stat_matrix_value(matrix, row, event);
		struct ps__look look = tasks_look_of(matrix, event, output);
		size_t mark = strlen(ps__known_mark(value.status, value.flags, &look));
		ps__known_add_value(&grid->cell, &value, &look);
		ps__grid_set_as(grid, line, event + 1, (struct ps__grid_cell){.mark = mark});
	}
}

static void tasks_set_headings(struct ps__grid *grid, const struct stat_output *output,
                               const struct matrix *matrix)
{
	tasks_set_whose(grid, 0, "process", "task", "name",
	                matrix->kind == MATRIX_OF_THREADS ? "CPU" : "component", matrix->kind);
	for (size_t event = 0; event + 1 < grid->column_count; event++) {
		struct ps__look look = tasks_look_of(matrix, event, output);
		ps__label_add_event(&grid->cell, ps_eventset_event_name(matrix->model, event),
		                    ps__known_heading_unit(&look));
		ps__grid_set(grid, 0, event + 1);
	}
}

static bool tasks_has_others(const struct matrix *matrix)
{
	for (size_t row = 0; row < matrix->count; row++) {
		if (matrix->rows[row].tid == 0)
			return true;
	}
	return false;
}

static void tasks_add_rows(const struct stat_output *output, const struct matrix *matrix,
                           size_t shown, struct ps__buffer *out)
{
	struct ps__grid grid;

	if (ps__grid_create(&grid, shown + 1, ps_eventset_event_count(matrix->model) + 1) != PS_OK)
		out->failed = true;
	grid.has_colour = output->screen.has_colour;
	for (size_t row = 0; !out->failed && row < shown; row++)
		tasks_set_line(&grid, row + 1, output, matrix, &matrix->rows[row]);
	if (!out->failed)
		tasks_set_headings(&grid, output, matrix);
	ps__buffer_add(out, "\n");
	tool_add_grid(out, &grid, output->screen.width, " (--csv and --json have all)");
	ps__grid_clear(&grid);
}

/* Returns the number of rows to show. Sorts the rows if a terminal doesn't show all. */
static size_t tasks_choose(const struct stat_output *output, struct matrix *matrix)
{
	if (!output->screen.is_terminal || output->options->look.flags & PS_PRINT_EACH ||
	    matrix->count <= TERMINAL_ROWS)
		return matrix->count;
	stat_matrix_sort(matrix);
	return TERMINAL_ROWS;
}

int stat_matrix_show(const struct stat_output *output, struct matrix *matrix)
{
	struct ps__buffer out = {0}, line = {0};
	size_t shown = tasks_choose(output, matrix);

	if (shown)
		tasks_add_rows(output, matrix, shown, &out);
	else
		ps__buffer_add(&out, "\n%-*sno count was attributed to any\n", PS__KNOWN_INDENT,
		               matrix->kind == MATRIX_OF_PROCESSES ? "processes" : "tasks");
	if (shown < matrix->count) {
		ps__buffer_add(&line, "and %zu more row%s, none with more ", matrix->count - shown,
		               matrix->count - shown == 1 ? "" : "s");
		tool_put(&line, ps_eventset_event_name(matrix->model, 0));
		ps__buffer_add(&line, ": --each shows all, --csv and --json have them");
		tool_paragraph_of(&out, &line, 0, output->screen.width);
	}
	ps__buffer_add(&out, "\n");
	if (tasks_has_others(matrix)) {
		ps__buffer_add(&out, "%-*s", PS__KNOWN_INDENT, "others");
		tool_paragraph(&out,
		               matrix->has_lost
		                   ? "tasks that live on, and tasks that ended: the records of "
		                     "some were lost, as the rings of records were full or damaged"
		                   : "tasks that live on, or of whose end the kernel told nothing "
		                     "(Linux from 5.13 on does only with a fix of December 2025)",
		               PS__KNOWN_INDENT, output->screen.width);
	}
	return tool_write(&out, output->stream);
}

static void tasks_json_add_count(struct ps__json *json, const struct matrix *matrix,
                                 const struct task_row *row, size_t event)
{
	struct ps_value value = stat_matrix_value(matrix, row, event);

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "event", ps_eventset_event_name(matrix->model, event));
	ps__json_add_value(json, &value, ps_eventset_event_unit(matrix->model, event),
	                   ps_eventset_event_scale(matrix->model, event));
	ps__json_close(json, '}');
}

/* Adds a number; null for 0. */
static void json_add_number(struct ps__json *json, const char *name, pid_t number)
{
	if (number)
		ps__json_add_integer(json, name, number);
	else
		ps__json_add_null(json, name);
}

static void tasks_json_add_row(struct ps__json *json, const struct matrix *matrix,
                               const struct task_row *row)
{
	bool is_of_tasks = matrix->kind != MATRIX_OF_PROCESSES;

	ps__json_open(json, NULL, '{');
	if (is_of_tasks)
		ps__json_add_integer(json, "pid", row->pid);
	else
		json_add_number(json, "pid", row->tid ? row->pid : 0);
	if (is_of_tasks)
		json_add_number(json, "tid", row->tid);
	ps__json_add_string(json, "name", row->name);
	if (matrix->kind == MATRIX_OF_THREADS)
		ps__json_add_integer(json, "cpu", row->cpu);
	else if (matrix->kind == MATRIX_OF_COMPONENTS)
		ps__json_add_string(json, "component", ps_component_name(row->where));
	ps__json_open(json, "counts", '[');
	for (size_t event = 0; event < ps_eventset_event_count(matrix->model); event++)
		tasks_json_add_count(json, matrix, row, event);
	ps__json_close(json, ']');
	ps__json_close(json, '}');
}

static int tasks_export_matrix(const struct stat_output *output, const struct matrix *matrix)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, true);

	ps__json_open(&json, NULL, '{');
	ps__json_open(&json, matrix->kind == MATRIX_OF_PROCESSES ? "processes" : "tasks", '[');
	for (size_t row = 0; row < matrix->count; row++)
		tasks_json_add_row(&json, matrix, &matrix->rows[row]);
	ps__json_close(&json, ']');
	ps__json_close(&json, '}');
	return tool_write(&text, output->stream);
}

/* Adds the first fields of a row, under the heading of the components. The row's parent is the
 * hardware thread or component of the task; of a process, the machine. */
static void tasks_csv_add_row(struct ps__buffer *text, const struct matrix *matrix,
                              const struct task_row *row, const struct stat_count *count)
{
	bool is_of_tasks = matrix->kind != MATRIX_OF_PROCESSES;
	pid_t id = row->tid && !is_of_tasks ? row->pid : row->tid;

	ps__buffer_add(text, "%s,", is_of_tasks ? "Task" : "Process");
	if (id)
		ps__buffer_add(text, "%d", (int)id);
	ps__buffer_add(text, ",");
	ps__csv_add_field(text, row->name);
	ps__csv_add_field(text, ps_component_name(is_of_tasks ? row->where : count->root));
}

static void csv_fill_columns(struct ps_export_field *columns, const struct matrix *matrix,
                             const struct task_row *row)
{
	bool is_of_tasks = matrix->kind != MATRIX_OF_PROCESSES;

	columns[0].number = row->tid || is_of_tasks ? row->pid : (double)NAN;
	columns[1].number = row->tid && is_of_tasks ? row->tid : (double)NAN;
	columns[2].number = matrix->kind == MATRIX_OF_THREADS ? row->cpu : (double)NAN;
}

static int tasks_write_csv(const struct stat_output *output, const struct matrix *matrix,
                           const struct stat_count *count, struct stat_fields *fields)
{
	struct ps__buffer text = {0};

	for (size_t row = 0; row < matrix->count; row++) {
		csv_fill_columns(fields->task_columns, matrix, &matrix->rows[row]);
		for (size_t event = 0; event < ps_eventset_event_count(matrix->model); event++) {
			const struct ps__csv_event about = {
			    .name = ps_eventset_event_name(matrix->model, event),
			    .unit = ps_eventset_event_unit(matrix->model, event),
			    .scale = ps_eventset_event_scale(matrix->model, event),
			    .has_no_times = true};
			struct ps_value value =
			    stat_matrix_value(matrix, &matrix->rows[row], event);
			tasks_csv_add_row(&text, matrix, &matrix->rows[row], count);
			ps__csv_add_value(&text, &about, &value);
			ps__csv_end_row(&text, fields->fields, fields->count);
		}
	}
	return tool_write(&text, output->stream);
}

static int tasks_export_csv(const struct stat_output *output, const struct matrix *matrix,
                            struct stat_count *count, const struct stat_facts *facts)
{
	struct stat_fields fields;

	if (stat_fields_create(&fields, output, count, facts) < 0)
		return -1;
	int result = tasks_write_csv(output, matrix, count, &fields);
	stat_fields_clear(&fields);
	return result;
}

int stat_tasks_check(const struct stat_count *count)
{
	const char *why;

	if (stat_count_attribution(count, &why) != PS_ATTRIBUTION_LAST_CPU)
		return 0;
	return tool_complain(
	    "--tasks, --processes: tasks are told apart where their counts are exact: %s", why);
}

static int tasks_write_matrix(const struct stat_output *output, struct matrix *matrix,
                              struct stat_count *count, const struct stat_facts *facts)
{
	if (output->options->format == PS_FORMAT_CSV)
		return tasks_export_csv(output, matrix, count, facts);
	if (output->options->format == PS_FORMAT_JSON)
		return tasks_export_matrix(output, matrix);
	return stat_matrix_show(output, matrix);
}

/* Shows tasks; with --by on components of its type. */
static int tasks_show_tasks(struct stat_output *output, struct matrix *matrix,
                            struct stat_count *count, const struct stat_facts *facts)
{
	const struct stat_options *options = output->options;
	struct matrix sums;

	if (options->layout != STAT_LAYOUT_BY ||
	    options->by.types == PS_TYPE_BIT(PS_COMPONENT_THREAD))
		return tasks_write_matrix(output, matrix, count, facts);
	if (stat_matrix_sum_components(&sums, matrix, &options->by) < 0)
		return -1;
	int result = tasks_write_matrix(output, &sums, count, facts);
	stat_matrix_clear(&sums);
	return result;
}

int stat_tasks_show(struct stat_output *output, struct stat_count *count,
                    const struct stat_facts *facts, const struct stat_aggregate *aggregate)
{
	struct matrix matrix;
	int result = 0;

	if (stat_matrix_fill(&matrix, count, aggregate) < 0)
		return -1;
	if (output->options->shows_tasks)
		result = tasks_show_tasks(output, &matrix, count, facts);
	if (result == 0 && output->options->shows_processes) {
		stat_matrix_sum_processes(&matrix);
		result = tasks_write_matrix(output, &matrix, count, facts);
	}
	stat_matrix_clear(&matrix);
	return result;
}

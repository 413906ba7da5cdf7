/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of software threads and hardware threads: a line for each pair
 * that counted anything. */
#include "tools/stat.h"

#include "base/os.h"
#include "base/vector.h"
#include "output/csv.h"
#include "output/grid.h"
#include "output/json_writer.h"
#include "output/known.h"
#include "output/label.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct task_row {
	pid_t pid;
	pid_t tid;
	char name[16];
	int cpu;
	long long *counts;
};

struct matrix {
	const struct ps_eventset *model;
	/* Of each event, all tasks together: how they are known, the tasks' are */
	struct ps_value *totals;
	struct task_row *rows;
	size_t count;
	size_t room;
	bool is_of_processes; /* a row is a process, whatever its tid and cpu */
};

static int tasks_add_row(const struct ps_task *task, void *context)
{
	struct matrix *matrix = context;
	size_t bytes = ps_eventset_event_count(matrix->model) * sizeof *task->counts;

	struct task_row *grown = ps__vector_reserve(matrix->rows, matrix->count, matrix->count + 1,
	                                            &matrix->room, sizeof *grown);
	if (!grown)
		return 1;
	matrix->rows = grown;
	struct task_row *row = &matrix->rows[matrix->count];
	*row = (struct task_row){
	    .pid = task->pid, .tid = task->tid, .cpu = task->cpu, .counts = malloc(bytes)};
	if (!row->counts)
		return 1;
	memcpy(row->counts, task->counts, bytes);
	snprintf(row->name, sizeof row->name, "%s", task->tid ? task->name : "others");
	matrix->count++;
	return 0;
}

/* What can't be told apart may be of any process, and stays by itself. */
static struct task_row *tasks_find_process(struct task_row *rows, size_t count,
                                           const struct task_row *of)
{
	for (size_t row = 0; row < count; row++) {
		if (rows[row].pid == of->pid && !rows[row].tid == !of->tid)
			return &rows[row];
	}
	return NULL;
}

/* Adds up the rows of each process. Its name is its first thread's. */
static void tasks_sum_processes(struct matrix *matrix)
{
	size_t events = ps_eventset_event_count(matrix->model);
	size_t kept = 0;

	for (size_t index = 0; index < matrix->count; index++) {
		struct task_row *row = &matrix->rows[index];
		struct task_row *sum = tasks_find_process(matrix->rows, kept, row);
		if (!sum) {
			matrix->rows[kept++] = *row;
			continue;
		}
		for (size_t event = 0; event < events; event++)
			sum->counts[event] += row->counts[event];
		if (row->tid == row->pid)
			memcpy(sum->name, row->name, sizeof sum->name);
		free(row->counts);
	}
	matrix->count = kept;
	matrix->is_of_processes = true;
}

static void tasks_clear_matrix(struct matrix *matrix)
{
	for (size_t row = 0; row < matrix->count; row++)
		free(matrix->rows[row].counts);
	ps__os_free(matrix->rows);
	free(matrix->totals);
}

static bool tasks_find_total(const struct stat_aggregate *aggregate, const char *name,
                             struct ps_value *out)
{
	for (size_t event = 0; event < aggregate->table.event_count; event++) {
		if (strcmp(ps__table_event(&aggregate->table, event), name) != 0)
			continue;
		*out = stat_aggregate_total(aggregate, 0, event);
		return true;
	}
	return false;
}

/* The kernel tells a task's counts alone. What permission or multiplexing took
 * from them, the totals say. */
static int tasks_find_totals(struct matrix *matrix, const struct stat_count *count,
                             const struct stat_aggregate *aggregate)
{
	size_t events = ps_eventset_event_count(count->model);

	matrix->totals = calloc(events + 1, sizeof *matrix->totals);
	for (size_t event = 0; matrix->totals && event < events; event++) {
		struct ps_value *total = &matrix->totals[event];
		const char *name = ps_eventset_event_name(count->model, event);
		if (aggregate ? !tasks_find_total(aggregate, name, total)
		              : ps_component_total(count->root, name, total) != PS_OK)
			total->status = ps_eventset_event_status(count->model, event);
		total->attribution = PS_ATTRIBUTION_EXACT;
	}
	return matrix->totals ? 0 : 1;
}

static int tasks_fill_matrix(struct matrix *matrix, struct stat_count *count,
                             const struct stat_aggregate *aggregate)
{
	*matrix = (struct matrix){.model = count->model};
	int result = tasks_find_totals(matrix, count, aggregate);

	for (size_t index = 0; result == 0 && index < count->set_count; index++)
		result = ps_eventset_for_each_task(count->sets[index], tasks_add_row, matrix);
	if (result == 0)
		return 0;
	tool_complain("%s", result < 0 ? ps_error_detail() : "out of memory");
	tasks_clear_matrix(matrix);
	return -1;
}

/* A task's share of an estimate is estimated as the whole is. */
static struct ps_value tasks_value_of(const struct matrix *matrix, const struct task_row *row,
                                      size_t event)
{
	struct ps_value value = matrix->totals[event];
	bool is_estimate = value.status == PS_STATUS_SCALED || value.status == PS_STATUS_INCOMPLETE;
	double factor = is_estimate && value.raw ? (double)value.value / (double)value.raw : 1;

	value.flags &= ~(uint32_t)PS_VALUE_MERGED;
	value.raw = (uint64_t)row->counts[event];
	value.value =
	    factor == 1 ? row->counts[event] : llround((double)row->counts[event] * factor);
	return value;
}

/* Whose the line is takes one column: it is shown however narrow the screen is. */
#define WHOSE         "%8s %8s %s%*s %6s"
#define WHOSE_PROCESS "%8s %s%*s"
#define NAME_COLUMNS  16

/* cpu: NULL if the line is of a process. */
static void tasks_set_whose(struct ps__grid *grid, size_t line, const char *pid, const char *tid,
                            const char *name, const char *cpu, enum ps__style style)
{
	struct ps__buffer shown = {0}, whose = {0};
	size_t columns = tool_columns(name, strlen(name));
	int pad = columns < NAME_COLUMNS ? (int)(NAME_COLUMNS - columns) : 0;

	tool_put(&shown, name);
	if (cpu)
		ps__buffer_add(&whose, WHOSE, pid, tid, ps__buffer_text(&shown), pad, "", cpu);
	else
		ps__buffer_add(&whose, WHOSE_PROCESS, pid, ps__buffer_text(&shown), pad, "");
	columns += whose.length - shown.length;
	ps__grid_set(grid, line, 0, &whose,
	             (struct ps__grid_cell){.columns = columns, .style = style});
	ps__buffer_clear(&shown);
	ps__buffer_clear(&whose);
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
	char pid[12], tid[12] = "", cpu[12];
	struct ps__buffer text = {0};

	snprintf(pid, sizeof pid, "%d", (int)row->pid);
	if (matrix->is_of_processes && !row->tid)
		*pid = '\0';
	if (row->tid)
		snprintf(tid, sizeof tid, "%d", (int)row->tid);
	snprintf(cpu, sizeof cpu, "%d", row->cpu);
	tasks_set_whose(grid, line, pid, tid, row->name, matrix->is_of_processes ? NULL : cpu,
	                PS__STYLE_PLAIN);
	for (size_t event = 0; event + 1 < grid->column_count; event++) {
		struct ps_value value = tasks_value_of(matrix, row, event);
		struct ps__look look = tasks_look_of(matrix, event, output);
		ps__buffer_restart(&text);
		ps__known_add_value(&text, &value, &look);
		ps__grid_set(grid, line, event + 1, &text,
		             (struct ps__grid_cell){
				 .columns = text.length,
				 .mark = strlen(ps__known_mark(value.status, value.flags, &look))});
	}
	ps__buffer_clear(&text);
}

static void tasks_set_headings(struct ps__grid *grid, const struct stat_output *output,
                               const struct matrix *matrix)
{
	struct ps__buffer text = {0};

	tasks_set_whose(grid, 0, "process", "task", "name", matrix->is_of_processes ? NULL : "CPU",
	                PS__STYLE_HEADING);
	for (size_t event = 0; event + 1 < grid->column_count; event++) {
		struct ps__look look = tasks_look_of(matrix, event, output);
		ps__buffer_restart(&text);
		ps__label_add_event(&text, ps_eventset_event_name(matrix->model, event),
		                    ps__known_heading_unit(&look));
		ps__grid_set(
		    grid, 0, event + 1, &text,
		    (struct ps__grid_cell){.columns = text.length, .style = PS__STYLE_HEADING});
	}
	ps__buffer_clear(&text);
}

static bool tasks_has_others(const struct matrix *matrix)
{
	for (size_t row = 0; row < matrix->count; row++) {
		if (matrix->rows[row].tid == 0)
			return true;
	}
	return false;
}

static void tasks_show_matrix(const struct stat_output *output, const struct matrix *matrix)
{
	struct ps__grid grid;
	struct ps__buffer out = {0};

	if (ps__grid_create(&grid, matrix->count + 1, ps_eventset_event_count(matrix->model) + 1) !=
	    PS_OK)
		out.failed = true;
	grid.has_colour = output->screen.has_colour;
	for (size_t row = 0; !out.failed && row < matrix->count; row++)
		tasks_set_line(&grid, row + 1, output, matrix, &matrix->rows[row]);
	if (!out.failed)
		tasks_set_headings(&grid, output, matrix);
	ps__buffer_add(&out, "\n");
	ps__grid_add(&grid, &out, output->screen.width);
	ps__buffer_add(&out, "\n");
	if (!out.failed)
		ps__grid_add_left_out(&grid, &out, output->screen.width, " (--json has all)");
	if (tasks_has_others(matrix))
		ps__buffer_add(
		    &out, "others       tasks that live on, or of whose end the kernel told "
			  "nothing (Linux from 5.13 on does only with a fix of December 2025)\n");
	ps__grid_clear(&grid);
	tool_write(&out, output->stream);
}

static void json_add_count(struct ps__json *json, const struct matrix *matrix,
                           const struct task_row *row, size_t event)
{
	struct ps_value value = tasks_value_of(matrix, row, event);

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "event", ps_eventset_event_name(matrix->model, event));
	ps__json_add_value(json, &value, ps_eventset_event_unit(matrix->model, event),
	                   ps_eventset_event_scale(matrix->model, event));
	ps__json_close(json, '}');
}

/* 0: none. */
static void json_add_number(struct ps__json *json, const char *name, pid_t number)
{
	if (number)
		ps__json_add_integer(json, name, number);
	else
		ps__json_add_null(json, name);
}

static void json_add_row(struct ps__json *json, const struct matrix *matrix,
                         const struct task_row *row)
{
	ps__json_open(json, NULL, '{');
	if (matrix->is_of_processes)
		json_add_number(json, "pid", row->tid ? row->pid : 0);
	else
		ps__json_add_integer(json, "pid", row->pid);
	if (!matrix->is_of_processes)
		json_add_number(json, "tid", row->tid);
	ps__json_add_string(json, "name", row->name);
	if (!matrix->is_of_processes)
		ps__json_add_integer(json, "cpu", row->cpu);
	ps__json_open(json, "counts", '[');
	for (size_t event = 0; event < ps_eventset_event_count(matrix->model); event++)
		json_add_count(json, matrix, row, event);
	ps__json_close(json, ']');
	ps__json_close(json, '}');
}

static void tasks_export_matrix(const struct stat_output *output, const struct matrix *matrix)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, true);

	ps__json_open(&json, NULL, '{');
	ps__json_open(&json, matrix->is_of_processes ? "processes" : "tasks", '[');
	for (size_t row = 0; row < matrix->count; row++)
		json_add_row(&json, matrix, &matrix->rows[row]);
	ps__json_close(&json, ']');
	ps__json_close(&json, '}');
	tool_write(&text, output->stream);
}

/* The heading is that of the components above. A task's row is of the hardware thread that its
 * parent names; a process's of the whole machine. */
static void csv_add_row(struct ps__buffer *text, const struct matrix *matrix,
                        const struct task_row *row, const struct stat_count *count)
{
	const struct ps_component *parent = count->root;
	pid_t id = row->tid;

	if (matrix->is_of_processes)
		id = row->tid ? row->pid : 0;
	else
		parent = ps_thread_component(ps_topology_thread(count->topology, row->cpu));
	ps__buffer_add(text, "%s,", matrix->is_of_processes ? "Process" : "Task");
	if (id)
		ps__buffer_add(text, "%d", (int)id);
	ps__buffer_add(text, ",");
	ps__csv_add_field(text, row->name);
	ps__csv_add_field(text, ps_component_name(parent));
}

static void csv_fill_columns(struct ps_export_field *columns, const struct matrix *matrix,
                             const struct task_row *row)
{
	bool is_known = row->tid || !matrix->is_of_processes;

	columns[0].number = is_known ? row->pid : (double)NAN;
	columns[1].number = row->tid && !matrix->is_of_processes ? row->tid : (double)NAN;
	columns[2].number = matrix->is_of_processes ? (double)NAN : row->cpu;
}

static void tasks_write_csv(const struct stat_output *output, const struct matrix *matrix,
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
			struct ps_value value = tasks_value_of(matrix, &matrix->rows[row], event);
			csv_add_row(&text, matrix, &matrix->rows[row], count);
			ps__csv_add_value(&text, &about, &value);
			ps__csv_end_row(&text, fields->fields, fields->count);
		}
	}
	tool_write(&text, output->stream);
}

static void tasks_export_csv(const struct stat_output *output, const struct matrix *matrix,
                             struct stat_count *count, const struct stat_facts *facts)
{
	struct stat_fields fields;

	stat_fields_create(&fields, output, count, facts);
	tasks_write_csv(output, matrix, count, &fields);
	stat_fields_clear(&fields);
}

int stat_tasks_check(const struct stat_count *count)
{
	const char *why;

	if (stat_count_attribution(count, &why) != PS_ATTRIBUTION_LAST_CPU)
		return 0;
	return tool_complain(
		   "--tasks, --processes: tasks are told apart where their counts are exact: %s",
		   why),
	       -1;
}

static void tasks_write_matrix(const struct stat_output *output, const struct matrix *matrix,
                               struct stat_count *count, const struct stat_facts *facts)
{
	if (output->options->format == PS_FORMAT_JSON)
		tasks_export_matrix(output, matrix);
	else if (output->options->format == PS_FORMAT_CSV)
		tasks_export_csv(output, matrix, count, facts);
	else
		tasks_show_matrix(output, matrix);
}

int stat_tasks_show(struct stat_output *output, struct stat_count *count,
                    const struct stat_facts *facts, const struct stat_aggregate *aggregate)
{
	struct matrix matrix;

	if (tasks_fill_matrix(&matrix, count, aggregate) < 0)
		return -1;
	if (output->options->shows_tasks)
		tasks_write_matrix(output, &matrix, count, facts);
	if (output->options->shows_processes) {
		tasks_sum_processes(&matrix);
		tasks_write_matrix(output, &matrix, count, facts);
	}
	tasks_clear_matrix(&matrix);
	return 0;
}

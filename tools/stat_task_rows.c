/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of tasks: on each hardware thread, as the library has them; on each component of a
 * type; and of each process. */
#include "tools/stat_tasks.h"

#include "base/os.h"
#include "base/vector.h"
#include "event/event.h"
#include "output/by.h"
#include "store/attrmap.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds a row like `model`, with a copy of the counts. Returns -1 if memory runs out. */
static int rows_add(struct matrix *matrix, const struct task_row *model, const long long *counts)
{
	size_t bytes = ps_eventset_event_count(matrix->model) * sizeof *counts;

	if (!PS__VECTOR_GROW(&matrix->rows, matrix->count, &matrix->room))
		return -1;
	struct task_row *row = &matrix->rows[matrix->count];
	*row = *model;
	row->place = matrix->count;
	row->counts = ps__os_calloc(1, bytes);
	if (!row->counts)
		return -1;
	memcpy(row->counts, counts, bytes);
	matrix->count++;
	return 0;
}

static int rows_add_task(const struct ps_task *task, void *context)
{
	struct matrix *matrix = context;
	struct ps_thread *thread = ps_topology_thread(matrix->topology, task->cpu);
	struct task_row row = {.pid = task->pid,
	                       .tid = task->tid,
	                       .set = matrix->set,
	                       .task = task->task,
	                       .process = task->process,
	                       .cpu = task->cpu,
	                       .where = ps_thread_component(thread)};

	matrix->has_lost |= task->has_lost != 0;
	snprintf(row.name, sizeof row.name, "%s", task->tid ? task->name : "others");
	return rows_add(matrix, &row, task->counts) < 0 ? 1 : 0;
}

static void rows_add_counts(struct task_row *sum, const struct task_row *row, size_t events)
{
	for (size_t event = 0; event < events; event++)
		sum->counts[event] += row->counts[event];
}

static int rows_compare_places(const void *one, const void *other)
{
	size_t a = ((const struct task_row *)one)->place;
	size_t b = ((const struct task_row *)other)->place;

	return (a > b) - (a < b);
}

/* True if both rows belong to one process. Compares the set's numbers of processes, because several
 * processes may have had the same pid. Tasks that can't be told apart may belong to any process, so
 * they have a number of their own. */
static bool rows_are_of_one_process(const struct task_row *one, const struct task_row *other)
{
	return one->set == other->set && one->process == other->process;
}

/* Sorts rows by process, and keeps the order of rows of one process. */
static int rows_compare_processes(const void *one, const void *other)
{
	const struct task_row *a = one, *b = other;

	if (a->set != b->set)
		return a->set < b->set ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return rows_compare_places(a, b);
}

void stat_matrix_sum_processes(struct matrix *matrix)
{
	size_t events = ps_eventset_event_count(matrix->model);
	size_t kept = 0;

	if (matrix->count)
		qsort(matrix->rows, matrix->count, sizeof *matrix->rows, rows_compare_processes);
	for (size_t index = 0; index < matrix->count; index++) {
		struct task_row *row = &matrix->rows[index];
		struct task_row *sum = kept ? &matrix->rows[kept - 1] : NULL;
		if (!sum || !rows_are_of_one_process(sum, row)) {
			matrix->rows[kept++] = *row;
			continue;
		}
		rows_add_counts(sum, row, events);
		if (row->tid == row->pid)
			memcpy(sum->name, row->name, sizeof sum->name);
		ps__os_free(row->counts);
	}
	matrix->count = kept;
	if (kept)
		qsort(matrix->rows, kept, sizeof *matrix->rows, rows_compare_places);
	matrix->kind = MATRIX_OF_PROCESSES;
}

static int rows_compare_counts(const void *one, const void *other)
{
	const struct task_row *a = one, *b = other;

	if (a->counts[0] != b->counts[0])
		return a->counts[0] > b->counts[0] ? -1 : 1;
	return rows_compare_places(a, b);
}

void stat_matrix_sort(struct matrix *matrix)
{
	qsort(matrix->rows, matrix->count, sizeof *matrix->rows, rows_compare_counts);
}

/* Returns the sum of the task on the component; NULL if there is none yet. All sums of a task are
 * adjacent. */
static struct task_row *rows_find_sum(const struct matrix *sums, const struct task_row *of,
                                      const struct ps_component *where)
{
	for (size_t index = sums->count; index-- > 0;) {
		struct task_row *row = &sums->rows[index];
		if (row->set != of->set || row->task != of->task)
			return NULL;
		if (row->where == where)
			return row;
	}
	return NULL;
}

static int rows_add_to_sum(struct matrix *sums, const struct task_row *row,
                           const struct ps_component *where)
{
	struct task_row *sum = rows_find_sum(sums, row, where);
	struct task_row first = *row;

	if (sum) {
		rows_add_counts(sum, row, ps_eventset_event_count(sums->model));
		return 0;
	}
	first.where = where;
	return rows_add(sums, &first, row->counts);
}

/* Context for the visit of the components that a row is added to. */
struct rows_walk {
	const struct stat_by *by;
	int level; /* cache level; 0: all */
	struct matrix *sums;
	const struct task_row *row;
	bool has_sum;
};

static bool rows_is_asked_for(const struct rows_walk *walk, const struct ps_component *component)
{
	enum ps_component_type type = ps_component_type(component);

	if (!(walk->by->types & PS_TYPE_BIT(type)))
		return false;
	return type != PS_COMPONENT_CACHE || !walk->level ||
	       walk->level == ps_component_cache_level(component);
}

/* Called for each component; adds the row if the component has the row's hardware thread. NUMA
 * nodes aren't ancestors of their hardware threads, so the search isn't upwards. */
static int rows_add_to_component(struct ps_component *component, void *context)
{
	struct rows_walk *walk = context;
	struct ps__range range = ps__component_range(component);
	size_t index = ps__thread_index(ps_component_thread(walk->row->where));

	if (index < range.first || index >= range.end || !rows_is_asked_for(walk, component))
		return 0;
	walk->has_sum = true;
	return rows_add_to_sum(walk->sums, walk->row, component);
}

/* Adds the row to its components. If there is none, the row keeps its hardware thread, so that no
 * count is lost. */
static int rows_add_to_components(struct rows_walk *walk, const struct task_row *row)
{
	struct ps_topology *topology = ps_component_topology(row->where);

	walk->row = row;
	walk->has_sum = false;
	int result = ps_component_for_each(ps_topology_root(topology), rows_add_to_component, walk);
	return walk->has_sum || result < 0 ? result : rows_add_to_sum(walk->sums, row, row->where);
}

static struct ps_value *rows_copy_totals(const struct matrix *matrix)
{
	size_t bytes = (ps_eventset_event_count(matrix->model) + 1) * sizeof *matrix->totals;
	struct ps_value *copy = ps__os_calloc(1, bytes);

	return copy ? memcpy(copy, matrix->totals, bytes) : NULL;
}

int stat_matrix_sum_components(struct matrix *out, const struct matrix *matrix,
                               const struct stat_by *by)
{
	struct matrix sums = {.model = matrix->model,
	                      .topology = matrix->topology,
	                      .totals = rows_copy_totals(matrix),
	                      .kind = MATRIX_OF_COMPONENTS,
	                      .has_lost = matrix->has_lost};
	struct rows_walk walk = {.by = by, .level = by->cache_level, .sums = &sums};
	int result = sums.totals ? 0 : -1;

	if (walk.level == PS_CACHE_LAST_LEVEL)
		walk.level = ps__by_last_level(ps_topology_root(matrix->topology));
	for (size_t index = 0; result == 0 && index < matrix->count; index++)
		result = rows_add_to_components(&walk, &matrix->rows[index]);
	if (result == 0) {
		*out = sums;
		return 0;
	}
	tool_complain("out of memory");
	stat_matrix_clear(&sums);
	return -1;
}

void stat_matrix_clear(struct matrix *matrix)
{
	for (size_t row = 0; row < matrix->count; row++)
		ps__os_free(matrix->rows[row].counts);
	ps__os_free(matrix->rows);
	ps__os_free(matrix->totals);
}

static bool rows_find_total(const struct stat_aggregate *aggregate, const char *name,
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

/* Finds the total of each event. The kernel reports a task's counts without their status; the
 * totals tell what is missing because of permissions or multiplexing. The kernel splits a task's
 * counts by CPU, but if the total is mixed, events took turns while tasks moved: the rows are then
 * scaled by the factor of all CPUs, so they are mixed, too. */
static int rows_find_totals(struct matrix *matrix, const struct stat_count *count,
                            const struct stat_aggregate *aggregate)
{
	size_t events = ps_eventset_event_count(count->model);

	matrix->totals = ps__os_calloc(events + 1, sizeof *matrix->totals);
	for (size_t event = 0; matrix->totals && event < events; event++) {
		struct ps_value *total = &matrix->totals[event];
		const char *name = ps_eventset_event_name(count->model, event);
		if (aggregate ? !rows_find_total(aggregate, name, total)
		              : ps_component_total(count->root, name, total) != PS_OK)
			total->status = ps_eventset_event_status(count->model, event);
		if (total->attribution != PS_ATTRIBUTION_MIXED)
			total->attribution = PS_ATTRIBUTION_EXACT;
	}
	return matrix->totals ? 0 : 1;
}

int stat_matrix_fill(struct matrix *matrix, struct stat_count *count,
                     const struct stat_aggregate *aggregate)
{
	*matrix = (struct matrix){.model = count->model, .topology = count->topology};
	int result = rows_find_totals(matrix, count, aggregate);

	for (; result == 0 && matrix->set < count->set_count; matrix->set++)
		result = ps_eventset_for_each_task(count->sets[matrix->set], rows_add_task, matrix);
	if (result == 0)
		return 0;
	tool_complain("%s", result < 0 ? ps_error_detail() : "out of memory");
	stat_matrix_clear(matrix);
	return -1;
}

/* Returns a task's count. If the event's total is scaled, scales the count by the same factor. */
struct ps_value stat_matrix_value(const struct matrix *matrix, const struct task_row *row,
                                  size_t event)
{
	struct ps_value value = matrix->totals[event];
	bool is_estimate = value.status == PS_STATUS_SCALED || value.status == PS_STATUS_INCOMPLETE;
	double factor = is_estimate && value.raw ? (double)value.value / (double)value.raw : 1;

	/* The times of a run don't belong to tasks. */
	if (ps__run_time_is(ps_eventset_event_name(matrix->model, event)))
		return (struct ps_value){.status = PS_STATUS_NOT_SUPPORTED,
		                         .attribution = value.attribution,
		                         .timestamp = value.timestamp};
	value.flags &= ~(uint32_t)PS_VALUE_MERGED;
	value.raw = (uint64_t)row->counts[event];
	value.value =
	    factor == 1 ? row->counts[event] : llround((double)row->counts[event] * factor);
	return value;
}

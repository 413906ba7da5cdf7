/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up spans by hardware thread, by task on each of them, and by migration. Keeps the longest
 * waits. */
#include "tools/timeline.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

int timeline_sums_create(struct timeline_sums *sums, size_t waits)
{
	*sums = (struct timeline_sums){.wait_most = waits};
	sums->waits = ps__os_calloc(2 * waits, sizeof *sums->waits);
	return sums->waits ? PS_OK : ps__fail_memory("the longest waits");
}

void timeline_sums_clear(struct timeline_sums *sums)
{
	for (size_t i = 0; i < sums->task_count; i++)
		ps__os_free(sums->tasks[i].parts);
	ps__os_free(sums->tasks);
	ps__os_free(sums->cpus);
	ps__os_free(sums->moves);
	ps__os_free(sums->waits);
}

/* Returns the sums of a CPU, and adds them if there are none yet. NULL if memory runs out. */
static struct timeline_cpu *find_cpu(struct timeline_sums *sums, int cpu)
{
	size_t at = 0;

	while (at < sums->cpu_count && sums->cpus[at].cpu < cpu)
		at++;
	if (at < sums->cpu_count && sums->cpus[at].cpu == cpu)
		return &sums->cpus[at];
	if (!PS__VECTOR_GROW(&sums->cpus, sums->cpu_count, &sums->cpu_room))
		return NULL;
	memmove(&sums->cpus[at + 1], &sums->cpus[at], (sums->cpu_count - at) * sizeof *sums->cpus);
	sums->cpus[at] = (struct timeline_cpu){.cpu = cpu};
	sums->cpu_count++;
	return &sums->cpus[at];
}

static struct timeline_task *sums_find_task(struct timeline_sums *sums, size_t index)
{
	if (!PS__VECTOR_RESERVE(&sums->tasks, sums->task_count, index + 1, &sums->task_room))
		return NULL;
	for (; sums->task_count <= index; sums->task_count++)
		sums->tasks[sums->task_count].last_cpu = -1;
	return &sums->tasks[index];
}

static struct timeline_part *sums_find_part(struct timeline_task *task, int cpu)
{
	for (size_t i = 0; i < task->part_count; i++) {
		if (task->parts[i].cpu == cpu)
			return &task->parts[i];
	}
	if (!PS__VECTOR_GROW(&task->parts, task->part_count, &task->part_room))
		return NULL;
	task->parts[task->part_count] = (struct timeline_part){.cpu = cpu};
	return &task->parts[task->part_count++];
}

static int compare_moves(const struct timeline_move *one, int from, int to)
{
	return one->from != from ? (one->from < from ? -1 : 1) : (one->to > to) - (one->to < to);
}

static int add_move(struct timeline_sums *sums, int from, int to)
{
	size_t first = 0, end = sums->move_count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int order = compare_moves(&sums->moves[middle], from, to);
		if (order == 0) {
			sums->moves[middle].count++;
			return PS_OK;
		}
		first = order < 0 ? middle + 1 : first;
		end = order < 0 ? end : middle;
	}
	if (!PS__VECTOR_GROW(&sums->moves, sums->move_count, &sums->move_room))
		return ps__fail_memory("the migrations");
	memmove(&sums->moves[first + 1], &sums->moves[first],
	        (sums->move_count - first) * sizeof *sums->moves);
	sums->moves[first] = (struct timeline_move){.from = from, .to = to, .count = 1};
	sums->move_count++;
	return PS_OK;
}

static uint64_t length_ns(const struct timeline_wait *wait)
{
	return wait->end_ns - wait->begin_ns;
}

static int compare_waits(const void *one, const void *other)
{
	const struct timeline_wait *first = one, *second = other;

	if (length_ns(first) != length_ns(second))
		return length_ns(first) < length_ns(second) ? 1 : -1;
	if (first->begin_ns != second->begin_ns)
		return first->begin_ns < second->begin_ns ? -1 : 1;
	return (first->task > second->task) - (first->task < second->task);
}

/* Sorts the waits and keeps the longest ones. */
static void cut_waits(struct timeline_sums *sums)
{
	if (sums->wait_count)
		qsort(sums->waits, sums->wait_count, sizeof *sums->waits, compare_waits);
	if (sums->wait_count >= sums->wait_most) {
		sums->wait_count = sums->wait_most;
		sums->least_ns = length_ns(&sums->waits[sums->wait_most - 1]);
	}
}

static void end_wait(struct timeline_sums *sums, struct timeline_task *task, int to_cpu)
{
	struct timeline_wait wait = task->wait;

	task->wait.begin_ns = task->wait.end_ns = 0;
	if (length_ns(&wait) == 0)
		return;
	wait.to_cpu = to_cpu;
	if (length_ns(&wait) > length_ns(&task->longest))
		task->longest = wait;
	if (length_ns(&wait) < sums->least_ns)
		return;
	sums->waits[sums->wait_count++] = wait;
	if (sums->wait_count == 2 * sums->wait_most)
		cut_waits(sums);
}

static void go_on_waiting(struct timeline_task *task, const struct tool_span *span)
{
	struct timeline_wait *wait = &task->wait;

	if (length_ns(wait) == 0)
		*wait = (struct timeline_wait){.task = span->task->index,
		                               .kind = span->kind,
		                               .begin_ns = span->begin_ns,
		                               .from_cpu = task->last_cpu};
	else if (wait->kind != span->kind)
		wait->kind = TOOL_SPAN_OFF;
	wait->end_ns = span->end_ns;
}

static int sums_add_on(struct timeline_sums *sums, struct timeline_task *task,
                       const struct tool_span *span)
{
	struct timeline_cpu *cpu = find_cpu(sums, span->cpu);
	size_t parts = task->part_count;
	struct timeline_part *part = cpu ? sums_find_part(task, span->cpu) : NULL;

	if (!part)
		return ps__fail_memory("the times on hardware threads");
	end_wait(sums, task, span->cpu);
	task->last_cpu = span->cpu;
	part->on_ns += span->end_ns - span->begin_ns;
	part->slices++;
	cpu->on_ns += span->end_ns - span->begin_ns;
	cpu->slices++;
	cpu->tasks += task->part_count - parts;
	sums->slices++;
	return span->from_cpu < 0 ? PS_OK : add_move(sums, span->from_cpu, span->cpu);
}

int timeline_sums_add(struct timeline_sums *sums, const struct tool_span *span)
{
	struct timeline_task *task = sums_find_task(sums, span->task->index);

	if (!task)
		return ps__fail_memory("the sums of the tasks");
	if (span->kind == TOOL_SPAN_ON)
		return sums_add_on(sums, task, span);
	if (span->kind != TOOL_SPAN_UNKNOWN) {
		go_on_waiting(task, span);
		return PS_OK;
	}
	/* The wait goes on for an unknown time, so its known length is a lower bound. */
	end_wait(sums, task, -1);
	task->last_cpu = -1;
	return PS_OK;
}

int timeline_sums_add_hole(struct timeline_sums *sums, const struct tool_hole *hole)
{
	struct timeline_cpu *cpu = find_cpu(sums, hole->cpu);

	if (!cpu)
		return ps__fail_memory("the holes");
	cpu->unknown_ns += hole->end_ns - hole->begin_ns;
	return PS_OK;
}

static int compare_counts(const void *one, const void *other)
{
	const struct timeline_move *first = one, *second = other;

	if (first->count != second->count)
		return first->count < second->count ? 1 : -1;
	return compare_moves(first, second->from, second->to);
}

void timeline_sums_close(struct timeline_sums *sums)
{
	for (size_t i = 0; i < sums->task_count; i++)
		end_wait(sums, &sums->tasks[i], -1);
	cut_waits(sums);
	if (sums->move_count)
		qsort(sums->moves, sums->move_count, sizeof *sums->moves, compare_counts);
}

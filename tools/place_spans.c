/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the slices of perfsage place's command into sums: where each task ran, or waited for its
 * turn. */
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/place.h"

struct spans {
	struct place_span *list;
	size_t count, room;
	int *cpus; /* for each task: the CPU where it ran last; -1: unknown */
	size_t task_count, task_room;
};

/* Makes room for a task: tasks are numbered as they are met. PS_ENOMEM. */
static int spans_meet(struct spans *spans, size_t task)
{
	if (task < spans->task_count)
		return PS_OK;
	if (!PS__VECTOR_RESERVE(&spans->cpus, spans->task_count, task + 1, &spans->task_room))
		return ps__fail_memory("the tasks of a program");
	while (spans->task_count <= task)
		spans->cpus[spans->task_count++] = -1;
	return PS_OK;
}

static int spans_add(struct spans *spans, const struct tool_span *span, int cpu)
{
	if (!PS__VECTOR_GROW(&spans->list, spans->count, &spans->room))
		return ps__fail_memory("the times of a program's tasks");
	spans->list[spans->count++] = (struct place_span){.task = span->task->index,
	                                                  .cpu = cpu,
	                                                  .waits = span->kind != TOOL_SPAN_ON,
	                                                  .begin_ns = span->begin_ns,
	                                                  .end_ns = span->end_ns};
	return PS_OK;
}

/* Adds the spans in which a task ran or was preempted. A preempted task waits on the CPU where it
 * ran last. A new task has no such CPU, so its wait isn't added. */
static int spans_visit(const struct tool_span *span, void *context)
{
	struct spans *spans = context;
	int result = spans_meet(spans, span->task->index);

	if (result != PS_OK)
		return result;
	int *cpu = &spans->cpus[span->task->index];
	if (span->kind == TOOL_SPAN_ON)
		*cpu = span->cpu;
	if (*cpu < 0 || (span->kind != TOOL_SPAN_ON && span->kind != TOOL_SPAN_RUNNABLE))
		return PS_OK;
	return spans_add(spans, span, *cpu);
}

int place_spans_sum_up(struct place_run *run, pid_t exec_pid, uint64_t end_ns)
{
	struct spans spans = {.list = NULL};
	const struct tool_slices_play play = {.end_ns = end_ns,
	                                      .exec_pid = exec_pid,
	                                      .has_mappings = true,
	                                      .visit = spans_visit,
	                                      .context = &spans};

	int result = tool_slices_play(run->slices, &play);
	size_t holes = tool_slices_hole_count(run->slices);
	const struct place_input input = {.root = ps_topology_root(run->topology),
	                                  .spans = spans.list,
	                                  .span_count = spans.count,
	                                  .task_count = tool_slices_task_count(run->slices),
	                                  .holes = holes ? tool_slices_hole(run->slices, 0) : NULL,
	                                  .hole_count = holes,
	                                  .allowed = &run->intent.allowed};
	if (result == PS_OK)
		result = place_sums_create(&run->sums, &input);
	ps__os_free(spans.list);
	ps__os_free(spans.cpus);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the time of a task between two of its records.
 *
 * A record that was lost on a hardware thread may have moved a task to it or away from it. So from
 * the beginning of a hole on, a task that was on this hardware thread is unknown, and so is a task
 * that was off anywhere. The task's next record shows where it was just before. It is known again
 * from the end of the last hole that could have changed this.
 */
#include "tools/slice_tasks.h"

static uint64_t span_find_end(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                              uint64_t end_ns)
{
	uint64_t found = tool_hole_last_end(slices, cpu, begin_ns, end_ns);

	return found ? found : end_ns;
}

static bool span_has_counts(const struct tool_slices *slices, const struct tool_task *task)
{
	for (size_t event = 0; event < slices->events; event++) {
		if (task->now.counts[event])
			return true;
	}
	return false;
}

static void span_add_on(struct tool_slices *slices, struct tool_task *task, struct tool_span *span)
{
	struct tool_task_now *now = &task->now;

	task->slices++;
	span->cpu = now->cpu;
	span->counts = now->counts;
	if (now->from_cpu >= 0 && now->from_cpu != now->cpu) {
		span->from_cpu = now->from_cpu;
		task->migrations++;
	}
	now->from_cpu = now->cpu;
	for (size_t event = 0; event < slices->events; event++)
		task->counts[event] += now->counts[event];
}

/* Ends the current span, with this kind. An empty span is dropped unless it has counts. */
static void end_span(struct tool_slices *slices, struct tool_task *task, enum tool_span_kind kind,
                     uint64_t end_ns, enum tool_span_end end)
{
	struct tool_span span = {.task = task,
	                         .kind = kind,
	                         .end = end,
	                         .begin_ns = task->now.since_ns,
	                         .end_ns = end_ns,
	                         .cpu = -1,
	                         .from_cpu = -1};

	if (end_ns <= span.begin_ns && !(kind == TOOL_SPAN_ON && span_has_counts(slices, task)))
		return;
	task->sums_ns[kind] += end_ns - span.begin_ns;
	task->end_ns = task->now.since_ns = end_ns;
	if (kind == TOOL_SPAN_ON)
		span_add_on(slices, task, &span);
	else if (kind == TOOL_SPAN_UNKNOWN)
		task->now.from_cpu = -1;
	if (slices->result == PS_OK && slices->play->visit)
		slices->result = slices->play->visit(&span, slices->play->context);
	for (size_t event = 0; kind == TOOL_SPAN_ON && event < slices->events; event++)
		task->now.counts[event] = 0;
}

/* Divides the time at a hole in the records: ends the task's span at begin_ns, and adds a span of
 * unknown kind until end_ns. */
static void pass_hole(struct tool_slices *slices, struct tool_task *task, uint64_t begin_ns,
                      uint64_t end_ns)
{
	end_span(slices, task, task->now.kind, begin_ns, TOOL_END_HOLE);
	end_span(slices, task, TOOL_SPAN_UNKNOWN, end_ns, TOOL_END_HOLE);
}

/* Sets the kind that /proc showed for the time until the task's first record, if /proc was read
 * before that record. */
static void settle_first(struct tool_task *task, uint64_t time_ns)
{
	struct tool_task_now *now = &task->now;

	if (!now->is_first)
		return;
	now->is_first = false;
	now->kind = !now->read_ns || now->read_ns > time_ns ? TOOL_SPAN_OFF
	            : now->is_runnable                      ? TOOL_SPAN_RUNNABLE
	                                                    : TOOL_SPAN_WAITING;
}

/* Ends the task's span, in which the task was off until now. Holes in it become unknown. */
static void span_be_off(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns)
{
	struct tool_task_now *now = &task->now;

	settle_first(task, time_ns);
	if (now->kind == TOOL_SPAN_ON) {
		uint64_t from =
		    tool_hole_first_begin(slices, now->cpu, now->since_ns, time_ns, now->since_ns);
		uint64_t to = span_find_end(slices, now->cpu, now->since_ns, time_ns);
		pass_hole(slices, task, from, to);
		now->kind = TOOL_SPAN_OFF;
	}
	uint64_t since_ns = now->since_ns;
	uint64_t from = tool_hole_first_begin(slices, TOOL_CPU_ANY, since_ns, time_ns, time_ns);
	if (from < time_ns) {
		pass_hole(slices, task, from,
		          span_find_end(slices, TOOL_CPU_ANY, since_ns, time_ns));
		now->kind = TOOL_SPAN_OFF;
	}
	end_span(slices, task, now->kind, time_ns, TOOL_END_SWITCH);
}

/* Makes the task unknown since its last record. A record shows another task on the CPU where this
 * task was. So a record of this task is missing without a hole, and it is unknown when it left. */
static void span_doubt(struct tool_slices *slices, struct tool_task *task)
{
	if (task->has_exited || task->now.kind != TOOL_SPAN_ON)
		return;
	if (span_has_counts(slices, task))
		end_span(slices, task, TOOL_SPAN_ON, task->now.since_ns, TOOL_END_HOLE);
	task->now.kind = TOOL_SPAN_UNKNOWN;
}

static void span_begin_on(struct tool_slices *slices, struct tool_task *task, int cpu)
{
	struct tool_task *other = tool_hole_find_on(slices, cpu);

	if (other && other != task)
		span_doubt(slices, other);
	task->now.kind = TOOL_SPAN_ON;
	task->now.cpu = cpu;
	tool_hole_note_on(slices, cpu, task);
}

/* If a counter showed the task inside an earlier hole that still continues, the task is unknown
 * from the time of that read on. */
void tool_task_lose(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns)
{
	const struct tool_task_now *now = &task->now;

	if (task->has_exited || now->kind != TOOL_SPAN_ON)
		return;
	uint64_t from = tool_hole_first_begin(slices, now->cpu, now->since_ns, time_ns, time_ns);
	end_span(slices, task, TOOL_SPAN_ON, from, TOOL_END_HOLE);
}

void tool_task_be_on(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns)
{
	struct tool_task_now *now = &task->now;
	bool was_on = now->kind == TOOL_SPAN_ON;
	int suspect = was_on ? now->cpu : TOOL_CPU_ANY;
	bool has_hole = tool_hole_last_end(slices, cpu, now->since_ns, time_ns) != 0;

	if (now->is_first) {
		/* Without a hole the task was on the CPU all the time: any switch would have a
		 * record. */
		if (has_hole)
			end_span(slices, task, TOOL_SPAN_UNKNOWN,
			         span_find_end(slices, cpu, now->since_ns, time_ns), TOOL_END_HOLE);
	} else if (!was_on || now->cpu != cpu || has_hole) {
		uint64_t to = span_find_end(slices, cpu, now->since_ns, time_ns);
		uint64_t from =
		    tool_hole_first_begin(slices, suspect, now->since_ns, time_ns, now->since_ns);
		pass_hole(slices, task, from < to ? from : to, to);
	}
	now->is_first = false;
	span_begin_on(slices, task, cpu);
}

void tool_task_come(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns)
{
	struct tool_task_now *now = &task->now;

	/* The session began to observe this task twice, so its switch was played before. */
	if (now->kind == TOOL_SPAN_ON && now->cpu == cpu &&
	    tool_hole_last_end(slices, cpu, now->since_ns, time_ns) == 0)
		return;
	span_be_off(slices, task, time_ns);
	span_begin_on(slices, task, cpu);
}

void tool_task_leave(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns,
                     enum tool_span_kind kind)
{
	tool_task_be_on(slices, task, cpu, time_ns);
	end_span(slices, task, TOOL_SPAN_ON, time_ns, TOOL_END_SWITCH);
	tool_hole_note_on(slices, cpu, NULL);
	task->now.kind = kind;
}

void tool_task_exit(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns)
{
	tool_task_be_on(slices, task, cpu, time_ns);
	end_span(slices, task, TOOL_SPAN_ON, time_ns,
	         task->is_hidden ? TOOL_END_OPEN : TOOL_END_EXIT);
	tool_hole_note_on(slices, cpu, NULL);
	task->has_exited = true;
	if (task->is_hidden)
		task->now.kind = TOOL_SPAN_UNKNOWN;
}

void tool_task_finish(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns)
{
	struct tool_task_now *now = &task->now;
	bool is_off_known = now->read_ns && !now->is_runnable && now->read_ns <= time_ns;

	if (now->is_first && !is_off_known) {
		end_span(slices, task, TOOL_SPAN_UNKNOWN, time_ns, TOOL_END_OPEN);
		return;
	}
	settle_first(task, time_ns);
	int suspect = now->kind == TOOL_SPAN_ON ? now->cpu : TOOL_CPU_ANY;
	uint64_t from = tool_hole_first_begin(slices, suspect, now->since_ns, time_ns, time_ns);
	task->is_left = from >= time_ns && now->kind != TOOL_SPAN_UNKNOWN;
	end_span(slices, task, now->kind, from, from < time_ns ? TOOL_END_HOLE : TOOL_END_OPEN);
	end_span(slices, task, TOOL_SPAN_UNKNOWN, time_ns, TOOL_END_OPEN);
}

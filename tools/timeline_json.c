/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON of perfsage timeline, described by share/perfsage-timeline.schema.json. Times are
 * nanoseconds since the observation began. */
#include "output/json.h"
#include "output/rank.h"
#include "output/report.h"
#include "tools/timeline.h"

static const char *const kinds[TOOL_SPAN_KINDS] = {"on", "waits", "runnable", "off", "unknown"};
static const char *const ends[] = {"switch", "exit", "hole", "open"};

static void timeline_json_add_since(struct timeline *timeline, const char *key, uint64_t time_ns)
{
	ps__json_add_unsigned(&timeline->json, key,
	                      time_ns - tool_slices_begin_ns(timeline->slices));
}

static void timeline_json_add_cpu(struct ps__json *json, const char *key, int cpu)
{
	ps__json_add_known(json, key, (uint64_t)cpu, cpu >= 0);
}

static void timeline_json_add_count(struct timeline *timeline, const struct timeline_event *event,
                                    const uint64_t *counts, bool is_known)
{
	ps__json_add_known(&timeline->json, event->name, is_known ? counts[event->index] : 0,
	                   is_known);
}

static void timeline_json_add_counts(struct timeline *timeline, const struct tool_span *span)
{
	ps__json_open(&timeline->json, "counts", '{');
	for (size_t i = 0; i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		timeline_json_add_count(timeline, event, span->counts,
		                        timeline_knows(timeline, event, span));
	}
	ps__json_close(&timeline->json, '}');
}

static void timeline_json_add_task_sums(struct timeline *timeline, const struct tool_task *task)
{
	ps__json_open(&timeline->json, "counts", '{');
	for (size_t i = 0; i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		bool is_known = timeline_knows_sum(timeline, event, task) != TIMELINE_NOT_KNOWN;
		timeline_json_add_count(timeline, event, task->counts, is_known);
	}
	ps__json_close(&timeline->json, '}');
}

void timeline_json_begin(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	*json = ps__json_create(&timeline->text, false);
	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "perfsage", ps_version());
	ps__json_add_integer(json, "schema", 1);
	if (timeline->options.has_slices)
		ps__json_open(json, "spans", '[');
}

void timeline_json_add_span(struct timeline *timeline, const struct tool_span *span)
{
	struct ps__json *json = &timeline->json;

	ps__json_open_line(json, NULL, '{');
	ps__json_add_unsigned(json, "task", span->task->index);
	ps__json_add_unsigned(json, "tid", span->task->tid);
	ps__json_add_string(json, "kind", kinds[span->kind]);
	timeline_json_add_since(timeline, "begin_ns", span->begin_ns);
	timeline_json_add_since(timeline, "end_ns", span->end_ns);
	ps__json_add_string(json, "end", ends[span->end]);
	if (span->kind == TOOL_SPAN_ON) {
		ps__json_add_integer(json, "cpu", span->cpu);
		timeline_json_add_cpu(json, "from_cpu", span->from_cpu);
		timeline_json_add_counts(timeline, span);
	}
	ps__json_close_line(json, '}');
}

static void timeline_json_add_run(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;
	uint64_t begin_ns = tool_slices_begin_ns(timeline->slices);
	struct ps_export_field of_rank[PS__RANK_FIELDS];

	ps__json_add_fields(json, of_rank, ps__rank_fields(of_rank));
	ps__json_add_unsigned(json, "pid", (uint64_t)timeline_pid(timeline));
	ps__json_add_unsigned(json, "begin_monotonic_ns", begin_ns);
	ps__json_add_unsigned(json, "wall_ns", tool_slices_end_ns(timeline->slices) - begin_ns);
	ps__json_add_known(json, "lost_records", timeline->losses.records,
	                   !tool_slices_is_full(timeline->slices));
	ps__json_add_unsigned(json, "unassigned_samples", timeline->losses.unassigned);
	ps__json_add_unsigned(json, "damaged_records", timeline->losses.damaged);
	ps__json_add_unsigned(json, "missed_tasks", timeline->losses.missed);
}

static void timeline_json_add_events(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	ps__json_open(json, "events", '[');
	for (size_t i = 0; i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		ps__json_open_line(json, NULL, '{');
		ps__json_add_string(json, "event", event->name);
		ps__json_add_string(json, "unit", ps__report_unit(event->unit));
		ps__json_add_string(json, "status", ps_status_name(event->status));
		ps__json_add_flags(json, event->is_of_user_only ? PS_VALUE_USER_ONLY : 0);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

static void timeline_json_add_cpus(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	ps__json_open(json, "hardware_threads", '[');
	for (size_t i = 0; i < timeline->sums.cpu_count; i++) {
		const struct timeline_cpu *cpu = &timeline->sums.cpus[i];
		ps__json_open_line(json, NULL, '{');
		ps__json_add_integer(json, "cpu", cpu->cpu);
		ps__json_add_unsigned(json, "on_ns", cpu->on_ns);
		ps__json_add_unsigned(json, "unknown_ns", cpu->unknown_ns);
		ps__json_add_unsigned(json, "tasks", cpu->tasks);
		ps__json_add_unsigned(json, "slices", cpu->slices);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

static void timeline_json_add_times(struct timeline *timeline, const struct tool_task *task)
{
	static const char *const keys[TOOL_SPAN_KINDS] = {"on_ns", "waiting_ns", "runnable_ns",
	                                                  "off_ns", "unknown_ns"};
	struct ps__json *json = &timeline->json;

	timeline_json_add_since(timeline, "begin_ns", task->begin_ns);
	timeline_json_add_since(timeline, "end_ns", task->end_ns);
	ps__json_add_unsigned(json, "wall_ns", task->end_ns - task->begin_ns);
	for (size_t kind = 0; kind < TOOL_SPAN_KINDS; kind++)
		ps__json_add_unsigned(json, keys[kind], task->sums_ns[kind]);
}

static void timeline_json_add_parts(struct timeline *timeline, size_t index)
{
	struct ps__json *json = &timeline->json;
	const struct timeline_sums *sums = &timeline->sums;
	size_t count = index < sums->task_count ? sums->tasks[index].part_count : 0;

	ps__json_open(json, "hardware_threads", '[');
	for (size_t i = 0; i < count; i++) {
		const struct timeline_part *part = &sums->tasks[index].parts[i];
		ps__json_open(json, NULL, '{');
		ps__json_add_integer(json, "cpu", part->cpu);
		ps__json_add_unsigned(json, "on_ns", part->on_ns);
		ps__json_add_unsigned(json, "slices", part->slices);
		ps__json_close(json, '}');
	}
	ps__json_close(json, ']');
}

static void timeline_json_add_task(struct timeline *timeline, const struct tool_task *task)
{
	struct ps__json *json = &timeline->json;
	const struct timeline_sums *sums = &timeline->sums;
	const struct timeline_wait none = {.task = 0};
	const struct timeline_wait *longest =
	    task->index < sums->task_count ? &sums->tasks[task->index].longest : &none;

	ps__json_open_line(json, NULL, '{');
	ps__json_add_unsigned(json, "pid", task->pid);
	ps__json_add_unsigned(json, "tid", task->tid);
	ps__json_add_string(json, "name", task->name);
	ps__json_add_string(json, "began",
	                    task->was_there       ? "before"
	                    : task->is_begin_lost ? "in_hole"
	                                          : "known");
	ps__json_add_bool(json, "has_exited", task->has_exited && !task->is_hidden);
	ps__json_add_bool(json, "is_hidden", task->is_hidden);
	timeline_json_add_times(timeline, task);
	ps__json_add_unsigned(json, "slices", task->slices);
	ps__json_add_unsigned(json, "migrations", task->migrations);
	ps__json_add_unsigned(json, "longest_off_ns", longest->end_ns - longest->begin_ns);
	ps__json_add_bool(json, "is_whole", timeline_is_whole(timeline, task));
	timeline_json_add_task_sums(timeline, task);
	timeline_json_add_parts(timeline, task->index);
	ps__json_close_line(json, '}');
}

static void timeline_json_add_waits(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	ps__json_open(json, "longest_off", '[');
	for (size_t i = 0; i < timeline->sums.wait_count; i++) {
		const struct timeline_wait *wait = &timeline->sums.waits[i];
		ps__json_open_line(json, NULL, '{');
		ps__json_add_unsigned(json, "task", wait->task);
		ps__json_add_unsigned(json, "tid",
		                      tool_slices_task(timeline->slices, wait->task)->tid);
		ps__json_add_string(json, "kind", kinds[wait->kind]);
		timeline_json_add_since(timeline, "begin_ns", wait->begin_ns);
		timeline_json_add_since(timeline, "end_ns", wait->end_ns);
		timeline_json_add_cpu(json, "from_cpu", wait->from_cpu);
		timeline_json_add_cpu(json, "to_cpu", wait->to_cpu);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

static void timeline_json_add_moves(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	ps__json_open(json, "migrations", '[');
	for (size_t i = 0; i < timeline->sums.move_count; i++) {
		const struct timeline_move *move = &timeline->sums.moves[i];
		ps__json_open_line(json, NULL, '{');
		ps__json_add_integer(json, "from_cpu", move->from);
		ps__json_add_integer(json, "to_cpu", move->to);
		ps__json_add_unsigned(json, "count", move->count);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

static void timeline_json_add_holes(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	ps__json_open(json, "holes", '[');
	for (size_t i = 0; i < tool_slices_hole_count(timeline->slices); i++) {
		const struct tool_hole *hole = tool_slices_hole(timeline->slices, i);
		ps__json_open_line(json, NULL, '{');
		ps__json_add_integer(json, "cpu", hole->cpu);
		timeline_json_add_since(timeline, "begin_ns", hole->begin_ns);
		timeline_json_add_since(timeline, "end_ns", hole->end_ns);
		ps__json_add_known(json, "lost", hole->lost, hole->lost > 0);
		ps__json_close_line(json, '}');
	}
	ps__json_close(json, ']');
}

void timeline_json_add_sums(struct timeline *timeline)
{
	struct ps__json *json = &timeline->json;

	if (timeline->options.has_slices)
		ps__json_close(json, ']');
	timeline_json_add_run(timeline);
	timeline_json_add_events(timeline);
	timeline_json_add_cpus(timeline);
	ps__json_open(json, "tasks", '[');
	for (size_t i = 0; i < tool_slices_task_count(timeline->slices); i++)
		timeline_json_add_task(timeline, tool_slices_task(timeline->slices, i));
	ps__json_close(json, ']');
	timeline_json_add_waits(timeline);
	timeline_json_add_moves(timeline);
	timeline_json_add_holes(timeline);
	ps__json_close(json, '}');
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of perfsage timeline at each switch, and passes the differences to the slices.
 */
#include "tools/timeline_counters.h"

#include "base/os.h"
#include "base/vector.h"
#include "tools/command.h"

#include <stdlib.h>

#define SHORTEST_GAP_NS 1000000u

int timeline_counters_start(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; counters && i < counters->cpu_count; i++) {
		struct timeline_switched *cpu = &counters->cpus[i];
		cpu->values = &counters->values[i * counters->count];
		cpu->is_known = true;
		if (cpu->sampler && ps_sampler_start(cpu->sampler) != PS_OK)
			return tool_complain_detail();
		cpu->time_ns = cpu->from_ns = ps__os_now_ns();
		counters->has_gaps |= cpu->from_ns - timeline->begin_ns > SHORTEST_GAP_NS;
	}
	return 0;
}

/* Passes on a read for each switch, even if its count is 0. Slices give the first read after a
 * task's end to that task, so a missing read would give it another task's count. */
static void add_difference(struct timeline *timeline, const struct timeline_switched *cpu,
                           size_t event, uint64_t value, struct tool_slices_read read)
{
	const struct timeline_counters *counters = timeline->counters;

	read.cpu = cpu->cpu;
	read.event = timeline->events[counters->events[event]].index;
	read.count = cpu->is_known ? value - cpu->values[event] : 0;
	if (read.count || event == 0)
		tool_slices_note_read(timeline->slices, &read);
	cpu->values[event] = value;
}

/* Notes that the counts of this time are unknown. Without memory for a gap the time is a hole. */
static void counters_note_gap(struct timeline *timeline, struct timeline_switched *cpu,
                              uint64_t begin_ns, uint64_t end_ns)
{
	cpu->is_known = false;
	timeline->counters->has_gaps = true;
	if (cpu->gap_count && cpu->gaps[cpu->gap_count - 1].end_ns == begin_ns)
		cpu->gaps[cpu->gap_count - 1].end_ns = end_ns;
	else if (PS__VECTOR_GROW(&cpu->gaps, cpu->gap_count, &cpu->gap_room))
		cpu->gaps[cpu->gap_count++] =
		    (struct timeline_gap){.begin_ns = begin_ns, .end_ns = end_ns};
	else
		tool_slices_note_hole(timeline->slices, cpu->cpu, begin_ns, end_ns, 0);
}

/* Adds the times since the latest sample. If the group waited for the hardware meanwhile, several
 * tasks may have left the CPU without a sample. */
static void note_times(struct timeline *timeline, struct timeline_switched *cpu, uint64_t time_ns,
                       uint64_t enabled_ns, uint64_t running_ns)
{
	struct timeline_counters *counters = timeline->counters;
	uint64_t enabled = enabled_ns - cpu->enabled_ns, running = running_ns - cpu->running_ns;
	/* A task can be on the CPU from the begin of the observation on. */
	uint64_t begin_ns = cpu->enabled_ns ? cpu->time_ns : 0;

	counters->enabled_ns += enabled;
	counters->running_ns += running;
	cpu->enabled_ns = enabled_ns;
	cpu->running_ns = running_ns;
	if (!cpu->is_known || running < enabled)
		counters_note_gap(timeline, cpu, begin_ns, time_ns);
}

static void counters_hear_switch(struct timeline *timeline, struct timeline_switched *cpu,
                                 const struct ps_record *record)
{
	struct timeline_counters *counters = timeline->counters;
	const struct ps_record_counts *counts = &record->sample.counts;

	if (counts->count != counters->count + 1) {
		cpu->is_known = false;
		return;
	}
	note_times(timeline, cpu, record->time, counts->enabled_ns, counts->running_ns);
	for (size_t event = 0; event < counters->count; event++) {
		struct ps_record_count count;
		if (ps_record_count(record, event + 1, &count) == PS_OK)
			add_difference(timeline, cpu, event, count.value,
			               (struct tool_slices_read){
					   .time_ns = record->time,
					   .tid = record->tid == UINT32_MAX ? 0 : record->tid});
	}
	cpu->is_known = true;
	cpu->time_ns = record->time;
}

/* Notes a hole, because several tasks may have left the CPU since the last sample. */
static void counters_hear_lost(struct timeline *timeline, struct timeline_switched *cpu,
                               const struct ps_record *record)
{
	cpu->is_known = false;
	tool_slices_note_hole(timeline->slices, cpu->cpu, cpu->time_ns, record->time,
	                      record->body.lost);
}

static void read_ring(struct timeline *timeline, struct timeline_switched *cpu)
{
	struct ps_record record;
	int code;

	while ((code = ps_sampler_next(cpu->sampler, &record)) == PS_OK || code == PS_EMISC) {
		if (code == PS_EMISC)
			cpu->is_known = false;
		else if (record.type == PS_RECORD_SAMPLE)
			counters_hear_switch(timeline, cpu, &record);
		else if (record.type == PS_RECORD_LOST)
			counters_hear_lost(timeline, cpu, &record);
	}
}

void timeline_counters_read(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; counters && i < counters->cpu_count; i++) {
		if (counters->cpus[i].sampler)
			read_ring(timeline, &counters->cpus[i]);
	}
}

/* True if the CPU went offline: the group's clock stops then, and never continues. */
static bool has_stopped(const struct timeline_counters *counters,
                        const struct timeline_switched *cpu, uint64_t enabled_ns)
{
	uint64_t due_ns = counters->stop_ns > cpu->time_ns ? counters->stop_ns - cpu->time_ns : 0;

	return due_ns > SHORTEST_GAP_NS && enabled_ns - cpu->enabled_ns < due_ns / 2;
}

/* Reads the counts since the last sample. They belong to the task that was on the CPU when its
 * counters were stopped. */
static void read_rest(struct timeline *timeline, struct timeline_switched *cpu)
{
	struct timeline_counters *counters = timeline->counters;
	struct ps_sampler_count counts[PS_SAMPLER_MOST_EVENTS];

	if (!cpu->sampler ||
	    ps_sampler_read_group(cpu->sampler, counts, counters->count + 1) != PS_OK ||
	    has_stopped(counters, cpu, counts[0].enabled_ns)) {
		cpu->until_ns = cpu->sampler ? cpu->time_ns : 0;
		counters->has_gaps = true;
		return;
	}
	uint64_t stop_ns = cpu->until_ns < timeline->end_ns ? cpu->until_ns : timeline->end_ns;
	if (timeline->end_ns - stop_ns > SHORTEST_GAP_NS)
		counters->has_gaps = true;
	else
		cpu->until_ns = UINT64_MAX;
	note_times(timeline, cpu, UINT64_MAX, counts[0].enabled_ns, counts[0].running_ns);
	for (size_t event = 0; event < counters->count; event++)
		add_difference(
		    timeline, cpu, event, counts[event + 1].value,
		    (struct tool_slices_read){.time_ns = stop_ns, .tid = TOOL_TID_ON_CPU});
}

/* Notes counters that weren't on the hardware all the time, or have damaged samples: their counts
 * are too low. */
static void note_waiting(struct timeline *timeline)
{
	const struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; i < counters->count; i++) {
		struct timeline_event *event = &timeline->events[counters->events[i]];
		if (counters->running_ns) {
			if (counters->running_ns < counters->enabled_ns || timeline->losses.damaged)
				event->status = PS_STATUS_INCOMPLETE;
			continue;
		}
		event->status = PS_STATUS_NEVER_SCHEDULED;
		event->is_counted = false;
		timeline_counters_complain(
		    event->name, 0, PS_ENOCNTR,
		    "its group never had the counters that it needs, which others "
		    "hold: name fewer events");
	}
}

void timeline_counters_stop(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	if (!counters)
		return;
	counters->stop_ns = ps__os_now_ns();
	for (size_t i = 0; i < counters->cpu_count; i++) {
		ps_sampler_stop(counters->cpus[i].sampler);
		counters->cpus[i].until_ns = ps__os_now_ns();
	}
}

uint64_t timeline_counters_close(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;
	uint64_t lost = 0;

	if (!counters)
		return 0;
	timeline_counters_read(timeline);
	for (size_t i = 0; i < counters->cpu_count; i++) {
		lost += ps_sampler_lost(counters->cpus[i].sampler);
		timeline->losses.damaged += ps_sampler_damaged(counters->cpus[i].sampler);
		read_rest(timeline, &counters->cpus[i]);
	}
	note_waiting(timeline);
	timeline_counters_close_cpus(counters);
	return lost;
}

/* True if the time is in a gap: a task that came onto the CPU then has left it in the gap, or with
 * the sample at its end. */
static bool is_in_gap(const struct timeline_switched *cpu, uint64_t time_ns)
{
	size_t first = 0, end = cpu->gap_count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (cpu->gaps[middle].end_ns <= time_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first < cpu->gap_count && cpu->gaps[first].begin_ns <= time_ns;
}

/* Returns the CPU of the span, if its counts may be unknown; else NULL. */
static const struct timeline_switched *find_with_gaps(const struct timeline *timeline,
                                                      const struct tool_span *span)
{
	const struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; counters && counters->has_gaps && i < counters->cpu_count; i++) {
		if (counters->cpus[i].cpu == span->cpu)
			return &counters->cpus[i];
	}
	return NULL;
}

static bool counters_know_span(const struct timeline *timeline, const struct tool_span *span)
{
	const struct timeline_switched *cpu = find_with_gaps(timeline, span);

	return !cpu || (span->end_ns > cpu->from_ns && span->begin_ns < cpu->until_ns &&
	                !is_in_gap(cpu, span->begin_ns));
}

bool timeline_knows(const struct timeline *timeline, const struct timeline_event *event,
                    const struct tool_span *span)
{
	return event->is_counted && !(event->is_counter && !counters_know_span(timeline, span));
}

static bool is_lossy(const struct tool_task *task)
{
	return task->sums_ns[TOOL_SPAN_UNKNOWN] || task->is_begin_lost;
}

enum timeline_known timeline_knows_sum(const struct timeline *timeline,
                                       const struct timeline_event *event,
                                       const struct tool_task *task)
{
	const struct timeline_sums *sums = &timeline->sums;
	bool has_blind = event->is_counter && task->index < sums->task_count;
	uint64_t blind = has_blind ? sums->tasks[task->index].blind : 0;
	bool is_cut = has_blind && sums->tasks[task->index].is_cut;
	bool lacks_samples = !event->is_counter && event->status == PS_STATUS_INCOMPLETE;

	if (!event->is_counted || (blind && blind == task->slices))
		return TIMELINE_NOT_KNOWN;
	return blind || is_cut || lacks_samples || is_lossy(task) ? TIMELINE_LEAST : TIMELINE_WHOLE;
}

bool timeline_is_whole(const struct timeline *timeline, const struct tool_task *task)
{
	if (timeline->losses.unassigned || timeline->losses.damaged || timeline->losses.unwritten)
		return false;
	for (size_t i = 0; i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		if (event->is_counted &&
		    timeline_knows_sum(timeline, event, task) != TIMELINE_WHOLE)
			return false;
	}
	return !is_lossy(task);
}

/* True if the CPU's counters began after the span began, or ended before it ended. */
static bool is_cut(const struct timeline_switched *cpu, const struct tool_span *span)
{
	return span->begin_ns + SHORTEST_GAP_NS < cpu->from_ns || span->end_ns <= cpu->from_ns ||
	       span->begin_ns >= cpu->until_ns ||
	       (span->end_ns > cpu->until_ns && span->end_ns - cpu->until_ns > SHORTEST_GAP_NS);
}

void timeline_counters_add_span(struct timeline *timeline, const struct tool_span *span)
{
	const struct timeline_switched *cpu = find_with_gaps(timeline, span);

	if (span->kind != TOOL_SPAN_ON || !cpu)
		return;
	struct timeline_task *task = &timeline->sums.tasks[span->task->index];
	if (!counters_know_span(timeline, span))
		task->blind++;
	if (!is_cut(cpu, span))
		return;
	task->is_cut = true;
	if (timeline_counters_unknown(timeline) >= 0)
		return;
	timeline->counters->unknown_cpu = span->cpu;
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		if (event->is_counter && event->status == PS_STATUS_COUNTED)
			event->status = PS_STATUS_INCOMPLETE;
	}
}

int timeline_counters_unknown(const struct timeline *timeline)
{
	return timeline->counters ? timeline->counters->unknown_cpu : -1;
}

double timeline_counters_waited(const struct timeline *timeline)
{
	const struct timeline_counters *counters = timeline->counters;

	return counters && counters->enabled_ns
	           ? 1 - (double)counters->running_ns / (double)counters->enabled_ns
	           : 0;
}

void timeline_counters_clear(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; i < timeline->event_count; i++)
		ps_attr_destroy(timeline->events[i].counter);
	if (!counters)
		return;
	timeline_counters_close_cpus(counters);
	for (size_t i = 0; i < counters->cpu_count; i++)
		ps__os_free(counters->cpus[i].gaps);
	for (size_t i = 0; i < counters->count; i++)
		ps_attr_destroy(counters->attrs[i]);
	ps__os_free(counters->cpus);
	ps__os_free(counters->attrs);
	ps__os_free(counters->events);
	ps__os_free(counters->values);
	ps__os_free(counters);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of perfsage timeline: events that the kernel can't write down one by one. On each CPU a
 * sampler of its context switches has them in its group: a sample tells what the group had counted
 * when a task left the CPU, and the difference from the sample before is that task's. It needs the
 * right to observe whole CPUs.
 */
#include "tools/timeline.h"

#include "base/os.h"
#include "sample/session.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* The counters of one CPU, as they were when it was switched last. */
struct timeline_switched {
	struct ps_sampler *sampler;
	int cpu;
	bool is_known; /* else a loss came between */
	uint64_t time_ns;
	uint64_t enabled_ns, running_ns;
	uint64_t *values; /* of the group but for its leader */
};

struct timeline_counters {
	struct timeline_switched *cpus;
	size_t cpu_count;
	struct ps_attr **attrs; /* of events that are known by this */
	size_t *events;         /* their places in timeline->events */
	size_t count;
	uint64_t *values; /* of all CPUs */
	uint64_t enabled_ns, running_ns;
};

static struct ps_attr *make_leader(size_t ring_bytes)
{
	static const struct {
		enum ps_attr_field field;
		uint64_t value;
	} fields[] = {{PS_ATTR_SAMPLE_PERIOD, 1},
	              {PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ},
	              {PS_ATTR_READ_FORMAT, PERF_FORMAT_GROUP},
	              {PS_ATTR_SAMPLE_ID_ALL, 1},
	              {PS_ATTR_USE_CLOCKID, 1},
	              {PS_ATTR_CLOCKID, CLOCK_MONOTONIC},
	              {PS_ATTR_WATERMARK, 1}};
	struct ps_attr *attr = NULL;
	int code = ps_attr_create(&attr, "context-switches");

	for (size_t i = 0; code == PS_OK && i < sizeof fields / sizeof *fields; i++)
		code = ps_attr_set(attr, fields[i].field, fields[i].value);
	/* The rings are read now and then: nobody needs to be woken. */
	if (code == PS_OK)
		code = ps_attr_set(attr, PS_ATTR_WAKEUP_WATERMARK, ring_bytes / 2);
	if (code == PS_OK)
		return attr;
	ps_attr_destroy(attr);
	return NULL;
}

static void close_cpus(struct timeline_counters *counters)
{
	for (size_t i = 0; i < counters->cpu_count; i++)
		ps_sampler_destroy(counters->cpus[i].sampler);
	counters->cpu_count = 0;
}

#define SMALLEST_RING ((size_t)16 << 10)

/* The session's rings may have taken what this user may lock: a smaller one is read as often. */
static int open_sampler(struct timeline_switched *cpu, const struct ps_attr *leader,
                        size_t ring_bytes)
{
	int code;

	do {
		code = ps_sampler_create(&cpu->sampler, leader, -1, cpu->cpu, ring_bytes);
		ring_bytes /= 4;
	} while (code == PS_EPERM && ring_bytes >= SMALLEST_RING);
	return code;
}

#define NO_SWITCHES SIZE_MAX

/* Returns how many of the events are in the groups of all CPUs: `count`; or the first one that is
 * not, or NO_SWITCHES, with a sentence in ps_error_detail. */
static size_t open_cpus(struct timeline *timeline, const struct ps_attr *leader, size_t ring_bytes)
{
	struct timeline_counters *counters = timeline->counters;
	const struct ps__session_lists *lists = &timeline->session->lists;

	for (size_t i = 0; i < lists->cpu_count; i++) {
		struct timeline_switched *cpu = &counters->cpus[i];
		cpu->cpu = lists->cpus[i];
		if (open_sampler(cpu, leader, ring_bytes) != PS_OK)
			return NO_SWITCHES;
		counters->cpu_count++;
		for (size_t event = 0; event < counters->count; event++) {
			if (ps_sampler_add(cpu->sampler, counters->attrs[event]) != PS_OK)
				return event;
		}
	}
	return counters->count;
}

/* others: so many more have the same reason. */
static void complain_uncounted(const char *name, size_t others, const char *why)
{
	struct ps__buffer text = {0};

	if (others)
		ps__buffer_add(&text, " and %zu other event%s", others, others > 1 ? "s" : "");
	tool_complain("'%s'%s %s not known by slice: %s; 'perfsage stat --tasks' counts %s by task "
	              "and hardware thread",
	              name, ps__buffer_text(&text), others ? "are" : "is", why,
	              others ? "them" : "it");
	ps__buffer_clear(&text);
}

static void drop_event(struct timeline *timeline, size_t event)
{
	struct timeline_counters *counters = timeline->counters;

	complain_uncounted(timeline->events[counters->events[event]].name, 0, ps_error_detail());
	ps_attr_destroy(counters->attrs[event]);
	counters->count--;
	for (size_t i = event; i < counters->count; i++) {
		counters->attrs[i] = counters->attrs[i + 1];
		counters->events[i] = counters->events[i + 1];
	}
}

static void drop_all(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	complain_uncounted(timeline->events[counters->events[0]].name, counters->count - 1,
	                   ps_error_detail());
	while (counters->count > 0)
		ps_attr_destroy(counters->attrs[--counters->count]);
}

/* An event that can't be counted on one CPU is not known: groups are alike everywhere. */
static void open_groups(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;
	size_t ring_bytes = (size_t)timeline->options.ring_kib << 10;
	struct ps_attr *leader = make_leader(ring_bytes);

	while (counters->count > 0) {
		size_t opened = leader ? open_cpus(timeline, leader, ring_bytes) : NO_SWITCHES;
		if (opened == counters->count)
			break;
		close_cpus(counters);
		if (opened == NO_SWITCHES)
			drop_all(timeline);
		else
			drop_event(timeline, opened);
	}
	ps_attr_destroy(leader);
	for (size_t i = 0; i < counters->count; i++) {
		struct timeline_event *event = &timeline->events[counters->events[i]];
		event->is_counted = true;
		event->status = PS_STATUS_COUNTED;
		event->index = timeline->counted++;
	}
}

static bool make_room(struct timeline *timeline)
{
	struct timeline_counters *counters = calloc(1, sizeof *counters);
	size_t cpus = timeline->session->lists.cpu_count;

	timeline->counters = counters;
	if (!counters)
		return false;
	counters->cpus = calloc(cpus, sizeof *counters->cpus);
	counters->attrs = calloc(timeline->event_count, sizeof *counters->attrs);
	counters->events = calloc(timeline->event_count, sizeof *counters->events);
	counters->values = calloc(cpus * timeline->event_count, sizeof *counters->values);
	return counters->cpus && counters->attrs && counters->events && counters->values;
}

int timeline_counters_open(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		struct ps_attr *attr = event->counter;
		event->counter = NULL;
		if (!attr)
			continue;
		if (!timeline->counters && !make_room(timeline)) {
			ps_attr_destroy(attr);
			return tool_complain("out of memory"), -1;
		}
		struct timeline_counters *counters = timeline->counters;
		counters->attrs[counters->count] = attr;
		counters->events[counters->count++] = i;
	}
	if (timeline->counters)
		open_groups(timeline);
	return 0;
}

int timeline_counters_start(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; counters && i < counters->cpu_count; i++) {
		struct timeline_switched *cpu = &counters->cpus[i];
		cpu->values = &counters->values[i * counters->count];
		cpu->is_known = true;
		cpu->time_ns = ps__os_now_ns();
		if (ps_sampler_start(cpu->sampler) != PS_OK)
			return tool_complain("%s", ps_error_detail()), -1;
	}
	return 0;
}

static void add_difference(struct timeline *timeline, const struct timeline_switched *cpu,
                           size_t event, uint64_t value, struct tool_slices_read read)
{
	const struct timeline_counters *counters = timeline->counters;

	read.cpu = cpu->cpu;
	read.event = timeline->events[counters->events[event]].index;
	read.count = value - cpu->values[event];
	if (cpu->is_known && read.count)
		tool_slices_note_read(timeline->slices, &read);
	cpu->values[event] = value;
}

static void note_times(struct timeline_counters *counters, struct timeline_switched *cpu,
                       uint64_t enabled_ns, uint64_t running_ns)
{
	counters->enabled_ns += enabled_ns - cpu->enabled_ns;
	counters->running_ns += running_ns - cpu->running_ns;
	cpu->enabled_ns = enabled_ns;
	cpu->running_ns = running_ns;
}

static void hear_switch(struct timeline *timeline, struct timeline_switched *cpu,
                        const struct ps_record *record)
{
	struct timeline_counters *counters = timeline->counters;
	const struct ps_record_counts *counts = &record->sample.counts;

	if (counts->count != counters->count + 1)
		return;
	note_times(counters, cpu, counts->enabled_ns, counts->running_ns);
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

/* Several tasks may have left the CPU since the last sample. */
static void hear_lost(struct timeline *timeline, struct timeline_switched *cpu,
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
			hear_switch(timeline, cpu, &record);
		else if (record.type == PS_RECORD_LOST)
			hear_lost(timeline, cpu, &record);
	}
}

void timeline_counters_read(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; counters && i < counters->cpu_count; i++)
		read_ring(timeline, &counters->cpus[i]);
}

/* The task that is on the CPU now has what came since the last sample. */
static void read_rest(struct timeline *timeline, struct timeline_switched *cpu)
{
	struct timeline_counters *counters = timeline->counters;
	struct ps_sampler_count counts[PS_SAMPLER_MOST_EVENTS];

	if (ps_sampler_read_group(cpu->sampler, counts, counters->count + 1) != PS_OK)
		return;
	note_times(counters, cpu, counts[0].enabled_ns, counts[0].running_ns);
	for (size_t event = 0; event < counters->count; event++)
		add_difference(
		    timeline, cpu, event, counts[event + 1].value,
		    (struct tool_slices_read){.time_ns = timeline->end_ns, .tid = TOOL_TID_ON_CPU});
}

/* A counter that had to wait counted too little, or nothing. */
static void note_waiting(struct timeline *timeline)
{
	const struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; i < counters->count; i++) {
		struct timeline_event *event = &timeline->events[counters->events[i]];
		if (counters->running_ns) {
			if (counters->running_ns < counters->enabled_ns)
				event->status = PS_STATUS_INCOMPLETE;
			continue;
		}
		event->status = PS_STATUS_NEVER_SCHEDULED;
		event->is_counted = false;
		complain_uncounted(event->name, 0,
		                   "its group never had the counters that it needs, which others "
		                   "hold: name fewer events");
	}
}

void timeline_counters_stop(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;

	for (size_t i = 0; counters && i < counters->cpu_count; i++)
		ps_sampler_stop(counters->cpus[i].sampler);
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
		read_rest(timeline, &counters->cpus[i]);
	}
	note_waiting(timeline);
	close_cpus(counters);
	return lost;
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
	close_cpus(counters);
	for (size_t i = 0; i < counters->count; i++)
		ps_attr_destroy(counters->attrs[i]);
	free(counters->cpus);
	free(counters->attrs);
	free(counters->events);
	free(counters->values);
	free(counters);
}

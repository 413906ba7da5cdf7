/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of perfsage timeline, for events that the kernel can't record one by one. On each CPU, a
 * sampler of context switches leads a group with these events. When a task leaves the CPU, a sample
 * has the group's counts. Their difference from the previous sample is the count of this task. This
 * needs the right to observe whole CPUs.
 */
#include "tools/timeline_counters.h"

#include "base/os.h"
#include "locate/locate.h"
#include "sample/session.h"

#include <linux/perf_event.h>
#include <stdlib.h>

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
	/* Wake-ups aren't needed, because the rings are read at intervals. They are rare if they
	 * come at half a ring. */
	if (code == PS_OK)
		code = ps_attr_set(attr, PS_ATTR_WAKEUP_WATERMARK, ring_bytes / 2);
	if (code == PS_OK)
		return attr;
	ps_attr_destroy(attr);
	return NULL;
}

void timeline_counters_close_cpus(struct timeline_counters *counters)
{
	for (size_t i = 0; i < counters->cpu_count; i++) {
		ps_sampler_destroy(counters->cpus[i].sampler);
		counters->cpus[i].sampler = NULL;
	}
}

#define SMALLEST_RING ((size_t)16 << 10)

/* Opens the sampler, with a smaller ring if the session's rings have used up the memory that this
 * user may lock. */
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

/* Opens the events in the CPU's group. Returns counters->count if all are open; else the index of
 * the first event that can't be opened, or NO_SWITCHES if the sampler can't be opened.
 * ps_error_detail has the reason. */
static size_t open_group(struct timeline_counters *counters, struct timeline_switched *cpu,
                         const struct ps_attr *leader, size_t ring_bytes)
{
	counters->refusal = open_sampler(cpu, leader, ring_bytes);
	if (counters->refusal != PS_OK)
		return NO_SWITCHES;
	for (size_t event = 0; event < counters->count; event++) {
		counters->refusal = ps_sampler_add(cpu->sampler, counters->attrs[event]);
		if (counters->refusal != PS_OK)
			return event;
	}
	return counters->count;
}

/* Opens the groups of all CPUs that are online. Returns the same as open_group. */
static size_t open_cpus(struct timeline_counters *counters, const struct ps_attr *leader,
                        size_t ring_bytes)
{
	for (size_t i = 0; i < counters->cpu_count; i++) {
		struct timeline_switched *cpu = &counters->cpus[i];
		size_t opened = open_group(counters, cpu, leader, ring_bytes);
		if (opened == counters->count)
			continue;
		if (!ps__locate_is_offline(cpu->cpu))
			return opened;
		ps_sampler_destroy(cpu->sampler);
		cpu->sampler = NULL;
	}
	return counters->count;
}

void timeline_counters_complain(const char *name, size_t others, int code, const char *why)
{
	struct ps__buffer names = {0}, remedy = {0};

	if (others)
		ps__buffer_add(&names, " and %zu other event%s", others, others > 1 ? "s" : "");
	if (code != PS_ENOSUPP)
		ps__buffer_add(&remedy,
		               "; 'perfsage stat --tasks' counts %s by task and hardware thread",
		               others ? "them" : "it");
	tool_complain("'%s'%s %s not known by slice: %s%s", name, ps__buffer_text(&names),
	              others ? "are" : "is", why, ps__buffer_text(&remedy));
	ps__buffer_clear(&names);
	ps__buffer_clear(&remedy);
}

static void counters_drop_event(struct timeline *timeline, size_t event)
{
	struct timeline_counters *counters = timeline->counters;

	timeline_counters_complain(timeline->events[counters->events[event]].name, 0,
	                           counters->refusal, ps_error_detail());
	ps_attr_destroy(counters->attrs[event]);
	counters->count--;
	for (size_t i = event; i < counters->count; i++) {
		counters->attrs[i] = counters->attrs[i + 1];
		counters->events[i] = counters->events[i + 1];
	}
}

static void counters_drop_all(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;
	struct ps__buffer why = {0};

	/* The detail begins with the name of the switch event, which the user may not have
	 * chosen. */
	ps__buffer_add(&why, "this needs each CPU's %s", ps_error_detail());
	timeline_counters_complain(timeline->events[counters->events[0]].name, counters->count - 1,
	                           counters->refusal, ps__buffer_text(&why));
	ps__buffer_clear(&why);
	while (counters->count > 0)
		ps_attr_destroy(counters->attrs[--counters->count]);
}

/* Opens the same group on each CPU. An event that can't be counted on one CPU is dropped from the
 * groups of all CPUs. */
static void counters_open_groups(struct timeline *timeline)
{
	struct timeline_counters *counters = timeline->counters;
	size_t ring_bytes = (size_t)timeline->options.ring_kib << 10;
	struct ps_attr *leader = make_leader(ring_bytes);

	while (counters->count > 0) {
		size_t opened = leader ? open_cpus(counters, leader, ring_bytes) : NO_SWITCHES;
		if (opened == counters->count)
			break;
		timeline_counters_close_cpus(counters);
		if (opened == NO_SWITCHES)
			counters_drop_all(timeline);
		else
			counters_drop_event(timeline, opened);
	}
	ps_attr_destroy(leader);
	for (size_t i = 0; i < counters->count; i++) {
		struct timeline_event *event = &timeline->events[counters->events[i]];
		event->is_counted = event->is_counter = true;
		event->status = PS_STATUS_COUNTED;
		event->index = timeline->counted++;
	}
}

static bool counters_make_room(struct timeline *timeline)
{
	struct timeline_counters *counters = ps__os_calloc(1, sizeof *counters);
	const struct ps__session_lists *lists = &timeline->session->lists;
	size_t cpus = lists->cpu_count;

	timeline->counters = counters;
	if (!counters)
		return false;
	counters->cpus = ps__os_calloc(cpus, sizeof *counters->cpus);
	counters->attrs = ps__os_calloc(timeline->event_count, sizeof *counters->attrs);
	counters->events = ps__os_calloc(timeline->event_count, sizeof *counters->events);
	counters->values = ps__os_calloc(cpus * timeline->event_count, sizeof *counters->values);
	if (!counters->cpus || !counters->attrs || !counters->events || !counters->values)
		return false;
	counters->cpu_count = cpus;
	counters->unknown_cpu = -1;
	for (size_t i = 0; i < cpus; i++)
		counters->cpus[i] = (struct timeline_switched){.cpu = lists->cpus[i]};
	return true;
}

int timeline_counters_open(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		struct ps_attr *attr = event->counter;
		event->counter = NULL;
		if (!attr)
			continue;
		if (!timeline->counters && !counters_make_room(timeline)) {
			ps_attr_destroy(attr);
			return tool_complain("out of memory");
		}
		struct timeline_counters *counters = timeline->counters;
		counters->attrs[counters->count] = attr;
		counters->events[counters->count++] = i;
	}
	if (timeline->counters)
		counters_open_groups(timeline);
	return 0;
}

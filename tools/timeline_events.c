/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of perfsage timeline. A slice has those that the kernel can write down one by one, as
 * samples of a period of 1: they fall into slices by task, hardware thread and time. Counters have
 * no such records, so their counts are not known.
 */
#include "tools/timeline.h"

#include "sample/session.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* Clocks and dummies never happen. */
static bool happens(uint64_t config)
{
	switch (config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
	case PERF_COUNT_SW_DUMMY:
	case PERF_COUNT_SW_BPF_OUTPUT:
		return false;
	default:
		return true;
	}
}

static bool is_one_by_one(const struct ps__event *event)
{
	if (event->is_run_time)
		return false;
	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE:
		return happens(event->attr.config);
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return true;
	default:
		return event->is_probe;
	}
}

static void complain_uncounted(const char *name)
{
	tool_complain("'%s' is not known by slice: the kernel writes down software events, "
	              "tracepoints, probes and breakpoints one by one, and no others; 'perfsage "
	              "stat --tasks' counts it by task and hardware thread",
	              name);
}

/* 1; 0 after a complaint: it is not known. */
static int add_attr(struct timeline *timeline, struct ps_attr *attr, const char *name)
{
	if (!is_one_by_one(&attr->event))
		return complain_uncounted(name), 0;
	int code = ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1);
	if (code == PS_OK)
		code = ps_attr_check(attr, NULL);
	if (code == PS_OK)
		code = ps_session_add(timeline->session, attr);
	if (code != PS_OK)
		tool_complain("not known by slice: %s", ps_error_detail());
	return code == PS_OK;
}

/* -1 after a complaint. */
static int add_name(struct timeline *timeline, const char *name)
{
	struct timeline_event *event = &timeline->events[timeline->event_count];
	struct ps_attr *attr = NULL;

	for (size_t i = 0; i < timeline->event_count; i++) {
		if (strcmp(timeline->events[i].name, name) == 0)
			return 0;
	}
	if (ps_attr_create(&attr, name) != PS_OK)
		return tool_complain("%s", ps_error_detail()), -1;
	*event = (struct timeline_event){.name = name, .index = timeline->counted};
	event->is_counted = add_attr(timeline, attr, name);
	timeline->counted += event->is_counted;
	timeline->event_count++;
	ps_attr_destroy(attr);
	return 0;
}

int timeline_events_add(struct timeline *timeline)
{
	const struct tool_names *names = &timeline->options.events;

	timeline->events = calloc(names->count + 1, sizeof *timeline->events);
	if (!timeline->events)
		return tool_complain("out of memory"), -1;
	for (size_t i = 0; i < names->count; i++) {
		if (add_name(timeline, names->names[i]) < 0)
			return -1;
	}
	return 0;
}

void timeline_events_note_user(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		if (event->is_counted)
			event->is_of_user_only =
			    timeline->session->lists.events[event->index].attr->event.user_only;
	}
}

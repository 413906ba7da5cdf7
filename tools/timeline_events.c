/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of perfsage timeline. Events that the kernel can record one by one, as samples with a
 * period of 1, are assigned to slices by task, hardware thread and time. The others are counters
 * that are read at each switch: timeline_counters.c.
 */
#include "tools/timeline.h"

#include "base/os.h"
#include "sample/session.h"
#include "tools/timeline_counters.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False for clocks and dummies: the kernel never records them. */
static bool event_happens(uint64_t config)
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
		return event_happens(event->attr.config);
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return true;
	default:
		return event->is_probe;
	}
}

/* True if the event counts for more than one hardware thread. */
static bool is_shared(const struct ps__event *event)
{
	return event->klass == PS__EVENT_CLASS_OTHER || event->scope != PS_SCOPE_THREAD;
}

/* Adds a sampled event to the session. Returns false after a complaint; the event's counts are then
 * unknown. */
static bool add_attr(struct timeline *timeline, struct ps_attr *attr)
{
	int code = ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1);
	if (code == PS_OK)
		code = ps_attr_check(attr, NULL);
	if (code == PS_OK)
		code = ps_session_add(timeline->session, attr);
	if (code != PS_OK)
		tool_complain("not known by slice: %s", ps_error_detail());
	return code == PS_OK;
}

/* Returns true after a complaint if nothing on this machine counts the event, with any
 * permissions. */
static bool is_uncountable(const char *name)
{
	struct ps_eventset *set = NULL;
	int code = ps_eventset_create(&set);

	if (code == PS_OK)
		code = ps_eventset_add(set, name);
	if (code == PS_ENOSUPP)
		timeline_counters_complain(name, 0, code, ps_error_detail());
	ps_eventset_destroy(set);
	return code == PS_ENOSUPP;
}

/* Returns -1 after a complaint. */
static int timeline_add_name(struct timeline *timeline, const char *name)
{
	struct timeline_event *event = &timeline->events[timeline->event_count];
	struct ps_attr *attr = NULL;

	for (size_t i = 0; i < timeline->event_count; i++) {
		if (strcmp(timeline->events[i].name, name) == 0)
			return 0;
	}
	if (ps_attr_create(&attr, name) != PS_OK)
		return tool_complain_detail();
	*event = (struct timeline_event){
	    .name = name, .index = timeline->counted, .status = PS_STATUS_NOT_SUPPORTED};
	snprintf(event->unit, sizeof event->unit, "%s", attr->event.unit);
	timeline->event_count++;
	if (is_shared(&attr->event)) {
		tool_complain("'%s' is not known by slice: it counts for a %s, not for a task",
		              name, ps_scope_name(attr->event.scope));
	} else if (!is_one_by_one(&attr->event)) {
		if (!is_uncountable(name)) {
			event->counter = attr;
			return 0;
		}
	} else if (add_attr(timeline, attr)) {
		event->is_counted = true;
		event->shares_samples = ps__session_shares_samples(&attr->event.attr);
		event->status = PS_STATUS_COUNTED;
		timeline->counted++;
	}
	ps_attr_destroy(attr);
	return 0;
}

int timeline_events_add(struct timeline *timeline)
{
	const struct tool_names *names = &timeline->options.events;

	timeline->events = ps__os_calloc(names->count + 1, sizeof *timeline->events);
	if (!timeline->events)
		return tool_complain("out of memory");
	for (size_t i = 0; i < names->count; i++) {
		if (timeline_add_name(timeline, names->names[i]) < 0)
			return -1;
	}
	return timeline_counters_open(timeline);
}

static int note_user(struct timeline_event *event)
{
	struct ps__buffer name = {0};

	event->is_of_user_only = true;
	ps__buffer_add(&name, "%s, user space", event->name);
	event->trace_name = name.failed ? NULL : ps__os_strdup(ps__buffer_text(&name));
	ps__buffer_clear(&name);
	return event->trace_name ? 0 : tool_complain("out of memory");
}

int timeline_events_note_user(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		if (event->is_counted && event->index < timeline->session->user_events &&
		    timeline->session->lists.events[event->index].attr->event.user_only &&
		    note_user(event) < 0)
			return -1;
	}
	return 0;
}

void timeline_events_read_totals(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		if (event->is_counted && !event->is_counter &&
		    ps_session_count(timeline->session, event->index, &event->total) != PS_OK)
			event->total = 0;
	}
}

/* Returns the number of occurrences that the kernel counted without a record, and without a loss
 * that is known. Linux counts a wake-up for the task that is woken, and writes no record of it. */
static uint64_t find_unwritten(const struct timeline *timeline, const struct timeline_event *event,
                               uint64_t samples)
{
	const struct timeline_losses *losses = &timeline->losses;
	uint64_t known = samples + losses->records + losses->unassigned + losses->damaged;

	return event->total > known && !tool_slices_is_full(timeline->slices) ? event->total - known
	                                                                      : 0;
}

/* True if samples of the event may be missing. An unassigned sample belongs to one of the events
 * that share samples. A damaged record may be a sample of any event. What the kernel counted beyond
 * the samples is in no loss for certain: the records that were lost may be others. */
static bool may_lack_samples(const struct timeline *timeline, const struct timeline_event *event,
                             uint64_t samples)
{
	const struct timeline_losses *losses = &timeline->losses;

	return losses->damaged || (event->shares_samples && losses->unassigned) ||
	       (event->total > samples && !tool_slices_is_full(timeline->slices));
}

void timeline_events_note_losses(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		if (!event->is_counted || event->is_counter)
			continue;
		uint64_t samples = tool_slices_sum_samples(timeline->slices, event->index);
		timeline->losses.unwritten += find_unwritten(timeline, event, samples);
		if (!may_lack_samples(timeline, event, samples))
			continue;
		event->status = PS_STATUS_INCOMPLETE;
		event->is_counted = samples != 0;
	}
}

void timeline_events_note_foreign(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++) {
		struct timeline_event *event = &timeline->events[i];
		bool is_sampled = event->is_counted && !event->is_counter;
		uint64_t foreign =
		    is_sampled ? tool_slices_foreign(timeline->slices, event->index) : 0;
		if (foreign)
			event->status = PS_STATUS_INCOMPLETE;
		timeline->losses.unwritten += foreign;
	}
}

void timeline_events_clear(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->event_count; i++)
		ps__os_free(timeline->events[i].trace_name);
	ps__os_free(timeline->events);
}

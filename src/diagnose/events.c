/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and starts each requested event by itself, then all of them together. */
#include "base/error.h"
#include "base/os.h"
#include "diagnose/diagnosis.h"
#include "event/attr.h"
#include "eventset/parts.h"

#include <perfsage/read.h>
#include <stdio.h>

int ps__diagnose_defaults(struct ps__diagnosis *d)
{
	int code = ps_eventset_create(&d->defaults);

	if (code != PS_OK)
		return code;
	code = ps_eventset_add_default(d->defaults);
	if (code != PS_OK) {
		ps_eventset_destroy(d->defaults);
		d->defaults = NULL;
		return code;
	}
	size_t count = ps_eventset_event_count(d->defaults);
	const char **names = ps__os_calloc(count, sizeof *names);
	if (!names)
		return ps__fail_memory("the diagnosis");
	for (size_t i = 0; i < count; i++)
		names[i] = ps_eventset_event_name(d->defaults, i);
	d->events = names;
	d->event_count = count;
	return PS_OK;
}

/* Says which of the default software events were left out because they may not be counted. No
 * finding of a single event says so. */
static void events_say_left_out(struct ps__diagnosis *d)
{
	static const char *const of_kernel[] = {"context-switches", "cpu-migrations"};
	struct ps_eventset *set = NULL;
	const char *before = " Left out of the default events: ";

	/* With a PMU the default events are hardware events only. */
	if (!d->defaults || ps__set_event(d->defaults, 0)->klass != PS__EVENT_CLASS_SOFTWARE ||
	    ps_eventset_create(&set) != PS_OK)
		return;
	for (size_t index = 0; index < sizeof of_kernel / sizeof of_kernel[0]; index++) {
		if (ps_eventset_add(set, of_kernel[index]) != PS_EPERM)
			continue;
		ps__draft_add(d, "%s%s", before, of_kernel[index]);
		before = ", ";
		d->draft.finding.state = PS_FINDING_LIMITED;
	}
	if (*before == ',')
		ps__draft_add(d, ": counting the kernel is not permitted, see permission.");
	ps_eventset_destroy(set);
}

static bool events_is_of_cpu(const struct ps_eventset *set, size_t event)
{
	return ps__set_event(set, event)->klass == PS__EVENT_CLASS_OTHER;
}

/* Fails if an event doesn't get onto the hardware. An event can be opened and started although
 * every counter is taken. A variant counts on one kind of cores alone, so it isn't tried: this
 * process may be on another. */
static int events_check_hardware(const struct ps__event *event, const char *name)
{
	union ps__attr attr = ps__attr_of(event);
	bool of_cpu = event->klass == PS__EVENT_CLASS_OTHER, is_certain;

	if (event->klass == PS__EVENT_CLASS_SOFTWARE || event->variant_count > 0)
		return PS_OK;
	attr.attr.read_format = PS__PROBE_TIMES;
	int fd =
	    ps__os_open_event(&attr.attr, of_cpu ? -1 : 0, of_cpu ? ps__os.getcpu() : -1, -1, 0);
	if (fd < 0)
		return PS_OK;
	bool is_scheduled = ps__probe_is_scheduled(fd, &is_certain);
	ps__os.close(fd);
	if (is_scheduled || !is_certain)
		return PS_OK;
	return ps__fail(PS_ENOCNTR,
	                "'%s' opens, but was never on the hardware in 20 ms: every counter that "
	                "could count it is taken, by another user or the NMI watchdog",
	                name);
}

/* Opens and starts one event. On success *out is a copy of the event, but its strings are no longer
 * valid. */
static int events_try_event(const char *name, struct ps__event *out)
{
	struct ps_eventset *set;
	int code = ps_eventset_create(&set);

	if (code != PS_OK)
		return code;
	code = ps_eventset_add(set, name);
	if (code == PS_OK)
		code = ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU);
	if (code == PS_OK && events_is_of_cpu(set, 0))
		code = ps_eventset_attach_cpu(set, ps__os.getcpu());
	if (code == PS_OK)
		code = ps_start(set);
	if (code == PS_OK)
		*out = *ps__set_event(set, 0);
	ps_eventset_destroy(set);
	if (code == PS_OK)
		code = events_check_hardware(out, name);
	return code;
}

static enum ps_finding_state events_state_of(int code)
{
	switch (code) {
	case PS_OK:
		return PS_FINDING_GOOD;
	case PS_EPERM:
	case PS_ECOUNT:
	case PS_ENOCNTR:
	case PS_ECNFLCT:
		return PS_FINDING_BLOCKED;
	case PS_ESYS:
	case PS_ENOMEM:
		return PS_FINDING_UNKNOWN;
	default:
		return PS_FINDING_ABSENT;
	}
}

void ps__diagnosis_fail(struct ps__diagnosis *d, int code)
{
	if (d->failed.code != PS_OK)
		return;
	d->failed.code = code;
	snprintf(d->failed.sentence, sizeof d->failed.sentence, "%s", ps_error_detail());
}

void ps__diagnose_event(struct ps__diagnosis *d, const char *name)
{
	struct ps__event event;
	int code = events_try_event(name, &event);

	d->draft.finding.subject = name;
	d->draft.finding.code = code;
	if (code != PS_OK) {
		ps__draft_fact(d, events_state_of(code), "%s", ps_error_detail());
		ps__diagnosis_fail(d, code);
		if (d->failed.event_code == PS_OK)
			d->failed.event_code = code;
		return;
	}
	ps__draft_fact(
	    d, event.user_only ? PS_FINDING_LIMITED : PS_FINDING_GOOD, "Counts for a %s%s.",
	    event.klass == PS__EVENT_CLASS_OTHER ? "whole " : "hardware ",
	    event.klass == PS__EVENT_CLASS_OTHER ? ps_scope_name(event.scope) : "thread");
	if (event.user_only)
		ps__draft_add(d, " In user space alone: the kernel's part is not permitted.");
}

/* Builds a set of the events that follow a task, or of the events that belong to a CPU (of_cpu).
 * The set may be empty. */
static int events_build_set(const struct ps__diagnosis *d, bool of_cpu, struct ps_eventset **out)
{
	struct ps_eventset *set = NULL;
	int code = ps_eventset_create(&set);

	for (size_t i = 0; code == PS_OK && i < d->event_count; i++) {
		code = ps_eventset_add(set, d->events[i]);
		/* A name that was given twice is counted once. */
		if (code == PS_ECNFLCT)
			code = PS_OK;
		else if (code == PS_OK &&
		         events_is_of_cpu(set, ps_eventset_event_count(set) - 1) != of_cpu)
			code = ps_eventset_remove(set, d->events[i]);
	}
	if (code == PS_OK && of_cpu && ps_eventset_event_count(set))
		code = ps_eventset_attach_cpu(set, ps__os.getcpu());
	if (code == PS_OK)
		*out = set;
	else
		ps_eventset_destroy(set);
	return code;
}

static void events_say_attribution(struct ps__diagnosis *d, const struct ps_eventset *set)
{
	const char *why;
	enum ps_attribution attribution = ps_eventset_attribution(set, &why);

	ps__draft_add(d, " Attribution to hardware threads: %s%s%s.",
	              ps_attribution_name(attribution),
	              *why && attribution != PS_ATTRIBUTION_EXACT ? ", because " : "",
	              attribution != PS_ATTRIBUTION_EXACT ? why : "");
	if (attribution == PS_ATTRIBUTION_LAST_CPU)
		d->draft.finding.state = PS_FINDING_LIMITED;
	if (ps__set_count_hardware_groups(set) <= 1)
		return;
	d->draft.finding.state = PS_FINDING_LIMITED;
	ps__draft_add(d,
	              " They are %zu groups of hardware events, which take turns on the counters "
	              "if these don't suffice: values are then estimates (scaled).",
	              ps__set_count_hardware_groups(set));
	ps__draft_remedy(d, PS_REMEDY_BY_YOU, "exact counts instead of estimates",
	                 "ask for fewer hardware events at once");
}

/* Builds and starts the set of the events that follow a task or belong to a CPU. After a failure
 * *out is the set, or unchanged; the caller destroys it. */
static int events_start_kind(struct ps__diagnosis *d, bool of_cpu, struct ps_eventset **out)
{
	int code = events_build_set(d, of_cpu, out);

	if (code != PS_OK || ps_eventset_event_count(*out) == 0)
		return code;
	code = ps_start(*out);
	if (code == PS_OK && !of_cpu)
		events_say_attribution(d, *out);
	return code;
}

void ps__diagnose_together(struct ps__diagnosis *d)
{
	struct ps_eventset *of_task = NULL, *of_cpu = NULL;

	if (d->failed.event_code != PS_OK) {
		d->draft.finding.code = d->failed.event_code;
		ps__draft_fact(d, PS_FINDING_BLOCKED,
		               "Not tried, as not every event can be counted by itself.");
		return;
	}
	ps__draft_fact(d, PS_FINDING_GOOD, "All events start together.");
	int code = events_start_kind(d, false, &of_task);
	if (code == PS_OK)
		code = events_start_kind(d, true, &of_cpu);
	d->draft.finding.code = code;
	if (code == PS_OK)
		events_say_left_out(d);
	if (code != PS_OK) {
		ps__diagnosis_fail(d, code);
		ps__draft_fact(d, events_state_of(code), "All events together: %s",
		               ps_error_detail());
	} else if (ps_eventset_event_count(of_task) && ps_eventset_event_count(of_cpu)) {
		d->draft.finding.state = PS_FINDING_LIMITED;
		ps__draft_add(d,
		              " %zu of them belong to a CPU and not to a task, and so to an event "
		              "set of their own.",
		              ps_eventset_event_count(of_cpu));
	}
	ps_eventset_destroy(of_cpu);
	ps_eventset_destroy(of_task);
}

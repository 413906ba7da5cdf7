/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of perfsage stat about events whose names promise more than the kernel counts. */
#include "tools/stat_count.h"

#include "event/event.h"
#include "eventset/parts.h"
#include "tools/terminal.h"

#include <string.h>

/* True if the event goes on while a CPU is idle. On a whole CPU its count shows only how long it
 * was counted. */
static bool notes_goes_on_idle(const struct ps__event *event)
{
	return ps__event_is_clock(&event->attr) || strcmp(event->name, "tsc") == 0 ||
	       strncmp(event->name, "msr/tsc/", strlen("msr/tsc/")) == 0;
}

static void notes_show_idle(const struct ps_eventset *model, const struct stat_options *options)
{
	for (size_t index = 0;
	     options->target.is_whole_machine && index < ps_eventset_event_count(model); index++) {
		const struct ps__event *event = ps__set_event(model, index);
		if (notes_goes_on_idle(event))
			tool_complain("'%s' goes on while a CPU is idle: with -a it is the time "
			              "that was counted",
			              event->name);
	}
}

/* Complains about modifiers of clocks, which always count the time in user space and in the
 * kernel. */
static void notes_show_clocks(const struct ps_eventset *model)
{
	for (size_t index = 0; index < ps_eventset_event_count(model); index++) {
		const struct ps__event *event = ps__set_event(model, index);
		if (ps__event_is_clock(&event->attr) && event->explicit_domain &&
		    (event->attr.exclude_user || event->attr.exclude_kernel))
			tool_complain("'%s' is the time in user space and in the kernel: the "
			              "kernel's clocks heed no modifier; user_time and "
			              "system_time tell the two apart",
			              event->name);
	}
}

static bool notes_is_ignored(const struct ps__event *event)
{
	bool is_of_kernel =
	    event->attr.type == PERF_TYPE_SOFTWARE || event->attr.type == PERF_TYPE_TRACEPOINT;

	return is_of_kernel && (event->attr.exclude_host || event->attr.exclude_idle);
}

/* Complains about modifiers that the kernel ignores for software events and tracepoints. Names only
 * the first such event. */
static void notes_show_ignored(const struct ps_eventset *model)
{
	const struct ps__event *first = NULL;
	size_t count = 0;

	for (size_t index = 0; index < ps_eventset_event_count(model); index++) {
		if (!notes_is_ignored(ps__set_event(model, index)))
			continue;
		first = first ? first : ps__set_event(model, index);
		count++;
	}
	if (count == 1)
		tool_complain("'%s' counts the host, guests and idle CPUs alike: the modifiers G "
		              "and I are for hardware events",
		              first->name);
	if (count > 1)
		tool_complain("'%s' and %zu other events count the host, guests and idle CPUs "
		              "alike: the modifiers G and I are for hardware events",
		              first->name, count - 1);
}

void stat_notes_show(const struct ps_eventset *model, const struct stat_options *options)
{
	notes_show_clocks(model);
	notes_show_idle(model, options);
	notes_show_ignored(model);
}

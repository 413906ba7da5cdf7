/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an event of a name: asks each source of names, in order, then applies the modifiers. Called
 * by the set. */
#include "base/error.h"
#include "base/os.h"
#include "event/lookup.h"

#include <string.h>

typedef int find_function(struct ps__event *event, struct ps__lookup *lookup);

/*
 * perf's order. Its own generic names come first, so that they mean the same on every machine. Then
 * come the kernel's names, and last a table of names by CPU model.
 */
static find_function *const sources[] = {
    ps__preset_refuse,   ps__generic_find,    ps__run_time_find, ps__cache_find, ps__pmu_event_find,
    ps__breakpoint_find, ps__tracepoint_find, ps__alias_find,    ps__pfm_find};

/* True for a list of events, which users copy from perfsage stat -e into programs. */
static bool parse_is_list(const char *name)
{
	const char *rest = name, *first;
	size_t length;

	return ps__event_split(name, &rest, &first, &length) > 0 && rest;
}

static int parse_fail_unknown(const struct ps__lookup *lookup)
{
	char nearest[320];

	if (!lookup->suspicion && parse_is_list(lookup->name))
		return ps__fail(PS_ENOEVNT,
		                "unknown event '%s': it is a list, and each call takes the name of "
		                "one event",
		                lookup->name);
	ps__suggest(nearest, sizeof nearest, lookup->name);
	const char *intro = *nearest ? "; the nearest names are " : "";
	if (lookup->suspicion)
		return ps__fail(lookup->suspicion, "%s%s%s", ps_error_detail(), intro, nearest);
	if (*nearest)
		return ps__fail(PS_ENOEVNT, "unknown event '%s'%s%s", lookup->name, intro, nearest);
	return ps__fail(PS_ENOEVNT,
	                "unknown event '%s': 'perfsage list' shows the events of this machine",
	                lookup->name);
}

static int parse_find(struct ps__event *event, struct ps__lookup *lookup)
{
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		int code = sources[i](event, lookup);
		if (code != PS__NOT_HERE)
			return code;
	}
	return parse_fail_unknown(lookup);
}

/* The CPU is in the kernel when these events are counted. If the kernel is excluded, they read
 * 0. */
bool ps__event_is_kernel_side(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return true;
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	        attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
	        attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* At each hit of a breakpoint or a software event, the kernel looks at the registers, and drops the
 * hit if that space is excluded. Clocks ignore both flags, and a PMU may still count the
 * hypervisor. */
bool ps__event_excludes_all(const struct perf_event_attr *attr)
{
	if (!attr->exclude_user || !attr->exclude_kernel)
		return false;
	return attr->type == PERF_TYPE_BREAKPOINT ||
	       (attr->type == PERF_TYPE_SOFTWARE && !ps__event_is_clock(attr));
}

static int parse_build(struct ps__event *event, const char *name)
{
	struct ps__lookup lookup = {.name = name, .rest = ""};

	int code = parse_find(event, &lookup);
	/* Under any name: libpfm4 has no units, and software/config=1/ is a clock, too. */
	if (!code && ps__event_is_clock(&event->attr))
		strcpy(event->unit, "ns");
	if (!code && event->klass == PS__EVENT_CLASS_CORE)
		code = ps__hybrid_expand(event, &lookup);
	if (code)
		return code;
	code = ps__modifiers_apply(event, name, lookup.rest);
	if (code)
		return code;
	event->kernel_side = event->kernel_side || ps__event_is_kernel_side(&event->attr);
	char **copy = event->name ? &event->written : &event->name;
	*copy = ps__os_strdup(name);
	return *copy ? PS_OK : ps__fail_memory("the name of an event");
}

int ps__event_parse(struct ps__event *out, const char *name)
{
	struct ps__event event = {.scale = 1, .scope = PS_SCOPE_THREAD};

	if (!name || !*name)
		return ps__fail(PS_EINVAL, "the name of the event is %s", name ? "empty" : "NULL");
	if (strlen(name) > PS__EVENT_NAME_MAX)
		return ps__fail(PS_ENOEVNT,
		                "unknown event '%.100s...': the name has %zu characters, at most "
		                "%d are possible",
		                name, strlen(name), PS__EVENT_NAME_MAX);
	event.attr.size = sizeof event.attr;
	int code = parse_build(&event, name);
	if (code) {
		ps__event_clear(&event);
		return code;
	}
	*out = event;
	return PS_OK;
}

int ps__event_copy(struct ps__event *out, const struct ps__event *model)
{
	struct ps__event event = *model;

	event.name = ps__os_strdup(model->name);
	event.written = model->written ? ps__os_strdup(model->written) : NULL;
	event.probe = model->probe ? ps__os_strdup(model->probe) : NULL;
	event.control.filter = model->control.filter ? ps__os_strdup(model->control.filter) : NULL;
	int code = ps__hybrid_copy(&event, model);
	if (code || !event.name || (model->written && !event.written) ||
	    (model->probe && !event.probe) || (model->control.filter && !event.control.filter)) {
		ps__event_clear(&event);
		return ps__fail_memory("the name of an event");
	}
	if (event.probe)
		event.attr.config1 = (uintptr_t)event.probe;
	*out = event;
	return PS_OK;
}

void ps__event_clear(struct ps__event *event)
{
	ps__os_free(event->name);
	ps__os_free(event->written);
	ps__os_free(event->probe);
	ps__os_free(event->control.filter);
	ps__hybrid_clear(event);
	event->name = NULL;
	event->written = NULL;
	event->probe = NULL;
	event->control.filter = NULL;
}

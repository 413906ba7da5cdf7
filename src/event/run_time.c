/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf's duration_time, user_time and system_time: times of a whole run. The kernel has no counter
 * for them and doesn't split them by hardware thread. A program that knows them stores them
 * (ps_store) for the whole machine.
 */
#include "base/error.h"
#include "event/lookup.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"duration_time", "user_time", "system_time"};

int ps__run_time_find(struct ps__event *event, struct ps__lookup *lookup)
{
	size_t length = strcspn(lookup->name, ":");

	for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
		if (strlen(names[index]) != length || memcmp(names[index], lookup->name, length))
			continue;
		if (lookup->name[length])
			return ps__fail(PS_EATTR, "event '%s': '%s' takes no modifiers",
			                lookup->name, names[index]);
		lookup->rest = "";
		event->is_run_time = true;
		event->klass = PS__EVENT_CLASS_OTHER;
		event->scope = PS_SCOPE_MACHINE;
		snprintf(event->unit, sizeof event->unit, "ns");
		return PS_OK;
	}
	return PS__NOT_HERE;
}

bool ps__run_time_is(const char *name)
{
	for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
		if (strcmp(names[index], name) == 0)
			return true;
	}
	return false;
}

int ps__run_time_refuse(const struct ps__event *event)
{
	return ps__fail(
	    PS_ENOSUPP,
	    "'%s' has no counter in the kernel, which doesn't split it by hardware "
	    "thread: perfsage stat has it for a command; a program that knows it adds it "
	    "by ps_eventset_add_optional and stores it by ps_store; task-clock counts "
	    "the time on each hardware thread",
	    event->name);
}

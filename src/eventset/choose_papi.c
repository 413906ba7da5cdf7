/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the attribution method of a set that wraps PAPI's. It depends on what PAPI counts. */
#include "backend/papi_calls.h"
#include "base/error.h"
#include "eventset/attribution.h"

#include <stdio.h>

/* Says whether a set of one CPU counts one thread or all that runs there, because PAPI's
 * documentation doesn't. */
static void explain_cpu(struct ps_eventset *set)
{
	if (set->counters.papi->place_count)
		return;
	if (set->counters.papi->granularity == PS__PAPI_GRN_THR)
		snprintf(
		    set->attribution.why, sizeof set->attribution.why,
		    "PAPI counts one thread alone, and of that what it does on CPU %d (granularity "
		    "PAPI_GRN_THR); with PAPI_GRN_SYS it counts all that happens there",
		    set->counters.target.cpu);
	else
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "PAPI counts all that happens on CPU %d (granularity PAPI_GRN_SYS)",
		         set->counters.target.cpu);
}

static void explain_shared(struct ps_eventset *set)
{
	if (set->counters.papi->granularity == PS__PAPI_GRN_THR)
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "PAPI counts the threads that were created since, too (PAPI_INHERIT), "
		         "wherever they are");
	else
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "PAPI counts all that happens on the CPU where PAPI_set_opt(PAPI_GRANUL) "
		         "was called, and doesn't say which one that is: attach the set with "
		         "PAPI_CPU_ATTACH");
}

/* True if the counts can be divided by the times of the task. Counts of a package, or of all tasks,
 * don't belong to the task, wherever it has been. */
static bool can_share_out(const struct ps_eventset *set)
{
	if (set->counters.target.kind == PS__TARGET_CPU || set->counters.papi->is_shared ||
	    set->counters.papi->place_count > 1)
		return false;
	for (size_t index = 0; index < set->events.count; index++) {
		if (set->events.list[index].scope != PS_SCOPE_THREAD)
			return false;
	}
	return true;
}

/* For a task that may run on several hardware threads. */
static void explain_several(struct ps_eventset *set)
{
	snprintf(set->attribution.why, sizeof set->attribution.why, "%s",
	         set->attribution.cannot_split
	             ? "PAPI doesn't split the counts by hardware thread, and the task may run "
	               "on several: they are shared out by the time on each; pin it, and they "
	               "are certain"
	             : "an event counts for more than one hardware thread, so the counts can't be "
	               "shared out by the time on each");
}

void ps__set_choose_for_papi(struct ps_eventset *set)
{
	set->attribution.cannot_split = can_share_out(set);
	if (set->counters.papi->place_count > 1)
		set->attribution.method = &ps__method_places;
	if (set->counters.target.kind == PS__TARGET_CPU)
		explain_cpu(set);
	else if (set->counters.papi->is_shared)
		explain_shared(set);
	else if (set->attribution.mode == PS_ATTRIBUTE_LAST_CPU)
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "PS_ATTRIBUTE_LAST_CPU was asked for");
	else if (set->attribution.only_cpu < 0)
		explain_several(set);
}

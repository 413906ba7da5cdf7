/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PAPI event set as an event set: wrapped, taken over while PAPI runs it, and followed where its
 * user changes it between two runs.
 */
#include "backend/papi_calls.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/eventset.h"

#include <perfsage/papi.h>
#include <stdio.h>

/* What the set is made of from now on; readings of what it was before are closed off. */
static int take_papi(struct ps_eventset *set, struct ps__papi *papi)
{
	struct ps__task task = {.fd = -1};

	if (papi->target.kind == PS__TARGET_TID) {
		int result = ps__task_open(&task, papi->target.tid);
		if (result != PS_OK)
			return result;
	}
	ps__set_retarget(set, papi->target, task);
	for (size_t index = 0; index < set->events.count; index++)
		ps__event_clear(&set->events.list[index]);
	ps__os_free(set->events.list);
	ps__papi_free(set->counters.papi);
	set->counters.papi = papi;
	set->events.list = papi->events;
	set->events.count = papi->count;
	papi->events = NULL;
	return PS_OK;
}

int ps_eventset_from_papi(struct ps_eventset **out, int papi_eventset)
{
	struct ps_eventset *set = NULL;
	struct ps__papi *papi = NULL;

	if (!out)
		return ps__fail(PS_EINVAL, "ps_eventset_from_papi: out is NULL");
	int result = ps__papi_describe(&papi, papi_eventset);
	if (result != PS_OK)
		return result;
	result = ps_eventset_create(&set);
	if (result != PS_OK)
		goto free_papi;
	result = take_papi(set, papi);
	if (result != PS_OK)
		goto destroy_set;
	set->calls.owner = ps__thread_number();
	set->calls.owner_tid = ps__os.gettid();
	*out = set;
	return PS_OK;
destroy_set:
	ps_eventset_destroy(set);
free_papi:
	ps__papi_free(papi);
	return result;
}

/* A PAPI set counts the thread that made it, and no other can take it over. */
int ps__set_check_papi_owner(const struct ps_eventset *set)
{
	if (set->counters.target.kind != PS__TARGET_SELF || set->calls.owner == ps__thread_number())
		return PS_OK;
	return ps__fail(PS_EINVAL,
	                "PAPI event set %d is thread %d's, and this is thread %d: make a PAPI "
	                "event set in each thread, and wrap it there with ps_eventset_from_papi",
	                set->counters.papi->id, (int)set->calls.owner_tid, (int)ps__os.gettid());
}

/* The component that PAPI counts the processor with is off: the user could add nothing. */
static int fail_empty(const struct ps__papi *papi)
{
	int count = ps__papi_calls.component_count();

	for (int component = 0; component < count; component++) {
		struct ps__papi_component_info info;
		if (ps__papi_calls.component_info(component, &info) < 0 || !info.disabled ||
		    info.disabled == PS_EDELAY_INIT)
			continue;
		return ps__fail(PS_ECMP_DISABLED,
		                "PAPI event set %d is empty: add events with PAPI_add_event. PAPI "
		                "has switched its component %s off: %s",
		                papi->id, info.name, info.disabled_reason);
	}
	return ps__fail(PS_EINVAL, "PAPI event set %d is empty: add events with PAPI_add_event",
	                papi->id);
}

int ps__set_refresh_papi(struct ps_eventset *set)
{
	struct ps__papi *current = NULL;
	bool changed = false;
	int result = ps__papi_compare(set->counters.papi, &changed);

	if (result == PS_OK && changed) {
		result = ps__papi_describe(&current, set->counters.papi->id);
		if (result != PS_OK)
			return result;
		current->keeps_count = set->counters.papi->keeps_count;
		result = take_papi(set, current);
		if (result != PS_OK)
			ps__papi_free(current);
	}
	if (result == PS_OK && set->events.count == 0)
		result = fail_empty(set->counters.papi);
	return result;
}

int ps__set_adopt(struct ps_eventset *set)
{
	bool is_counting = false;

	if (!set->counters.papi || set->state == PS__SET_RUNNING)
		return PS_OK;
	int result = ps__papi_is_counting(set->counters.papi, &is_counting);
	/* The final counts of a stopped set can be stored once more, whatever has become of the
	 * PAPI set. */
	if (result != PS_OK)
		return set->state != PS__SET_NEW ? PS_OK : result;
	if (!is_counting && set->state == PS__SET_NEW)
		return ps__fail(PS_ENOTRUN,
		                "PAPI event set %d is not running: call PAPI_start or ps_start "
		                "first (counts that PAPI_stop gave can be stored with ps_store)",
		                set->counters.papi->id);
	if (!is_counting)
		return PS_OK;
	set->counters.papi->keeps_count = true;
	result = ps__set_start(set);
	set->counters.papi->keeps_count = false;
	return result;
}

/* How a set of one CPU counts there; PAPI's documentation leaves it open. */
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

/* What counts in a package or for all tasks isn't the task's, wherever that has been. */
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
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "PAPI doesn't split the counts by hardware thread, and the task may run "
		         "on several: they are shared out by the time on each; pin it, and they "
		         "are certain");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PAPI event set as an event set: wrapped, taken over while PAPI runs it, and followed where its user changes it between
 * two runs.
 */
#include "backend/papi_calls.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "set/set.h"

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
	for (size_t index = 0; index < set->event_count; index++)
		ps__event_clear(&set->events[index]);
	ps__os_free(set->events);
	ps__papi_free(set->papi);
	set->papi = papi;
	set->events = papi->events;
	set->event_count = papi->count;
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
	set->owner = ps__thread_number();
	set->owner_tid = ps__os.gettid();
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
	if (set->target.kind != PS__TARGET_SELF || set->owner == ps__thread_number())
		return PS_OK;
	return ps__fail(
	    PS_EINVAL,
	    "PAPI event set %d is thread %d's, and this is thread %d: make a PAPI event set in each thread, and "
	    "wrap it there with ps_eventset_from_papi",
	    set->papi->id, (int)set->owner_tid, (int)ps__os.gettid());
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
		return ps__fail(
		    PS_ECMP_DISABLED,
		    "PAPI event set %d is empty: add events with PAPI_add_event. PAPI has switched its component "
		    "%s off: %s",
		    papi->id, info.name, info.disabled_reason);
	}
	return ps__fail(PS_EINVAL, "PAPI event set %d is empty: add events with PAPI_add_event", papi->id);
}

int ps__set_refresh_papi(struct ps_eventset *set)
{
	struct ps__papi *fresh = NULL;
	bool changed = false;
	int result = ps__papi_compare(set->papi, &changed);

	if (result == PS_OK && changed) {
		result = ps__papi_describe(&fresh, set->papi->id);
		if (result != PS_OK)
			return result;
		fresh->keeps_count = set->papi->keeps_count;
		result = take_papi(set, fresh);
		if (result != PS_OK)
			ps__papi_free(fresh);
	}
	if (result == PS_OK && set->event_count == 0)
		result = fail_empty(set->papi);
	return result;
}

int ps__set_adopt(struct ps_eventset *set)
{
	bool is_counting = false;

	if (!set->papi || set->is_running)
		return PS_OK;
	int result = ps__papi_is_counting(set->papi, &is_counting);
	/* The final counts of a stopped set can be stored once more, whatever has become of the PAPI set. */
	if (result != PS_OK)
		return set->was_started ? PS_OK : result;
	if (!is_counting && !set->was_started)
		return ps__fail(
		    PS_ENOTRUN,
		    "PAPI event set %d is not running: call PAPI_start or ps_start first (counts that PAPI_stop gave "
		    "can be stored with ps_store)",
		    set->papi->id);
	if (!is_counting)
		return PS_OK;
	set->papi->keeps_count = true;
	result = ps__set_start(set);
	set->papi->keeps_count = false;
	return result;
}

/* How a set of one CPU counts there; PAPI's documentation leaves it open. */
static void explain_cpu(struct ps_eventset *set)
{
	if (set->papi->place_count)
		return;
	if (set->papi->granularity == PS__PAPI_GRN_THR)
		snprintf(set->why, sizeof set->why,
		         "PAPI counts one thread alone, and of that what it does on CPU %d (granularity "
		         "PAPI_GRN_THR); with "
		         "PAPI_GRN_SYS it counts all that happens there",
		         set->target.cpu);
	else
		snprintf(set->why, sizeof set->why,
		         "PAPI counts all that happens on CPU %d (granularity PAPI_GRN_SYS)", set->target.cpu);
}

static void explain_shared(struct ps_eventset *set)
{
	if (set->papi->granularity == PS__PAPI_GRN_THR)
		snprintf(set->why, sizeof set->why,
		         "PAPI counts the threads that were created since, too (PAPI_INHERIT), wherever they are");
	else
		snprintf(set->why, sizeof set->why,
		         "PAPI counts all that happens on the CPU where PAPI_set_opt(PAPI_GRANUL) was called, and "
		         "doesn't say "
		         "which one that is: attach the set with PAPI_CPU_ATTACH");
}

/* What counts in a package or for all tasks isn't the task's, wherever that has been. */
static bool can_share_out(const struct ps_eventset *set)
{
	if (set->target.kind == PS__TARGET_CPU || set->papi->is_shared || set->papi->place_count > 1)
		return false;
	for (size_t index = 0; index < set->event_count; index++) {
		if (set->events[index].scope != PS_SCOPE_THREAD)
			return false;
	}
	return true;
}

void ps__set_choose_for_papi(struct ps_eventset *set)
{
	set->cannot_split = can_share_out(set);
	if (set->papi->place_count > 1)
		set->method = &ps__method_places;
	if (set->target.kind == PS__TARGET_CPU)
		explain_cpu(set);
	else if (set->papi->is_shared)
		explain_shared(set);
	else if (set->mode == PS_ATTRIBUTE_LAST_CPU)
		snprintf(set->why, sizeof set->why, "PS_ATTRIBUTE_LAST_CPU was asked for");
	else if (set->only_cpu < 0)
		snprintf(
		    set->why, sizeof set->why,
		    "PAPI doesn't split the counts by hardware thread, and the task may run on several: they are "
		    "shared out by the time on each; pin it, and they are certain");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wraps a PAPI event set: makes a set of it, takes it over while PAPI runs it, and follows the
 * user's changes between two runs.
 */
#include "backend/papi_calls.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"

#include <perfsage/papi.h>

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
	result = ps__set_take_papi(set, papi);
	if (result != PS_OK)
		goto destroy_set;
	set->calls.owner = ps__thread_number();
	set->calls.owner_tid = ps__os.gettid();
	papi->only_cpu = papi->is_running ? -1 : ps__set_only_cpu(set);
	*out = set;
	return PS_OK;
destroy_set:
	ps_eventset_destroy(set);
free_papi:
	ps__papi_free(papi);
	return result;
}

int ps__set_adopt(struct ps_eventset *set)
{
	bool is_counting = false;

	if (!set->counters.papi || set->state == PS__SET_RUNNING)
		return PS_OK;
	int result = ps__papi_is_counting(set->counters.papi, &is_counting);
	/* The final counts of a stopped set can be stored once more, whatever happened to the PAPI
	 * set. */
	if (result != PS_OK)
		return set->state != PS__SET_NEW ? PS_OK : result;
	if (!is_counting && set->state == PS__SET_NEW)
		return ps__fail(PS_ENOTRUN,
		                "PAPI event set %d is not running: call PAPI_start or ps_start "
		                "first (counts that PAPI_stop gave can be stored with ps_store)",
		                set->counters.papi->id);
	if (!is_counting)
		return PS_OK;
	int only_cpu = set->attribution.switches.fd >= 0 ? set->attribution.only_cpu
	                                                 : set->counters.papi->only_cpu;
	set->counters.papi->keeps_count = true;
	result = ps__set_start(set);
	set->counters.papi->keeps_count = false;
	/* It isn't known where the task was since PAPI_start. Exception: the task could run on only
	 * one CPU then, and still can. */
	set->attribution.stay.is_lost = true;
	set->attribution.has_lost = only_cpu != set->attribution.only_cpu;
	return result;
}

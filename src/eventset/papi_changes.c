/* SPDX-License-Identifier: BSD-3-Clause */
/* A wrapped PAPI event set belongs to its user, and may change between two runs. */
#include "backend/papi_calls.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/control.h"

/* Makes the set consist of what `papi` describes. Earlier readings are no longer updated. */
int ps__set_take_papi(struct ps_eventset *set, struct ps__papi *papi)
{
	struct ps__task task = {.fd = -1};

	if (papi->target.kind == PS__TARGET_TID) {
		int result = ps__task_open(&task, papi->target.tid);
		if (result != PS_OK)
			return result;
	}
	ps__set_retarget(set, papi->target, task);
	ps__set_clear_events(set);
	ps__papi_free(set->counters.papi);
	set->counters.papi = papi;
	set->events.list = papi->events;
	set->events.count = papi->count;
	papi->events = NULL;
	return PS_OK;
}

/* A PAPI set counts the thread that made it. No other thread can take it over. */
int ps__set_check_papi_owner(const struct ps_eventset *set)
{
	if (set->counters.target.kind != PS__TARGET_SELF || set->calls.owner == ps__thread_number())
		return PS_OK;
	return ps__fail(PS_EINVAL,
	                "PAPI event set %d is thread %d's, and this is thread %d: make a PAPI "
	                "event set in each thread, and wrap it there with ps_eventset_from_papi",
	                set->counters.papi->id, (int)set->calls.owner_tid, (int)ps__os.gettid());
}

/* Explains an empty set. If PAPI has switched off the component that counts the processor, says so,
 * because the user can't add events then. */
static int fail_empty(const struct ps__papi *papi)
{
	int count = ps__papi_calls.component_count();

	for (int component = 0; component < count; component++) {
		struct ps__papi_component_info info;
		if (ps__papi_calls.component_info(component, &info) < 0 || !info.disabled ||
		    info.disabled == PS_EDELAY_INIT || !*ps__papi_instead(info.name))
			continue;
		return ps__fail(PS_ECMP_DISABLED,
		                "PAPI event set %d is empty: add events with PAPI_add_event. PAPI "
		                "has switched its component %s off: %s%s",
		                papi->id, info.name, info.disabled_reason,
		                ps__papi_instead(info.name));
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
		current->only_cpu = set->counters.papi->only_cpu;
		result = ps__set_take_papi(set, current);
		if (result != PS_OK)
			ps__papi_free(current);
	}
	if (result == PS_OK && set->events.count == 0)
		result = fail_empty(set->counters.papi);
	return result;
}

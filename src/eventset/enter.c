/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of calls that change what a set is made of. */
#include "base/error.h"
#include "eventset/control.h"

int ps__set_enter_stopped(struct ps_eventset *set, const char *call)
{
	int result = ps__set_enter(set, call);

	if (result != PS_OK)
		return result;
	if (!ps__set_is_started(set))
		return PS_OK;
	ps__set_leave(set);
	return ps__fail(PS_EISRUN, "%s: the event set is %s: call ps_stop first", call,
	                set->is_paused ? "paused" : "running");
}

int ps__set_enter_own(struct ps_eventset *set, const char *call, const char *instead)
{
	int result = ps__set_enter_stopped(set, call);

	if (result != PS_OK || !set->counters.papi)
		return result;
	ps__set_leave(set);
	return ps__fail(PS_ENOSUPP,
	                "%s: the event set wraps PAPI event set %d, which is yours to change: %s",
	                call, set->counters.papi->id, instead);
}

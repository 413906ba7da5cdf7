/* SPDX-License-Identifier: BSD-3-Clause */
/* ps_eventset_uncounted: the programs of an attached process that the kernel does not count, as the
 * backend has seen them. */
#include "base/error.h"
#include "eventset/eventset.h"
#include "eventset/tasks.h"

#include <perfsage/task.h>
#include <string.h>

static int uncounted_tell(struct ps_eventset *set, struct ps_uncounted *out)
{
	if (set->counters.target.kind != PS__TARGET_PROCESS)
		return ps__fail(
		    PS_ENOSUPP,
		    "ps_eventset_uncounted: the event set is not attached to a process");
	if (set->state == PS__SET_NEW)
		return ps__set_fail_new("ps_eventset_uncounted");
	const struct ps__uncounted *found = ps__set_take_uncounted(set);
	if (!found)
		return ps__fail(PS_ENOSUPP,
		                "programs that the kernel does not count are only seen where its "
		                "counts are split by hardware thread: %s",
		                set->attribution.why);
	*out = (struct ps_uncounted){.programs = found->programs, .pid = found->pid};
	memcpy(out->name, found->name, sizeof out->name);
	if (!*found->why_unknown)
		return PS_OK;
	return ps__fail(PS_PARTIAL, "there may be programs that the kernel does not count: %s",
	                found->why_unknown);
}

int ps_eventset_uncounted(struct ps_eventset *set, struct ps_uncounted *out)
{
	if (!out)
		return ps__fail(PS_EINVAL, "ps_eventset_uncounted: out must not be NULL");
	int result = ps__set_enter(set, "ps_eventset_uncounted");
	if (result != PS_OK)
		return result;
	result = uncounted_tell(set, out);
	ps__set_leave(set);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the residual: what the kernel counted less what is attributed to hardware threads. It
 * must be 0. */
#include "base/error.h"
#include "eventset/eventset.h"

static int check_instance(struct ps_eventset *set, size_t instance, long long *residual)
{
	size_t times = 2 * set->recorder.recording->groups;
	int result = set->counters.backend->ops->read(set->counters.backend, instance,
	                                              ps__set_totals(set, instance));

	for (size_t event = 0; !ps__set_is_failure(result) && event < set->events.count; event++)
		residual[event] += (long long)(ps__set_totals(set, instance)[times + event] -
		                               ps__set_assigned(set, instance)[times + event]);
	return result;
}

/* Stores the residual for prints of the tree. */
static void keep_residual(const struct ps_eventset *set, const long long *residual)
{
	for (size_t event = 0; event < set->events.count; event++)
		atomic_store_explicit(&set->recorder.recording->column[event].residual,
		                      residual[event], memory_order_relaxed);
	atomic_store_explicit(&set->recorder.recording->is_checked, true, memory_order_release);
}

static int check_set(struct ps_eventset *set, long long *residual)
{
	struct ps__slot *slot;
	int result = ps__set_adopt(set);

	if (result == PS_OK && set->state == PS__SET_NEW)
		result = ps__set_fail_new("ps_eventset_check");
	if (result == PS_OK && !set->counters.backend)
		result =
		    ps__fail(PS_ENOTRUN, "ps_eventset_check: the last ps_start failed, and there "
		                         "are no counters to compare with: start the set again");
	if (result != PS_OK)
		return result;
	if (ps__set_has_uncollected(set))
		result = ps__set_fetch(set, &slot);
	for (size_t event = 0; event < set->events.count; event++)
		residual[event] = 0;
	for (size_t instance = 0;
	     !ps__set_is_failure(result) && instance < set->counters.backend->instances; instance++)
		result = ps__result_join(result, check_instance(set, instance, residual));
	if (!ps__set_is_failure(result))
		keep_residual(set, residual);
	return result;
}

int ps_eventset_check(struct ps_eventset *set, long long *residual, int n)
{
	int result = ps__set_enter(set, "ps_eventset_check");

	if (result != PS_OK)
		return result;
	if (!residual || n < 0 || (size_t)n != set->events.count)
		result =
		    ps__fail(PS_EINVAL,
		             "ps_eventset_check: room for %d numbers given for a set of %zu events",
		             n, set->events.count);
	else
		result = check_set(set, residual);
	ps__set_leave(set);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ps_reset: the counts start over; the counters go on. */
#include "base/error.h"
#include "eventset/eventset.h"

static int reset_set(struct ps_eventset *set)
{
	struct ps__slot *slot;
	int result = ps__set_adopt(set);

	if (result != PS_OK)
		return result;
	if (set->state == PS__SET_NEW)
		return ps__set_fail_new("ps_reset");
	result = ps__set_check_foreign(set, "ps_reset", false);
	if (result != PS_OK)
		return result;
	if (ps__set_has_uncollected(set)) {
		result = ps__set_fetch(set, &slot);
		if (result != PS_OK && result != PS_PARTIAL)
			return result;
	}
	ps__set_clear_counts(set);
	return PS_OK;
}

int ps_reset(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_reset");

	if (result != PS_OK)
		return result;
	result = reset_set(set);
	ps__set_leave(set);
	return result;
}

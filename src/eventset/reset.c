/* SPDX-License-Identifier: BSD-3-Clause */
/* ps_reset and ps_eventset_reset_event: counts start over; the counters go on. */
#include "base/error.h"
#include "base/stack.h"
#include "eventset/control.h"

/* Assigns what was counted until now. */
static int reset_collect(struct ps_eventset *set, const char *call)
{
	struct ps__slot *slot;
	int result = ps__set_adopt(set);

	if (result == PS_OK && set->state == PS__SET_NEW)
		result = ps__set_fail_new(call);
	if (result == PS_OK)
		result = ps__set_check_foreign(set, call, false);
	if (result == PS_OK && ps__set_has_uncollected(set))
		result = ps__set_fetch(set, &slot);
	return result == PS_PARTIAL ? PS_OK : result;
}

int ps_reset(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_reset");

	if (result != PS_OK)
		return result;
	result = reset_collect(set, "ps_reset");
	if (result == PS_OK)
		ps__set_clear_counts(set);
	ps__set_leave(set);
	return result;
}

/* Sets an event's counts to 0. A snapshot's count only grows, so the counts are first added to
 * `passed`. A jump out of a handler must not come between. */
static void reset_event_counts(struct ps_eventset *set, size_t event)
{
	size_t word = 2 * set->recorder.recording->groups + event;
	struct ps__held held;

	ps__signals_hold(&held);
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		struct ps__slot *slot = set->recorder.met[index];
		if (set->snapshots)
			slot->passed.words[word] += slot->counts[word];
		slot->counts[word] = 0;
	}
	ps__signals_release(&held);
}

int ps_eventset_reset_event(struct ps_eventset *set, size_t event)
{
	static const char call[] = "ps_eventset_reset_event";
	int result = ps__set_enter(set, call);

	if (result != PS_OK)
		return result;
	result = ps__set_check_index(set, event, call);
	if (result == PS_OK)
		result = reset_collect(set, call);
	if (result == PS_OK)
		reset_event_counts(set, event);
	ps__set_leave(set);
	return result;
}

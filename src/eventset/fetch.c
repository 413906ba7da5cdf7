/* SPDX-License-Identifier: BSD-3-Clause */
/* The first half of a reading: the set's method reads the counters and finds where they counted.
 * The rest is the same for all methods. */
#include "base/error.h"
#include "base/identity.h"
#include "eventset/attribution.h"
#include "eventset/tasks.h"
#include "eventset/undo.h"

/* Assigns what was counted since the last fetch. Returns flags. */
uint16_t ps__set_assign(struct ps_eventset *set, struct ps__slot *slot, size_t instance)
{
	const uint64_t *totals = ps__set_totals(set, instance);
	uint64_t *assigned = ps__set_assigned(set, instance);

	ps__set_change_words(set, slot->counts, assigned, totals);
	bool went_back = ps__set_assign_words(set, slot->counts, assigned, totals, 0);
	ps__set_changed_words(set);
	return went_back ? PS__MARK_WENT_BACK : 0;
}

void ps__set_label_counts(struct ps__slot *slot, uint16_t mark)
{
	unsigned attribution = mark & PS__MARK_ATTRIBUTION;

	if (slot->has_counts && (slot->counts_mark & PS__MARK_ATTRIBUTION) > attribution)
		attribution = slot->counts_mark & PS__MARK_ATTRIBUTION;
	slot->counts_mark = (uint16_t)(attribution | ((slot->counts_mark | mark) & PS__MARK_FLAGS));
	slot->has_counts = true;
}

void ps__set_doubt_parts(struct ps_eventset *set, unsigned attribution)
{
	set->has_doubt = true;
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		if (set->recorder.active[index]->has_counts)
			ps__set_label_counts(set->recorder.active[index], (uint16_t)attribution);
	}
	ps__set_mark_idle(set, (uint16_t)attribution);
}

int ps__set_read_rest(struct ps_eventset *set, int result)
{
	struct ps__backend *backend = set->counters.backend;

	for (size_t instance = 1; instance < backend->instances; instance++) {
		int one = backend->ops->read(backend, instance, ps__set_totals(set, instance));
		result = ps__result_join(result, one);
	}
	return result;
}

int ps__set_read_still(struct ps_eventset *set, void (*follow)(struct ps_eventset *set))
{
	struct ps__backend *backend = set->counters.backend;
	bool is_moving = true;
	int result = PS_OK;

	for (int turn = 0; turn < PS__LARGEST_FOLLOW && is_moving; turn++) {
		follow(set);
		result = backend->ops->read(backend, 0, ps__set_totals(set, 0));
		if (ps__set_is_failure(result))
			break;
		is_moving = set->state == PS__SET_RUNNING &&
		            ps__switch_ring_has_moved(&set->attribution.switches);
	}
	set->attribution.is_moving = is_moving;
	return result;
}

uint16_t ps__set_assign_whole(struct ps_eventset *set, struct ps__slot *slot)
{
	uint16_t flags = 0;

	for (size_t instance = 0; instance < set->counters.backend->instances; instance++)
		flags |= ps__set_assign(set, slot, instance);
	return flags;
}

/* If it isn't known how long a group was off, marks all counts as a lower bound: a sum of parts
 * must not be scaled by the little time that is known. Returns the mark of this fetch's parts. */
static __attribute__((cold)) uint16_t take_unknown_time(struct ps_eventset *set)
{
	if (!set->counters.backend->off.is_time_unknown)
		return 0;
	set->counters.backend->off.is_time_unknown = false;
	ps__set_mark_incomplete(set);
	return PS__MARK_INCOMPLETE;
}

static uint16_t take_flags(struct ps_eventset *set, int result)
{
	uint16_t flags = set->is_ended ? PS__MARK_ENDED : 0;

	if (__builtin_expect(set->counters.backend->interrupted || result == PS_PARTIAL, 0)) {
		flags |= PS__MARK_INTERRUPTED;
		flags |= take_unknown_time(set);
		set->counters.backend->interrupted = false;
	}
	if (__builtin_expect(set->counters.backend->went_back, 0)) {
		flags |= PS__MARK_WENT_BACK;
		set->counters.backend->went_back = false;
	}
	return flags;
}

/* The counters are read as soon as the CPU is known: code before that is counted. */
int ps__set_fetch(struct ps_eventset *set, struct ps__slot **out)
{
	const struct ps__method *method = set->attribution.method;
	struct ps__fetch fetch = {0};
	int result = __builtin_expect(set->calls.owner == ps__thread_number(), 1)
	                 ? PS_OK
	                 : ps__set_check_caller(set);

	if (__builtin_expect(result != PS_OK, 0))
		return result;
	result = method->read(set, &fetch);
	if (__builtin_expect(result != PS_OK && result != PS_PARTIAL, 0))
		return result;
	struct ps__slot *here = ps__set_slot(set, fetch.cpu);
	if (__builtin_expect(!here, 0))
		return PS_ENOMEM;
	ps__set_begin_counts(set);
	set->recorder.last_slot = here;
	fetch.flags |= take_flags(set, result);
	if (method->assign(set, &fetch, here)) {
		ps__set_label_counts(here, fetch.mark);
		ps__set_activate(set, here);
	}
	if (__builtin_expect(set->attribution.is_blind || set->attribution.misses_threads, 0))
		ps__set_mark_uncounted(set, here);
	if (set->state == PS__SET_UNFETCHED)
		set->state = PS__SET_STOPPED;
	*out = here;
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PAPI set whose events count in several packages ("PACKAGE0", "PACKAGE1"). Each event's count
 * goes to a CPU of the event's own package, wherever the caller is. Speed matters little here,
 * because PAPI reads each such event by a file or a system call.
 */
#include "base/error.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/undo.h"

/* Finds all slots before anything is assigned: only this can fail. */
static int places_find_slots(struct ps_eventset *set)
{
	for (size_t place = 0; place < set->counters.papi->place_count; place++) {
		struct ps__slot *slot = ps__set_slot(set, set->counters.papi->place_cpus[place]);
		if (!slot)
			return PS_ENOMEM;
		slot->history->place = (uint32_t)place;
	}
	return PS_OK;
}

static void assign_place(struct ps_eventset *set, size_t place, uint16_t mark)
{
	struct ps__slot *slot = ps__set_slot(set, set->counters.papi->place_cpus[place]);
	const uint64_t *totals = ps__set_totals(set, 0);
	uint64_t *assigned = ps__set_assigned(set, 0);
	size_t times = 2 * set->recorder.recording->groups;

	ps__set_change_begin(set, slot, 0);
	for (size_t event = 0; event < set->events.count; event++) {
		size_t word = times + event;
		if (set->counters.papi->place_of[event] != place)
			continue;
		slot->counts[word] += totals[word] - assigned[word];
		assigned[word] = totals[word];
	}
	ps__set_change_end(set);
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
}

static int read_places(struct ps_eventset *set, struct ps__fetch *fetch)
{
	int result =
	    set->counters.backend->ops->read(set->counters.backend, 0, ps__set_totals(set, 0));

	if (result == PS_OK)
		result = places_find_slots(set);
	fetch->cpu = set->counters.papi->place_cpus[0];
	return result;
}

static bool assign_places(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	(void)here;
	fetch->mark = PS_ATTRIBUTION_ATTACHED | fetch->flags;
	for (size_t place = 0; place < set->counters.papi->place_count; place++)
		assign_place(set, place, fetch->mark);
	return true;
}

const struct ps__method ps__method_places = {
    .split = PS__SPLIT_PLACES,
    .read = read_places,
    .assign = assign_places,
    .has_changed = ps__set_mask_changed,
};

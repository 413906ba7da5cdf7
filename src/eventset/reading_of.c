/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up a reading of one event set in the tree. If several sets share a timestamp, the set tells
 * their readings apart. */
#include "base/error.h"
#include "eventset/eventset.h"
#include "store/attrmap.h"

static int fail_none(const struct ps_component *component, const char *event, uint64_t timestamp)
{
	if (!timestamp)
		return ps__fail(PS_ENOEVST,
		                "the event set's latest reading has no part of '%s' below %s",
		                event, component->name);
	return ps__fail(PS_ENOEVST,
	                "the event set has no reading of '%s' with timestamp %llu below %s", event,
	                (unsigned long long)timestamp, component->name);
}

static int reading_look_up(const struct ps__recording *last, const struct ps_component *component,
                           const char *event, uint64_t timestamp, struct ps_value *out)
{
	struct ps__selector selector = {.find = ps__select_by_name, .name = event};
	bool is_known = false;

	/* From the last recording back: a set gets a new one when its events change. */
	for (const struct ps__recording *recording = last; recording;
	     recording = recording->older) {
		struct ps_value value;
		ptrdiff_t column = ps__recording_find(recording, event);
		if (column < 0)
			continue;
		is_known = true;
		if (!ps__component_holds(component, recording->column[column].scope))
			return ps__component_fail_scope(component, &selector);
		if (ps__recording_sum(recording, (size_t)column, ps__component_range(component),
		                      timestamp, &value) > 0) {
			ps__value_finish(&value);
			*out = value;
			return PS_OK;
		}
		if (!timestamp &&
		    atomic_load_explicit(&recording->latest, memory_order_acquire) != 0)
			break;
	}
	if (!is_known) {
		const char *shown = ps__topology_shown_name(component->topology, event);
		return shown ? reading_look_up(last, component, shown, timestamp, out)
		             : ps__fail(PS_ENOEVNT, "the event set has not counted '%s'", event);
	}
	return fail_none(component, event, timestamp);
}

int ps_eventset_reading(const struct ps_eventset *set, const struct ps_component *component,
                        const char *event, uint64_t timestamp, struct ps_value *out)
{
	if (!set || !component || !event || !out)
		return ps__fail(
		    PS_EINVAL,
		    "ps_eventset_reading: set, component, event and out must not be NULL");
	const struct ps__recording *recording = set->recorder.last_bound;
	if (!recording || recording->topology != component->topology)
		return ps__fail(
		    PS_EINVAL, "ps_eventset_reading: the event set has no reading in %s's topology",
		    component->name);
	return reading_look_up(recording, component, event, timestamp, out);
}

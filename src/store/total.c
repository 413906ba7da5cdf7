/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals: the counts of a component, summed over the Threads below it. Each event is counted once
 * at its scope. */
#include "base/distance.h"
#include "base/error.h"
#include "base/hot.h"
#include "store/aggregate.h"
#include "store/attrmap.h"

#include <perfsage/component.h>
#include <stdint.h>

static bool total_has_reading(const struct ps__recording *recording)
{
	return atomic_load_explicit(&recording->latest, memory_order_acquire) != 0;
}

bool ps__recording_is_superseded(const struct ps__recording *recording,
                                 const struct ps__selector *selector)
{
	while ((recording = atomic_load_explicit(&recording->newer, memory_order_acquire))) {
		if (total_has_reading(recording) && selector->find(recording, selector) >= 0)
			return true;
	}
	return false;
}

/* Finds the recording of a set that counts for a total: the newest one with a reading of the event.
 * Returns NULL unless called with the set's last recording, so each set is counted once. */
static const struct ps__recording *total_find_counting(const struct ps__recording *recording,
                                                       const struct ps__selector *selector,
                                                       ptrdiff_t *column)
{
	if (!ps__recording_is_current(recording))
		return NULL;
	for (; recording; recording = recording->older) {
		if (!total_has_reading(recording))
			continue;
		*column = selector->find(recording, selector);
		if (*column >= 0)
			return recording;
	}
	return NULL;
}

static size_t total_sum_aggregate(const struct ps__aggregate *aggregate, size_t column,
                                  struct ps__range range, struct ps_value *out)
{
	size_t parts = 0;

	for (size_t index = range.first; index < range.end; index++) {
		struct ps_value part;
		if (ps__aggregate_value(aggregate, index, column, &part))
			ps__value_merge(out, &parts, &part);
	}
	return parts;
}

/* Combines the sums of several sets. */
typedef void add_sum(struct ps_value *all, size_t *parts, const struct ps_value *sum);

/* Adds up all readings with the selector's timestamp. The recordings of destroyed sets still have
 * their readings. */
static size_t total_sum_at(const struct ps_topology *topology, const struct ps__selector *selector,
                           struct ps__range range, add_sum *add, struct ps_value *out)
{
	struct ps_value sum;
	size_t parts = 0;

	for (const struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		ptrdiff_t column = selector->find(recording, selector);
		if (column >= 0 && ps__recording_sum(recording, (size_t)column, range,
		                                     selector->timestamp, &sum) > 0)
			add(out, &parts, &sum);
	}
	return parts;
}

/* Adds up the latest readings of all sets, alive or destroyed. Returns 0 if there is none. */
static size_t total_sum_latest(const struct ps_topology *topology,
                               const struct ps__selector *selector, struct ps__range range,
                               add_sum *add, struct ps_value *out)
{
	struct ps_value sum;
	ptrdiff_t column;
	uint64_t changes;
	size_t parts;

	do {
		parts = 0;
		changes = ps__change_wait(topology);
		for (const struct ps__aggregate *one = ps__aggregate_first(topology); one;
		     one = one->next) {
			column = selector->find(one->model, selector);
			if (column >= 0 &&
			    total_sum_aggregate(one, (size_t)column, range, &sum) > 0)
				add(out, &parts, &sum);
		}
		for (const struct ps__recording *recording = ps__recording_first_current(topology);
		     recording; recording = ps__recording_next_current(recording)) {
			const struct ps__recording *counting =
			    total_find_counting(recording, selector, &column);
			if (counting &&
			    ps__recording_sum(counting, (size_t)column, range, 0, &sum) > 0)
				add(out, &parts, &sum);
		}
	} while (ps__change_came(topology, changes));
	return parts;
}

static size_t total_sum_sets(const struct ps_topology *topology,
                             const struct ps__selector *selector, struct ps__range range,
                             add_sum *add, struct ps_value *out)
{
	return selector->timestamp ? total_sum_at(topology, selector, range, add, out)
	                           : total_sum_latest(topology, selector, range, add, out);
}

/* Keeps the newest sum instead of adding, because all Threads of a package see the same counter. */
static void total_add_newest(struct ps_value *all, size_t *parts, const struct ps_value *sum)
{
	if (*parts == 0 || sum->timestamp > all->timestamp)
		*all = *sum;
	*parts = 1;
}

/* True if the range has all Threads that one count covers. */
static bool total_holds(struct ps__range range, const struct ps_component *covered)
{
	struct ps__range whole = ps__component_range(covered);

	return whole.first >= range.first && whole.end <= range.end;
}

bool ps__component_holds(const struct ps_component *component, enum ps_scope scope)
{
	const struct ps_topology *topology = component->topology;
	struct ps__range range = ps__component_range(component);

	for (size_t index = range.first; scope != PS_SCOPE_THREAD && index < range.end; index++) {
		if (!total_holds(range,
		                 ps__component_covered(topology->threads[index].component, scope)))
			return false;
	}
	return true;
}

static int total_sum_wide(const struct ps_component *component, const struct ps__selector *selector,
                          enum ps_scope scope, struct ps_value *out)
{
	const struct ps_topology *topology = component->topology;
	struct ps__range range = ps__component_range(component);
	struct ps_value sum = {0};
	size_t parts = 0;

	for (size_t index = range.first; index < range.end;) {
		const struct ps_component *covered =
		    ps__component_covered(topology->threads[index].component, scope);
		struct ps__range whole = ps__component_range(covered);
		struct ps_value value;
		if (!total_holds(range, covered))
			return PS_EINVAL_DOM;
		if (total_sum_sets(topology, selector, whole, total_add_newest, &value) > 0)
			ps__value_merge(&sum, &parts, &value);
		index = whole.end;
	}
	if (parts == 0)
		return PS_ENOEVNT;
	ps__value_finish(&sum);
	*out = sum;
	return PS_OK;
}

/* True if a recording counts the selected event. Raises *widest to the event's scope if that is
 * wider. */
static bool total_widen(enum ps_scope *widest, const struct ps__recording *recording,
                        const struct ps__selector *selector)
{
	ptrdiff_t column = selector->find(recording, selector);

	if (column >= 0 && recording->column[column].scope > *widest)
		*widest = recording->column[column].scope;
	return column >= 0;
}

/* The widest scope under which an event of this name was counted. */
static enum ps_scope total_widest_scope(const struct ps_topology *topology,
                                        const struct ps__selector *selector)
{
	enum ps_scope widest = PS_SCOPE_THREAD;

	for (const struct ps__aggregate *aggregate = ps__aggregate_first(topology); aggregate;
	     aggregate = aggregate->next)
		total_widen(&widest, aggregate->model, selector);
	for (const struct ps__recording *recording = ps__recording_first_current(topology);
	     recording; recording = ps__recording_next_current(recording)) {
		/* A set's events of one name have one scope. */
		for (const struct ps__recording *one = recording;
		     one && !total_widen(&widest, one, selector); one = one->older)
			;
	}
	return widest;
}

int ps__component_sum(const struct ps_component *component, const struct ps__selector *selector,
                      struct ps_value *out)
{
	enum ps_scope scope = total_widest_scope(component->topology, selector);
	struct ps_value sum = {0};

	if (scope != PS_SCOPE_THREAD)
		return total_sum_wide(component, selector, scope, out);
	if (total_sum_sets(component->topology, selector, ps__component_range(component),
	                   ps__value_merge, &sum) == 0)
		return PS_ENOEVNT;
	ps__value_finish(&sum);
	*out = sum;
	return PS_OK;
}

int ps__component_fail_scope(const struct ps_component *component,
                             const struct ps__selector *selector)
{
	enum ps_scope scope = total_widest_scope(component->topology, selector);
	struct ps__range range = ps__component_range(component);
	const struct ps_component *covered = component;

	for (size_t index = range.first; index < range.end && total_holds(range, covered);
	     index = ps__component_range(covered).end)
		covered =
		    ps__component_covered(component->topology->threads[index].component, scope);
	return ps__fail(PS_EINVAL_DOM, "'%s' is counted for a whole %s: ask %s for it, not %s",
	                selector->name, ps_scope_name(scope), covered->name, component->name);
}

ptrdiff_t ps__select_by_name(const struct ps__recording *recording,
                             const struct ps__selector *selector)
{
	return ps__recording_find(recording, selector->name);
}

/* Called after ps__component_sum has failed with a code. If an event was added under this name and
 * is shown under another one, looks for the shown name. Sets a detail sentence for all codes but
 * PS_ENOEVNT. */
static __attribute__((cold)) int total_find_added(const struct ps_component *component,
                                                  struct ps__selector *selector, int code,
                                                  struct ps_value *out)
{
	if (code == PS_ENOEVNT) {
		const char *shown = ps__topology_shown_name(component->topology, selector->name);
		if (!shown)
			return code;
		selector->name = shown;
		code = ps__component_sum(component, selector, out);
	}
	return code == PS_EINVAL_DOM ? ps__component_fail_scope(component, selector) : code;
}

/* Finds the value for ps_component_total and ps_component_reading. They add a detail sentence to
 * PS_ENOEVNT. */
PS__INLINE int total_find(const struct ps_component *component, struct ps__selector *selector,
                          struct ps_value *out)
{
	int code = ps__component_sum(component, selector, out);

	return code == PS_OK ? code : total_find_added(component, selector, code, out);
}

/* True if any event set has counted the event, on any Thread. */
static bool total_is_counted(const struct ps_component *component, const char *event)
{
	const char *shown = ps__topology_shown_name(component->topology, event);

	for (const struct ps__recording *recording = ps__recording_first(component->topology);
	     recording; recording = recording->next) {
		if (ps__recording_find(recording, shown ? shown : event) >= 0)
			return true;
	}
	return false;
}

/* Largest number of names that are compared, because more would take too long. */
#define MOST_COMPARED 100

/* Returns the nearest name of an event that was counted; NULL if none was. */
static const char *total_find_nearest(const struct ps_component *component, const char *event)
{
	const char *nearest = NULL;
	size_t least = SIZE_MAX, compared = 0;

	for (const struct ps__recording *recording = ps__recording_first(component->topology);
	     recording; recording = recording->next) {
		if (!total_has_reading(recording))
			continue;
		for (size_t i = 0; i < recording->columns && compared < MOST_COMPARED; i++) {
			size_t distance = ps__distance(event, recording->column[i].name);
			compared++;
			if (distance >= least)
				continue;
			least = distance;
			nearest = recording->column[i].name;
		}
	}
	return nearest;
}

static __attribute__((cold)) int total_fail_unknown(const struct ps_component *component,
                                                    const char *event)
{
	const char *nearest = total_find_nearest(component, event);

	if (!nearest)
		return ps__fail(PS_ENOEVNT, "no event set has counted '%s', or any other event",
		                event);
	return ps__fail(PS_ENOEVNT,
	                "no event set has counted '%s': the nearest event that one has counted is "
	                "'%s'",
	                event, nearest);
}

int ps_component_total(const struct ps_component *component, const char *event,
                       struct ps_value *out)
{
	struct ps__selector selector = {.find = ps__select_by_name, .name = event};

	if (!component || !event || !out)
		return ps__fail(PS_EINVAL,
		                "ps_component_total: component, event and out must not be NULL");
	int code = total_find(component, &selector, out);
	if (code != PS_ENOEVNT)
		return code;
	return total_is_counted(component, event)
	           ? ps__fail(code,
	                      "'%s' has no part below %s: no reading of the event sets that count "
	                      "it went there",
	                      event, component->name)
	           : total_fail_unknown(component, event);
}

static int total_fail_reading(const struct ps_component *component, const char *event,
                              uint64_t timestamp)
{
	if (!total_is_counted(component, event))
		return total_fail_unknown(component, event);
	return ps__fail(PS_ENOEVST, "'%s' has no reading with timestamp %llu below %s", event,
	                (unsigned long long)timestamp, component->name);
}

int ps_component_reading(const struct ps_component *component, const char *event,
                         uint64_t timestamp, struct ps_value *out)
{
	struct ps__selector selector = {
	    .find = ps__select_by_name, .name = event, .timestamp = timestamp};

	if (!component || !event || !out)
		return ps__fail(PS_EINVAL,
		                "ps_component_reading: component, event and out must not be NULL");
	if (!timestamp)
		return ps__fail(PS_EINVAL,
		                "ps_component_reading: the timestamp is 0: ps_component_total adds "
		                "up the latest readings, ps_eventset_reading gives that of a set");
	int code = total_find(component, &selector, out);
	return code == PS_ENOEVNT ? total_fail_reading(component, event, timestamp) : code;
}

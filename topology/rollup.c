/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals: what a component counted, as the sum over the Threads below it, each event once at its scope. */
#include "base/error.h"
#include "topology/attrmap.h"

#include <perfsage/component.h>

/* Threads by their place in the topology's array: [first, end). */
struct range {
	size_t first;
	size_t end;
};

/* The Threads below. The Machine's include the unknown one: what was counted there happened, too. */
static struct range range_of(const struct ps_component *component)
{
	size_t end = component->first_thread + component->thread_count;

	if (component->type == PS_COMPONENT_MACHINE)
		end++;
	return (struct range){component->first_thread, end};
}

static size_t index_of(const struct ps_thread *thread)
{
	return (size_t)(thread - thread->component->topology->threads);
}

static struct ps__series *first_series(const struct ps_topology *topology)
{
	/* Pairs with the release in ps__series_bind. */
	return atomic_load_explicit(&topology->series, memory_order_acquire);
}

static struct ps__log *first_log(const struct ps__series *series)
{
	/* Pairs with the release in ps__series_add_log. */
	return atomic_load_explicit(&series->logs, memory_order_acquire);
}

/* The newest row of a log as a value; false if it has none, or another writer is at it. */
static bool newest_part(const struct ps__log *log, size_t column, struct ps_value *out)
{
	size_t count = atomic_load_explicit(&log->count, memory_order_acquire);

	return count > 0 && ps__series_value(log, count - 1, column, out);
}

/* The sum of the parts of a series' latest reading in a range; how many they are. */
static size_t sum_latest(const struct ps__series *series, size_t column, struct range range, struct ps_value *out)
{
	uint64_t sequence;
	size_t parts;

	do {
		parts = 0;
		sequence = ps__series_read_begin(series);
		uint64_t latest = atomic_load_explicit(&series->latest, memory_order_acquire);
		for (const struct ps__log *log = first_log(series); log; log = log->next_in_series) {
			struct ps_value part;
			if (!newest_part(log, column, &part) || part.timestamp != latest)
				continue;
			size_t index = index_of(log->thread);
			if (index >= range.first && index < range.end)
				ps__value_merge(out, &parts, &part);
		}
	} while (ps__series_read_retry(series, sequence));
	return parts;
}

/* Has its set gone on in another series that has the event, and a reading? A sum never mixes two readings of one set. */
static bool is_superseded(const struct ps_topology *topology, const struct ps__series *series,
                          const struct ps__selector *selector)
{
	if (!atomic_load_explicit(&series->is_past, memory_order_relaxed))
		return false;
	for (const struct ps__series *newer = first_series(topology); newer != series; newer = newer->next) {
		if (newer->lineage == series->lineage &&
		    atomic_load_explicit(&newer->latest, memory_order_acquire) != 0 &&
		    selector->find(newer, selector) >= 0)
			return true;
	}
	return false;
}

static size_t sum_all(const struct ps_topology *topology, const struct ps__selector *selector, struct range range,
                      struct ps_value *out)
{
	size_t parts = 0;

	for (const struct ps__series *series = first_series(topology); series; series = series->next) {
		ptrdiff_t column = selector->find(series, selector);
		struct ps_value sum;
		if (column < 0 || is_superseded(topology, series, selector))
			continue;
		if (sum_latest(series, (size_t)column, range, &sum) > 0)
			ps__value_merge(out, &parts, &sum);
	}
	return parts;
}

/* The newest value of an event in a range: all Threads of a package see the same counter. */
static bool newest_in(const struct ps_topology *topology, const struct ps__selector *selector, struct range range,
                      struct ps_value *out)
{
	bool found = false;

	for (const struct ps__series *series = first_series(topology); series; series = series->next) {
		ptrdiff_t column = selector->find(series, selector);
		struct ps_value sum;
		if (column < 0 || is_superseded(topology, series, selector) ||
		    sum_latest(series, (size_t)column, range, &sum) == 0)
			continue;
		if (!found || sum.timestamp > out->timestamp)
			*out = sum;
		found = true;
	}
	return found;
}

const struct ps_component *ps__component_covered(const struct ps_component *thread, enum ps_scope scope)
{
	static const enum ps_component_type types[] = {
	    [PS_SCOPE_THREAD] = PS_COMPONENT_THREAD,   [PS_SCOPE_CORE] = PS_COMPONENT_CORE,
	    [PS_SCOPE_CACHE] = PS_COMPONENT_CACHE,     [PS_SCOPE_PACKAGE] = PS_COMPONENT_PACKAGE,
	    [PS_SCOPE_MACHINE] = PS_COMPONENT_MACHINE,
	};
	const struct ps_component *found = NULL;

	for (const struct ps_component *up = thread; up; up = up->parent) {
		/* The last of a type on the way up is the outermost: the last-level cache. */
		if (up->type == types[scope])
			found = up;
	}
	return found ? found : thread;
}

/* Is all of what one count covers in the range? */
static bool holds(struct range range, const struct ps_component *covered)
{
	struct range whole = range_of(covered);

	return whole.first >= range.first && whole.end <= range.end;
}

static int sum_wide(const struct ps_component *component, const struct ps__selector *selector, enum ps_scope scope,
                    struct ps_value *out)
{
	const struct ps_topology *topology = component->topology;
	struct range range = range_of(component);
	struct ps_value sum = {0};
	size_t parts = 0;

	for (size_t index = range.first; index < range.end;) {
		const struct ps_component *covered = ps__component_covered(topology->threads[index].component, scope);
		struct range whole = range_of(covered);
		struct ps_value value;
		if (!holds(range, covered))
			return PS_EINVAL_DOM;
		if (newest_in(topology, selector, whole, &value))
			ps__value_merge(&sum, &parts, &value);
		index = whole.end;
	}
	if (parts == 0)
		return PS_ENOEVNT;
	ps__value_finish(&sum);
	*out = sum;
	return PS_OK;
}

/* The widest scope under which an event of this name was counted. */
static enum ps_scope widest_scope(const struct ps_topology *topology, const struct ps__selector *selector)
{
	enum ps_scope widest = PS_SCOPE_THREAD;

	for (const struct ps__series *series = first_series(topology); series; series = series->next) {
		ptrdiff_t column = selector->find(series, selector);
		if (column >= 0 && series->column[column].scope > widest)
			widest = series->column[column].scope;
	}
	return widest;
}

int ps__component_sum(const struct ps_component *component, const struct ps__selector *selector, struct ps_value *out)
{
	enum ps_scope scope = widest_scope(component->topology, selector);
	struct ps_value sum = {0};

	if (scope != PS_SCOPE_THREAD)
		return sum_wide(component, selector, scope, out);
	if (sum_all(component->topology, selector, range_of(component), &sum) == 0)
		return PS_ENOEVNT;
	ps__value_finish(&sum);
	*out = sum;
	return PS_OK;
}

int ps__component_fail_scope(const struct ps_component *component, const struct ps__selector *selector)
{
	enum ps_scope scope = widest_scope(component->topology, selector);
	struct range range = range_of(component);
	const struct ps_component *covered = component;

	for (size_t index = range.first; index < range.end && holds(range, covered); index = range_of(covered).end)
		covered = ps__component_covered(component->topology->threads[index].component, scope);
	return ps__fail(PS_EINVAL_DOM, "'%s' is counted for a whole %s: ask %s for it, not %s", selector->name,
	                ps_scope_name(scope), covered->name, component->name);
}

ptrdiff_t ps__select_by_name(const struct ps__series *series, const struct ps__selector *selector)
{
	return ps__series_find(series, selector->name);
}

int ps_component_total(const struct ps_component *component, const char *event, struct ps_value *out)
{
	struct ps__selector selector = {.find = ps__select_by_name, .name = event};

	if (!component || !event || !out)
		return ps__fail(PS_EINVAL, "ps_component_total: component, event and out must not be NULL");
	int code = ps__component_sum(component, &selector, out);
	if (code == PS_EINVAL_DOM)
		return ps__component_fail_scope(component, &selector);
	if (code == PS_ENOEVNT)
		return ps__fail(PS_ENOEVNT, "nothing was counted for '%s' below %s", event, component->name);
	return code;
}

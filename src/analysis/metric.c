/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics: formulas over sums. All sums are over the event sets that counted all events of
 * the formula: so counts of a set that lacks an event never make a ratio wrong.
 */
#include "analysis/metric_file.h"

#include "base/error.h"
#include "event/event.h"
#include "eventset/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void metric_add_name(char *all, size_t size_bytes, const char *name)
{
	size_t length = strlen(all);

	snprintf(all + length, size_bytes - length, "%s%s", length ? ", " : "", name);
}

static int metric_fail_name(const char *name)
{
	char all[900] = "";

	for (const struct ps__metric *metric = ps__metric_next(NULL); metric;
	     metric = ps__metric_next(metric))
		metric_add_name(all, sizeof all, metric->name);
	return ps__fail(PS_ENOEVNT, "there is no metric '%.80s'; there are %s", name, all);
}

int ps__metric_find(const char *name, struct ps__metric_ask *out)
{
	int result = ps__metric_load_builtin();
	if (result != PS_OK)
		return result;
	const struct ps__metric *metric = ps__metric_of_name(name);
	if (!metric || strlen(name) >= PS__METRIC_NAME_BYTES)
		return metric_fail_name(name);
	*out = (struct ps__metric_ask){.metric = metric, .modifier = name + strcspn(name, ":")};
	return PS_OK;
}

/* A heading shows only the unit of a built-in rate: readers know the unit of a built-in ratio. It
 * shows each unit of other metrics except percent, which is shown in each cell. */
const char *ps__metric_heading_unit(const struct ps__metric *metric)
{
	bool is_shown = ps__metric_is_builtin(metric) ? strcmp(metric->unit, "1/s") == 0
	                                              : strcmp(metric->unit, "%") != 0;

	return is_shown ? metric->unit : "";
}

/* Chooses the first formula for which holds() is true. False if there is none; ask stays as it
 * was. */
static bool metric_choose(struct ps__metric_ask *ask,
                          bool (*holds)(const struct ps__metric_ask *ask, void *context),
                          void *context)
{
	struct ps__metric_ask other = *ask;

	for (; other.metric; other.metric = other.metric->next_formula) {
		if (!holds(&other, context))
			continue;
		*ask = other;
		return true;
	}
	return false;
}

static bool metric_is_counted(const struct ps__metric_ask *ask, void *context)
{
	const struct ps_topology *topology = context;
	struct ps__metric_places places;

	if (!ps__metric_has_run_times(topology, ask))
		return false;
	for (const struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		if (ps__metric_find_columns(recording, ask, &places))
			return true;
	}
	return false;
}

void ps__metric_choose(struct ps__metric_ask *ask, const struct ps_topology *topology)
{
	metric_choose(ask, metric_is_counted, (void *)topology);
}

struct events {
	const struct ps_eventset *set;
	size_t *operands;
};

static bool metric_has_events(const struct ps__metric_ask *ask, void *context)
{
	const struct events *events = context;

	return ps__metric_find_events(events->set, ask, events->operands);
}

bool ps__metric_choose_events(struct ps__metric_ask *ask, const struct ps_eventset *set,
                              size_t *operands)
{
	return metric_choose(ask, metric_has_events, &(struct events){set, operands});
}

/* Writes the events' names: "instructions:u and cycles:u". */
static void metric_name_events(const struct ps__metric_ask *ask, char *out, size_t size_bytes)
{
	const struct ps__metric *metric = ask->metric;
	size_t length = 0;

	*out = '\0';
	for (size_t index = 0; index < metric->count && length < size_bytes; index++) {
		const char *event = metric->operands[index].names[0];
		bool is_plain = index != metric->lead && ps__metric_is_time(event);
		length += (size_t)snprintf(out + length, size_bytes - length, "%s%s%s",
		                           index == 0                  ? ""
		                           : index + 1 < metric->count ? ", "
		                                                       : " and ",
		                           event, is_plain ? "" : ask->modifier);
	}
}

static int metric_fail_sum(const struct ps_component *component, const struct ps__metric_ask *ask,
                           int code)
{
	char events[512];

	for (size_t operand = 0; operand < ask->metric->count; operand++) {
		struct ps__selector selector = ps__metric_operand(ask, operand);
		struct ps_value value;
		if (code == PS_EINVAL_DOM &&
		    ps__component_sum(component, &selector, &value) == code)
			return ps__component_fail_scope(component, &selector);
	}
	metric_name_events(ask, events, sizeof events);
	return ps__fail(PS_ENOEVNT,
	                "%s needs %s, counted by the same event set; below %s no set counted what "
	                "it needs",
	                ask->metric->name, events, component->name);
}

static int metric_sum_operand(const struct ps_component *component,
                              const struct ps__metric_ask *ask, size_t operand,
                              struct ps_value *out)
{
	struct ps__selector selector = ps__metric_operand(ask, operand);

	return ps__component_sum(
	    operand == ask->metric->whole ? component->topology->root : component, &selector, out);
}

/* Computes all sums. If a set has made a reading meanwhile, computes them again, so that all are of
 * the same readings. Stops after 8 tries: a set may make readings faster than they can be added
 * up. */
static int metric_sum_all(const struct ps_component *component, const struct ps__metric_ask *ask,
                          struct ps_value *sums)
{
	struct ps_value again;
	int tries = 0;

	do {
		int code = PS_OK;
		for (size_t operand = 0; code == PS_OK && operand < ask->metric->count; operand++)
			code = metric_sum_operand(component, ask, operand, &sums[operand]);
		if (code == PS_OK)
			code = metric_sum_operand(component, ask, 0, &again);
		if (code < 0)
			return code;
	} while (again.timestamp != sums[0].timestamp && ++tries < 8);
	return PS_OK;
}

/* Sets the scales, and whether CPUs were counted, from the first recording that has all
 * operands. */
static void metric_set_scales(const struct ps_topology *topology, const struct ps__metric_ask *ask,
                              struct ps__metric_values *values)
{
	struct ps__metric_places places;

	for (const struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		if (!ps__metric_find_columns(recording, ask, &places))
			continue;
		for (size_t operand = 0; operand < ask->metric->count; operand++) {
			ptrdiff_t column = places.at[operand];
			ps__metric_put(values, ask, operand, values->sums[operand],
			               column < 0 ? 1 : recording->column[column].scale);
		}
		values->machine.counts_cpus = recording->counts_cpu;
		return;
	}
}

int ps_component_metric(const struct ps_component *component, const char *metric,
                        struct ps_metric_value *out)
{
	struct ps_value sums[PS__METRIC_MOST_OPERANDS];
	struct ps__metric_ask ask;

	if (!component || !metric || !out)
		return ps__fail(PS_EINVAL,
		                "ps_component_metric: component, metric and out must not be NULL");
	int code = ps__metric_find(metric, &ask);
	if (code != PS_OK)
		return code;
	ps__metric_choose(&ask, component->topology);
	code = metric_sum_all(component, &ask, sums);
	if (code < 0)
		return metric_fail_sum(component, &ask, code);
	struct ps__metric_values values = {.machine.root = component->topology->root};
	for (size_t operand = 0; operand < ask.metric->count; operand++)
		values.sums[operand] = &sums[operand];
	metric_set_scales(component->topology, &ask, &values);
	ps__metric_compute(&ask, &values, out);
	return PS_OK;
}

int ps_metric_of_sums(const struct ps_eventset *set, const char *metric,
                      const struct ps_value *sums, const struct ps_value *whole,
                      struct ps_metric_value *out)
{
	struct ps__metric_ask ask;
	size_t operands[PS__METRIC_MOST_OPERANDS];

	if (!set || !metric || !sums || !out)
		return ps__fail(PS_EINVAL,
		                "ps_metric_of_sums: set, metric, sums and out must not be NULL");
	int code = ps__metric_find(metric, &ask);
	if (code != PS_OK)
		return code;
	if (!ps__metric_choose_events(&ask, set, operands))
		return ps__fail(PS_ENOEVNT,
		                "%s needs events that the set lacks: ps_metric(3) names them",
		                metric);
	struct ps__metric_values values = {.machine.counts_cpus = ps__set_counts_cpu(set)};
	for (size_t operand = 0; operand < ask.metric->count; operand++) {
		bool is_whole = operand == ask.metric->whole && whole;
		ps__metric_put(&values, &ask, operand,
		               &(is_whole ? whole : sums)[operands[operand]],
		               ps_eventset_event_scale(set, operands[operand]));
	}
	ps__metric_compute(&ask, &values, out);
	return PS_OK;
}

struct walk {
	const struct ps_component *component;
	int (*visit)(const char *name, void *context);
	void *context;
};

/* True if this is the first formula, the first recording and the first column in it that gives the
 * metric: so each metric is visited once. */
static bool metric_is_first(const struct ps__recording *recording, size_t column,
                            const struct ps__metric *first, const struct ps__metric_ask *ask)
{
	struct ps__metric_ask chosen = {first, ask->modifier, false};
	struct ps__metric_places places;

	/* Checked first: the walks below are over all recordings, maybe thousands. */
	if (!ps__metric_find_columns(recording, ask, &places) ||
	    places.at[ask->metric->lead] != (ptrdiff_t)column)
		return false;
	for (const struct ps__recording *before = ps__recording_first(recording->topology);
	     before != recording; before = before->next) {
		if (ps__metric_find_columns(before, ask, &places))
			return false;
	}
	ps__metric_choose(&chosen, recording->topology);
	return chosen.metric == ask->metric;
}

static int metric_visit_column(const struct walk *walk, const struct ps__recording *recording,
                               size_t column, const struct ps__metric *first,
                               const struct ps__metric *metric)
{
	const struct ps__column *about = &recording->column[column];
	struct ps__metric_ask ask = {.metric = metric};
	struct ps_value sums[PS__METRIC_MOST_OPERANDS];
	char name[PS__METRIC_NAME_BYTES];

	ask.modifier = ps__metric_modifiers_in(about, &metric->operands[metric->lead]);
	if (!ask.modifier || !metric_is_first(recording, column, first, &ask) ||
	    metric_sum_all(walk->component, &ask, sums) < 0)
		return 0;
	snprintf(name, sizeof name, "%s%s", metric->name, ask.modifier);
	return walk->visit(name, walk->context);
}

static int metric_visit_formula(const struct walk *walk, const struct ps__metric *first,
                                const struct ps__metric *metric)
{
	int stop = 0;

	for (const struct ps__recording *recording = ps__recording_first(walk->component->topology);
	     recording && !stop; recording = recording->next) {
		for (size_t column = 0; column < recording->columns && !stop; column++)
			stop = metric_visit_column(walk, recording, column, first, metric);
	}
	return stop;
}

static int metric_visit_metric(const struct walk *walk, const struct ps__metric *metric)
{
	int stop = 0;

	if (!walk->component)
		return walk->visit(metric->name, walk->context);
	for (const struct ps__metric *formula = metric; formula && !stop;
	     formula = formula->next_formula)
		stop = metric_visit_formula(walk, metric, formula);
	return stop;
}

int ps_metric_for_each(const struct ps_component *component,
                       int (*visit)(const char *name, void *context), void *context)
{
	struct walk walk = {.component = component, .visit = visit, .context = context};
	int stop = 0;

	if (!visit)
		return ps__fail(PS_EINVAL, "ps_metric_for_each: visit is NULL");
	int result = ps__metric_load_builtin();
	if (result != PS_OK)
		return result;
	for (const struct ps__metric *metric = ps__metric_next(NULL); metric && !stop;
	     metric = ps__metric_next(metric))
		stop = metric_visit_metric(&walk, metric);
	return stop;
}

/* Finds a metric by its name. NULL also for a modifier that no event has. */
static const struct ps__metric *metric_find_or_fail(const char *name)
{
	if (!name || ps__metric_load_builtin() != PS_OK)
		return NULL;
	const char *modifier = name + strcspn(name, ":");
	bool is_one = *modifier == '\0' || (modifier[1] != '\0' && ps__modifiers_are(modifier + 1));
	return is_one ? ps__metric_of_name(name) : NULL;
}

const char *ps_metric_unit(const char *metric)
{
	const struct ps__metric *found = metric_find_or_fail(metric);

	return found ? found->unit : NULL;
}

const char *ps_metric_description(const char *metric)
{
	const struct ps__metric *found = metric_find_or_fail(metric);

	return found ? found->description : NULL;
}

const char *ps_metric_formula(const char *metric)
{
	const struct ps__metric *found = metric_find_or_fail(metric);

	return found ? found->text : NULL;
}

const char *ps_metric_group(const char *metric)
{
	const struct ps__metric *found = metric_find_or_fail(metric);

	if (!found)
		return NULL;
	return found->group ? found->group->name : "";
}

bool ps__metric_is_assumed(const char *metric)
{
	const char *group = ps_metric_group(metric);

	return group && strcmp(group, "instrumentation") == 0;
}

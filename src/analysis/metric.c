/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics: ratios of two sums. Both are taken over the event sets that
 * counted both events, so that what one set counted alone never makes a ratio
 * wrong.
 */
#include "analysis/metric.h"

#include "base/error.h"
#include "event/lookup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INSTRUCTIONS                           \
	{                                      \
		"instructions", "PAPI_TOT_INS" \
	}
#define CYCLES                                         \
	{                                              \
		"cycles", "cpu-cycles", "PAPI_TOT_CYC" \
	}
#define CLOCK                             \
	{                                 \
		"task-clock", "cpu-clock" \
	}

/* clang-format off */
static const struct ps__metric metrics[] = {
    {"IPC", "instructions/cycle", 1, INSTRUCTIONS, CYCLES, "instructions per cycle", NULL},
    {"GHz", "GHz", 1, CYCLES, CLOCK, "cycles per nanosecond of CPU time: the mean clock rate", NULL},
    {"frontend-stalls", "%", 100, {"stalled-cycles-frontend", "idle-cycles-frontend"}, CYCLES,
     "share of the cycles in which no instruction came from the front end", NULL},
    {"backend-stalls", "%", 100, {"stalled-cycles-backend", "idle-cycles-backend"}, CYCLES,
     "share of the cycles in which the back end took no instruction", NULL},
    {"branch-miss-ratio", "%", 100, {"branch-misses", "PAPI_BR_MSP"},
     {"branches", "branch-instructions", "PAPI_BR_INS"}, "mispredicted branches of all branches", NULL},
    {"cache-miss-ratio", "%", 100, {"cache-misses"}, {"cache-references"},
     "misses of all references to the last-level cache", NULL},
    {"L1d-miss-ratio", "%", 100, {"L1-dcache-load-misses", "PAPI_L1_DCM"}, {"L1-dcache-loads", "PAPI_L1_DCA"},
     "misses of all loads from the level 1 data cache", NULL},
    {"L1i-miss-ratio", "%", 100, {"L1-icache-load-misses"}, {"L1-icache-loads"},
     "misses of all loads from the level 1 instruction cache", NULL},
    {"LLC-miss-ratio", "%", 100, {"LLC-load-misses", "PAPI_L3_TCM"}, {"LLC-loads", "PAPI_L3_TCA"},
     "misses of all loads from the last-level cache", NULL},
    {"dTLB-miss-ratio", "%", 100, {"dTLB-load-misses"}, {"dTLB-loads"}, "misses of all loads through the data TLB", NULL},
    {"iTLB-miss-ratio", "%", 100, {"iTLB-load-misses"}, {"iTLB-loads"},
     "misses of all look-ups in the instruction TLB", NULL},
    {"page-fault-rate", "1/s", 1e9, {"page-faults", "faults"}, CLOCK, "page faults per second of CPU time", NULL},
    {"context-switch-rate", "1/s", 1e9, {"context-switches", "cs"}, CLOCK,
     "context switches per second of CPU time", NULL},
    {"cpu-migration-rate", "1/s", 1e9, {"cpu-migrations", "migrations"}, CLOCK,
     "moves to another CPU per second of CPU time", NULL},
    {"time-share", "%", 100, CLOCK, {NULL}, "share of the whole Machine's CPU time that was spent here", NULL},
};
/* clang-format on */
#define METRICS (sizeof metrics / sizeof *metrics)

const struct ps__metric *ps__metric_of_name(const char *name)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < METRICS; i++) {
		if (strlen(metrics[i].name) == length &&
		    strncasecmp(metrics[i].name, name, length) == 0)
			return &metrics[i];
	}
	return ps__metric_find_defined(name);
}

static void metric_add_name(char *all, size_t size_bytes, const char *name)
{
	size_t length = strlen(all);

	snprintf(all + length, size_bytes - length, "%s%s", length ? ", " : "", name);
}

static int metric_fail_name(const char *name)
{
	char all[900] = "";

	for (size_t i = 0; i < METRICS; i++)
		metric_add_name(all, sizeof all, metrics[i].name);
	for (const struct ps__metric *metric = ps__metric_next_defined(NULL); metric;
	     metric = ps__metric_next_defined(metric))
		metric_add_name(all, sizeof all, metric->name);
	return ps__fail(PS_ENOEVNT, "there is no metric '%.80s'; there are %s", name, all);
}

int ps__metric_find(const char *name, struct ps__metric_ask *out)
{
	const struct ps__metric *metric = ps__metric_of_name(name);

	if (!metric || strlen(name) >= PS__METRIC_NAME_BYTES)
		return metric_fail_name(name);
	*out = (struct ps__metric_ask){.metric = metric, .modifier = name + strcspn(name, ":")};
	return PS_OK;
}

/* A ratio's unit is known, a rate's isn't; percent stands in each cell. */
const char *ps__metric_heading_unit(const struct ps__metric *metric)
{
	bool is_shown =
	    strcmp(metric->unit, "1/s") == 0 || (metric->formula && strcmp(metric->unit, "%") != 0);

	return is_shown ? metric->unit : "";
}

static bool metric_is_known(const struct ps_value *value)
{
	return value->status == PS_STATUS_COUNTED || value->status == PS_STATUS_SCALED;
}

void ps__metric_compute(const struct ps__metric_ask *ask, const struct ps__metric_values *values,
                        struct ps_metric_value *out)
{
	const struct ps_value *numerator = values->sums[0], *denominator = values->sums[1];

	if (ask->metric->formula) {
		ps__metric_compute_formula(ask->metric, values, out);
		return;
	}
	*out = (struct ps_metric_value){
	    .value = (double)NAN,
	    .timestamp = numerator->timestamp,
	    .status =
		numerator->status > denominator->status ? numerator->status : denominator->status,
	    .attribution = numerator->attribution > denominator->attribution
	                       ? numerator->attribution
	                       : denominator->attribution,
	    .flags = numerator->flags | denominator->flags,
	};
	if (denominator->timestamp > out->timestamp)
		out->timestamp = denominator->timestamp;
	if (metric_is_known(numerator) && metric_is_known(denominator) && denominator->value > 0)
		out->value =
		    (double)numerator->value / (double)denominator->value * ask->metric->factor;
}

static int metric_fail_sum(const struct ps_component *component, const struct ps__metric_ask *ask,
                           int code)
{
	const struct ps__metric *metric = ask->metric;
	bool is_share = ps__metric_is_share(ask);

	for (size_t operand = 0; operand < ps__metric_operand_count(ask); operand++) {
		struct ps__selector selector = ps__metric_operand(ask, operand);
		struct ps_value value;
		if (code == PS_EINVAL_DOM &&
		    ps__component_sum(component, &selector, &value) == code)
			return ps__component_fail_scope(component, &selector);
	}
	if (metric->formula)
		return ps__fail(PS_ENOEVNT,
		                "%s is %s: below %s no event set counted all that it needs",
		                metric->name, metric->description, component->name);
	return ps__fail(PS_ENOEVNT,
	                "%s needs %s%s%s%s%s, counted by the same event set; below %s no set "
	                "counted what it needs",
	                metric->name, metric->numerators[0], ask->modifier, is_share ? "" : " and ",
	                is_share ? "" : metric->denominators[0],
	                is_share || ps__metric_is_clock(metric->denominators[0]) ? ""
	                                                                         : ask->modifier,
	                component->name);
}

static int metric_sum_operand(const struct ps_component *component,
                              const struct ps__metric_ask *ask, size_t operand,
                              struct ps_value *out)
{
	struct ps__selector selector = ps__metric_operand(ask, operand);
	bool is_whole = operand == 1 && ps__metric_is_share(ask);

	return ps__component_sum(is_whole ? component->topology->root : component, &selector, out);
}

/* All sums, of the same readings unless a set makes new ones faster than they can be added up. */
static int metric_sum_all(const struct ps_component *component, const struct ps__metric_ask *ask,
                          struct ps_value *sums)
{
	struct ps_value again;
	int tries = 0;

	do {
		int code = PS_OK;
		for (size_t operand = 0; code == PS_OK && operand < ps__metric_operand_count(ask);
		     operand++)
			code = metric_sum_operand(component, ask, operand, &sums[operand]);
		if (code == PS_OK)
			code = metric_sum_operand(component, ask, 0, &again);
		if (code < 0)
			return code;
	} while (again.timestamp != sums[0].timestamp && ++tries < 8);
	return PS_OK;
}

/* The scales are those of the first recording that has all operands. */
static void metric_set_scales(const struct ps_topology *topology, const struct ps__metric_ask *ask,
                              struct ps__metric_values *values)
{
	struct ps__metric_places places;

	for (const struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		if (!ps__metric_find_columns(recording, ask, &places))
			continue;
		for (size_t operand = 0; operand < ps__metric_operand_count(ask); operand++)
			values->scales[operand] = recording->column[places.at[operand]].scale;
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
	if (ps__metric_find(metric, &ask) < 0)
		return PS_ENOEVNT;
	int code = metric_sum_all(component, &ask, sums);
	if (code < 0)
		return metric_fail_sum(component, &ask, code);
	struct ps__metric_values values = {.root = component->topology->root};
	for (size_t operand = 0; operand < ps__metric_operand_count(&ask); operand++)
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
	if (ps__metric_find(metric, &ask) < 0)
		return PS_ENOEVNT;
	if (!ps__metric_find_events(set, &ask, operands))
		return ps__fail(PS_ENOEVNT,
		                "%s needs events that the set lacks: ps_metric(3) names them",
		                metric);
	struct ps__metric_values values = {.root = NULL};
	for (size_t operand = 0; operand < ps__metric_operand_count(&ask); operand++) {
		bool is_whole = operand == 1 && ps__metric_is_share(&ask) && whole;
		values.sums[operand] = &(is_whole ? whole : sums)[operands[operand]];
		values.scales[operand] = ps_eventset_event_scale(set, operands[operand]);
	}
	ps__metric_compute(&ask, &values, out);
	return PS_OK;
}

struct walk {
	const struct ps_component *component;
	int (*visit)(const char *name, void *context);
	void *context;
};

/* Is this the first recording, and in it the first column, that gives the
 * metric? Each is to be visited once. */
static bool metric_is_first(const struct ps__recording *recording, size_t column,
                            const struct ps__metric_ask *ask)
{
	struct ps__metric_places places;

	for (const struct ps__recording *before = ps__recording_first(recording->topology);
	     before != recording; before = before->next) {
		if (ps__metric_find_columns(before, ask, &places))
			return false;
	}
	return ps__metric_find_columns(recording, ask, &places) &&
	       places.at[0] == (ptrdiff_t)column;
}

static int metric_visit_column(const struct walk *walk, const struct ps__recording *recording,
                               size_t column, const struct ps__metric *metric)
{
	struct ps__metric_ask ask = {.metric = metric};
	struct ps_value sums[2];
	char name[PS__METRIC_NAME_BYTES];

	for (const char *const *event = metric->numerators; *event && !ask.modifier; event++)
		ask.modifier = ps__metric_modifiers_of(recording->column[column].name, *event);
	if (!ask.modifier || !metric_is_first(recording, column, &ask) ||
	    metric_sum_all(walk->component, &ask, sums) < 0)
		return 0;
	snprintf(name, sizeof name, "%s%s", metric->name, ask.modifier);
	return walk->visit(name, walk->context);
}

static int metric_visit_metric(const struct walk *walk, const struct ps__metric *metric)
{
	int stop = 0;

	if (!walk->component)
		return walk->visit(metric->name, walk->context);
	for (const struct ps__recording *recording = ps__recording_first(walk->component->topology);
	     recording && !stop; recording = recording->next) {
		for (size_t column = 0; column < recording->columns && !stop; column++)
			stop = metric_visit_column(walk, recording, column, metric);
	}
	return stop;
}

static int metric_visit_defined(const struct walk *walk, const struct ps__metric *metric)
{
	struct ps__metric_ask ask = {.metric = metric, .modifier = ""};
	struct ps_value sums[PS__METRIC_MOST_OPERANDS];

	if (walk->component && metric_sum_all(walk->component, &ask, sums) < 0)
		return 0;
	return walk->visit(metric->name, walk->context);
}

int ps_metric_for_each(const struct ps_component *component,
                       int (*visit)(const char *name, void *context), void *context)
{
	struct walk walk = {.component = component, .visit = visit, .context = context};
	int stop = 0;

	if (!visit)
		return ps__fail(PS_EINVAL, "ps_metric_for_each: visit is NULL");
	for (size_t i = 0; i < METRICS && !stop; i++)
		stop = metric_visit_metric(&walk, &metrics[i]);
	for (const struct ps__metric *metric = ps__metric_next_defined(NULL); metric && !stop;
	     metric = ps__metric_next_defined(metric))
		stop = metric_visit_defined(&walk, metric);
	return stop;
}

/* A metric's modifier is that of its events: no event has another one. */
static const struct ps__metric *metric_find_or_fail(const char *name)
{
	if (!name)
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

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
    {"IPC", "instructions/cycle", 1, INSTRUCTIONS, CYCLES, "instructions per cycle"},
    {"GHz", "GHz", 1, CYCLES, CLOCK, "cycles per nanosecond of CPU time: the mean clock rate"},
    {"frontend-stalls", "%", 100, {"stalled-cycles-frontend", "idle-cycles-frontend"}, CYCLES,
     "share of the cycles in which no instruction came from the front end"},
    {"backend-stalls", "%", 100, {"stalled-cycles-backend", "idle-cycles-backend"}, CYCLES,
     "share of the cycles in which the back end took no instruction"},
    {"branch-miss-ratio", "%", 100, {"branch-misses", "PAPI_BR_MSP"},
     {"branches", "branch-instructions", "PAPI_BR_INS"}, "mispredicted branches of all branches"},
    {"cache-miss-ratio", "%", 100, {"cache-misses"}, {"cache-references"},
     "misses of all references to the last-level cache"},
    {"L1d-miss-ratio", "%", 100, {"L1-dcache-load-misses", "PAPI_L1_DCM"}, {"L1-dcache-loads", "PAPI_L1_DCA"},
     "misses of all loads from the level 1 data cache"},
    {"L1i-miss-ratio", "%", 100, {"L1-icache-load-misses"}, {"L1-icache-loads"},
     "misses of all loads from the level 1 instruction cache"},
    {"LLC-miss-ratio", "%", 100, {"LLC-load-misses", "PAPI_L3_TCM"}, {"LLC-loads", "PAPI_L3_TCA"},
     "misses of all loads from the last-level cache"},
    {"dTLB-miss-ratio", "%", 100, {"dTLB-load-misses"}, {"dTLB-loads"}, "misses of all loads through the data TLB"},
    {"iTLB-miss-ratio", "%", 100, {"iTLB-load-misses"}, {"iTLB-loads"},
     "misses of all look-ups in the instruction TLB"},
    {"page-fault-rate", "1/s", 1e9, {"page-faults", "faults"}, CLOCK, "page faults per second of CPU time"},
    {"context-switch-rate", "1/s", 1e9, {"context-switches", "cs"}, CLOCK,
     "context switches per second of CPU time"},
    {"cpu-migration-rate", "1/s", 1e9, {"cpu-migrations", "migrations"}, CLOCK,
     "moves to another CPU per second of CPU time"},
    {"time-share", "%", 100, CLOCK, {NULL}, "share of the whole Machine's CPU time that was spent here"},
};
/* clang-format on */
#define METRICS (sizeof metrics / sizeof *metrics)

/* The end of a name that begins with an event's: its modifiers, or ""; NULL if
 * it is another event. */
static const char *metric_modifiers_of(const char *name, const char *event)
{
	size_t length = strlen(event);

	if (strncmp(name, event, length) != 0 || (name[length] != '\0' && name[length] != ':'))
		return NULL;
	return name + length;
}

static bool metric_is_clock(const char *event)
{
	return strstr(event, "-clock") != NULL;
}

/* The names of a recording or of a set, by number; NULL beyond the last. */
struct names {
	const struct ps__recording *recording;
	const struct ps_eventset *set;
};

static const char *metric_name_at(const struct names *names, size_t index)
{
	if (names->set)
		return ps_eventset_event_name(names->set, index);
	return index < names->recording->columns ? names->recording->column[index].name : NULL;
}

/* The first column with one of the names and this modifier. Time is time: a
 * clock's modifier says nothing. */
static ptrdiff_t metric_find_name(const struct names *names, const char *const *events,
                                  const char *modifier, bool any_clock)
{
	const char *name;

	for (; *events; events++) {
		for (size_t index = 0; (name = metric_name_at(names, index)); index++) {
			const char *found = metric_modifiers_of(name, *events);
			if (found && ((any_clock && metric_is_clock(*events)) ||
			              strcmp(found, modifier) == 0))
				return (ptrdiff_t)index;
		}
	}
	return -1;
}

struct pair {
	ptrdiff_t numerator;
	ptrdiff_t denominator;
};

static bool metric_find_names(const struct names *names, const struct ps__metric_ask *ask,
                              struct pair *out)
{
	out->numerator = metric_find_name(names, ask->metric->numerators, ask->modifier, false);
	out->denominator = out->numerator;
	if (!ps__metric_is_share(ask))
		out->denominator =
		    metric_find_name(names, ask->metric->denominators, ask->modifier, true);
	return out->numerator >= 0 && out->denominator >= 0;
}

static bool metric_is_supported(const struct ps__recording *recording, ptrdiff_t column)
{
	return recording->column[column].group != PS__NO_GROUP;
}

/* False if the recording didn't count both. Where one of them isn't supported,
 * what the other counted is left out. */
static bool metric_find_pair(const struct ps__recording *recording,
                             const struct ps__metric_ask *ask, struct pair *out)
{
	return metric_find_names(&(struct names){.recording = recording}, ask, out) &&
	       metric_is_supported(recording, out->numerator) ==
	           metric_is_supported(recording, out->denominator);
}

static ptrdiff_t metric_find_numerator(const struct ps__recording *recording,
                                       const struct ps__selector *selector)
{
	struct pair pair;

	return metric_find_pair(recording, selector->context, &pair) ? pair.numerator : -1;
}

static ptrdiff_t metric_find_denominator(const struct ps__recording *recording,
                                         const struct ps__selector *selector)
{
	struct pair pair;

	return metric_find_pair(recording, selector->context, &pair) ? pair.denominator : -1;
}

struct ps__selector ps__metric_numerator(const struct ps__metric_ask *ask)
{
	return (struct ps__selector){
	    .find = metric_find_numerator, .name = ask->metric->name, .context = ask};
}

struct ps__selector ps__metric_denominator(const struct ps__metric_ask *ask)
{
	return (struct ps__selector){
	    .find = metric_find_denominator, .name = ask->metric->name, .context = ask};
}

static const struct ps__metric *metric_find_metric(const char *name)
{
	size_t length = strcspn(name, ":");

	for (size_t i = 0; i < METRICS; i++) {
		if (strlen(metrics[i].name) == length &&
		    strncasecmp(metrics[i].name, name, length) == 0)
			return &metrics[i];
	}
	return NULL;
}

static int metric_fail_name(const char *name)
{
	char all[512];
	size_t length = 0;

	for (size_t i = 0; i < METRICS && length < sizeof all; i++)
		length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "",
		                           metrics[i].name);
	return ps__fail(PS_ENOEVNT, "there is no metric '%s'; there are %s", name, all);
}

int ps__metric_find(const char *name, struct ps__metric_ask *out)
{
	const struct ps__metric *metric = metric_find_metric(name);

	if (!metric || strlen(name) >= PS__METRIC_NAME_BYTES)
		return metric_fail_name(name);
	*out = (struct ps__metric_ask){.metric = metric, .modifier = name + strcspn(name, ":")};
	return PS_OK;
}

static bool metric_is_known(const struct ps_value *value)
{
	return value->status == PS_STATUS_COUNTED || value->status == PS_STATUS_SCALED;
}

void ps__metric_compute(const struct ps__metric *metric, const struct ps_value *numerator,
                        const struct ps_value *denominator, struct ps_metric_value *out)
{
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
		out->value = (double)numerator->value / (double)denominator->value * metric->factor;
}

static int metric_fail_sum(const struct ps_component *component, const struct ps__metric_ask *ask,
                           int code)
{
	struct ps__selector above = ps__metric_numerator(ask), below = ps__metric_denominator(ask);
	struct ps_value value;
	const struct ps__metric *metric = ask->metric;
	bool is_share = ps__metric_is_share(ask);

	if (code == PS_EINVAL_DOM)
		return ps__component_fail_scope(
		    component,
		    ps__component_sum(component, &above, &value) == code ? &above : &below);
	return ps__fail(PS_ENOEVNT,
	                "%s needs %s%s%s%s%s, counted by the same event set; below %s no set "
	                "counted what it needs",
	                metric->name, metric->numerators[0], ask->modifier, is_share ? "" : " and ",
	                is_share ? "" : metric->denominators[0],
	                is_share || metric_is_clock(metric->denominators[0]) ? "" : ask->modifier,
	                component->name);
}

/* Both sums, of the same readings unless a set makes new ones faster than they
 * can be added up. */
static int metric_sum_both(const struct ps_component *component, const struct ps__metric_ask *ask,
                           struct ps_value *numerator, struct ps_value *denominator)
{
	const struct ps_component *whole =
	    ps__metric_is_share(ask) ? component->topology->root : component;
	struct ps__selector above = ps__metric_numerator(ask), below = ps__metric_denominator(ask);
	struct ps_value again;
	int tries = 0;

	do {
		int code = ps__component_sum(component, &above, numerator);
		if (code == PS_OK)
			code = ps__component_sum(whole, &below, denominator);
		if (code == PS_OK)
			code = ps__component_sum(component, &above, &again);
		if (code < 0)
			return code;
	} while (again.timestamp != numerator->timestamp && ++tries < 8);
	return PS_OK;
}

int ps_component_metric(const struct ps_component *component, const char *metric,
                        struct ps_metric_value *out)
{
	struct ps_value numerator, denominator;
	struct ps__metric_ask ask;

	if (!component || !metric || !out)
		return ps__fail(PS_EINVAL,
		                "ps_component_metric: component, metric and out must not be NULL");
	if (ps__metric_find(metric, &ask) < 0)
		return PS_ENOEVNT;
	int code = metric_sum_both(component, &ask, &numerator, &denominator);
	if (code < 0)
		return metric_fail_sum(component, &ask, code);
	ps__metric_compute(ask.metric, &numerator, &denominator, out);
	return PS_OK;
}

bool ps__metric_find_events(const struct ps_eventset *set, const struct ps__metric_ask *ask,
                            size_t *numerator, size_t *denominator)
{
	struct pair pair;

	if (!metric_find_names(&(struct names){.set = set}, ask, &pair))
		return false;
	*numerator = (size_t)pair.numerator;
	*denominator = (size_t)pair.denominator;
	return true;
}

int ps_metric_of_sums(const struct ps_eventset *set, const char *metric,
                      const struct ps_value *sums, const struct ps_value *whole,
                      struct ps_metric_value *out)
{
	struct ps__metric_ask ask;
	size_t numerator, denominator;

	if (!set || !metric || !sums || !out)
		return ps__fail(PS_EINVAL,
		                "ps_metric_of_sums: set, metric, sums and out must not be NULL");
	if (ps__metric_find(metric, &ask) < 0)
		return PS_ENOEVNT;
	if (!ps__metric_find_events(set, &ask, &numerator, &denominator))
		return ps__fail(PS_ENOEVNT,
		                "%s needs events that the set lacks: ps_metric(3) names them",
		                metric);
	const struct ps_value *below = ps__metric_is_share(&ask) && whole ? whole : sums;
	ps__metric_compute(ask.metric, &sums[numerator], &below[denominator], out);
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
	struct pair pair;

	for (const struct ps__recording *before = ps__recording_first(recording->topology);
	     before != recording; before = before->next) {
		if (metric_find_pair(before, ask, &pair))
			return false;
	}
	return metric_find_pair(recording, ask, &pair) && pair.numerator == (ptrdiff_t)column;
}

static int metric_visit_column(const struct walk *walk, const struct ps__recording *recording,
                               size_t column, const struct ps__metric *metric)
{
	struct ps__metric_ask ask = {.metric = metric};
	struct ps_value numerator, denominator;
	char name[PS__METRIC_NAME_BYTES];

	for (const char *const *event = metric->numerators; *event && !ask.modifier; event++)
		ask.modifier = metric_modifiers_of(recording->column[column].name, *event);
	if (!ask.modifier || !metric_is_first(recording, column, &ask) ||
	    metric_sum_both(walk->component, &ask, &numerator, &denominator) < 0)
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

int ps_metric_for_each(const struct ps_component *component,
                       int (*visit)(const char *name, void *context), void *context)
{
	struct walk walk = {.component = component, .visit = visit, .context = context};
	int stop = 0;

	if (!visit)
		return ps__fail(PS_EINVAL, "ps_metric_for_each: visit is NULL");
	for (size_t i = 0; i < METRICS && !stop; i++)
		stop = metric_visit_metric(&walk, &metrics[i]);
	return stop;
}

/* A metric's modifier is that of its events: no event has another one. */
static const struct ps__metric *metric_find_or_fail(const char *name)
{
	if (!name)
		return NULL;
	const char *modifier = name + strcspn(name, ":");
	bool is_one = *modifier == '\0' || (modifier[1] != '\0' && ps__modifiers_are(modifier + 1));
	return is_one ? metric_find_metric(name) : NULL;
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

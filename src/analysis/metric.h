/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structs of derived metrics: the events that a metric needs, and how it is computed. The
 * exporters take the sums from their own table, where numerator and denominator are of the same
 * readings.
 */
#ifndef PS_ANALYSIS_METRIC_H
#define PS_ANALYSIS_METRIC_H

#include "analysis/formula.h"
#include "store/attrmap.h"

#include <perfsage/formula.h>
#include <perfsage/metric.h>

/* Room for the name of a metric or event, with modifiers. An event's name has up to 511
 * characters. */
#define PS__METRIC_NAME_BYTES 640

/* The most events that a metric can need, and the most names that each of them can have. */
#define PS__METRIC_MOST_OPERANDS 32
#define PS__METRIC_MOST_NAMES    8

/* An event that a formula needs. */
struct ps__metric_operand {
	const char *symbol; /* the event's name in the formula */
	/* List that ends with NULL: the first name that was counted is used */
	const char *names[PS__METRIC_MOST_NAMES + 1];
	bool is_whole; /* use the sum of the whole Machine for each component */
	/* The file declares the symbol: the event is in the unit that is shown, not in perf's
	 * unit */
	bool has_line;
	/* A time of the run that is used together with counted events. It can be of another event
	 * set, because it is stored when the run is over. */
	bool is_of_run;
};

#define PS__METRIC_NO_WHOLE SIZE_MAX

/* A formula over the sums of events. */
struct ps__metric {
	const char *name;
	const char *unit;
	const char *description;
	const char *text; /* text of the formula */
	/* The metric's next formula, for other machines; NULL: none */
	const struct ps__metric *next_formula;
	const struct ps__metric_group *group; /* NULL: defined by ps_metric_define */
	struct ps_formula *tree;
	struct ps__metric_operand *operands;
	size_t count;
	/* The operand that gives the metric its modifiers: a time only if all operands are times */
	size_t lead;
	size_t whole; /* the operand that is of the whole Machine; PS__METRIC_NO_WHOLE: none */
};

/* The head of a file of metrics. */
struct ps__metric_group {
	const char *name;
	const char *description;
	const char *path; /* NULL: built in */
};

static inline bool ps__metric_is_builtin(const struct ps__metric *metric)
{
	return metric->group && !metric->group->path;
}

/* A request for a metric by name, with the modifier of its events. */
struct ps__metric_ask {
	const struct ps__metric *metric;
	const char *modifier; /* ":u", or ""; points into the requested name */
	/* The caller will store duration_time and the other times when its run is over */
	bool has_run_times;
};

/* Finds a metric by its name, with or without modifiers; NULL if there is no such metric. */
const struct ps__metric *ps__metric_of_name(const char *name);

/* Returns the unit as a heading shows it; "": none. */
const char *ps__metric_heading_unit(const struct ps__metric *metric);

/* PS_OK, or PS_ENOEVNT: there is no such metric; the detail lists the metrics. */
int ps__metric_find(const char *name, struct ps__metric_ask *out);
/* Changes ask to the metric's first formula whose events were counted in a topology, or are in a
 * set. If there is none, ask stays as it is. operands: as of ps__metric_find_events. */
void ps__metric_choose(struct ps__metric_ask *ask, const struct ps_topology *topology);
bool ps__metric_choose_events(struct ps__metric_ask *ask, const struct ps_eventset *set,
                              size_t *operands);

/* metric_operands.c: for each operand its column in a recording, or its event in a set. */
struct ps__metric_places {
	ptrdiff_t at[PS__METRIC_MOST_OPERANDS];
};
/* Finds the column of each operand. False if the recording lacks one, or if only some of these
 * events are supported. Times of the run aren't looked for: their place is -1. */
bool ps__metric_find_columns(const struct ps__recording *recording,
                             const struct ps__metric_ask *ask, struct ps__metric_places *out);
/* Returns the modifiers of a column with one of the operand's names, or ""; else NULL. */
const char *ps__metric_modifiers_in(const struct ps__column *column,
                                    const struct ps__metric_operand *operand);
/* True if each time of the run that the metric needs is in a recording. */
bool ps__metric_has_run_times(const struct ps_topology *topology, const struct ps__metric_ask *ask);
/* True for a clock and a time of the run: their modifiers have no meaning. */
bool ps__metric_is_time(const char *event);

/* Returns the selector of an operand's sum, which lives as long as ask. The selector finds nothing
 * in a recording that didn't count all operands. */
struct ps__selector ps__metric_operand(const struct ps__metric_ask *ask, size_t operand);

/* Writes the index of each operand's event to operands. False if the set lacks an event. */
bool ps__metric_find_events(const struct ps_eventset *set, const struct ps__metric_ask *ask,
                            size_t *operands);

/* True if the metric is a share of the whole Machine. */
static inline bool ps__metric_is_share(const struct ps__metric *metric)
{
	return metric->whole != PS__METRIC_NO_WHOLE;
}

/* True if the metric makes an assumption, for example about the cost of tracing. Such a metric is
 * shown only if it is asked for. */
bool ps__metric_is_assumed(const char *metric);

/* The operands' sums, and the factor for each. */
struct ps__metric_values {
	const struct ps_value *sums[PS__METRIC_MOST_OPERANDS];
	double scales[PS__METRIC_MOST_OPERANDS];
	struct ps__formula_machine machine;
};
/* Sets the sum of an operand. scale: the scale of its event. */
void ps__metric_put(struct ps__metric_values *values, const struct ps__metric_ask *ask,
                    size_t operand, const struct ps_value *sum, double scale);
void ps__metric_compute(const struct ps__metric_ask *ask, const struct ps__metric_values *values,
                        struct ps_metric_value *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics inside: what each needs, and how it is computed. The
 * exporters take the sums from their table, where numerator and denominator are
 * of the same readings.
 */
#ifndef PS_ANALYSIS_METRIC_H
#define PS_ANALYSIS_METRIC_H

#include "analysis/formula.h"
#include "store/attrmap.h"

#include <perfsage/formula.h>
#include <perfsage/metric.h>

/* A metric's name and the modifiers of an event, whose name has up to 511
 * characters. */
#define PS__METRIC_NAME_BYTES 640

/* A metric needs at most so many events, each of which may have so many names. */
#define PS__METRIC_MOST_OPERANDS 32
#define PS__METRIC_MOST_NAMES    8

/* An event that a formula needs. */
struct ps__metric_operand {
	const char *symbol;                           /* as the formula calls it */
	const char *names[PS__METRIC_MOST_NAMES + 1]; /* up to a NULL: the first one that was
	                                                 counted is taken */
	bool is_whole; /* the sum of the whole Machine, whatever the component */
	bool has_line; /* of a file: the symbol stands for the event in the unit that is shown */
	/* A time of the run, beside events that are counted: it may be of another event set, as it
	 * is stored when the run is over. */
	bool is_of_run;
};

#define PS__METRIC_NO_WHOLE SIZE_MAX

/* A formula over the sums of events. */
struct ps__metric {
	const char *name;
	const char *unit;
	const char *description;
	const char *text;                      /* the formula's */
	const struct ps__metric *next_formula; /* for other machines; NULL: none */
	const struct ps__metric_group *group;  /* NULL: of ps_metric_define */
	struct ps_formula *tree;
	struct ps__metric_operand *operands;
	size_t count;
	size_t lead;  /* the operand whose modifiers are the metric's: no time, if there is one */
	size_t whole; /* the operand that is of the whole Machine */
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

/* A metric by the name that it was asked for: with the modifier of its
 * events. */
struct ps__metric_ask {
	const struct ps__metric *metric;
	const char *modifier; /* ":u", or ""; the end of the name that was asked for */
	bool has_run_times; /* the caller stores duration_time and its like when its run is over */
};

/* By a name with or without modifiers; NULL: there is no such metric. */
const struct ps__metric *ps__metric_of_name(const char *name);

/* What a heading says of the unit; "": nothing. */
const char *ps__metric_heading_unit(const struct ps__metric *metric);

/* PS_ENOEVNT: there is no such metric; the detail says which there are. */
int ps__metric_find(const char *name, struct ps__metric_ask *out);
/* Goes on to the metric's first formula whose events were counted: below a topology, or in a set.
 * Stays if there is none. */
void ps__metric_choose(struct ps__metric_ask *ask, const struct ps_topology *topology);
bool ps__metric_choose_events(struct ps__metric_ask *ask, const struct ps_eventset *set,
                              size_t *operands);

/* metric_operands.c: the operands' columns or events. */
struct ps__metric_places {
	ptrdiff_t at[PS__METRIC_MOST_OPERANDS];
};
/* False if the recording didn't count all operands; those of the run don't matter, and have the
 * place -1. Where an operand isn't supported, what the others counted is left out. */
bool ps__metric_find_columns(const struct ps__recording *recording,
                             const struct ps__metric_ask *ask, struct ps__metric_places *out);
/* The modifiers of a column that has one of the operand's names, or ""; NULL if it has none. */
const char *ps__metric_modifiers_in(const struct ps__column *column,
                                    const struct ps__metric_operand *operand);
/* Is each time of the run that the metric needs in any recording? */
bool ps__metric_has_run_times(const struct ps_topology *topology, const struct ps__metric_ask *ask);
/* A clock, or a time of the run: its modifier says nothing. */
bool ps__metric_is_time(const char *event);

/* The selector of an operand's sum, which lives as long as ask. It finds nothing in a recording
 * that didn't count all operands. */
struct ps__selector ps__metric_operand(const struct ps__metric_ask *ask, size_t operand);

/* The numbers of the operands in a set; of a share the same one twice. False if the set lacks one.
 */
bool ps__metric_find_events(const struct ps_eventset *set, const struct ps__metric_ask *ask,
                            size_t *operands);

/* Is it a share of the whole Machine? */
static inline bool ps__metric_is_share(const struct ps__metric *metric)
{
	return metric->whole != PS__METRIC_NO_WHOLE;
}

/* Does it rest on an assumption, as what tracing would cost? Such a metric is shown only where it
 * is asked for. */
bool ps__metric_is_assumed(const char *metric);

/* The operands' sums, and by what each is multiplied. */
struct ps__metric_values {
	const struct ps_value *sums[PS__METRIC_MOST_OPERANDS];
	double scales[PS__METRIC_MOST_OPERANDS];
	struct ps__formula_machine machine;
};
/* Sets the sum of an operand, whose event has this scale. */
void ps__metric_put(struct ps__metric_values *values, const struct ps__metric_ask *ask,
                    size_t operand, const struct ps_value *sum, double scale);
void ps__metric_compute(const struct ps__metric_ask *ask, const struct ps__metric_values *values,
                        struct ps_metric_value *out);

#endif

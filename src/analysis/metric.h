/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics inside: what each needs, and how it is computed. The
 * exporters take the sums from their table, where numerator and denominator are
 * of the same readings.
 */
#ifndef PS_ANALYSIS_METRIC_H
#define PS_ANALYSIS_METRIC_H

#include "store/attrmap.h"

#include <perfsage/formula.h>
#include <perfsage/metric.h>

/* A metric's name and the modifiers of an event, whose name has up to 511
 * characters. */
#define PS__METRIC_NAME_BYTES 640

/* A formula that a program defines needs at most so many events. */
#define PS__METRIC_MOST_OPERANDS 32

struct ps__metric_formula {
	struct ps_formula *tree;
	const char *operands[PS__METRIC_MOST_OPERANDS]; /* names of the tree's */
	size_t count;
};

/*
 * A ratio: numerator / denominator * factor is in unit. Of the names that an
 * event may have, a recording's first one counts. Or a formula, whose operands
 * are events' names.
 */
struct ps__metric {
	const char *name;
	const char *unit;
	double factor;
	const char *numerators[4];
	const char *denominators[4]; /* none: the numerator of the whole Machine */
	const char *description;
	const struct ps__metric_formula *formula; /* NULL: a ratio */
};

/* A metric by the name that it was asked for: with the modifier of its
 * events. */
struct ps__metric_ask {
	const struct ps__metric *metric;
	const char *modifier; /* ":u", or ""; the end of the name that was asked for */
};

/* NULL: there is no such metric. */
const struct ps__metric *ps__metric_of_name(const char *name);

/* What a heading says of the unit; "": nothing. */
const char *ps__metric_heading_unit(const struct ps__metric *metric);

/* PS_ENOEVNT: there is no such metric; the detail says which there are. */
int ps__metric_find(const char *name, struct ps__metric_ask *out);

/* metric_operands.c: the operands' columns or events. */
struct ps__metric_places {
	ptrdiff_t at[PS__METRIC_MOST_OPERANDS];
};
/* False if the recording didn't count all operands. Where one of them isn't supported, what the
 * others counted is left out. */
bool ps__metric_find_columns(const struct ps__recording *recording,
                             const struct ps__metric_ask *ask, struct ps__metric_places *out);
/* The end of a name that begins with an event's: its modifiers, or ""; NULL if it is another event.
 */
const char *ps__metric_modifiers_of(const char *name, const char *event);
/* A clock: its modifier says nothing. */
bool ps__metric_is_clock(const char *event);

/* Of a ratio: the numerator, then the denominator; of a formula its events. */
static inline size_t ps__metric_operand_count(const struct ps__metric_ask *ask)
{
	return ask->metric->formula ? ask->metric->formula->count : 2;
}

/* The selector of an operand's sum, which lives as long as ask. It finds nothing in a recording
 * that didn't count all operands. */
struct ps__selector ps__metric_operand(const struct ps__metric_ask *ask, size_t operand);

/* The numbers of the operands in a set; of a share the same one twice. False if the set lacks one.
 */
bool ps__metric_find_events(const struct ps_eventset *set, const struct ps__metric_ask *ask,
                            size_t *operands);

static inline bool ps__metric_is_share(const struct ps__metric_ask *ask)
{
	return !ask->metric->formula && !ask->metric->denominators[0];
}

/* The operands' sums, and the events' scales. root: of the topology that they are of. */
struct ps__metric_values {
	const struct ps_value *sums[PS__METRIC_MOST_OPERANDS];
	double scales[PS__METRIC_MOST_OPERANDS];
	const struct ps_component *root;
};
void ps__metric_compute(const struct ps__metric_ask *ask, const struct ps__metric_values *values,
                        struct ps_metric_value *out);

/* metric_formula.c: what programs have defined, in a list that readers follow while others are
 * added.
 */
struct ps__metric_defined {
	struct ps__metric metric; /* the first member: a metric of the list leads to its entry */
	_Atomic(struct ps__metric_defined *) next;
	struct ps__metric_formula formula;
	char *strings[3]; /* name, unit, text of the formula */
};
/* At the end; one caller at a time. */
void ps__metric_list_defined(struct ps__metric_defined *defined);
/* NULL if there is none; one caller at a time, and no reader. */
struct ps__metric_defined *ps__metric_unlist_defined(const char *name);
/* A name in any case; NULL if there is none. */
const struct ps__metric *ps__metric_find_defined(const char *name);
/* One after the other, NULL for the first and behind the last. */
const struct ps__metric *ps__metric_next_defined(const struct ps__metric *metric);
void ps__metric_compute_formula(const struct ps__metric *metric,
                                const struct ps__metric_values *values,
                                struct ps_metric_value *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics inside: what each needs, and how it is computed. The
 * exporters take the sums from their table, where numerator and denominator are
 * of the same readings.
 */
#ifndef PS_ANALYSIS_METRIC_H
#define PS_ANALYSIS_METRIC_H

#include "store/attrmap.h"

#include <perfsage/metric.h>

/* A metric's name and the modifiers of an event, whose name has up to 511
 * characters. */
#define PS__METRIC_NAME_BYTES 640

/* numerator / denominator * factor is in unit. Of the names that an event may
 * have, a recording's first one counts. */
struct ps__metric {
	const char *name;
	const char *unit;
	double factor;
	const char *numerators[4];
	const char *denominators[4]; /* none: the numerator of the whole Machine */
	const char *description;
};

/* A metric by the name that it was asked for: with the modifier of its
 * events. */
struct ps__metric_ask {
	const struct ps__metric *metric;
	const char *modifier; /* ":u", or ""; the end of the name that was asked for */
};

/* PS_ENOEVNT: there is no such metric; the detail says which there are. */
int ps__metric_find(const char *name, struct ps__metric_ask *out);

/* Selectors of the two sums, which live as long as ask. Both find nothing in a
 * recording that didn't count both. */
struct ps__selector ps__metric_numerator(const struct ps__metric_ask *ask);
struct ps__selector ps__metric_denominator(const struct ps__metric_ask *ask);

/* The numbers of the two events in a set; the same one of a share. False if the set lacks one. */
bool ps__metric_find_events(const struct ps_eventset *set, const struct ps__metric_ask *ask,
                            size_t *numerator, size_t *denominator);

static inline bool ps__metric_is_share(const struct ps__metric_ask *ask)
{
	return !ask->metric->denominators[0];
}

void ps__metric_compute(const struct ps__metric *metric, const struct ps_value *numerator,
                        const struct ps_value *denominator, struct ps_metric_value *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics: instructions per cycle, GHz, miss ratios, shares of time. A metric is computed from the totals
 * of the events that it needs, over the event sets that counted them all, and has a value only if all of them
 * were counted: where one was never scheduled or is not supported, the metric is unknown (NaN).
 *
 * A modifier of the events is the metric's, too: "IPC:u" is what "instructions:u" and "cycles:u" give.
 */
#ifndef PERFSAGE_METRIC_H
#define PERFSAGE_METRIC_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A metric of one component, and how it is known. */
struct ps_metric_value {
	double value;                    /* in the metric's unit; NaN if it is unknown */
	uint64_t timestamp;              /* the newest of the readings that it comes from */
	enum ps_status status;           /* the weakest of the events' */
	enum ps_attribution attribution; /* the same */
	uint32_t flags;                  /* of enum ps_value_flag: all that the events have */
};

/**
 * A metric of a component: the ratio of what ps_component_total gives for the events that it needs, counted
 * over those event sets that have them all.
 *
 * metric: "IPC", "GHz", "cache-miss-ratio", ..., in any case of letters, with or without a modifier; ps_metric(3) has
 * them all. out: untouched on failure. Its value is NaN where an event's count is unknown or the divisor is 0.
 * PS_EINVAL: a NULL. PS_ENOEVNT: there is no such metric (the detail has their names), or no event set counted what
 * it needs below the component (the detail says which events it needs). PS_EINVAL_DOM: an event's scope is wider
 * than the component.
 * Any thread, also while sets are counting. Cost: that of a few ps_component_total. No lock, no allocation.
 */
PS_PUBLIC int ps_component_metric(const struct ps_component *component, const char *metric,
                                  struct ps_metric_value *out);

/**
 * A metric of sums that the caller made, such as those over several runs: their ratio, not a mean of ratios.
 *
 * sums: a value for each event of the set, in their order; only read. whole: the same of the whole Machine, for shares of
 * it; NULL: sums is that. out: as ps_component_metric; untouched on failure.
 * PS_EINVAL: a NULL. PS_ENOEVNT: there is no such metric, or the set lacks what it needs. Any thread. No lock, no allocation.
 */
PS_PUBLIC int ps_metric_of_sums(const struct ps_eventset *set, const char *metric, const struct ps_value *sums,
                                const struct ps_value *whole, struct ps_metric_value *out);

/**
 * Calls visit with the name of each metric that ps_component_metric gives for a component, those too that are unknown
 * (NaN); or, with NULL, with the names of all metrics that there are.
 *
 * visit: returns 0 to go on; any other number ends the walk and is returned. name: valid during the call only: copy
 * it. context is handed through. Returns 0 after a whole walk; PS_EINVAL: visit is NULL.
 */
PS_PUBLIC int ps_metric_for_each(const struct ps_component *component, int (*visit)(const char *name, void *context),
                                 void *context);

/** The unit: "instructions/cycle", "GHz", "%"; NULL if there is no such metric. A constant string. */
PS_PUBLIC const char *ps_metric_unit(const char *metric);

/** What it means, as one short English sentence; NULL if there is no such metric. A constant string. */
PS_PUBLIC const char *ps_metric_description(const char *metric);

#ifdef __cplusplus
}
#endif
#endif

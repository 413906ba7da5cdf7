/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics: instructions per cycle, GHz, miss ratios, shares of time.
 *
 * Metrics are formulas in text files, and each file has one group of metrics. The files of
 * perfsage are part of the library; the program loads other files. A metric is computed from the
 * totals of the events that it needs, over the event sets that counted all of these events. If an
 * event that the formula evaluates was never scheduled or is incomplete, the metric is unknown
 * (NaN). A set that supports only some of the events is left out. The times of a run
 * (duration_time, user_time, system_time) can be of another set than the other events.
 *
 * The first call that asks for a metric reads the built-in metrics. It allocates some memory, which
 * stays. If there is no memory, the call returns PS_ENOMEM; ps_metric_unit, _description, _formula
 * and _group return NULL.
 *
 * A modifier of the events is also the metric's modifier: "IPC:u" is computed from
 * "instructions:u" and "cycles:u".
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
	enum ps_status status;           /* the weakest status of the events */
	enum ps_attribution attribution; /* the weakest attribution of the events */
	uint32_t flags;                  /* of enum ps_value_flag: the flags of all events */
};

/**
 * Computes a metric of a component.
 *
 * The formula is computed from the totals that ps_component_total gives for the
 * metric's events, but only over the event sets that have all of these events. A
 * share divides the component's total by the total of the whole Machine.
 *
 * If a metric has several formulas, the call takes the first formula whose events
 * were counted anywhere in the topology. So all components have the same formula, and
 * their values can be compared. If this formula can't be computed for the component,
 * the call fails, even if a later formula could be computed.
 *
 * component - any component
 * metric - "IPC", "GHz", "cache-miss-ratio", ..., in upper or lower case, with
 *     or without a modifier; ps_metric(3) lists them
 * out - receives the metric; the value is NaN if an event's count is unknown, or
 *     the formula divides by 0 or overflows; untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - there is no such metric (ps_error_detail() gives the names of all metrics), or no
 *       event set counted its events below the component (ps_error_detail() names these events)
 *   PS_EINVAL_DOM - an event's scope is wider than the component
 *
 * Any thread, also while sets are counting. No lock, no allocation. Cost: that
 * of a few ps_component_total.
 */
PS_PUBLIC int ps_component_metric(const struct ps_component *component, const char *metric,
                                  struct ps_metric_value *out);

/**
 * Computes a metric of sums that the caller made, such as sums over several
 * runs.
 *
 * The metric is the ratio of the sums, not a mean of ratios.
 *
 * set - the set whose events were added up
 * metric - as for ps_component_metric
 * sums - a value for each event of the set, in their order; only read
 * whole - the values of the whole Machine in the same order, for shares of the
 *     Machine; NULL: sums has the values of the whole Machine
 * out - as for ps_component_metric; untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - there is no such metric, or the set lacks its events
 *
 * Any thread. No lock, no allocation.
 */
PS_PUBLIC int ps_metric_of_sums(const struct ps_eventset *set, const char *metric,
                                const struct ps_value *sums, const struct ps_value *whole,
                                struct ps_metric_value *out);

/**
 * Loads metrics from a file, or from all files *.metrics of a directory.
 *
 * perfsage-metrics(5) describes the format. A metric replaces an earlier metric of the
 * same name, also a built-in one.
 *
 * path - NULL: the user's metrics. These are the files in the directory perfsage/metrics in
 *     $XDG_CONFIG_HOME (or in ~/.config), if this directory can be reached, and the files and
 *     directories that $PERFSAGE_METRICS names, with colons between them; each of the latter
 *     must exist. A set-user-ID or set-group-ID program, or a program with the file capability
 *     CAP_DAC_OVERRIDE or CAP_DAC_READ_SEARCH, loads none of the user's metrics.
 *
 * If a file is wrong, none of its metrics is loaded, and the other files are loaded. The call
 * returns the first failure.
 *
 * Errors:
 *   PS_EINVAL - a file is wrong: ps_error_detail() gives file, line, column, and what is expected
 *       there
 *   PS_ECOUNT - a formula needs more than 32 events, or two sums of the whole Machine, or is too
 *       long with the metrics that it names
 *   PS_EPERM - the user is not allowed to read a file or directory
 *   PS_ESYS - a file or directory can't be read for another reason
 *   PS_ENOMEM - out of memory
 *
 * Any thread, also while others compute metrics. The metrics are for all threads of the process.
 */
PS_PUBLIC int ps_metric_load(const char *path);

/**
 * Adds the events of a metric, or of all metrics of a group, to an event set.
 *
 * If an event has several names, the first name that can be counted here is used. If a
 * metric has several formulas, the first formula whose events can be counted is used.
 * Events that the set has already stay as they are.
 *
 * set - not running
 * name - of a metric, with or without a modifier ("IPC:u"), or of a group. Metrics of
 *     the group that can't be counted here are left out; if no metric can be counted,
 *     the call fails.
 *
 * Errors: as for ps_eventset_add, and
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - there is no such metric or group, or no such event here: ps_error_detail() says
 *       which
 *
 * A failure leaves the set as it was. Only the thread that owns the set may make the call.
 */
PS_PUBLIC int ps_metric_add_events(struct ps_eventset *set, const char *name);

/**
 * Defines a metric by a formula.
 *
 * After the call, ps_component_metric and ps_metric_of_sums give the metric, and the
 * printed tree, the exports and the reports of regions show the metric if its events
 * were counted.
 *
 * name - letters, digits, '_', '-', '.' and '/', at most 639 characters; copied. Its
 *     case doesn't matter when it is looked up.
 * formula - see ps_formula(3); copied. Needs 1 to 32 events. An event is found by the
 *     name that is shown or the name that was added.
 * unit - copied; NULL: none
 *
 * Errors:
 *   PS_EINVAL - name or formula is NULL; the name is empty, too long, or has another
 *       character; the formula has a syntax error (ps_error_detail() gives line and
 *       column), or names no event
 *   PS_ECNFLCT - a metric of this name exists already
 *   PS_ECOUNT - the formula needs more than 32 events
 *   PS_ENOMEM - out of memory
 *
 * Any thread, also while others compute metrics. The metric is for all threads of the process.
 */
PS_PUBLIC int ps_metric_define(const char *name, const char *formula, const char *unit);

/**
 * Removes a metric that was defined or loaded. If this metric had replaced another
 * metric, the other metric is used again.
 *
 * No other thread is allowed to compute or list metrics during this call.
 *
 * Errors:
 *   PS_EINVAL - name is NULL
 *   PS_ENOEVNT - no metric of that name was defined or loaded
 */
PS_PUBLIC int ps_metric_undefine(const char *name);

/**
 * Calls visit with the name of each metric of a component.
 *
 * These are the metrics that ps_component_metric gives, also metrics whose value is
 * unknown (NaN).
 *
 * component - NULL: visit gets the names of all known metrics
 * visit - returns 0 to go on; any other number ends the walk and is returned.
 *     name is valid during the call only: copy it.
 * context - handed through to visit
 *
 * Returns 0 after a whole walk.
 *
 * Errors:
 *   PS_EINVAL - visit is NULL
 *   PS_ENOMEM - there is no memory for the built-in metrics
 */
PS_PUBLIC int ps_metric_for_each(const struct ps_component *component,
                                 int (*visit)(const char *name, void *context), void *context);

/**
 * The unit of a metric: "instructions/cycle", "GHz", "%".
 *
 * Returns a constant string, or NULL if there is no such metric. The string of a
 * metric that was defined or loaded lives as long as the metric.
 */
PS_PUBLIC const char *ps_metric_unit(const char *metric);

/**
 * The meaning of a metric, as one short English sentence. The meaning of a metric of
 * ps_metric_define is its formula.
 *
 * Returns a constant string, or NULL if there is no such metric. The string of a
 * metric that was defined or loaded lives as long as the metric.
 */
PS_PUBLIC const char *ps_metric_description(const char *metric);

/**
 * The formula of a metric, as it was written; the first formula, if there are several.
 *
 * Returns a string that lives as long as the metric, or NULL if there is no such
 * metric.
 */
PS_PUBLIC const char *ps_metric_formula(const char *metric);

/**
 * The group of a metric: "cycles", "caches".
 *
 * Returns a string that lives as long as the metric; "" for a metric of
 * ps_metric_define; NULL if there is no such metric.
 */
PS_PUBLIC const char *ps_metric_group(const char *metric);

#ifdef __cplusplus
}
#endif
#endif

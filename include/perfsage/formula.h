/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas: numbers that are computed from counts, written as text.
 */
#ifndef PERFSAGE_FORMULA_H
#define PERFSAGE_FORMULA_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>
#include <perfsage/metric.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A parsed formula. It never changes. */
struct ps_formula;

/**
 * Reads a formula in the grammar of perf's metric expressions.
 *
 * "instructions / cycles", "d_ratio(branch\\-misses, branches)",
 * "100 * a / (a + b) if #smt_on else a": see ps_formula(3).
 *
 * out - receives the formula, which is the caller's; untouched on failure
 * text - UTF-8; copied
 *
 * Errors:
 *   PS_EINVAL - out or text is NULL; text has a syntax error, more than 63
 *       parentheses and choices open at once, or a number of 64 characters or
 *       more: ps_error_detail() gives the line, the column and what was expected
 *   PS_ENOMEM - out of memory
 *
 * Any thread. Cost: in proportion to the text's length and the number of names
 * in it.
 */
PS_PUBLIC int ps_formula_create(struct ps_formula **out, const char *text);

/**
 * The name number `index` of a formula, from 0; NULL beyond the last. Each name
 * has one number, in the order of the text.
 *
 * A name is an event ("cycles:u", "cpu/event=0x3c/"; \- of the text is given as -,
 * and @ as /), a number of the machine ("#num_cpus"), or a question
 * ("has_event(cycles)", "source_count(x)", "strcmp_cpuid_str(y)").
 *
 * The string lives as long as the formula.
 */
PS_PUBLIC const char *ps_formula_name(const struct ps_formula *formula, size_t index);

/**
 * Gives the value of a name.
 *
 * name - from the formula
 * number - receives the number; NaN if the number is not known
 * value - receives how the number is known: status, attribution, flags and
 *     timestamp; all 0 before the call, which is right for a plain number
 * context - as given to ps_formula_evaluate
 *
 * Returns PS_OK, or a code, which ends the evaluation.
 */
typedef int ps_formula_look_up(void *context, const char *name, double *number,
                               struct ps_value *value);

/**
 * Computes a formula with numbers from anywhere.
 *
 * Only names that the evaluation needs are looked up. For "a if c else b" these are
 * c and then either a or b, or only c if c is not known.
 *
 * formula - not changed: several threads can use it at the same time
 * look_up - is called for each needed name, each time that the name is needed
 * context - for look_up
 * out - receives the number; NaN if a needed number is not known, if a divisor
 *     is 0 (d_ratio gives 0 then), or if a number is too large: beyond a double,
 *     or for |, ^, & and % beyond 64 bits. status and attribution are the weakest
 *     of the needed values, timestamp is the newest of them, and flags has the
 *     flags of all of them. Untouched on failure.
 *
 * Returns PS_OK, or what look_up returned.
 *
 * Errors:
 *   PS_EINVAL - formula, look_up or out is NULL
 *
 * Any thread. Allocates nothing.
 */
PS_PUBLIC int ps_formula_evaluate(const struct ps_formula *formula, ps_formula_look_up *look_up,
                                  void *context, struct ps_metric_value *out);

/**
 * Computes a formula with values of an event set.
 *
 * The values are those of a reading (ps_eventset_values) or of the interval
 * between two snapshots (ps_snapshot_difference), or are sums that the program made.
 *
 * formula - its events are in the set, under the name that is shown or the name
 *     that was added
 * set - the set of the values; only the names of its events, and whether it counts
 *     a CPU, are used
 * values - a value for each event, in the set's order. As perf does, a formula
 *     has the count without the event's scale (ps_eventset_event_scale), and
 *     duration_time, user_time and system_time in seconds. A count that was
 *     never scheduled, is not supported or is incomplete is not known.
 * root - of a topology, for #num_cpus, #num_cpus_online, #num_cores,
 *     #num_packages, #num_dies, #smt_on and, for counts of a CPU, #core_wide;
 *     NULL: these numbers are not known
 * out - as for ps_formula_evaluate
 *
 * Errors:
 *   PS_EINVAL - formula, set, values or out is NULL
 *   PS_ENOEVNT - the evaluation needs an event that the set does not count:
 *       ps_error_detail() names the event
 *
 * Any thread that is allowed to ask the set for the names of its events. Allocates
 * nothing.
 */
PS_PUBLIC int ps_formula_value(const struct ps_formula *formula, const struct ps_eventset *set,
                               const struct ps_value *values, const struct ps_component *root,
                               struct ps_metric_value *out);

/** Frees a formula; NULL does nothing. */
PS_PUBLIC void ps_formula_destroy(struct ps_formula *formula);

#ifdef __cplusplus
}
#endif
#endif

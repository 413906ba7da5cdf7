/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes in words how values are known, for a line of output and for the legend below a
 * table. */
#ifndef PS_OUTPUT_KNOWN_H
#define PS_OUTPUT_KNOWN_H

#include "output/buffer.h"

#include <perfsage/metric.h>

/* The attributions, statuses and flags of several values. */
struct ps__known {
	unsigned attributions; /* bits by enum ps_attribution */
	unsigned statuses;     /* bits by enum ps_status */
	uint32_t flags;
	double lowest;  /* lowest coverage of the scaled values */
	double highest; /* highest coverage of the scaled values */
	bool is_whole;  /* last-cpu values were shown for the whole machine only */
};

void ps__known_note(struct ps__known *known, const struct ps_value *value);
void ps__known_note_metric(struct ps__known *known,
                           const struct ps_metric_value *value); /* for the legend */

/* Adds words such as "pinned" or "last-cpu, scaled, coverage 25-50%, moved"; adds nothing if no
 * value was noted. */
void ps__known_add_words(struct ps__buffer *buffer, const struct ps__known *known);

/* How an event's or a metric's numbers are written. */
struct ps__look {
	const char *unit; /* count * scale is in unit; "" for a plain count */
	double scale;
	bool si;       /* four digits and an SI prefix */
	bool is_share; /* the value is an estimate although the sum was counted: see
	                * ps__table_is_share */
};

/* Adds the value of a table's cell: "42", "~42" for an estimate, "never", "n/s"; then "u" if it was
 * counted in user space only. */
void ps__known_add_value(struct ps__buffer *buffer, const struct ps_value *value,
                         const struct ps__look *look);

/* Adds one of several values, such as the largest, if it isn't kept how each of them is known.
 * weakest: as in ps__known_prefix_of_some. */
void ps__known_add_one_of(struct ps__buffer *buffer, long long number,
                          const struct ps_value *weakest, const struct ps__look *look);

/* Adds the mean of several values. value: tells how these values are known. */
void ps__known_add_mean(struct ps__buffer *buffer, const struct ps_value *value, double mean,
                        const struct ps__look *look);

/* Returns the prefix of a number derived from several values, such as a mean: "", "~", ">=" or
 * ">=~". weakest tells how their sum is known. If the sum is a lower bound, some of the values may
 * be estimates. */
const char *ps__known_prefix_of_some(const struct ps_value *weakest, const struct ps__look *look);

/* Adds a metric's value for a cell; adds nothing if its divisor is 0. */
void ps__known_add_metric(struct ps__buffer *buffer, const struct ps_metric_value *value,
                          const struct ps__look *look);

/* Returns the unit for a column's heading; "" if each value shows its own unit, as times with SI
 * prefixes do. */
const char *ps__known_heading_unit(const struct ps__look *look);

/* Returns the mark after a number: "u" or "" (" u" after a number that may end in a unit or a
 * prefix). */
const char *ps__known_mark(enum ps_status status, uint32_t flags, const struct ps__look *look);

/* True if the value has a number: exact, estimated or a lower bound. */
bool ps__known_has_number(enum ps_status status);

/* True if the kernel or a binding tells where all of the value was counted. Other components then
 * counted 0. */
bool ps__known_has_place(const struct ps_value *value);
/* Returns the count of a component that has none of the events. sum: of all components, for which
 * ps__known_has_place is true. */
struct ps_value ps__known_zero(const struct ps_value *sum);

/* True if a component's value is an estimate because it is a share of a mixed count. The sum of all
 * shares was counted. has_elsewhere: a part of the count may belong to a hardware thread that isn't
 * in the tree.
 */
bool ps__known_is_share(const struct ps_value *value, const struct ps_component *component,
                        bool has_elsewhere);

/* True if the value gets the mark "u". */
bool ps__known_is_user_only(enum ps_status status, uint32_t flags);

/* Adds a line for each word and sign that was used. Meanings begin after PS__KNOWN_INDENT
 * characters. */
#define PS__KNOWN_INDENT 13
void ps__known_add_legend(struct ps__buffer *buffer, const struct ps__known *known);
/* Adds a line for a metric that has no number in any row, although its events are counted. */
void ps__known_add_unknown(struct ps__buffer *buffer, const char *metric);

#endif

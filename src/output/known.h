/* SPDX-License-Identifier: BSD-3-Clause */
/* Says in words how values are known: for one line of output, and in the legend below all. */
#ifndef PS_OUTPUT_KNOWN_H
#define PS_OUTPUT_KNOWN_H

#include "output/buffer.h"

#include <perfsage/metric.h>

/* Collects attributions, statuses and flags of several values. */
struct ps__known {
	unsigned attributions; /* bits by enum ps_attribution */
	unsigned statuses;     /* bits by enum ps_status */
	uint32_t flags;
	double lowest;  /* coverage of the scaled ones */
	double highest; /* the same */
	bool is_whole;  /* what is last-cpu was shown of the whole machine alone */
};

void ps__known_note(struct ps__known *known, const struct ps_value *value);
void ps__known_note_metric(struct ps__known *known,
                           const struct ps_metric_value *value); /* for the legend */

/* "pinned", "last-cpu, scaled, coverage 25-50%, moved"; nothing if nothing was
 * noted. */
void ps__known_add_words(struct ps__buffer *buffer, const struct ps__known *known);

/* The notation of an event's values. */
struct ps__look {
	const char *unit; /* count * scale is in unit; "" for a plain count */
	double scale;
	bool si;       /* four digits and a prefix */
	bool is_share; /* an estimate, though the sum was counted: ps__table_is_share */
};

/* The value in a table's cell: "42", "~42" for an estimate, "never", "n/s";
 * then "u" if it's of user space alone. */
void ps__known_add_value(struct ps__buffer *buffer, const struct ps_value *value,
                         const struct ps__look *look);

/* The same for the mean of several, of which the value says how they are
 * known. */
void ps__known_add_mean(struct ps__buffer *buffer, const struct ps_value *value, double mean,
                        const struct ps__look *look);

/* The sign before a number that is drawn from several values, as a mean, of which the sum is known
 * so: of a lower bound's some may be estimates. "", "~", ">=" or ">=~". */
const char *ps__known_prefix_of_some(const struct ps_value *weakest, const struct ps__look *look);

/* The same for a metric; nothing where its divisor is 0. */
void ps__known_add_metric(struct ps__buffer *buffer, const struct ps_metric_value *value,
                          const struct ps__look *look);

/* The unit that a heading tells; "" where each value has it, as times with SI
 * prefixes do. */
const char *ps__known_heading_unit(const struct ps__look *look);

/* What stands behind it: "u", behind what may have a unit or a prefix " u"; or
 * nothing. */
const char *ps__known_mark(enum ps_status status, uint32_t flags, const struct ps__look *look);

/* Is there a number, exact, estimated or the least that it can be? */
bool ps__known_has_number(enum ps_status status);

/* Was all of it counted where the kernel, or a binding, says? Then there is none elsewhere. */
bool ps__known_has_place(const struct ps_value *value);

/* Is the value of a component an estimate, as the share that it has of a mixed count? The sum of
 * all shares was counted. has_elsewhere: a part of the count may be in no hardware thread of the
 * tree.
 */
bool ps__known_is_share(const struct ps_value *value, const struct ps_component *component,
                        bool has_elsewhere);

/* Does the "u" stand behind it? */
bool ps__known_is_user_only(enum ps_status status, uint32_t flags);

/* A line for each word and sign that was used; its meaning begins behind
 * PS__KNOWN_INDENT characters. */
#define PS__KNOWN_INDENT 13
void ps__known_add_legend(struct ps__buffer *buffer, const struct ps__known *known);
/* A line for a metric that has a number nowhere, though its events are counted. */
void ps__known_add_unknown(struct ps__buffer *buffer, const char *metric);

#endif

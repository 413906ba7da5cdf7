/* SPDX-License-Identifier: BSD-3-Clause */
/* How perfsage stat writes the counts that the library doesn't print: as the library does, in the event's unit. */
#ifndef PS_TOOLS_STAT_VALUE_H
#define PS_TOOLS_STAT_VALUE_H

#include "export/json_writer.h"

#include <perfsage.h>
#include <stdbool.h>
#include <stdio.h>

/* "energy-pkg (Joules)"; times say their unit in each cell, unless they are raw. */
void stat_value_add_heading(struct ps__buffer *out, const struct ps_eventset *model, size_t event, bool is_raw);

/* "~12.35M", "592.4 us u", "never", "n/s". */
void stat_value_add(struct ps__buffer *out, const struct ps_eventset *model, size_t event,
                    const struct ps_value *value, bool is_raw);
void stat_value_add_mean(struct ps__buffer *out, const struct ps_eventset *model, size_t event,
                         const struct ps_value *value, double mean, bool is_raw);
void stat_metric_add(struct ps__buffer *out, const char *metric, const struct ps_metric_value *value, bool is_raw);

/* "value", "count", "unit" and how they are known, as members of an object. */
void stat_value_add_json(struct ps__json *json, const struct ps_eventset *model, size_t event,
                         const struct ps_value *value);

bool stat_value_is_known(enum ps_status status);

#endif

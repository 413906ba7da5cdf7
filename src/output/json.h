/* SPDX-License-Identifier: BSD-3-Clause */
/* What every JSON document has, of the tree and of regions; share/perfsage.schema.json is the
 * schema. */
#ifndef PS_OUTPUT_JSON_H
#define PS_OUTPUT_JSON_H

#include "analysis/metric.h"
#include "output/json_writer.h"
#include "topology/tree.h"

#include <perfsage/export.h>

/* Members of an object. */
void ps__json_add_fields(struct ps__json *json, const struct ps_export_field *fields,
                         size_t field_count);

/* "perfsage", "schema", "run" if there are fields, and "machine". */
void ps__json_add_head(struct ps__json *json, const struct ps_topology *topology,
                       const struct ps_export_field *fields, size_t field_count);

/* Items of "events" and "metrics", in a line each. */
void ps__json_add_event(struct ps__json *json, const char *event, const char *unit, double scale,
                        enum ps_scope scope);
void ps__json_describe_metric(struct ps__json *json, const char *name,
                              const struct ps__metric *metric);

/* A metric's value and how it is known, in a line. share: NULL for none. */
void ps__json_add_metric(struct ps__json *json, const char *name, const struct ps__metric *metric,
                         const char *share, const struct ps_metric_value *value);

#endif

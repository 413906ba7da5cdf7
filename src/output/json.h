/* SPDX-License-Identifier: BSD-3-Clause */
/* What the JSON documents by component and by region have in common. Their schema is
 * share/perfsage.schema.json. */
#ifndef PS_OUTPUT_JSON_H
#define PS_OUTPUT_JSON_H

#include "analysis/metric.h"
#include "output/json_writer.h"
#include "topology/tree.h"

#include <perfsage/export.h>

/* Adds the fields as members of the open object. */
void ps__json_add_fields(struct ps__json *json, const struct ps_export_field *fields,
                         size_t field_count);

/* Adds "type", "id", "os_id" and "name" of a component, which identify it. */
void ps__json_add_component(struct ps__json *json, const struct ps_component *component);

/* Adds "perfsage", "schema", "run" (only if there are fields) and "machine". */
void ps__json_add_head(struct ps__json *json, const struct ps_topology *topology,
                       const struct ps_export_field *fields, size_t field_count);

/* Add one item of "events" or "metrics", on one line. */
void ps__json_add_event(struct ps__json *json, const char *event, const char *unit, double scale,
                        enum ps_scope scope);
void ps__json_describe_metric(struct ps__json *json, const char *name,
                              const struct ps__metric *metric);

/* Adds a metric's value and how it is known, on one line. share: NULL for no member "share". */
void ps__json_add_metric(struct ps__json *json, const char *name, const struct ps__metric *metric,
                         const char *share, const struct ps_metric_value *value);

#endif

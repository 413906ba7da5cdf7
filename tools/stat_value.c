/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as text and as members of JSON: number, unit, and how they are known. */
#include "tools/stat_value.h"

#include "export/known.h"
#include "export/label.h"
#include "export/report.h"

#include <math.h>

bool stat_value_is_known(enum ps_status status)
{
	return status == PS_STATUS_COUNTED || status == PS_STATUS_SCALED || status == PS_STATUS_INCOMPLETE;
}

static struct ps__look look_of(const struct ps_eventset *model, size_t event, bool is_raw)
{
	return (struct ps__look){.unit = ps_eventset_event_unit(model, event),
	                         .scale = ps_eventset_event_scale(model, event),
	                         .si = !is_raw};
}

void stat_value_add_heading(struct ps__buffer *out, const struct ps_eventset *model, size_t event, bool is_raw)
{
	struct ps__look look = look_of(model, event, is_raw);

	ps__label_add_event(out, ps_eventset_event_name(model, event), ps__known_heading_unit(&look));
}

void stat_value_add(struct ps__buffer *out, const struct ps_eventset *model, size_t event,
                    const struct ps_value *value, bool is_raw)
{
	struct ps__look look = look_of(model, event, is_raw);

	ps__known_add_value(out, value, &look);
}

void stat_value_add_mean(struct ps__buffer *out, const struct ps_eventset *model, size_t event,
                         const struct ps_value *value, double mean, bool is_raw)
{
	struct ps__look look = look_of(model, event, is_raw);

	ps__known_add_mean(out, value, mean, &look);
}

void stat_metric_add(struct ps__buffer *out, const char *metric, const struct ps_metric_value *value, bool is_raw)
{
	struct ps__look look = {.unit = ps_metric_unit(metric), .scale = 1, .si = !is_raw};

	ps__known_add_metric(out, value, &look);
}

void stat_value_add_json(struct ps__json *json, const struct ps_eventset *model, size_t event,
                         const struct ps_value *value)
{
	const char *unit = ps_eventset_event_unit(model, event);

	if (ps__report_is_known(value)) {
		ps__json_add_scaled(json, "value", value->value, ps_eventset_event_scale(model, event));
		ps__json_add_integer(json, "count", value->value);
	} else {
		ps__json_add_null(json, "value");
		ps__json_add_null(json, "count");
	}
	ps__json_add_string(json, "unit", *unit ? unit : "count");
	ps__json_add_how(json, value->status, value->attribution, value->flags);
}

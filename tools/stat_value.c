/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as text and as members of JSON: number, unit, and how they are known. */
#include "tools/stat_value.h"

#include "export/known.h"
#include "export/label.h"
#include "tools/json.h"

#include <math.h>

bool stat_value_is_known(enum ps_status status)
{
	return status == PS_STATUS_COUNTED || status == PS_STATUS_SCALED || status == PS_STATUS_INCOMPLETE;
}

bool stat_value_has_number(const struct ps_value *how, double count)
{
	return stat_value_is_known(how->status) && (how->status != PS_STATUS_INCOMPLETE || count != 0);
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

static void put_flags(uint32_t flags, FILE *stream)
{
	const char *flag;

	for (size_t index = 0; (flag = ps_value_flag_name(flags, index)); index++)
		fprintf(stream, "%s\"%s\"", index ? "," : "", flag);
}

void stat_value_put_how(const char *unit, enum ps_status status, enum ps_attribution attribution, uint32_t flags,
                        FILE *stream)
{
	fputs(",\"unit\":", stream);
	tool_json_put_text(*unit ? unit : "count", stream);
	fprintf(stream, ",\"status\":\"%s\",\"attribution\":\"%s\",\"flags\":[", ps_status_name(status),
	        ps_attribution_name(attribution));
	put_flags(flags, stream);
	fputc(']', stream);
}

void stat_value_put_number(double number, FILE *stream)
{
	if (isfinite(number))
		fprintf(stream, "%.17g", number);
	else
		fputs("null", stream);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as text and as members of JSON: number, unit, and how they are known. */
#include "tools/stat_value.h"

#include "tools/json.h"

#include <math.h>
#include <string.h>

bool stat_value_is_known(enum ps_status status)
{
	return status == PS_STATUS_COUNTED || status == PS_STATUS_SCALED || status == PS_STATUS_INCOMPLETE;
}

bool stat_value_has_number(const struct ps_value *how, double count)
{
	return stat_value_is_known(how->status) && (how->status != PS_STATUS_INCOMPLETE || count != 0);
}

/* As the library's text has it. */
static const char *prefix_of(const struct ps_value *how)
{
	if (how->status == PS_STATUS_INCOMPLETE)
		return how->running_ns < how->enabled_ns ? ">=~" : ">=";
	return how->status == PS_STATUS_SCALED ? "~" : "";
}

static bool is_time(const struct ps_eventset *model, size_t event)
{
	return strcmp(ps_eventset_event_unit(model, event), "ns") == 0;
}

void stat_value_heading(char *out, const struct ps_eventset *model, size_t event, bool is_raw)
{
	const char *name = ps_eventset_event_name(model, event);
	const char *unit = ps_eventset_event_unit(model, event);

	if (*unit && (is_raw || !is_time(model, event)))
		snprintf(out, STAT_HEADING_BYTES, "%s (%s)", name, unit);
	else
		snprintf(out, STAT_HEADING_BYTES, "%s", name);
}

static void format_number(char *out, const struct ps_eventset *model, size_t event, double count, bool is_raw)
{
	double scale = ps_eventset_event_scale(model, event);
	double number = count * scale;

	if (!is_raw)
		tool_number_si(out, number, ps_eventset_event_unit(model, event));
	else if (scale == floor(scale))
		snprintf(out, TOOL_NUMBER_BYTES, "%.0f", number);
	else
		snprintf(out, TOOL_NUMBER_BYTES, number != 0 && fabs(number) < 0.1 ? "%.3g" : "%.2f", number);
}

void stat_value_format(char *out, const struct ps_eventset *model, size_t event, double count,
                       const struct ps_value *how, bool is_raw)
{
	char number[TOOL_NUMBER_BYTES];
	const char *mark = is_raw ? "u" : " u";

	if (!stat_value_is_known(how->status)) {
		strcpy(out, how->status == PS_STATUS_NEVER_SCHEDULED ? "never" : "n/s");
		return;
	}
	format_number(number, model, event, count, is_raw);
	snprintf(out, STAT_VALUE_BYTES, "%s%s%s", prefix_of(how), number,
	         how->flags & PS_VALUE_USER_ONLY ? mark : "");
}

void stat_metric_format(char *out, const char *metric, const struct ps_metric_value *value)
{
	char number[TOOL_NUMBER_BYTES];

	*out = '\0';
	if (isnan(value->value))
		return;
	if (value->value != 0 && fabs(value->value) < 0.1)
		snprintf(number, sizeof number, "%.3g", value->value);
	else
		snprintf(number, sizeof number, "%.2f", value->value);
	snprintf(out, STAT_VALUE_BYTES, "%s%s%s%s", value->status == PS_STATUS_SCALED ? "~" : "", number,
	         strcmp(ps_metric_unit(metric), "%") == 0 ? "%" : "", value->flags & PS_VALUE_USER_ONLY ? "u" : "");
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

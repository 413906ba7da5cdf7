/* SPDX-License-Identifier: BSD-3-Clause */
/* What the formats that programs read have in common: how a count becomes a number with a unit, names, valid UTF-8. */
#include "export/report.h"

#include <math.h>

void ps__report_select(struct ps__report *report)
{
	struct ps__table_view view = {
	    .types = report->options->types,
	    .cache_level = report->options->cache_level,
	    .idle = !(report->options->flags & PS_EXPORT_NO_IDLE),
	};

	ps__table_select(&report->table, &view);
}

const char *ps__report_unit(const struct ps__table_column *column)
{
	return *column->unit ? column->unit : "count";
}

bool ps__report_is_known(const struct ps_value *value)
{
	/* That a count is 0 or more tells nothing. */
	if (value->status == PS_STATUS_INCOMPLETE)
		return value->value != 0;
	return value->status == PS_STATUS_COUNTED || value->status == PS_STATUS_SCALED;
}

double ps__report_coverage(const struct ps_value *value)
{
	return value->status == PS_STATUS_NOT_SUPPORTED ? (double)NAN : ps_value_coverage(value);
}

int ps__report_id(const struct ps_component *component)
{
	return component->type == PS_COMPONENT_THREAD ? component->os_id : component->logical_id;
}

/* The bytes of a lead byte's character; 0 if it is none. */
static size_t expected_bytes(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* Table 3-7 of the Unicode standard: no overlong form, no surrogate, nothing beyond U+10FFFF. */
static bool is_second(unsigned char lead, unsigned char second)
{
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

size_t ps__report_character(const char *text, const char **out)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t count = expected_bytes(bytes[0]), have = 1;

	while (have < count && (have == 1 ? is_second(bytes[0], bytes[1]) : (bytes[have] & 0xc0) == 0x80))
		have++;
	*out = count && have == count ? text : NULL;
	return have;
}

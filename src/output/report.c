/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about a report that several output formats ask. */
#include "output/report.h"

#include "base/error.h"
#include "store/sum.h"

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

int ps__report_check_fields(const struct ps_export_field *fields, size_t count, const char *call)
{
	if (count && !fields)
		return ps__fail(PS_EINVAL, "%s: options->fields is NULL, but field_count is %zu",
		                call, count);
	for (size_t i = 0; i < count; i++) {
		if (!fields[i].name || !*fields[i].name)
			return ps__fail(PS_EINVAL, "%s: options->fields[%zu] has no name", call, i);
	}
	return PS_OK;
}

const char *ps__report_unit(const char *unit)
{
	return *unit ? unit : "count";
}

bool ps__report_is_known(const struct ps_value *value)
{
	/* A lower bound of 0 tells nothing about the count. */
	if (value->status == PS_STATUS_INCOMPLETE)
		return value->value != 0;
	return ps__value_is_known(value);
}

double ps__report_coverage(const struct ps_value *value)
{
	return value->status == PS_STATUS_NOT_SUPPORTED ? (double)NAN : ps_value_coverage(value);
}

int ps__report_id(const struct ps_component *component)
{
	return component->type == PS_COMPONENT_THREAD ? component->os_id : component->logical_id;
}

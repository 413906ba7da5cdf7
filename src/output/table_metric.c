/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics in the table: for each the sums of its numerator and its denominator,
 * which stand in columns of their own as they may be of fewer event sets than
 * the events' totals.
 */
#include "base/error.h"
#include "base/os.h"
#include "output/table.h"

#include <stdio.h>
#include <string.h>

int ps__table_take_options(void *out, size_t size_bytes, const void *options, size_t least_bytes,
                           const char *call)
{
	size_t given = *(const size_t *)options;

	if (given != size_bytes && given != least_bytes)
		return ps__fail(PS_EINVAL,
		                "%s: options->size is %zu, not %zu: set it to sizeof options", call,
		                given, size_bytes);
	memset(out, 0, size_bytes);
	memcpy(out, options, given);
	return PS_OK;
}

int ps__table_check_metrics(const char *const *names, size_t count, const char *call)
{
	if (count && !names)
		return ps__fail(PS_EINVAL, "%s: options->metrics is NULL, but metric_count is %zu",
		                call, count);
	for (size_t i = 0; i < count; i++) {
		if (!names[i])
			return ps__fail(PS_EINVAL, "%s: options->metrics[%zu] is NULL", call, i);
	}
	return PS_OK;
}

int ps__table_find_metrics(struct ps__table *table, const char *const *names, size_t count)
{
	table->metrics = ps__os_calloc(count, sizeof *table->metrics);
	if (!table->metrics)
		return PS_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct ps__table_metric *metric = &table->metrics[i];
		if (ps__metric_find(names[i], &metric->ask) < 0)
			return PS_ENOEVNT;
		snprintf(metric->name, sizeof metric->name, "%s%s", metric->ask.metric->name,
		         metric->ask.modifier);
	}
	table->metric_count = count;
	return PS_OK;
}

static size_t table_add_column(struct ps__table *table, struct ps__selector selector)
{
	table->columns[table->column_count] =
	    (struct ps__table_column){.selector = selector, .unit = "", .scale = 1};
	return table->column_count++;
}

void ps__table_add_metrics(struct ps__table *table)
{
	for (size_t i = 0; i < table->metric_count; i++) {
		struct ps__table_metric *metric = &table->metrics[i];
		metric->numerator = table_add_column(table, ps__metric_numerator(&metric->ask));
		metric->denominator = table_add_column(table, ps__metric_denominator(&metric->ask));
	}
}

void ps__table_sum_wholes(struct ps__table *table)
{
	for (size_t i = 0; i < table->metric_count; i++) {
		struct ps__table_metric *metric = &table->metrics[i];
		struct ps__selector selector = ps__metric_denominator(&metric->ask);
		selector.timestamp = table->timestamp;
		metric->has_whole =
		    ps__metric_is_share(&metric->ask) &&
		    ps__component_sum(table->topology->root, &selector, &metric->whole) == PS_OK;
	}
}

bool ps__table_metric(const struct ps__table *table, size_t row, size_t index,
                      struct ps_metric_value *out)
{
	const struct ps__table_metric *metric = &table->metrics[index];
	const struct ps__cell *numerator = ps__table_cell(table, row, metric->numerator);
	const struct ps__cell *denominator = ps__table_cell(table, row, metric->denominator);

	bool is_share = ps__metric_is_share(&metric->ask);

	if (!numerator->parts || !denominator->parts || (is_share && !metric->has_whole) ||
	    (!is_share && denominator->is_absent))
		return false;
	ps__metric_compute(metric->ask.metric, &numerator->value,
	                   metric->has_whole ? &metric->whole : &denominator->value, out);
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metrics in the table. The operands of each metric have columns of their own: they may come from
 * fewer event sets than the events' totals.
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
		int code = ps__metric_find(names[i], &metric->ask);
		if (code != PS_OK)
			return code;
		if (table->topology)
			ps__metric_choose(&metric->ask, table->topology);
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

size_t ps__table_count_operands(const struct ps__table *table)
{
	size_t count = 0;

	for (size_t i = 0; i < table->metric_count; i++)
		count += table->metrics[i].ask.metric->count;
	return count;
}

void ps__table_add_metrics(struct ps__table *table)
{
	for (size_t i = 0; i < table->metric_count; i++) {
		struct ps__table_metric *metric = &table->metrics[i];
		for (size_t operand = 0; operand < metric->ask.metric->count; operand++)
			metric->operands[operand] =
			    table_add_column(table, ps__metric_operand(&metric->ask, operand));
	}
}

void ps__table_sum_wholes(struct ps__table *table)
{
	for (size_t i = 0; i < table->metric_count; i++) {
		struct ps__table_metric *metric = &table->metrics[i];
		if (!ps__metric_is_share(metric->ask.metric))
			continue;
		struct ps__selector selector =
		    ps__metric_operand(&metric->ask, metric->ask.metric->whole);
		selector.timestamp = table->timestamp;
		metric->has_whole =
		    ps__component_sum(table->topology->root, &selector, &metric->whole) == PS_OK;
	}
}

/* True if all operands are known 0s because nothing ran on the component: it then has no ratio. For
 * a share: true if the whole is unknown. */
static bool table_metric_is_absent(const struct ps__table *table, size_t row,
                                   const struct ps__table_metric *metric)
{
	if (ps__metric_is_share(metric->ask.metric))
		return !metric->has_whole;
	for (size_t operand = 0; operand < metric->ask.metric->count; operand++) {
		if (!ps__table_cell(table, row, metric->operands[operand])->is_absent)
			return false;
	}
	return true;
}

bool ps__table_metric_is_share(const struct ps__table *table, size_t row, size_t index)
{
	const struct ps__table_metric *metric = &table->metrics[index];

	for (size_t operand = 0; operand < metric->ask.metric->count; operand++) {
		if (ps__table_is_share(table, row, metric->operands[operand]))
			return true;
	}
	return false;
}

bool ps__table_metric(const struct ps__table *table, size_t row, size_t index,
                      struct ps_metric_value *out)
{
	const struct ps__table_metric *metric = &table->metrics[index];
	struct ps__metric_values values = {.machine.root =
	                                       table->rows[0].component->topology->root};
	double runs = table->runs ? (double)table->runs : 1;

	if (table_metric_is_absent(table, row, metric))
		return false;
	for (size_t operand = 0; operand < metric->ask.metric->count; operand++) {
		const struct ps__table_column *column = &table->columns[metric->operands[operand]];
		const struct ps__cell *cell = ps__table_cell(table, row, metric->operands[operand]);
		bool is_whole = metric->has_whole && operand == metric->ask.metric->whole;
		if (!is_whole && !cell->parts)
			return false;
		ps__metric_put(&values, &metric->ask, operand,
		               is_whole ? &metric->whole : &cell->value, column->scale);
		values.scales[operand] /= runs;
		if (operand == metric->ask.metric->lead)
			values.machine.counts_cpus = column->counts_cpu;
	}
	ps__metric_compute(&metric->ask, &values, out);
	return true;
}

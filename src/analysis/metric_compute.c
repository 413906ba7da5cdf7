/* SPDX-License-Identifier: BSD-3-Clause */
/* A metric's number, from the sums of its events. */
#include "analysis/metric.h"
#include "base/error.h"

#include <string.h>

/* Where a formula's names are looked up. */
struct sums {
	const struct ps__metric *metric;
	const struct ps__metric_values *values;
};

static ptrdiff_t operand_of(const struct ps__metric *metric, const char *name, size_t length)
{
	for (size_t operand = 0; operand < metric->count; operand++) {
		if (strncmp(metric->operands[operand].symbol, name, length) == 0 &&
		    metric->operands[operand].symbol[length] == '\0')
			return (ptrdiff_t)operand;
	}
	return -1;
}

static int look_up_sum(void *context, const char *name, double *number, struct ps_value *value)
{
	static const char question[] = "has_event(";
	const struct sums *sums = context;

	if (name[0] == '#') {
		*number = ps__formula_machine_number(sums->values->root, name);
		return PS_OK;
	}
	if (strncmp(name, question, strlen(question)) == 0) {
		const char *event = name + strlen(question);
		*number = operand_of(sums->metric, event, strlen(event) - 1) >= 0;
		return PS_OK;
	}
	ptrdiff_t operand = operand_of(sums->metric, name, strlen(name));
	if (operand < 0)
		return PS_OK; /* not known */
	*value = *sums->values->sums[operand];
	if (value->status == PS_STATUS_COUNTED || value->status == PS_STATUS_SCALED)
		*number = (double)value->value * sums->values->scales[operand];
	return PS_OK;
}

/* The timestamp is the newest of all events'. */
void ps__metric_compute(const struct ps__metric_ask *ask, const struct ps__metric_values *values,
                        struct ps_metric_value *out)
{
	const struct ps__metric *metric = ask->metric;
	struct sums sums = {metric, values};

	ps_formula_evaluate(metric->tree, look_up_sum, &sums, out);
	for (size_t operand = 0; operand < metric->count; operand++) {
		if (values->sums[operand]->timestamp > out->timestamp)
			out->timestamp = values->sums[operand]->timestamp;
	}
}

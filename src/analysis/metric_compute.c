/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a metric from the sums of its events. */
#include "analysis/metric.h"
#include "base/error.h"
#include "store/sum.h"

#include <math.h>
#include <string.h>

/* If the formula names the event itself, not a symbol of the file, the sum gets perf's unit. */
void ps__metric_put(struct ps__metric_values *values, const struct ps__metric_ask *ask,
                    size_t operand, const struct ps_value *sum, double scale)
{
	const struct ps__metric_operand *about = &ask->metric->operands[operand];

	values->sums[operand] = sum;
	values->scales[operand] = about->has_line ? scale : ps__formula_factor(about->symbol);
}

/* The sums in which a formula's names are looked up. */
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

/* Answers a question. source_count is 1: an event of a set belongs to one PMU. */
static double metric_answer(const struct sums *sums, const struct ps__formula_question *question)
{
	bool is_there = operand_of(sums->metric, question->event, strlen(question->event)) >= 0;

	return is_there || !question->is_count ? is_there : (double)NAN;
}

static int look_up_sum(void *context, const char *name, double *number, struct ps_value *value)
{
	const struct sums *sums = context;
	struct ps__formula_question question;

	if (name[0] == '#') {
		*number = ps__formula_machine_number(&sums->values->machine, name);
		return PS_OK;
	}
	if (ps__formula_asks(name, &question)) {
		*number = metric_answer(sums, &question);
		return PS_OK;
	}
	ptrdiff_t operand = operand_of(sums->metric, name, strlen(name));
	if (operand < 0)
		return PS_OK; /* not known */
	*value = *sums->values->sums[operand];
	if (ps__value_is_known(value))
		*number = (double)value->value * sums->values->scales[operand];
	return PS_OK;
}

/* The timestamp is the newest of all events, also of those that the formula didn't evaluate. */
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

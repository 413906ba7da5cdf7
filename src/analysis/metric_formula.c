/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the metrics that are formulas, and how they are computed. */
#include "analysis/formula.h"
#include "analysis/metric.h"

#include <perfsage/error.h>
#include <stdatomic.h>
#include <string.h>
#include <strings.h>

/* Stores release an entry that is filled; loads acquire. */
static _Atomic(struct ps__metric_defined *) first_defined;

void ps__metric_list_defined(struct ps__metric_defined *defined)
{
	_Atomic(struct ps__metric_defined *) *end = &first_defined;

	for (struct ps__metric_defined *next;
	     (next = atomic_load_explicit(end, memory_order_relaxed));)
		end = &next->next;
	atomic_store_explicit(end, defined, memory_order_release);
}

struct ps__metric_defined *ps__metric_unlist_defined(const char *name)
{
	_Atomic(struct ps__metric_defined *) *link = &first_defined;
	struct ps__metric_defined *found;

	while ((found = atomic_load_explicit(link, memory_order_relaxed)) &&
	       strcasecmp(found->metric.name, name) != 0)
		link = &found->next;
	if (found)
		atomic_store_explicit(link,
		                      atomic_load_explicit(&found->next, memory_order_relaxed),
		                      memory_order_release);
	return found;
}

const struct ps__metric *ps__metric_next_defined(const struct ps__metric *metric)
{
	struct ps__metric_defined *next =
	    metric ? atomic_load_explicit(&((struct ps__metric_defined *)metric)->next,
	                                  memory_order_acquire)
		   : atomic_load_explicit(&first_defined, memory_order_acquire);

	return next ? &next->metric : NULL;
}

const struct ps__metric *ps__metric_find_defined(const char *name)
{
	const struct ps__metric *metric = NULL;

	while ((metric = ps__metric_next_defined(metric)) != NULL) {
		if (strcasecmp(metric->name, name) == 0)
			return metric;
	}
	return NULL;
}

/* Where a formula's names are looked up. */
struct sums {
	const struct ps__metric *metric;
	const struct ps__metric_values *values;
};

static ptrdiff_t operand_of(const struct ps__metric *metric, const char *name, size_t length)
{
	for (size_t operand = 0; operand < metric->formula->count; operand++) {
		if (strncmp(metric->formula->operands[operand], name, length) == 0 &&
		    metric->formula->operands[operand][length] == '\0')
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

/* The timestamp is the newest of all operands', as for a ratio. */
void ps__metric_compute_formula(const struct ps__metric *metric,
                                const struct ps__metric_values *values, struct ps_metric_value *out)
{
	struct sums sums = {metric, values};

	ps_formula_evaluate(metric->formula->tree, look_up_sum, &sums, out);
	for (size_t operand = 0; operand < metric->formula->count; operand++) {
		if (values->sums[operand]->timestamp > out->timestamp)
			out->timestamp = values->sums[operand]->timestamp;
	}
}

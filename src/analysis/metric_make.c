/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a metric from its formula: finds which names in the formula are events, and what the events
 * are called. */
#include "analysis/metric_file.h"
#include "base/error.h"
#include "event/event.h"

#include <ctype.h>
#include <string.h>

size_t ps__metric_name_length(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("_-./", text[length])))
		length++;
	return length;
}

/* True if the name is an event's. A number of the machine begins with #, a question ends with a
 * parenthesis. */
static bool is_event(const char *name)
{
	return name[0] != '#' && name[strlen(name) - 1] != ')';
}

static struct ps__metric_symbol *find_symbol(const struct ps__metric_symbols *symbols,
                                             const char *name)
{
	return symbols ? ps__metric_names_find(&symbols->names, name, strlen(name), strncmp) : NULL;
}

static int fail_at(const struct ps__formula_place *where, int code, const char *text,
                   const char *name)
{
	if (where->path)
		return ps__fail(code, "%s:%u:1: the formula of '%s' %s", where->path, where->line,
		                name, text);
	return ps__fail(code, "ps_metric_define: the formula of '%s' %s", name, text);
}

static void add_operand(struct ps__metric *metric, const char *name,
                        const struct ps__metric_symbol *symbol)
{
	struct ps__metric_operand *operand = &metric->operands[metric->count];

	operand->symbol = name;
	operand->names[0] = name;
	for (size_t index = 0; symbol && index < PS__METRIC_MOST_NAMES; index++)
		operand->names[index] = symbol->names[index];
	operand->has_line = symbol != NULL;
	operand->is_whole = symbol && symbol->is_whole;
	if (operand->is_whole)
		metric->whole = metric->count;
	metric->count++;
}

static int find_operands(struct ps__metric_file *file, struct ps__metric *metric,
                         const struct ps__metric_symbols *symbols,
                         const struct ps__formula_place *where)
{
	size_t names = 0;
	const char *name;

	while (ps_formula_name(metric->tree, names))
		names++;
	metric->operands = ps__arena_calloc(&file->arena, names, sizeof *metric->operands);
	if (!metric->operands)
		return ps__fail_memory("a metric");
	for (size_t index = 0; (name = ps_formula_name(metric->tree, index)); index++) {
		struct ps__metric_symbol *symbol = find_symbol(symbols, name);
		if (symbol)
			symbol->is_used = true;
		if (symbol && !symbol->names[0]) {
			ps__formula_set_number(metric->tree, index, symbol->number);
			continue;
		}
		if (!is_event(name) || !ps__formula_uses(metric->tree, index))
			continue;
		if (metric->count == PS__METRIC_MOST_OPERANDS)
			return fail_at(where, PS_ECOUNT,
			               "needs more than 32 events: make two of it", metric->name);
		if (symbol && symbol->is_whole && ps__metric_is_share(metric))
			return fail_at(where, PS_ECOUNT,
			               "needs two sums of the whole Machine: one is possible",
			               metric->name);
		add_operand(metric, name, symbol);
	}
	return metric->count ? PS_OK : fail_at(where, PS_EINVAL, "has no event", metric->name);
}

/* Finds a metric of the file; returns its first formula. The metric that is being made is found
 * once it has a formula. */
static const struct ps__metric *find_metric(const struct ps__metric_file *file, const char *name)
{
	const struct ps__metric_entry *entry =
	    ps__metric_names_find(&file->names, name, strlen(name), strncmp);

	return entry ? &entry->metric : NULL;
}

/* Returns the formula of `metric` that has the same number as the formula that is being made, or
 * the last one if there are fewer. first: the first formula of the metric that is being made; NULL
 * if it has none yet. */
static const struct ps__metric *formula_beside(const struct ps__metric *metric,
                                               const struct ps__metric *first)
{
	for (; first && metric->next_formula; first = first->next_formula)
		metric = metric->next_formula;
	return metric;
}

/* Inserts the formulas of other metrics that the formula names. */
static int insert_metrics(const struct ps__metric_file *file, struct ps__metric *metric,
                          const struct ps__metric_symbols *symbols,
                          const struct ps__formula_place *where)
{
	const struct ps__metric *first = find_metric(file, metric->name);
	const char *name;

	for (size_t index = 0; (name = ps_formula_name(metric->tree, index)); index++) {
		const struct ps__metric *other =
		    find_symbol(symbols, name) ? NULL : find_metric(file, name);
		if (!other || other == first)
			continue;
		other = formula_beside(other, first);
		int result = ps__formula_insert(metric->tree, index, other->tree);
		if (result == PS_ECOUNT)
			return fail_at(where, result,
			               "is too long, or too deep, with the metrics that it names",
			               metric->name);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

static bool is_run_time(const struct ps__metric *metric, size_t operand)
{
	return ps__run_time_is(metric->operands[operand].names[0]);
}

/* Finds the operand whose modifiers are the metric's: the first event that isn't a time; otherwise
 * the first one that isn't a time of the run. */
static void find_lead(struct ps__metric *metric)
{
	while (metric->lead < metric->count &&
	       ps__metric_is_time(metric->operands[metric->lead].names[0]))
		metric->lead++;
	if (metric->lead < metric->count)
		return;
	for (metric->lead = 0; metric->lead < metric->count; metric->lead++) {
		if (!is_run_time(metric, metric->lead))
			return;
	}
	metric->lead = 0;
}

/* Marks the times of the run. The metric uses the time of the whole Machine, so that the count of
 * each component is divided by the same time. */
static void find_run_times(struct ps__metric *metric)
{
	for (size_t operand = 0; operand < metric->count; operand++) {
		bool is_of_run = is_run_time(metric, operand) && !is_run_time(metric, metric->lead);
		metric->operands[operand].is_of_run = is_of_run;
		if (is_of_run && !ps__metric_is_share(metric))
			metric->whole = operand;
	}
}

int ps__metric_make(struct ps__metric_file *file, const struct ps__metric *metric,
                    const struct ps__metric_symbols *symbols, const struct ps__formula_place *where,
                    struct ps__metric_entry **out)
{
	struct ps__metric_entry *entry = ps__arena_calloc(&file->arena, 1, sizeof *entry);

	if (!entry)
		return ps__fail_memory("a metric");
	entry->metric = *metric;
	entry->file = file;
	entry->metric.whole = PS__METRIC_NO_WHOLE;
	int result = ps__formula_create_at(&entry->metric.tree, metric->text, where);
	if (result != PS_OK)
		return result;
	if (file->last)
		file->last->next_in_file = entry;
	else
		file->first = entry;
	file->last = entry;
	result = insert_metrics(file, &entry->metric, symbols, where);
	if (result == PS_OK)
		result = find_operands(file, &entry->metric, symbols, where);
	if (result != PS_OK)
		return result;
	find_lead(&entry->metric);
	find_run_times(&entry->metric);
	if (!find_metric(file, metric->name) &&
	    !ps__metric_names_add(&file->names, &file->arena, metric->name, strlen(metric->name),
	                          entry))
		return ps__fail_memory("a metric");
	*out = entry;
	return PS_OK;
}

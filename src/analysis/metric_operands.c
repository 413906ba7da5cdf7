/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a metric's operands stand: the columns of a recording, or the events of a set. */
#include "analysis/metric.h"
#include "eventset/parts.h"

#include <string.h>

const char *ps__metric_modifiers_of(const char *name, const char *event)
{
	size_t length = strlen(event);

	if (strncmp(name, event, length) != 0 || (name[length] != '\0' && name[length] != ':'))
		return NULL;
	return name + length;
}

bool ps__metric_is_clock(const char *event)
{
	return strstr(event, "-clock") != NULL;
}

/* The names of a recording or of a set, by number; NULL beyond the last. */
struct names {
	const struct ps__recording *recording;
	const struct ps_eventset *set;
};

static const char *metric_name_at(const struct names *names, size_t index)
{
	if (names->set)
		return ps_eventset_event_name(names->set, index);
	return index < names->recording->columns ? names->recording->column[index].name : NULL;
}

/* The first column with one of the names and this modifier. Time is time: a
 * clock's modifier says nothing. */
static ptrdiff_t metric_find_name(const struct names *names, const char *const *events,
                                  const char *modifier, bool any_clock)
{
	const char *name;

	for (; *events; events++) {
		for (size_t index = 0; (name = metric_name_at(names, index)); index++) {
			const char *found = ps__metric_modifiers_of(name, *events);
			if (found && ((any_clock && ps__metric_is_clock(*events)) ||
			              strcmp(found, modifier) == 0))
				return (ptrdiff_t)index;
		}
	}
	return -1;
}

/* The events of a formula have one name each, with its modifiers. */
static ptrdiff_t metric_find_operand(const struct names *names, const char *event)
{
	if (names->set)
		return ps__set_look_up_event(names->set, event);
	for (size_t index = 0; index < names->recording->columns; index++) {
		const struct ps__column *column = &names->recording->column[index];
		if (strcmp(column->name, event) == 0 ||
		    (column->added && strcmp(column->added, event) == 0))
			return (ptrdiff_t)index;
	}
	return -1;
}

static bool metric_find_formula(const struct names *names, const struct ps__metric *metric,
                                struct ps__metric_places *out)
{
	for (size_t operand = 0; operand < metric->formula->count; operand++) {
		out->at[operand] = metric_find_operand(names, metric->formula->operands[operand]);
		if (out->at[operand] < 0)
			return false;
	}
	return true;
}

static bool metric_find_names(const struct names *names, const struct ps__metric_ask *ask,
                              struct ps__metric_places *out)
{
	if (ask->metric->formula)
		return metric_find_formula(names, ask->metric, out);
	out->at[0] = metric_find_name(names, ask->metric->numerators, ask->modifier, false);
	out->at[1] = out->at[0];
	if (!ps__metric_is_share(ask))
		out->at[1] =
		    metric_find_name(names, ask->metric->denominators, ask->modifier, true);
	return out->at[0] >= 0 && out->at[1] >= 0;
}

static bool metric_is_supported(const struct ps__recording *recording, ptrdiff_t column)
{
	return recording->column[column].group != PS__NO_GROUP;
}

bool ps__metric_find_columns(const struct ps__recording *recording,
                             const struct ps__metric_ask *ask, struct ps__metric_places *out)
{
	if (!metric_find_names(&(struct names){.recording = recording}, ask, out))
		return false;
	for (size_t operand = 1; operand < ps__metric_operand_count(ask); operand++) {
		if (metric_is_supported(recording, out->at[operand]) !=
		    metric_is_supported(recording, out->at[0]))
			return false;
	}
	return true;
}

static ptrdiff_t metric_select(const struct ps__recording *recording,
                               const struct ps__selector *selector)
{
	struct ps__metric_places places;

	return ps__metric_find_columns(recording, selector->context, &places)
	           ? places.at[selector->operand]
	           : -1;
}

struct ps__selector ps__metric_operand(const struct ps__metric_ask *ask, size_t operand)
{
	return (struct ps__selector){
	    .find = metric_select, .name = ask->metric->name, .context = ask, .operand = operand};
}

bool ps__metric_find_events(const struct ps_eventset *set, const struct ps__metric_ask *ask,
                            size_t *operands)
{
	struct ps__metric_places places;

	if (!metric_find_names(&(struct names){.set = set}, ask, &places))
		return false;
	for (size_t operand = 0; operand < ps__metric_operand_count(ask); operand++)
		operands[operand] = (size_t)places.at[operand];
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a metric's operands among the columns of a recording, or among the events of a set. */
#include "analysis/metric.h"
#include "event/event.h"
#include "eventset/parts.h"

#include <string.h>

bool ps__metric_is_time(const char *event)
{
	return strstr(event, "-clock") != NULL || ps__run_time_is(event);
}

/* Where names are looked for: in a recording's columns or in a set's events. The other one is
 * NULL. */
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

static const char *metric_added_at(const struct names *names, size_t index)
{
	return names->set ? ps__set_event(names->set, index)->written
	                  : names->recording->column[index].added;
}

/* Returns the modifiers at a name's end; NULL if the name isn't the event's. */
static const char *metric_modifiers_of(const char *name, const char *event)
{
	size_t length = strlen(event);

	if (!name || strncmp(name, event, length) != 0 ||
	    (name[length] != '\0' && name[length] != ':'))
		return NULL;
	return name[length] == '\0' || ps__modifiers_are(name + length + 1) ? name + length : NULL;
}

static const char *metric_modifiers_at(const struct names *names, size_t index, const char *event)
{
	const char *modifiers = metric_modifiers_of(metric_name_at(names, index), event);

	return modifiers ? modifiers : metric_modifiers_of(metric_added_at(names, index), event);
}

const char *ps__metric_modifiers_in(const struct ps__column *column,
                                    const struct ps__metric_operand *operand)
{
	const char *modifiers = NULL;

	for (const char *const *event = operand->names; *event && !modifiers; event++) {
		modifiers = metric_modifiers_of(column->name, *event);
		if (!modifiers)
			modifiers = metric_modifiers_of(column->added, *event);
	}
	return modifiers;
}

/* Returns the first column with one of the names and this modifier; -1 if there is none. A time
 * beside another event is found with any modifier, because modifiers don't change it. */
static ptrdiff_t metric_find_operand(const struct names *names, const struct ps__metric_ask *ask,
                                     size_t operand)
{
	const struct ps__metric_operand *about = &ask->metric->operands[operand];
	bool is_lead = operand == ask->metric->lead || operand == ask->metric->whole;

	for (const char *const *event = about->names; *event; event++) {
		bool is_any = (!is_lead || about->is_of_run) && ps__metric_is_time(*event);
		for (size_t index = 0; metric_name_at(names, index); index++) {
			const char *found = metric_modifiers_at(names, index, *event);
			if (found && (is_any || strcmp(found, ask->modifier) == 0))
				return (ptrdiff_t)index;
		}
	}
	return -1;
}

static bool metric_find_names(const struct names *names, const struct ps__metric_ask *ask,
                              struct ps__metric_places *out)
{
	for (size_t operand = 0; operand < ask->metric->count; operand++) {
		bool is_apart = names->recording && ask->metric->operands[operand].is_of_run;
		out->at[operand] = is_apart ? -1 : metric_find_operand(names, ask, operand);
		if (!is_apart && out->at[operand] < 0)
			return false;
	}
	return true;
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
	bool is_supported = metric_is_supported(recording, out->at[ask->metric->lead]);
	for (size_t operand = 0; operand < ask->metric->count; operand++) {
		if (out->at[operand] >= 0 &&
		    metric_is_supported(recording, out->at[operand]) != is_supported)
			return false;
	}
	return true;
}

static bool metric_is_in_any(const struct ps_topology *topology, const struct ps__metric_ask *ask,
                             size_t operand)
{
	const struct ps__recording *recording = ps__recording_first(topology);

	while (recording &&
	       metric_find_operand(&(struct names){.recording = recording}, ask, operand) < 0)
		recording = recording->next;
	return recording;
}

bool ps__metric_has_run_times(const struct ps_topology *topology, const struct ps__metric_ask *ask)
{
	for (size_t operand = 0; operand < ask->metric->count; operand++) {
		if (ask->metric->operands[operand].is_of_run &&
		    !metric_is_in_any(topology, ask, operand))
			return false;
	}
	return true;
}

static ptrdiff_t metric_select(const struct ps__recording *recording,
                               const struct ps__selector *selector)
{
	const struct ps__metric_ask *ask = selector->context;
	struct ps__metric_places places;

	if (ask->metric->operands[selector->operand].is_of_run)
		return metric_find_operand(&(struct names){.recording = recording}, ask,
		                           selector->operand);
	return ps__metric_find_columns(recording, ask, &places) ? places.at[selector->operand] : -1;
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
	for (size_t operand = 0; operand < ask->metric->count; operand++)
		operands[operand] = (size_t)places.at[operand];
	return true;
}

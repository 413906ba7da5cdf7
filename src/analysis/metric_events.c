/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the events of a metric, or of all metrics of a group, to an event set. */
#include "analysis/metric_file.h"
#include "base/error.h"
#include "event/event.h"
#include "eventset/parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Adds an event by its name. PS_OK also if the set has the event already. */
static int events_add_name(struct ps_eventset *set, const char *event, const char *modifier,
                           bool has_run_times)
{
	char name[PS__METRIC_NAME_BYTES];
	int code;

	if (snprintf(name, sizeof name, "%s%s", event, modifier) >= (int)sizeof name)
		return ps__fail(PS_ENOEVNT, "'%.80s...' is no event: its name is too long", event);
	code = has_run_times && ps__run_time_is(name) ? ps_eventset_add_optional(set, name)
	                                              : ps_eventset_add(set, name);
	return code == PS_ECNFLCT && ps__set_look_up_event(set, name) >= 0 ? PS_OK : code;
}

/* Finds a metric by its name in the same file. NULL if there is none. */
static const struct ps__metric *find_namesake(const struct ps__metric *metric, const char *name)
{
	const struct ps__metric_entry *entry = (const struct ps__metric_entry *)metric;

	entry = ps__metric_names_find(&entry->file->names, name, strlen(name), strncmp);
	return entry ? &entry->metric : NULL;
}

static bool is_in_chain(char character)
{
	return isalnum((unsigned char)character) || (character && strchr("_.-", character));
}

/* Finds names with '-' and without backslashes between them, such as "page-faults", of which the
 * operand's name is one. A formula takes such a '-' for a subtraction. Returns the length, or 0 if
 * the name stands by itself. */
static size_t find_chain(const char *formula, const char *name, const char **out)
{
	size_t length = strlen(name);

	for (const char *at = strstr(formula, name); at; at = strstr(at + 1, name)) {
		const char *begin = at, *end = at + length;
		while (begin > formula && is_in_chain(begin[-1]))
			begin--;
		while (is_in_chain(*end))
			end++;
		if ((at > begin && at[-1] != '-') || (at + length < end && at[length] != '-'))
			continue;
		/* A number is no part of a name: 1-foo is a subtraction. */
		bool is_name = *begin != '-' && end[-1] != '-' && !isdigit((unsigned char)*begin);
		if (end - begin > (ptrdiff_t)length && is_name) {
			*out = begin;
			return (size_t)(end - begin);
		}
	}
	return 0;
}

/* Adds to an error about an unknown name that the formula takes an event's '-' for an operator. */
static int fail_in_chain(const struct ps__failure *failure, const char *formula, const char *name)
{
	const char *chain;
	size_t length = find_chain(formula, name, &chain), used = 0;
	char escaped[161];

	for (size_t index = 0; index < length && used + 2 < sizeof escaped; index++) {
		if (chain[index] == '-')
			escaped[used++] = '\\';
		escaped[used++] = chain[index];
	}
	escaped[used] = '\0';
	if (used == 0)
		return ps__failure_return(failure);
	return ps__fail(failure->code,
	                "%s; if an event's name has the '-', the formula needs a "
	                "backslash before it: %s",
	                failure->detail, escaped);
}

/* Adds an operand by the first of its names that can be counted. If none can be counted, returns
 * the error of the first name. */
static int events_add_operand(struct ps_eventset *set, const struct ps__metric_ask *ask,
                              size_t operand)
{
	const char *const *names = ask->metric->operands[operand].names;
	bool is_plain = operand != ask->metric->lead && ps__metric_is_time(names[0]);
	struct ps__failure failure = {.code = PS_OK};

	for (size_t index = 0; names[index]; index++) {
		int code = events_add_name(set, names[index], is_plain ? "" : ask->modifier,
		                           ask->has_run_times);
		if (code == PS_OK)
			return PS_OK;
		ps__failure_keep(&failure, code);
	}
	/* The name may be that of a metric that comes later in the file. */
	bool is_of_formula = !ask->metric->operands[operand].has_line;
	if (failure.code != PS_ENOEVNT || !is_of_formula)
		return ps__failure_return(&failure);
	if (!find_namesake(ask->metric, names[0]))
		return fail_in_chain(&failure, ask->metric->text, names[0]);
	return ps__fail(PS_ENOEVNT,
	                "'%.80s' is no event, and as a metric it stands below the formula that "
	                "names it: put it above; metrics can't name each other in a circle",
	                names[0]);
}

static int events_add_formula(struct ps_eventset *set, const struct ps__metric_ask *ask)
{
	int result = PS_OK;

	for (size_t operand = 0; result == PS_OK && operand < ask->metric->count; operand++)
		result = events_add_operand(set, ask, operand);
	return result;
}

/* Removes the events that were added since the set had `count` events. */
static void events_take_back(struct ps_eventset *set, size_t count)
{
	while (ps_eventset_event_count(set) > count)
		ps_eventset_remove(set,
		                   ps_eventset_event_name(set, ps_eventset_event_count(set) - 1));
}

int ps__metric_add_events(struct ps_eventset *set, const struct ps__metric_ask *ask)
{
	struct ps__metric_ask other = *ask;
	struct ps__failure failure = {.code = PS_OK};
	size_t before = ps_eventset_event_count(set), formulas = 0;

	for (; other.metric; other.metric = other.metric->next_formula, formulas++) {
		int code = events_add_formula(set, &other);
		if (code == PS_OK)
			return PS_OK;
		ps__failure_keep(&failure, code);
		events_take_back(set, before);
	}
	return ps__fail(failure.code, "%s%s can't be counted here%s: %s", ask->metric->name,
	                ask->modifier, formulas > 1 ? " by any of its formulas" : "",
	                failure.detail);
}

/* Adds the events of those metrics of a group that can be counted. */
static int events_add_group(struct ps_eventset *set, const char *name)
{
	struct ps__failure failure = {.code = PS_OK};
	size_t added = 0;

	for (const struct ps__metric *metric = ps__metric_next(NULL); metric;
	     metric = ps__metric_next(metric)) {
		if (!ps__metric_is_in(metric, name))
			continue;
		int code = ps__metric_add_events(
		    set, &(struct ps__metric_ask){.metric = metric, .modifier = ""});
		added += code == PS_OK;
		ps__failure_keep(&failure, code);
	}
	return added ? PS_OK : ps__failure_return(&failure);
}

int ps_metric_add_events(struct ps_eventset *set, const char *name)
{
	struct ps__metric_ask ask;

	if (!set || !name)
		return ps__fail(PS_EINVAL, "ps_metric_add_events: the %s is NULL",
		                set ? "name" : "event set");
	int code = ps__metric_find(name, &ask);
	if (code == PS_OK)
		return ps__metric_add_events(set, &ask);
	return code == PS_ENOEVNT && ps__metric_has_group(name) ? events_add_group(set, name)
	                                                        : code;
}

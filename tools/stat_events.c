/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of events -> a model set, before anything is started. */
#include "tools/stat_events.h"

#include "tools/complaint.h"

#include <string.h>

/* The machine has no counter for it: the rest is worth counting all the same, and it is shown as what it is. */
static bool is_lack_of_hardware(int code)
{
	return code == PS_ENOSUPP || code == PS_ENOCNTR;
}

/* Returns whether the event is in the model, or was before; complains if not. */
static bool add_event(struct ps_eventset *model, const char *name, size_t *countable)
{
	int code = ps_eventset_add(model, name);

	*countable += code == PS_OK;
	if (code == PS_OK || code == PS_ECNFLCT)
		return true;
	tool_complain("%s", ps_error_detail());
	return is_lack_of_hardware(code) && ps_eventset_add_optional(model, name) == PS_OK;
}

/* Counts of packages and other devices know no task. */
static bool check_scopes(const struct ps_eventset *model, const struct stat_options *options)
{
	bool is_good = true;

	for (size_t index = 0; !options->is_whole_machine && index < ps_eventset_event_count(model); index++) {
		enum ps_scope scope = ps_eventset_event_scope(model, index);
		if (scope == PS_SCOPE_THREAD || ps_eventset_event_status(model, index) != PS_STATUS_COUNTED)
			continue;
		tool_complain("'%s' counts for a %s, not for a command or process: count whole CPUs with -a",
		              ps_eventset_event_name(model, index), ps_scope_name(scope));
		is_good = false;
	}
	return is_good;
}

/* On a whole CPU they go on while it is idle: they tell how long was counted, and no more. */
static const char *const clocks[] = {"task-clock", "cpu-clock", "msr/tsc/"};

static void note_clocks(const struct ps_eventset *model, const struct stat_options *options)
{
	for (size_t index = 0; options->is_whole_machine && index < ps_eventset_event_count(model); index++) {
		const char *name = ps_eventset_event_name(model, index);
		for (size_t clock = 0; clock < sizeof clocks / sizeof clocks[0]; clock++) {
			if (strcmp(name, clocks[clock]) == 0)
				tool_complain(
				    "'%s' goes on while a CPU is idle: with -a it is the time that was counted",
				    name);
		}
	}
}

static bool add_named(struct ps_eventset *model, const struct stat_options *options)
{
	size_t countable = 0;
	bool is_good = true;

	for (size_t index = 0; index < options->events.count; index++)
		is_good &= add_event(model, options->events.names[index], &countable);
	is_good &= check_scopes(model, options);
	note_clocks(model, options);
	if (is_good && countable == 0) {
		tool_complain("none of these events can be counted here");
		return false;
	}
	return is_good;
}

/* Time is of use beside any counter: how busy, how many GHz. */
static bool add_default(struct ps_eventset *model, const struct stat_options *options)
{
	if (!options->is_whole_machine)
		ps_eventset_add(model, "task-clock");
	int code = ps_eventset_add_default(model);
	for (size_t index = 0; options->is_whole_machine && index < sizeof clocks / sizeof clocks[0]; index++)
		ps_eventset_remove(model, clocks[index]);
	if (code == PS_OK)
		return true;
	tool_complain("%s", ps_error_detail());
	return false;
}

struct ps_eventset *stat_events_create(const struct stat_options *options)
{
	struct ps_eventset *model = NULL;

	if (ps_eventset_create(&model) != PS_OK) {
		tool_complain("%s", ps_error_detail());
		return NULL;
	}
	if (options->events.count ? add_named(model, options) : add_default(model, options))
		return model;
	ps_eventset_destroy(model);
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a set: adding, removing and asking for them. */
#include "base/error.h"
#include "base/os.h"
#include "eventset/control.h"

#include <stdio.h>
#include <string.h>

#define CHANGE_IN_PAPI                                                                        \
	"add and remove events with PAPI_add_event and PAPI_remove_event; the next ps_start " \
	"takes them over"

static int fail_present(const char *name)
{
	return ps__fail(PS_ECNFLCT, "'%s' is in the event set already", name);
}

/* Makes room for `more` events. Doubles the list, so that adding many events one by one doesn't
 * copy them again each time. */
static int events_make_room(struct ps_eventset *set, size_t more)
{
	size_t room = set->events.room ? 2 * set->events.room : 4;

	if (set->events.room - set->events.count >= more)
		return PS_OK;
	while (room - set->events.count < more)
		room *= 2;
	struct ps__event *grown = ps__os_calloc(room, sizeof *grown);
	if (!grown)
		return ps__fail_memory("an event");
	if (set->events.count)
		memcpy(grown, set->events.list, set->events.count * sizeof *grown);
	/* Open counters point at the list. */
	ps__set_close(set);
	ps__os_free(set->events.list);
	set->events.list = grown;
	set->events.room = room;
	return PS_OK;
}

/* Appends events to the list. The set then owns them. On failure clears them, and the set is as
 * before. */
static int events_append(struct ps_eventset *set, struct ps__event *events, size_t count)
{
	int result = events_make_room(set, count);

	for (size_t index = 0; result != PS_OK && index < count; index++)
		ps__event_clear(&events[index]);
	if (result != PS_OK || count == 0)
		return result;
	/* Descriptors and readings belong to the old list. */
	ps__set_close(set);
	memcpy(set->events.list + set->events.count, events, count * sizeof *events);
	set->events.count += count;
	return PS_OK;
}

static bool is_unavailable(int code)
{
	return code == PS_ENOSUPP || code == PS_EPERM || code == PS_EINVAL_DOM ||
	       code == PS_ENOCNTR;
}

/* Makes an event of a known name that has no encoding here, such as another CPU's. */
static int make_unsupported(struct ps__event *out, const char *name)
{
	char *copy = ps__os_strdup(name);

	if (!copy)
		return ps__fail_memory("the name of an event");
	*out = (struct ps__event){
	    .name = copy, .scale = 1, .scope = PS_SCOPE_THREAD, .unsupported = true};
	return PS_OK;
}

/* Opens a parsed event once, so that it can be appended. On failure it is cleared. */
static int events_probe(struct ps_eventset *set, struct ps__event *event, bool optional)
{
	int result = event->unsupported ? PS_OK : ps__perf_probe(event);

	if (optional && is_unavailable(result)) {
		event->unsupported = true;
		result = PS_OK;
	}
	/* Values are looked up by the name that is shown, so it must be unique. */
	if (result == PS_OK && ps__set_find_event(set, event->name) >= 0)
		result = fail_present(event->name);
	if (result != PS_OK)
		ps__event_clear(event);
	return result;
}

static int events_make(struct ps_eventset *set, struct ps__event *out, const char *name,
                       bool optional)
{
	if (ps__set_find_event(set, name) >= 0)
		return fail_present(name);
	int result = ps__event_parse(out, name);
	if (optional && is_unavailable(result))
		result = make_unsupported(out, name);
	return result == PS_OK ? events_probe(set, out, optional) : result;
}

static int events_add(struct ps_eventset *set, const char *name, bool optional)
{
	struct ps__event event;
	int result = events_make(set, &event, name, optional);

	return result == PS_OK ? events_append(set, &event, 1) : result;
}

static int enter_and_add(struct ps_eventset *set, const char *name, bool optional, const char *call)
{
	int result = ps__set_enter_own(set, call, CHANGE_IN_PAPI);

	if (result != PS_OK)
		return result;
	result = name ? events_add(set, name, optional)
	              : ps__fail(PS_EINVAL, "%s: the event's name is NULL", call);
	ps__set_leave(set);
	return result;
}

int ps__set_add_event(struct ps_eventset *set, const struct ps__event *event)
{
	struct ps__event copy;
	int result = ps__set_enter_own(set, "ps_eventset_add_attr", CHANGE_IN_PAPI);

	if (result != PS_OK)
		return result;
	result = ps__event_copy(&copy, event);
	if (result == PS_OK)
		result = events_probe(set, &copy, false);
	if (result == PS_OK)
		result = events_append(set, &copy, 1);
	ps__set_leave(set);
	return result;
}

int ps_eventset_add(struct ps_eventset *set, const char *event)
{
	return enter_and_add(set, event, false, "ps_eventset_add");
}

int ps_eventset_add_optional(struct ps_eventset *set, const char *event)
{
	return enter_and_add(set, event, true, "ps_eventset_add_optional");
}

static void keep_first(int *refusal, int result, char *sentence, size_t size_bytes)
{
	if (*refusal != PS_OK)
		return;
	*refusal = result;
	snprintf(sentence, size_bytes, "%s", ps_error_detail());
}

static void drop_at(struct ps_eventset *set, size_t index)
{
	ps__set_close(set);
	ps__set_forget_names(set);
	ps__event_clear(&set->events.list[index]);
	set->events.count--;
	memmove(&set->events.list[index], &set->events.list[index + 1],
	        (set->events.count - index) * sizeof set->events.list[0]);
}

void ps__set_clear_events(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->events.count; index++)
		ps__event_clear(&set->events.list[index]);
	ps__os_free(set->events.list);
	ps__set_forget_names(set);
	set->events.list = NULL;
	set->events.count = 0;
	set->events.room = 0;
}

#define MOST_DEFAULTS 5

/* Events that wait to be appended together. */
struct choice {
	struct ps__event events[MOST_DEFAULTS];
	size_t count;
	/* one of the default events can be counted: it was chosen, or the set has it already */
	bool has_any;
};

/* Chooses the events of a list that can be counted here. If there are none, returns the first
 * refusal: a later one may only say that this machine doesn't know the name. */
static int choose_available(struct ps_eventset *set, const char *const *names, size_t count,
                            struct choice *choice)
{
	int refusal = PS_OK;
	char sentence[1024];

	for (size_t index = 0; index < count; index++) {
		int result = events_make(set, &choice->events[choice->count], names[index], false);
		if (result == PS_OK)
			choice->count++;
		if (result == PS_OK || result == PS_ECNFLCT)
			choice->has_any = true;
		else if (is_unavailable(result) || result == PS_ENOEVNT)
			keep_first(&refusal, result, sentence, sizeof sentence);
		else
			return result;
	}
	return choice->has_any ? PS_OK : ps__fail(refusal, "%s", sentence);
}

static int choose_default(struct ps_eventset *set, struct choice *choice)
{
	static const char *const hardware[MOST_DEFAULTS] = {
	    "cycles", "instructions", "cache-references", "cache-misses", "branch-misses"};
	static const char *const software[] = {"task-clock", "page-faults", "context-switches",
	                                       "cpu-migrations"};
	int result = choose_available(set, hardware, sizeof hardware / sizeof *hardware, choice);

	if (is_unavailable(result) || result == PS_ENOEVNT)
		result =
		    choose_available(set, software, sizeof software / sizeof *software, choice);
	return result;
}

int ps_eventset_add_default(struct ps_eventset *set)
{
	struct choice choice = {.count = 0};
	int result = ps__set_enter_own(set, "ps_eventset_add_default", CHANGE_IN_PAPI);

	if (result != PS_OK)
		return result;
	result = choose_default(set, &choice);
	for (size_t index = 0; result != PS_OK && index < choice.count; index++)
		ps__event_clear(&choice.events[index]);
	if (result == PS_OK)
		result = events_append(set, choice.events, choice.count);
	ps__set_leave(set);
	return result;
}

static int events_drop(struct ps_eventset *set, const char *name)
{
	ptrdiff_t index = ps__set_find_event(set, name);

	if (index < 0)
		return ps__fail(PS_ENOEVNT, "'%s' is not in the event set", name);
	drop_at(set, (size_t)index);
	return PS_OK;
}

int ps_eventset_remove(struct ps_eventset *set, const char *event)
{
	int result = ps__set_enter_own(set, "ps_eventset_remove", CHANGE_IN_PAPI);

	if (result != PS_OK)
		return result;
	result = event ? events_drop(set, event)
	               : ps__fail(PS_EINVAL, "ps_eventset_remove: the event's name is NULL");
	ps__set_leave(set);
	return result;
}

int ps__set_check_index(const struct ps_eventset *set, size_t event, const char *call)
{
	if (event < set->events.count)
		return PS_OK;
	return ps__fail(PS_EINVAL,
	                "%s: there is no event %zu: the set has %zu events, numbered from 0", call,
	                event, set->events.count);
}

const struct ps__event *ps__set_event(const struct ps_eventset *set, size_t index)
{
	return set && index < set->events.count ? &set->events.list[index] : NULL;
}

bool ps__set_counts_cpu(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_CPU;
}

bool ps__set_counts_its_caller(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_SELF && !set->counters.papi;
}

size_t ps_eventset_event_count(const struct ps_eventset *set)
{
	return set ? set->events.count : 0;
}

const char *ps_eventset_event_name(const struct ps_eventset *set, size_t index)
{
	const struct ps__event *event = ps__set_event(set, index);

	return event ? event->name : NULL;
}

enum ps_scope ps_eventset_event_scope(const struct ps_eventset *set, size_t index)
{
	const struct ps__event *event = ps__set_event(set, index);

	return event ? event->scope : PS_SCOPE_THREAD;
}

const char *ps_eventset_event_unit(const struct ps_eventset *set, size_t index)
{
	const struct ps__event *event = ps__set_event(set, index);

	return event ? event->unit : "";
}

double ps_eventset_event_scale(const struct ps_eventset *set, size_t index)
{
	const struct ps__event *event = ps__set_event(set, index);

	return event ? event->scale : 1;
}

enum ps_status ps_eventset_event_status(const struct ps_eventset *set, size_t index)
{
	const struct ps__event *event = ps__set_event(set, index);

	return event && !event->unsupported ? PS_STATUS_COUNTED : PS_STATUS_NOT_SUPPORTED;
}

int ps_eventset_event_is_user_only(const struct ps_eventset *set, size_t index)
{
	const struct ps__event *event = ps__set_event(set, index);

	return event && event->user_only;
}

size_t ps_eventset_group_count(const struct ps_eventset *set)
{
	return set && set->counters.backend ? set->counters.backend->groups : 0;
}

int ps_eventset_event_group(const struct ps_eventset *set, size_t index)
{
	if (!ps__set_event(set, index) || !set->counters.backend ||
	    set->counters.backend->group_of[index] == PS__NO_GROUP)
		return -1;
	return (int)set->counters.backend->group_of[index];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a set's event by name, with a hash table: a set may have tens of thousands of events. */
#include "base/hash.h"
#include "base/os.h"
#include "eventset/eventset.h"
#include "eventset/parts.h"

#include <string.h>

/* With fewer events, comparing all names is as fast as the table. */
#define FEW_EVENTS ((size_t)16)
/* The table has at least this many places for each event: each has two names at most, and half of
 * the table stays empty. */
#define PLACES_OF_EVENT ((size_t)4)

static bool is_named(const struct ps__event *event, const char *name)
{
	return strcmp(event->name, name) == 0 ||
	       (event->written && strcmp(event->written, name) == 0);
}

ptrdiff_t ps__set_look_up_event(const struct ps_eventset *set, const char *name)
{
	for (size_t index = 0; index < set->events.count; index++) {
		if (is_named(&set->events.list[index], name))
			return (ptrdiff_t)index;
	}
	return -1;
}

static size_t names_hash(const char *name)
{
	uint64_t hash = ps__hash_of(name);

	return (size_t)(hash ^ hash >> 32);
}

/* Enters a name of the event that follows those in the table. */
static void enter_name(struct ps__event_names *names, const char *name)
{
	size_t place = names_hash(name) & (names->capacity - 1);

	while (names->places[place] != 0)
		place = (place + 1) & (names->capacity - 1);
	names->places[place] = names->event_count + 1;
}

void ps__set_forget_names(struct ps_eventset *set)
{
	ps__os_free(set->events.names.places);
	set->events.names = (struct ps__event_names){0};
}

/* Enters all events of the set that are not in the table yet. False if out of memory. */
static bool names_complete(struct ps_eventset *set)
{
	struct ps__event_names *names = &set->events.names;

	if (names->capacity < PLACES_OF_EVENT * set->events.count) {
		size_t capacity = PLACES_OF_EVENT * FEW_EVENTS;
		while (capacity < 2 * PLACES_OF_EVENT * set->events.count)
			capacity *= 2;
		ps__set_forget_names(set);
		names->places = ps__os_calloc(capacity, sizeof *names->places);
		if (!names->places)
			return false;
		names->capacity = capacity;
	}
	for (; names->event_count < set->events.count; names->event_count++) {
		const struct ps__event *event = &set->events.list[names->event_count];
		enter_name(names, event->name);
		if (event->written)
			enter_name(names, event->written);
	}
	return true;
}

ptrdiff_t ps__set_find_event(struct ps_eventset *set, const char *name)
{
	const struct ps__event_names *names = &set->events.names;

	if (set->events.count < FEW_EVENTS || !names_complete(set))
		return ps__set_look_up_event(set, name);
	for (size_t place = names_hash(name) & (names->capacity - 1); names->places[place] != 0;
	     place = (place + 1) & (names->capacity - 1)) {
		size_t index = names->places[place] - 1;
		if (is_named(&set->events.list[index], name))
			return (ptrdiff_t)index;
	}
	return -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of the names of a file of metrics: a generated file may have tens of thousands of
 * names. */
#include "analysis/metric_file.h"
#include "base/hash.h"

#include <ctype.h>
#include <strings.h>

#define LEAST_PLACES ((size_t)16)

struct ps__metric_name {
	const char *name; /* NULL: the place is empty */
	size_t length;
	void *item;
};

/* Returns the place where the search begins. It is the same for upper and lower case. */
static size_t names_first_place(const struct ps__metric_names *names, const char *name,
                                size_t length)
{
	uint64_t hash = PS__HASH_EMPTY;

	for (size_t at = 0; at < length; at++)
		hash = ps__hash_add(hash, (unsigned char)tolower((unsigned char)name[at]));
	return (size_t)(hash ^ hash >> 32) & (names->capacity - 1);
}

void *ps__metric_names_find(const struct ps__metric_names *names, const char *name, size_t length,
                            int (*compare)(const char *, const char *, size_t))
{
	if (names->capacity == 0)
		return NULL;
	for (size_t place = names_first_place(names, name, length); names->places[place].name;
	     place = (place + 1) & (names->capacity - 1)) {
		const struct ps__metric_name *known = &names->places[place];
		if (known->length == length && compare(known->name, name, length) == 0)
			return known->item;
	}
	return NULL;
}

static void names_enter(struct ps__metric_names *names, const struct ps__metric_name *name)
{
	size_t place = names_first_place(names, name->name, name->length);

	while (names->places[place].name)
		place = (place + 1) & (names->capacity - 1);
	names->places[place] = *name;
}

/* Makes the table larger. The old table stays in the arena: all old tables together take no more
 * room than the new one. */
static bool names_grow(struct ps__metric_names *names, struct ps__arena *arena)
{
	struct ps__metric_names grown = {.capacity = LEAST_PLACES, .count = names->count};

	if (names->capacity)
		grown.capacity = 2 * names->capacity;
	grown.places = ps__arena_calloc(arena, grown.capacity, sizeof *grown.places);
	if (!grown.places)
		return false;
	for (size_t place = 0; place < names->capacity; place++) {
		if (names->places[place].name)
			names_enter(&grown, &names->places[place]);
	}
	*names = grown;
	return true;
}

bool ps__metric_names_add(struct ps__metric_names *names, struct ps__arena *arena, const char *name,
                          size_t length, void *item)
{
	/* Half of the places stay empty. */
	if (2 * names->count >= names->capacity && !names_grow(names, arena))
		return false;
	names_enter(names, &(struct ps__metric_name){name, length, item});
	names->count++;
	return true;
}

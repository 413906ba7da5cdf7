/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table in which a listener of marks finds its struct for a name. Finding takes no lock, so that
 * a mark whose name changes at each visit costs little more than one with a single name.
 *
 * Names are never removed: call sites keep them. A list only grows at its head, by one store, so
 * that a signal handler, another thread and the child of a fork always find a complete list.
 */
#ifndef PS_REGION_MARK_NAMES_H
#define PS_REGION_MARK_NAMES_H

#include "base/hash.h"
#include <perfsage/marks.h>

#include <stdatomic.h>
#include <string.h>

#define PS__MARK_PLACES 1024

/* The first member of the struct that a listener has for a name. */
struct ps__mark_name {
	struct ps_mark_region mark; /* has the name */
	struct ps__mark_name *next; /* next name in the same place */
};

/* An empty table is all zeros. */
struct ps__mark_names {
	struct ps__mark_name *_Atomic places[PS__MARK_PLACES];
};

static inline size_t ps__mark_names_place(const char *name)
{
	uint64_t hash = ps__hash_of(name);

	return (hash ^ hash >> 32) % PS__MARK_PLACES;
}

/* NULL if there is none. */
static inline struct ps__mark_name *ps__mark_names_find(struct ps__mark_names *names,
                                                        const char *name)
{
	struct ps__mark_name *named =
	    atomic_load_explicit(&names->places[ps__mark_names_place(name)], memory_order_acquire);

	while (named && strcmp(named->mark.name, name) != 0)
		named = named->next;
	return named;
}

/* Adds a name that isn't there yet. The caller holds a lock, so that only one thread adds at a
 * time. */
static inline void ps__mark_names_add(struct ps__mark_names *names, struct ps__mark_name *named)
{
	struct ps__mark_name *_Atomic *place =
	    &names->places[ps__mark_names_place(named->mark.name)];

	named->next = atomic_load_explicit(place, memory_order_relaxed);
	atomic_store_explicit(place, named, memory_order_release);
}

static inline void ps__mark_names_visit(struct ps__mark_names *names,
                                        void (*visit)(struct ps__mark_name *named))
{
	for (size_t place = 0; place < PS__MARK_PLACES; place++) {
		struct ps__mark_name *named =
		    atomic_load_explicit(&names->places[place], memory_order_acquire);
		for (; named; named = named->next)
			visit(named);
	}
}

#endif

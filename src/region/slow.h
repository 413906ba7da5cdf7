/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that take long: what boundaries do for them, and who hears of them. */
#ifndef PS_REGION_SLOW_H
#define PS_REGION_SLOW_H

#include <perfsage/slow_visit.h>
#include <stdbool.h>
#include <stdint.h>

struct ps__member;
struct ps__node;
struct ps__taken;
struct ps__watch;

/* A visit that has ended. */
struct ps__visit {
	size_t depth;                  /* so many levels, the outermost, are its path */
	const struct ps__node *counts; /* NULL: they aren't known */
	uint64_t entered_ns, left_ns;
};

/* The first member of a struct that a writer keeps for a thread. */
struct ps__visit_stream {
	struct ps__visit_stream *next; /* of the member */
	const struct ps__visit_writer *writer;
};

/* Functions of a room above that writes visits. They are called while signals wait. */
struct ps__visit_writer {
	/* By the visit's thread, which may have a stream in member->watches.streams. Tells whether
	 * the visit was written. */
	bool (*write)(void *context, struct ps__member *member, const struct ps__visit *visit);
	void (*end)(struct ps__visit_stream *stream); /* the thread's last visit was written */
	void (*release)(void *context);               /* no thread writes any more */
};

/* A thread has one. */
struct ps__watches {
	struct ps__watch *open; /* of the innermost visit that is watched; see slow.c */
	struct ps__watch *idle;
	struct ps__visit_stream *streams;
};

/* What the program asked for. */
struct ps__slow {
	struct ps__slow *before; /* of the region: visits that are open may have it */
	uint64_t limit_ns;
	ps_slow_visit *callback;               /* NULL: none */
	const struct ps__visit_writer *writer; /* NULL: none */
	void *context;
};

/* region.c: for the visits that begin from now on. Codes as ps_region_set_slower_than. */
int ps__region_set_slow(struct ps_region *region, const struct ps__slow *slow, const char *call);

/* A visit begins in the level that comes next; `boundary` is the result of its boundary. */
void ps__slow_begin(struct ps__member *member, const struct ps__slow *slow, int boundary)
    __attribute__((cold));
/* A visit has ended in the level that was the last one. The caller sees that some visit is watched.
 */
void ps__slow_end(struct ps__member *member, uint64_t left_ns, int boundary) __attribute__((cold));
/* Counts go to all visits that are watched. */
void ps__slow_add(struct ps__member *member, const struct ps__taken *taken) __attribute__((cold));
/* What was counted in them isn't known any more. */
void ps__slow_lose(struct ps__member *member);

/* Frees what a thread had for them. */
void ps__slow_end_thread(struct ps__member *member);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that take long: what boundaries do for them, and how they are reported. */
#ifndef PS_REGION_SLOW_H
#define PS_REGION_SLOW_H

#include <perfsage/slow_visit.h>
#include <stdbool.h>
#include <stdint.h>

struct ps__member;
struct ps__node;
struct ps__taken;
struct ps__watch;
struct ps_paths;

/* A visit that has ended. */
struct ps__visit {
	size_t depth;                  /* number of outermost levels that are its path */
	const struct ps__node *counts; /* a node with its counts; NULL: they aren't known */
	uint64_t entered_ns, left_ns;
};

/* The first member of a struct that a writer keeps for a thread. */
struct ps__visit_stream {
	struct ps__visit_stream *next; /* next stream of the same member */
	const struct ps__visit_writer *writer;
};

/* Functions of a higher layer that writes visits (output/visit_log.c). Signals are blocked while
 * they are called. */
struct ps__visit_writer {
	/* Called in the visit's thread, which may have a stream in member->watches.streams. Returns
	 * true if the visit was written. */
	bool (*write)(void *context, struct ps__member *member, const struct ps__visit *visit);
	void (*end)(struct ps__visit_stream *stream); /* the thread writes no more visits */
	void (*release)(void *context);               /* no thread writes any more */
};

/* The watched visits of a thread: those of regions that have a limit (struct ps__slow). */
struct ps__watches {
	struct ps__watch *first;   /* see slow.c */
	struct ps__watch *open;    /* the innermost watched visit; NULL: none is open */
	struct ps_paths *reported; /* of the visit that is being reported; NULL: none */
	struct ps__visit_stream *streams;
};

/* A limit that the program has set for the visits of a region. */
struct ps__slow {
	/* The region's limit before this one: open visits may still use it */
	struct ps__slow *before;
	uint64_t limit_ns;
	ps_slow_visit *callback;               /* NULL: none */
	const struct ps__visit_writer *writer; /* NULL: none */
	void *context;
};

/* region.c: sets a limit for the visits that begin from now on. Returns as
 * ps_region_set_slower_than. call: its name, for errors. */
int ps__region_set_slow(struct ps_region *region, const struct ps__slow *slow, const char *call);

/* Begins to watch the visit of the next level. boundary: the result of its first boundary. */
void ps__slow_begin(struct ps__member *member, const struct ps__slow *slow, int boundary)
    __attribute__((cold));
/* Called when the innermost visit has ended. If that visit is watched, ends its watch, and reports
 * it if it took long. member->watches.open must not be NULL. */
void ps__slow_end(struct ps__member *member, uint64_t left_ns, int boundary) __attribute__((cold));
/* Adds counts to all watched visits. */
void ps__slow_add(struct ps__member *member, const struct ps__taken *taken) __attribute__((cold));
/* Notes that the counts of all watched visits are no longer known. */
void ps__slow_lose(struct ps__member *member);

/* Repairs the watches after a jump: those of visits that are no longer open end, unreported. */
void ps__slow_recover(struct ps__member *member);

/* Ends the streams of a thread, and frees its watches. */
void ps__slow_end_thread(struct ps__member *member);

#endif

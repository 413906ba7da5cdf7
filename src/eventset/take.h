/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes: what a set has counted since the last take, handed over by hardware thread. For rooms that
 * add it up themselves. The tree misses nothing by it: the next reading has the sum of all takes.
 */
#ifndef PS_EVENTSET_TAKE_H
#define PS_EVENTSET_TAKE_H

#include "store/history.h"

struct ps_eventset;

/* Counts of one hardware thread. */
struct ps__taken {
	struct ps__history *history; /* the set's on that hardware thread */
	const uint64_t *counts;      /* in a row's order, without its timestamp */
	size_t width;                /* words */
	uint64_t now_ns;             /* CLOCK_MONOTONIC after the counters were read */
	uint16_t mark;
};

/* Returns PS_OK; or a code with a detail, and the counts come with the next take. */
typedef int ps__take(void *context, const struct ps__taken *taken);

/*
 * Takes from a set that counts the calling thread, and has made a reading: ps_start and ps_read
 * come first. After ps_stop it takes the rest.
 *
 * now_ns receives that of struct ps__taken. Returns PS_OK, PS_PARTIAL, or as ps_read; nothing is
 * taken then. The fast path is in fast_take.h, and is opened for it here.
 */
int ps__set_take(struct ps_eventset *set, ps__take *take, void *context, uint64_t *now_ns);
/* Lasts as long as the set. */
struct ps__fast_path *ps__set_fast_path(struct ps_eventset *set);

/* The totals of a set on one hardware thread, as another thread than its own sees them. */
struct ps__peeked {
	const struct ps__recording *recording;
	const uint64_t *totals; /* in a row's order, without its timestamp */
	int cpu;                /* -1: not known */
	uint16_t mark;
	bool is_split; /* by CPU: the enabled times are of all CPUs together */
};

/* Is its thread in a call of the set, or was such a call left? What the call reads is not assigned
 * then. */
bool ps__set_is_busy(const struct ps_eventset *set);

/*
 * Looks at a set that counts thread tid, while that thread may go on. The caller sees to it that
 * the set isn't given up meanwhile. Returns how many hardware threads there are, and *out, for
 * ps__os_free; 0 where it can't be told: PAPI's counters, several hardware groups, no memory. If
 * the thread fetches meanwhile, what is told may be wrong.
 */
size_t ps__set_peek(const struct ps_eventset *set, pid_t tid, struct ps__peeked **out);

/* The caller has seen that a call of the calling thread on the set was left (base/stack.h). The
 * next call makes the set whole, from wherever it comes. */
void ps__set_note_left(struct ps_eventset *set);

/*
 * Closes the counters of a stopped set whose thread ends; another thread may start it. Its readings
 * stay what they are: the next thread's counts are added to the latest one.
 */
void ps__set_give_up(struct ps_eventset *set);
/* Was it started so that it goes on in its readings? What was opened in other groups can't. */
bool ps__set_goes_on(const struct ps_eventset *set);

#endif

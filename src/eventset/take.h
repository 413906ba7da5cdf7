/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A take is what a set has counted since the last take, by hardware thread. Takes are for rooms
 * that add up the counts themselves. The tree loses nothing: the next reading contains the sum of
 * all takes.
 */
#ifndef PS_EVENTSET_TAKE_H
#define PS_EVENTSET_TAKE_H

#include "store/history.h"

struct ps_eventset;

/* Counts of one hardware thread. */
struct ps__taken {
	struct ps__history *history; /* the set's history of that hardware thread */
	const uint64_t *counts;      /* in a row's order, without its timestamp */
	size_t width;                /* words */
	uint64_t now_ns;             /* CLOCK_MONOTONIC after the counters were read */
	uint16_t mark;
};

/* Returns PS_OK; or a code with a detail: the next take then has these counts. */
typedef int ps__take(void *context, const struct ps__taken *taken);

/*
 * Takes from a set that counts the calling thread and has made a reading (call ps_start and ps_read
 * first). After ps_stop it takes the rest. Opens the fast path of takes (fast_take.h).
 *
 * *now_ns receives now_ns of struct ps__taken. Returns PS_OK, PS_PARTIAL, or an error of ps_read;
 * after an error nothing was taken.
 */
int ps__set_take(struct ps_eventset *set, ps__take *take, void *context, uint64_t *now_ns);
/* Returns the set's fast path; valid as long as the set. */
struct ps__fast_path *ps__set_fast_path(struct ps_eventset *set);

/* The totals of a set on one hardware thread, read by another thread than the counted one. */
struct ps__peeked {
	const struct ps__recording *recording;
	const uint64_t *totals; /* in a row's order, without its timestamp */
	int cpu;                /* -1: not known */
	uint16_t mark;
	/* the counts are split by CPU: the enabled times are those of all CPUs together */
	bool is_split;
};

/* True if the set's thread is in a call of the set, or such a call was left. The call may have read
 * counts that it has not assigned yet. */
bool ps__set_is_busy(const struct ps_eventset *set);

/*
 * Reads the counts of a set that counts thread tid, while that thread may go on. The caller makes
 * sure that the set isn't given up meanwhile. Returns the number of hardware threads, and sets *out
 * (release it with ps__os_free). Returns 0, and *out is NULL, if the counts can't be read this way:
 * PAPI's counters, several hardware groups, no memory. If the thread fetches meanwhile, the result
 * may be wrong.
 */
size_t ps__set_peek(const struct ps_eventset *set, pid_t tid, struct ps__peeked **out);

/* Notes that a call of the calling thread on the set was left, as the caller has found out
 * (base/stack.h). The next call on the set, of any thread, repairs the set. */
void ps__set_note_left(struct ps_eventset *set);

/*
 * Closes the counters of a stopped set whose thread ends; then another thread may start the set.
 * Its readings stay as they are, and the next thread's counts are added to the latest one.
 */
void ps__set_give_up(struct ps_eventset *set);
/* True if the set continues its readings after a restart. False if the events were opened in other
 * groups than before. */
bool ps__set_goes_on(const struct ps_eventset *set);

#endif

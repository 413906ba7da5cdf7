/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path of a reading: fast_path.c takes it, fast_path_open.c opens and closes it. */
#ifndef PS_EVENTSET_FAST_PATH_H
#define PS_EVENTSET_FAST_PATH_H

#include "backend/backend.h"
#include "base/clock.h"
#include "eventset/calls.h"
#include "store/history.h"

struct ps__slot;
struct ps_component;
struct ps_topology;

/*
 * The fast path of a reading (fast_path.c): while a task stays where it is, a reading is the
 * counters' totals plus a vector that doesn't change (base + counts - assigned). What it leaves
 * undone is made up for when anything else happens to the set.
 */
struct ps__fast_path {
	/* The topology's root while the fast path is open, or one of those below; else NULL */
	const struct ps_component *root;
	/* The switch ring's; a constant without a switch ring */
	struct {
		const uint64_t *head;
		uint64_t seen; /* where it stood */
	} switches;
	/* The file that is read */
	struct {
		ps__read_direct *read;
		struct ps__backend *backend;
		size_t instance;
	} source;
	/* The totals as read last: they stand in the row, but not in the slot's counts */
	uint64_t *previous;
	uint64_t *current; /* where they are read to */
	uint64_t *offset;  /* what a row has more than the totals */
	/* The latest reading's. */
	struct {
		_Atomic uint64_t *words;
		_Atomic uint16_t *mark;
		uint16_t flags;              /* what stands there */
		struct ps__history *history; /* the slot's */
	} row;
	/* Where the kernel tells the task's CPU; or a -1: it must be asked */
	const volatile int *cpu_place;
	int cpu;
	/* The reading's base; it changes by one store, as whatever is left half done must be
	 * whole. */
	enum {
		PS__BASE_NONE,
		PS__BASE_BEFORE,   /* from before the fast path: the slot has it */
		PS__BASE_PREVIOUS, /* ps_accum has moved all until `previous` into it, */
		PS__BASE_KEPT      /* or all until `kept` */
	} base;
	uint16_t counts_mark; /* the slot's */
	size_t even_bytes;    /* of the vectors, without their last word if their width is odd */
	size_t split_times; /* of method_per_cpu.c: words of times, which tell residency; else 0 */
	size_t width;
	struct ps__slot *slot;
	uint64_t *kept;   /* vector beside `previous` and `current` */
	uint64_t *memory; /* of the five vectors */
	/* Snapshots use this, if there are any */
	struct {
		uint64_t *passed; /* what a part has more than the totals */
		uint64_t label;   /* of the slot's part */
		uint64_t of;      /* what they are of */
		uint64_t opening; /* those with this number lack the part of the task alone */
	} snapshot;
	/* The set's, for takes and snapshots: they don't see the set */
	struct {
		const struct ps_topology *topology;
		struct ps__clock *clock;
		struct ps__calls *calls; /* as long as there is the set */
	} set;
	/* After a reading that the slow path had to do again: see fast_path_open.c. */
	struct {
		unsigned left;   /* so many readings don't try the fast path */
		unsigned length; /* how many these were after the last miss */
		uint64_t since;  /* the readings that there were when it was opened after that */
		uint64_t takes;  /* are readings here */
	} pause;
};

/* Stands for the root while the fast path is for takes alone (take.h): what they take is in no row
 * yet. */
extern const struct ps_component ps__fast_take;
/* The same for snapshots alone: there may be no row at all. */
extern const struct ps_component ps__fast_snapshot;

/* Fast path not applicable: the caller takes the slow path. */
#define PS__TRY_SLOW_PATH 1

/* fast_path_open.c: a reading that can't be made on the fast path is a miss. Returns
 * PS__TRY_SLOW_PATH, or the result if that is an error. */
int ps__fast_note_miss(struct ps__fast_path *fast, int result) __attribute__((cold));

/* Where the next reading goes. */
static inline void ps__fast_find_row(struct ps__fast_path *fast, const struct ps__history *history,
                                     size_t row)
{
	struct ps__chunk *chunk = ps__history_chunk(history, row);

	fast->row.words = ps__history_words(history, chunk, row);
	fast->row.mark = ps__history_mark(chunk, row);
}

static inline void ps__fast_find_latest(struct ps__fast_path *fast,
                                        const struct ps__history *history)
{
	ps__fast_find_row(fast, history,
	                  atomic_load_explicit(&history->count, memory_order_relaxed) - 1);
}

#endif

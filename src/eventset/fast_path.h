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
 * The state of the fast path. While a task stays on its CPU, a reading is the counters' totals plus
 * a vector that doesn't change (base + counts - assigned). The slot and the base are brought up to
 * date when any other call uses the set.
 */
struct ps__fast_path {
	/* NULL: closed. Open: the topology's root, or &ps__fast_take or &ps__fast_snapshot */
	const struct ps_component *root;
	/* The switch ring's head; a constant if there is no ring */
	struct {
		const uint64_t *head;
		uint64_t seen; /* the head's value when the path was opened */
	} switches;
	/* What is read */
	struct {
		ps__read_direct *read;
		struct ps__backend *backend;
		size_t instance;
	} source;
	/* The totals as a reading or take read them last: the row has them, the slot's counts don't
	 * have them yet */
	uint64_t *previous;
	uint64_t *current; /* receives the totals */
	uint64_t *offset;  /* a row's words less the totals */
	/* The latest reading's row */
	struct {
		_Atomic uint64_t *words;
		_Atomic uint16_t *mark;
		uint16_t flags;              /* the value of *mark */
		struct ps__history *history; /* the slot's */
	} row;
	/* Memory to which the kernel writes the task's CPU; -1 there: ask the kernel */
	const volatile int *cpu_place;
	int cpu;
	/* The reading's base. It is changed by a single store, so that a call can be left at any
	 * point. */
	enum {
		PS__BASE_NONE,
		PS__BASE_BEFORE,   /* the base from before the fast path, which the slot has */
		PS__BASE_PREVIOUS, /* ps_accum has moved all counts up to `previous` into it */
		PS__BASE_KEPT      /* ps_accum has moved all counts up to `kept` into it */
	} base;
	uint16_t counts_mark; /* the slot's */
	size_t even_bytes;    /* of the vectors; without the last word if their width is odd */
	/* for method_per_cpu.c: number of words of times, which show residency; otherwise 0 */
	size_t split_times;
	size_t width;
	struct ps__slot *slot;
	uint64_t *kept;   /* a third vector, beside `previous` and `current` */
	uint64_t *memory; /* memory of the six vectors */
	/* For snapshots, if there are any */
	struct {
		uint64_t *passed;  /* a part's words less the totals */
		uint64_t until_ns; /* time of the last snapshot or take */
		uint64_t *totals;  /* those of the last snapshot, or assigned at the opening */
		uint64_t label;    /* label of the slot's part */
		uint64_t of;       /* number of the set's snapshots */
		/* snapshots with this number need only the part of the task's slot */
		uint64_t opening;
	} snapshot;
	/* Parts of the set, for takes and snapshots, which don't see struct ps_eventset */
	struct {
		const struct ps_topology *topology;
		struct ps__clock *clock;
		struct ps__calls *calls; /* valid as long as the set */
	} set;
	/* The pause after a miss: see fast_path_open.c */
	struct {
		unsigned left;   /* readings that are still to skip the fast path */
		unsigned length; /* length of the last pause, in readings */
		uint64_t since;  /* number of readings at the last miss or in the last pause */
		uint64_t takes;  /* takes and snapshots, which count as readings here */
	} pause;
};

/* Used as the root while the fast path is open only for takes (take.h): no row has their counts
 * yet. */
extern const struct ps_component ps__fast_take;
/* Used as the root while the fast path is open only for snapshots: there may be no row at all. */
extern const struct ps_component ps__fast_snapshot;

/* Fast path not applicable: the caller takes the slow path. */
#define PS__TRY_SLOW_PATH 1

/* fast_path_open.c: notes a reading that can't be made on the fast path. Returns PS__TRY_SLOW_PATH,
 * or `result` if that is an error. */
int ps__fast_note_miss(struct ps__fast_path *fast, int result) __attribute__((cold));

/* Points fast->row to a row of the history. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* A node: a path that a thread has entered, with its counts and visits. Boundaries (boundary.h)
 * write nodes, paths.c reads them. */
#ifndef PS_REGION_NODE_H
#define PS_REGION_NODE_H

#include "eventset/take.h"
#include "store/recording.h"

#include <perfsage/region.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps__rate;

/* The counts of one path on one hardware thread, laid out as a row of the set's history. */
struct ps__node_cell {
	struct ps__node_cell *next;
	const struct ps__history *history;
	_Atomic uint16_t mark;
	_Atomic uint64_t words[];
};

/* The visits of a path. Only its thread writes them; other threads read them. */
struct ps__visits {
	_Atomic uint64_t count; /* number of counted visits */
	_Atomic uint64_t wall_ns;
	_Atomic uint64_t shortest_ns;
	_Atomic uint64_t longest_ns;
	_Atomic uint64_t times[PS_VISIT_TIMES];
	_Atomic uint64_t unchosen; /* visits that were not counted, inside a counted visit */
	_Atomic uint64_t skipped;  /* visits inside a visit that was not counted */
};

/* The sum (high, low) has 128 bits, in two's complement: no number of calls makes it overflow. */
struct ps__value_total {
	_Atomic uint64_t count;
	_Atomic uint64_t low, high;
};

/* The numbers that the program gave under one name in a path. Only the path's thread writes this
 * struct; other threads read it. The newest total is at the turn modulo 2; the next one is written
 * to the other place. So there always is a whole total, however long the thread stops, or if it
 * leaves the change by a jump. */
struct ps__value_cell {
	_Atomic(struct ps__value_cell *) next; /* in the order in which they were made */
	const struct ps_region *name;
	_Atomic uint64_t turn; /* stored with release, loaded with acquire */
	/* Stored with release, after the earlier turn: a reader that sees a word of a later total
	 * also sees that the turn has changed. */
	struct ps__value_total totals[2];
};

/* Why the counts of a path can be wrong. A failed reading sets the first two (ps__member_lose), and
 * estimate.c the third. The fourth is set for counts whose attribution is last-cpu. */
enum ps__doubt {
	PS__LACKS = 1 << 0,      /* counts of the path itself are missing in it */
	PS__HAS_OTHERS = 1 << 1, /* counts of paths below are in it */
	PS__HAS_UNCHOSEN =
	    1 << 2, /* counts of visits of paths below are in the raw count, not in the value */
	PS__HAS_UNSPLIT = 1 << 3 /* counts in one part may belong to any other part */
};
#define PS__ALL_DOUBTS (PS__LACKS | PS__HAS_OTHERS | PS__HAS_UNCHOSEN | PS__HAS_UNSPLIT)

/* Each visit uses the first fields, up to visits.longest_ns: they are together in two cache
 * lines. */
struct ps__node {
	struct ps__node *parent;     /* NULL: this is the root path */
	const struct ps__rate *rate; /* the region's rate; NULL: the root path */
	/* Node that was made next: a parent comes before its children. Stored with release, loaded
	 * with acquire */
	_Atomic(struct ps__node *) next;
	/* Newest first. Stored with release, loaded with acquire */
	_Atomic(struct ps__node_cell *) cells;
	_Atomic uint64_t sequence;   /* odd while the node is being written */
	struct ps__node *last_child; /* the child that was found last */
	struct ps__visits visits;
	const struct ps_region *region;
	uint64_t reviewed_ns; /* see ps__sampling_review */
	struct ps_path *path; /* the node is added to it; used under the profile's lock */
	_Atomic(struct ps__value_cell *) values; /* stored with release, loaded with acquire */
	struct ps__value_cell *newest_value;
	struct ps__value_cell *last_value; /* the cell that was found last */
	_Atomic unsigned doubt;            /* bits of enum ps__doubt */
	/* The odd sequence that a reader of the paths has waited for in vain; used under the
	 * profile's lock */
	uint64_t given_up;
};

/* Makes a cell; ps__node_cell finds it or makes it. NULL if out of memory. */
struct ps__node_cell *ps__node_make_cell(struct ps__node *node, const struct ps__history *history)
    __attribute__((cold));
static inline struct ps__node_cell *ps__node_cell(struct ps__node *node,
                                                  const struct ps__history *history)
{
	struct ps__node_cell *cell = atomic_load_explicit(&node->cells, memory_order_relaxed);

	while (cell && cell->history != history)
		cell = cell->next;
	return cell ? cell : ps__node_make_cell(node, history);
}

/* ps__node_begin and ps__node_end are around each change of a node by its thread. */
static inline void ps__node_begin(struct ps__node *node)
{
	uint64_t sequence = atomic_load_explicit(&node->sequence, memory_order_relaxed);

	atomic_store_explicit(&node->sequence, sequence + 1, memory_order_relaxed);
	/* Pairs with the acquiring loads of words: a reader that sees a word which is stored after
	 * this also sees the odd number when it looks at the sequence again. ThreadSanitizer
	 * doesn't know fences, and needs none here: all accesses are atomic. */
#ifndef PS__HAS_THREAD_SANITIZER
	atomic_thread_fence(memory_order_release);
#endif
}

static inline void ps__node_end(struct ps__node *node)
{
	uint64_t sequence = atomic_load_explicit(&node->sequence, memory_order_relaxed);

	atomic_store_explicit(&node->sequence, sequence + 1, memory_order_release);
}

/* A reader waits for the end of a change at most this number of turns: about 100 ms, because the
 * thread that makes the change may be preempted. */
#define PS__MOST_TURNS 1100
void ps__await_turn(unsigned turn);

/* Reads of a node by another thread are between these two, and repeated if the second returns true.
 * The caller holds the profile's lock. A jump out of a boundary leaves the sequence odd until the
 * thread's next call, which can be late: after some turns the node is read as it is, and each
 * further time at once. The sequence is odd then, and the node lacks counts. */
uint64_t ps__node_read_begin(struct ps__node *node);
static inline bool ps__node_read_retry(const struct ps__node *node, uint64_t sequence)
{
	return atomic_load_explicit(&node->sequence, memory_order_relaxed) != sequence;
}

/* Notes the time and the mark of counts that were added to a cell. */
static inline void ps__cell_note(struct ps__node_cell *cell, uint64_t now_ns, uint16_t taken_mark)
{
	uint16_t mark = atomic_load_explicit(&cell->mark, memory_order_relaxed);

	ps__store_word(&cell->words[0], now_ns);
	if (__builtin_expect(mark != taken_mark, 0))
		atomic_store_explicit(&cell->mark, ps__mark_join(mark, taken_mark),
		                      memory_order_relaxed);
}

static inline void ps__cell_add(struct ps__node_cell *cell, const struct ps__taken *taken)
{
	ps__add_words(&cell->words[1], taken->counts, taken->width);
	ps__cell_note(cell, taken->now_ns, taken->mark);
}

static inline unsigned ps__visit_time_of(uint64_t visit_ns)
{
	unsigned power = visit_ns ? 63u - (unsigned)__builtin_clzll(visit_ns) : 0;

	return power < PS_VISIT_TIMES ? power : PS_VISIT_TIMES - 1;
}

static inline void ps__visits_add(struct ps__visits *visits, uint64_t visit_ns)
{
	ps__add_word(&visits->count, 1);
	ps__add_word(&visits->times[ps__visit_time_of(visit_ns)], 1);
	if (visit_ns < atomic_load_explicit(&visits->shortest_ns, memory_order_relaxed))
		atomic_store_explicit(&visits->shortest_ns, visit_ns, memory_order_relaxed);
	if (visit_ns > atomic_load_explicit(&visits->longest_ns, memory_order_relaxed))
		atomic_store_explicit(&visits->longest_ns, visit_ns, memory_order_relaxed);
}

static inline void ps__node_add_visit(struct ps__node *node, uint64_t visit_ns)
{
	ps__node_begin(node);
	ps__visits_add(&node->visits, visit_ns);
	ps__node_end(node);
}

/* The length of visit that is expected for prefetching. In much longer visits a wait for memory
 * doesn't matter. */
#define PS__SHORT_VISIT_NS 1000

/* Prefetches what the end of a visit needs, and the next node, which may be entered next
 * (ps__node_get). The data arrive during the system call of the visit's beginning. */
static inline void ps__node_prefetch(struct ps__node *node)
{
	uintptr_t cell = (uintptr_t)atomic_load_explicit(&node->cells, memory_order_relaxed);
	uintptr_t next = (uintptr_t)atomic_load_explicit(&node->next, memory_order_relaxed);

	__builtin_prefetch(&node->visits.shortest_ns, 1);
	__builtin_prefetch(&node->visits.times[ps__visit_time_of(PS__SHORT_VISIT_NS)], 1);
	__builtin_prefetch((const void *)cell, 1);
	__builtin_prefetch((const void *)(cell + 64), 1);
	__builtin_prefetch((const void *)next, 1);
	__builtin_prefetch((const void *)(next + offsetof(struct ps__node, visits)), 1);
}

/* Prefetches the rate of the next node, for the beginning of its visit. It arrives during the
 * system call of this visit's end. */
static inline void ps__node_prefetch_next(const struct ps__node *node)
{
	const struct ps__node *next = atomic_load_explicit(&node->next, memory_order_relaxed);

	if (next)
		__builtin_prefetch(next->rate);
}

/* Frees a node's cells. No other thread may see the node. */
void ps__node_free_cells(struct ps__node *node);

#endif

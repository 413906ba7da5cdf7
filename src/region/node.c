/* SPDX-License-Identifier: BSD-3-Clause */
/* The paths that a thread has entered. */
#include "base/os.h"
#include "region/profile.h"

#include <sched.h>

/* Stands for the root path's parent in the table, where a key can't be NULL. */
static const char above_root;

static struct ps__node *node_make(struct ps__member *member, struct ps__node *parent,
                                  const struct ps_region *region, const struct ps__rate *rate)
{
	struct ps__node *node;

	if (ps__links_reserve(&member->links) < 0)
		return NULL;
	node = ps__os_calloc(1, sizeof *node);
	if (!node)
		return NULL;
	node->parent = parent;
	node->region = region;
	node->rate = rate;
	atomic_init(&node->visits.shortest_ns, UINT64_MAX);
	ps__links_add(&member->links, parent ? (const void *)parent : &above_root, rate, node);
	if (member->newest)
		atomic_store_explicit(&member->newest->next, node, memory_order_release);
	member->newest = node;
	return node;
}

struct ps__node *ps__node_search(struct ps__member *member, struct ps__node *parent,
                                 const struct ps_region *region, const struct ps__rate *rate)
{
	struct ps__node *node;

	node = ps__links_find(&member->links, parent ? (const void *)parent : &above_root, rate);
	if (!node) {
		struct ps__held held;
		ps__signals_hold(&held);
		node = node_make(member, parent, region, rate);
		ps__signals_release(&held);
	}
	return node;
}

__attribute__((noinline)) struct ps__node_cell *
ps__node_make_cell(struct ps__node *node, const struct ps__history *history)
{
	struct ps__held held;

	ps__signals_hold(&held);
	struct ps__node_cell *cell = ps__os_calloc(
	    1, sizeof *cell + (1 + ps__recording_width(history->recording)) * sizeof *cell->words);
	if (cell) {
		cell->history = history;
		cell->next = atomic_load_explicit(&node->cells, memory_order_relaxed);
		atomic_store_explicit(&node->cells, cell, memory_order_release);
	}
	/* Signals are released only now, because a handler may then jump out of this call. */
	ps__signals_release(&held);
	return cell;
}

void ps__node_free_cells(struct ps__node *node)
{
	struct ps__node_cell *next;

	for (struct ps__node_cell *cell = atomic_load_explicit(&node->cells, memory_order_acquire);
	     cell; cell = next) {
		next = cell->next;
		ps__os_free(cell);
	}
}

static void node_free(struct ps__node *node)
{
	struct ps__value_cell *next_value;

	ps__node_free_cells(node);
	for (struct ps__value_cell *value =
	         atomic_load_explicit(&node->values, memory_order_acquire);
	     value; value = next_value) {
		next_value = atomic_load_explicit(&value->next, memory_order_acquire);
		ps__os_free(value);
	}
	ps__os_free(node);
}

void ps__node_free_all(struct ps__member *member)
{
	struct ps__node *next;

	for (struct ps__node *node = member->root; node; node = next) {
		next = atomic_load_explicit(&node->next, memory_order_acquire);
		node_free(node);
	}
	ps__links_clear(&member->links);
}

/* Turns without a sleep: most changes take less than a microsecond. */
#define SHORT_TURNS 1000

void ps__await_turn(unsigned turn)
{
	if (turn < SHORT_TURNS)
		sched_yield();
	else
		ps__os.poll(NULL, 0, 1);
}

uint64_t ps__node_read_begin(struct ps__node *node)
{
	uint64_t sequence = atomic_load_explicit(&node->sequence, memory_order_acquire);

	for (unsigned turn = 0;
	     (sequence & 1) && sequence != node->given_up && turn < PS__MOST_TURNS; turn++) {
		ps__await_turn(turn);
		sequence = atomic_load_explicit(&node->sequence, memory_order_acquire);
	}
	if (sequence & 1)
		node->given_up = sequence;
	return sequence;
}

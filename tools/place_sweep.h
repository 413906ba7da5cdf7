/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sharing while others are idle: one sweep over all segments by time. place_sharing.c makes it.
 *
 * A segment that begins or ends changes one hardware thread and its core; the others aren't looked
 * at. Instead there are clocks. Two of the sweep go while a hardware thread, or a core, is idle. A
 * spot's clock takes over what these have gone while the spot was shared, and a task's entry what
 * the spot's has gone while the task was there.
 *
 * In a hole nobody knows who runs on that CPU: it is neither idle nor shared. A preempted task may
 * have run there, too; so no wait is known to be one, and no hardware thread is known to be shared.
 */
#ifndef PS_TOOLS_PLACE_SWEEP_H
#define PS_TOOLS_PLACE_SWEEP_H

#include "tools/place_sums.h"

/* A hardware thread or a core. */
struct place_spot {
	const struct ps_component *component;
	struct place_spot *core; /* of a hardware thread; NULL: the tree has none */
	bool is_core;
	bool is_allowed;   /* the program may use it, or a part of it */
	bool is_unknown;   /* it may be several */
	unsigned occupied; /* tasks that run or wait here; of a core: hardware threads with some */
	unsigned running;  /* tasks; of a core: hardware threads on which one runs */
	unsigned holes;
	uint64_t clock_ns;      /* shared while another was idle, up to since_ns */
	uint64_t since_ns;      /* by the sweep's clock */
	uint64_t idle_ns;       /* idle while the watched spot was shared, up to idle_since_ns */
	uint64_t idle_since_ns; /* by the watched spot's clock */
};

/* A task at a spot. */
struct place_entry {
	struct place_spot *spot;
	size_t task;
	uint64_t ns;       /* of the spot's clock */
	uint64_t since_ns; /* by the spot's clock, while it is there */
};

enum place_kind {
	PLACE_STAY,
	PLACE_RUN,
	PLACE_HOLE
};

struct place_event {
	uint64_t ns;
	const struct place_segment *segment;
	enum place_kind kind;
	bool is_begin;
};

struct place_sweep {
	struct place_spot *threads, *cores; /* as in the tree, the unknown Thread the last */
	size_t thread_count, core_count;
	struct place_entry *entries;
	size_t entry_count;
	struct place_event *events;
	size_t event_count;
	struct place_segment *holes; /* their hardware threads and times */
	size_t hole_count;
	/* The state. */
	uint64_t now_ns;
	uint64_t thread_clock_ns, core_clock_ns;
	size_t idle_threads, idle_cores, open_holes;
	const struct place_spot *watched; /* NULL in the first sweep */
};

/* Sweeps over the events, which are sorted by time. watched: the spots' idle times are those while
 * this one was shared; NULL: none. May be called again. */
void place_sweep_run(struct place_sweep *sweep, const struct place_spot *watched);

#endif

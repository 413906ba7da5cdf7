/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds sharing while others are idle: one sweep over all segments, in the order of time, for
 * place_sharing.c.
 *
 * The begin or end of a segment changes one hardware thread and its core. The others need not be
 * visited, because clocks tell their times. The sweep has two clocks: one advances while any
 * hardware thread is idle, one while any core is. A spot's clock advances with one of them while
 * the spot is shared. A task's time at a spot advances with the spot's clock.
 *
 * In a hole it is unknown who runs on the CPU, so it is neither idle nor shared. A preempted task
 * may also have run on that CPU. So while any hole is open, no wait is certain, and no hardware
 * thread counts as shared.
 */
#ifndef PS_TOOLS_PLACE_SWEEP_H
#define PS_TOOLS_PLACE_SWEEP_H

#include "tools/place_sums.h"

/* A hardware thread or a core. */
struct place_spot {
	const struct ps_component *component;
	struct place_spot *core; /* of a hardware thread; NULL: it has no core in the tree */
	bool is_core;
	bool is_allowed;   /* the program may use at least a part of it */
	bool is_unknown;   /* the unknown Thread, which may stand for several CPUs */
	unsigned occupied; /* number of tasks that run or wait here; of a core: number of hardware
	                    * threads with such tasks */
	unsigned running;  /* number of tasks that run here; of a core: number of hardware threads
	                    * with such tasks */
	unsigned holes;
	uint64_t clock_ns;      /* time shared while another one was idle, up to since_ns */
	uint64_t since_ns;      /* reading of the sweep's clock when clock_ns was set */
	uint64_t idle_ns;       /* time idle while the watched spot was shared, up to
	                         * idle_since_ns */
	uint64_t idle_since_ns; /* reading of the watched spot's clock when the spot became idle */
};

/* A task at a spot. */
struct place_entry {
	struct place_spot *spot;
	size_t task;
	uint64_t ns;       /* time by the spot's clock */
	uint64_t since_ns; /* reading of the spot's clock when the task came */
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
	struct place_spot *threads, *cores; /* in the tree's order; the unknown Thread is the last
	                                     * thread */
	size_t thread_count, core_count;
	struct place_entry *entries;
	size_t entry_count;
	struct place_event *events;
	size_t event_count;
	struct place_segment *holes; /* only thread, begin_ns and end_ns are set */
	size_t hole_count;
	/* State of the sweep. */
	uint64_t now_ns;
	uint64_t thread_clock_ns, core_clock_ns;
	size_t idle_threads, idle_cores, open_holes;
	const struct place_spot *watched; /* NULL in the first sweep */
};

/* Sweeps over the events, which must be sorted by time. watched: idle times count only while this
 * spot was shared; NULL: idle times are not computed. May be called again. */
void place_sweep_run(struct place_sweep *sweep, const struct place_spot *watched);

#endif

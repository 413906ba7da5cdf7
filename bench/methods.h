/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which a thread may be counted, behind one table: bench_cost
 * measures what each does to the thread. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "counted.h"

#include <stdbool.h>

/* Opened in the process that is counted. */
struct method_state {
	struct ps_topology *topology;
	struct ps_eventset *model;
	struct ps_eventset *set;
	uint64_t timestamp;
};

struct method {
	const char *name;
	void (*prepare)(struct method_state *state, int events); /* what is not part of opening */
	int (*open)(struct method_state *state);                 /* opens and starts; 0 or not */
	void (*read)(struct method_state *state);
	void (*close)(struct method_state *state);
	/* In the parent, when the counted process is gone; NULL: nothing to do */
	void (*cleanup)(pid_t pid);
	bool acts_on_all; /* it slows down all tasks while it is open */
};

#define METHOD_COUNT 9
/* No events at all comes first: what the others are compared with. */
extern const struct method bench_methods[METHOD_COUNT];

#endif

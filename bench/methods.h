/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the ways to count a thread; bench_cost measures what each costs the thread. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "counted.h"

#include <stdbool.h>

/* State in the counted process. */
struct method_state {
	struct ps_topology *topology;
	struct ps_eventset *model;
	struct ps_eventset *set;
	uint64_t timestamp;
};

struct method {
	const char *name;
	void (*prepare)(struct method_state *state, int events); /* work that isn't part of
	                                                          * opening */
	int (*open)(struct method_state *state);                 /* opens and starts; 0 on
	                                                          * success */
	void (*read)(struct method_state *state);
	void (*close)(struct method_state *state);
	/* Called in the parent after the counted process has ended; NULL: nothing to do */
	void (*cleanup)(pid_t pid);
	bool acts_on_all; /* while open it slows down all tasks */
};

#define METHOD_COUNT 9
/* The first one counts nothing; the others are compared with it. */
extern const struct method bench_methods[METHOD_COUNT];

#endif

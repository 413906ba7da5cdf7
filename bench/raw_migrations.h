/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another means of exact attribution, to be measured beside perfsage's: each migration of the task leaves a record with the
 * counts so far. One descriptor an event, whatever the number of CPUs; needs kernel-side events.
 */
#ifndef BENCH_RAW_MIGRATIONS_H
#define BENCH_RAW_MIGRATIONS_H

#include "counted.h"

#include <stdbool.h>

#define MIGRATIONS_MOST_CPUS 1024

struct raw_migrations {
	int fds[1 + BENCH_MOST_EVENTS]; /* the leader counts migrations */
	int count;                      /* of the events, without the leader */
	void *page;                     /* the ring's control page, and its data */
	size_t ring_bytes;
	uint64_t seen;
	int cpu;   /* where what was not yet credited happened */
	bool lost; /* a record found no room: the split is not exact since */
	uint64_t credited[BENCH_MOST_EVENTS];
	/* By CPU; it goes on over close and open, and begins with 0 in a zeroed struct. */
	uint64_t split[MIGRATIONS_MOST_CPUS][BENCH_MOST_EVENTS];
	uint64_t buffer[3 + 2 * (1 + BENCH_MOST_EVENTS)];
};

/* Opens and starts for the calling thread. 0, or -errno: -EACCES where kernel-side events are not permitted. */
int raw_migrations_open(struct raw_migrations *migrations, int count);
void raw_migrations_close(struct raw_migrations *migrations);

/* Splits what was counted since the last call. */
void raw_migrations_read(struct raw_migrations *migrations);

#endif

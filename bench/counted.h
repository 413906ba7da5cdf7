/* SPDX-License-Identifier: BSD-3-Clause */
/* Software events for benchmarks, as a perfsage set and as a raw group. Every machine and user has
 * these events. */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H

#include <linux/perf_event.h>
#include <perfsage.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_MOST_EVENTS 8

/* The format that perfsage reads: values and times. */
#define BENCH_FULL_FORMAT \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* A group opened by the system call; fds[0] is the leader. */
struct bench_raw {
	int fds[BENCH_MOST_EVENTS];
	int count;
	/* nr, enabled, running, and a value for each. */
	uint64_t buffer[3 + 2 * BENCH_MOST_EVENTS];
};

const char *bench_event_name(int index);
void bench_event_attr(int index, struct perf_event_attr *attr);

/* Returns a set with the first `count` events, not started. Ends the program on failure. */
struct ps_eventset *bench_make_set(int count);

/* Opens and starts a group on a task (0: the caller). Ends the program on failure. */
void bench_raw_open(struct bench_raw *raw, int count, pid_t tid, uint64_t read_format);
void bench_raw_close(struct bench_raw *raw);

/* Reads the whole group by one read(2). */
void bench_raw_read(struct bench_raw *raw);

/* Numbers of rows: a short history that is overwritten in turn, and one row for each of many
 * things. */
#define BENCH_RING_ROWS  64
#define BENCH_MANY_ROWS  10000
#define BENCH_RING_WORDS 16

/* The least work that any library must do: find the CPU, read the clock and the counters, store one
 * row. */
struct bench_floor {
	struct bench_raw *raw;
	size_t rows; /* number of rows that it fills in turn; at most BENCH_MANY_ROWS */
	_Atomic uint64_t ring[BENCH_MANY_ROWS][BENCH_RING_WORDS];
	size_t next;
};
void bench_read_floor(struct bench_floor *floor);

#endif

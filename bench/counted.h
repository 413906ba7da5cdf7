/* SPDX-License-Identifier: BSD-3-Clause */
/* Software events for benchmarks, as a set of ours and as a raw group. Every machine and user has
 * these events. */
#ifndef BENCH_COUNTED_H
#define BENCH_COUNTED_H

#include <linux/perf_event.h>
#include <perfsage.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_MOST_EVENTS 8

/* What perfsage asks the kernel for: times beside the values. */
#define BENCH_FULL_FORMAT \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* A group opened by the system call itself: fds[0] leads. */
struct bench_raw {
	int fds[BENCH_MOST_EVENTS];
	int count;
	/* nr, enabled, running, and a value for each. */
	uint64_t buffer[3 + 2 * BENCH_MOST_EVENTS];
};

const char *bench_event_name(int index);
void bench_event_attr(int index, struct perf_event_attr *attr);

/* A set with the first `count` events, not started. It ends the program if it
 * can't be made. */
struct ps_eventset *bench_make_set(int count);

/* Opens and starts a group on a task (0: the caller). It ends the program if
 * that can't be done. */
void bench_raw_open(struct bench_raw *raw, int count, pid_t tid, uint64_t read_format);
void bench_raw_close(struct bench_raw *raw);

/* One read(2) of the whole group. */
void bench_raw_read(struct bench_raw *raw);

/* A history of the newest rows, overwritten in turn, or a row for each of many things. */
#define BENCH_RING_ROWS  64
#define BENCH_MANY_ROWS  10000
#define BENCH_RING_WORDS 16

/* The least that a library could do: the CPU, the clock, the counters, one row stored. */
struct bench_floor {
	struct bench_raw *raw;
	size_t rows; /* that it stores in turn; at most BENCH_MANY_ROWS */
	_Atomic uint64_t ring[BENCH_MANY_ROWS][BENCH_RING_WORDS];
	size_t next;
};
void bench_read_floor(struct bench_floor *floor);

#endif

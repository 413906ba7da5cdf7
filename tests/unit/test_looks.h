/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that looks find in the fake /proc, for the suites of looks. */
#ifndef PS_TEST_LOOKS_H
#define PS_TEST_LOOKS_H

#include "test_time_share.h"

/* The fake's clock is behind it, unless a test sets that. */
#define FIRST_TICK 1000

/* A task of a process, whose start is the n'th tick after the first one. */
struct shown {
	pid_t pid;
	pid_t tid;
	pid_t parent;
	int start;
	int cpu;
	uint64_t ran_ns;
};

static inline void show(struct shown task)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)task.pid, (int)task.tid);
	snprintf(text, sizeof text,
	         "%d (a (b) R 1) R %d 500 500 0 -1 4194304 90 0 0 0 %d %d 0 0 20 0 1 0 %d 9999360 "
	         "300 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 %d 0 0 0 0 0 0 0\n",
	         (int)task.tid, (int)task.parent, (int)(task.ran_ns / 20000000),
	         (int)(task.ran_ns / 20000000), FIRST_TICK + task.start, task.cpu);
	fake_file(path, text);
	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)task.pid, (int)task.tid);
	snprintf(text, sizeof text, "%llu 77 5\n", (unsigned long long)task.ran_ns);
	fake_file(path, text);
}

static inline void show_root(int cpu, uint64_t ran_ns)
{
	show((struct shown){
	    .pid = 500, .tid = 500, .parent = 1, .start = 7, .cpu = cpu, .ran_ns = ran_ns});
}

static inline void show_thread(pid_t tid, int cpu, uint64_t ran_ns)
{
	show((struct shown){
	    .pid = 500, .tid = tid, .parent = 1, .start = 9, .cpu = cpu, .ran_ns = ran_ns});
}

static inline void hide(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	fake_file(path, NULL);
	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	fake_file(path, NULL);
}

static inline struct ps_eventset *by_looks(const char *cpus)
{
	struct ps_eventset *set = attached(cpus);

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LOOKS));
	show_root(0, 1000 * MS);
	return set;
}

/* One that ran a second before it was counted, and then 1 ms on CPU 0. */
static inline struct ps_eventset *started(void)
{
	struct ps_eventset *set = by_looks("0-3");

	check_ok(ps_start(set));
	show_root(0, 1001 * MS);
	return set;
}

#endif

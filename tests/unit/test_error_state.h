/* SPDX-License-Identifier: BSD-3-Clause */
/* What the suites of groups in the error state share: tasks and CPUs that count instructions, and
 * the time that passes. */
#ifndef PS_TESTS_TEST_ERROR_STATE_H
#define PS_TESTS_TEST_ERROR_STATE_H

#include "support/scene.h"

#define MS      UINT64_C(1000000) /* nanoseconds */
#define PROCESS 500

static uint64_t now_ns;

static inline void sleep_ms(uint64_t time_ms)
{
	now_ns += time_ms * MS;
	fake_set_clock(now_ns, 0);
}

/* All tasks run, and all groups that are on the hardware count. */
static inline void run_ms(uint64_t time_ms)
{
	fake_run(time_ms * MS, time_ms * MS);
	sleep_ms(time_ms);
}

static inline void begin(void)
{
	now_ns = 10000 * MS;
	fake_set_clock(now_ns, 0);
	fake_add_core_pmu(1);
}

/* A set whose two events are a group each. */
static inline struct ps_eventset *set_of_two(void)
{
	begin();
	return scene_set("instructions", "cycles", NULL);
}

enum target {
	SELF,
	THREAD,
	A_PROCESS,
	A_CGROUP,
	TARGETS, /* of tasks */
	A_CPU = TARGETS
};

static inline void attach(struct ps_eventset *set, enum target target)
{
	fake_task(PROCESS, "solver", 0);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	fake_file("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,relatime 0 0\n");
	fake_file("/sys/fs/cgroup/job/cgroup.procs", "");
	if (target == THREAD)
		check_ok(ps_eventset_attach_tid(set, PROCESS));
	else if (target == A_PROCESS)
		check_ok(ps_eventset_attach_process(set, PROCESS));
	else if (target == A_CGROUP)
		check_ok(ps_eventset_attach_cgroup(set, "job"));
	else if (target == A_CPU)
		check_ok(ps_eventset_attach_cpu(set, 0));
}

/* Whatever is counted here is counted by the target. A control group's tasks are on CPU 0. */
static inline void count(enum target target, uint64_t instructions)
{
	if (target == A_CGROUP)
		fake_advance_on(INSTRUCTIONS, -1, 0, instructions);
	else
		fake_advance(INSTRUCTIONS, instructions);
}

/* Starts the set, and reads 1000 instructions in 10 ms. */
static inline void count_for_10_ms(struct ps_eventset *set, enum target target)
{
	check_ok(ps_start(set));
	count(target, 1000);
	run_ms(10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
}

static inline void read_in_part(struct ps_eventset *set)
{
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
}

static inline void check_value(const char *event, enum ps_status status, long long count,
                               uint64_t running_ms, uint64_t enabled_ms)
{
	struct ps_value value = scene_part(0, event, 0);

	ck_assert_msg(value.status == status && value.value == count &&
	                  value.running_ns == running_ms * MS &&
	                  value.enabled_ns == enabled_ms * MS,
	              "%s: %s, %lld of %llu, %llu of %llu ns", event, ps_status_name(value.status),
	              value.value, (unsigned long long)value.raw,
	              (unsigned long long)value.running_ns, (unsigned long long)value.enabled_ns);
	if (status != PS_STATUS_COUNTED)
		ck_assert_uint_ne(value.flags & PS_VALUE_INTERRUPTED, 0);
}

#endif

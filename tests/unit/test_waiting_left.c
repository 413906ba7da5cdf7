/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A jump out of a reading while it assigns waiting times: the next reading must tell each of them
 * once. The reading is left at every STRIDE-th instruction until it reads the clock, but not within
 * the fake's functions.
 */
#include "base/os.h"
#include "support/scene.h"
#include "support/small.h"
#include "support/step.h"

#include <setjmp.h>
#include <signal.h>

#define MS         UINT64_C(1000000)
#define FIRST      PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES
#define SECOND     PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS
#define IN_FIRST   "cycles"
#define IN_SECOND  "branches"
#define MOST_STEPS 20000
#define STRIDE     ps_test_size(11, 53)

#ifdef STEP_IS_POSSIBLE

/* The fake, behind functions that turn the steps off while it runs. */
static struct ps_hooks fake;
static sigjmp_buf back;
static volatile long steps_left;
static volatile bool steps_on;

static void count_step(int number)
{
	(void)number;
	if (--steps_left == 0)
		siglongjmp(back, 1);
}

static void step_if_on(void)
{
	if (steps_on)
		step(true);
}

static ssize_t whole_read(int fd, void *buffer, size_t size_bytes)
{
	step(false);
	ssize_t length = fake.read(fd, buffer, size_bytes);
	step_if_on();
	return length;
}

static int whole_ioctl(int fd, unsigned long request, unsigned long argument)
{
	step(false);
	int result = fake.ioctl(fd, request, argument);
	step_if_on();
	return result;
}

static int whole_getcpu(void)
{
	step(false);
	int cpu = fake.getcpu();
	step_if_on();
	return cpu;
}

/* The clock is read when all is assigned, and the row is about to be written. */
static int last_clock_gettime(clockid_t clock, struct timespec *now)
{
	step(false);
	steps_on = false;
	return fake.clock_gettime(clock, now);
}

/* True: the reading was left after so many steps. */
static bool leave_after(struct ps_eventset *set, long steps)
{
	volatile bool was_left = true;

	steps_left = steps;
	fake = ps__os;
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = whole_read;
		ps__os.ioctl = whole_ioctl;
		ps__os.getcpu = whole_getcpu;
		ps__os.clock_gettime = last_clock_gettime;
		steps_on = true;
		step(true);
		int result = ps_read(set, scene.root, NULL, NULL);
		step(false);
		check_ok(result);
		was_left = false;
	}
	ps__os = fake;
	return was_left;
}

/* The task is on this CPU for so long, while one of two groups is on the hardware. */
static void run_groups(int cpu, uint64_t ns, bool is_first)
{
	fake_set_cpu(cpu);
	fake_set_waiting(FIRST, !is_first);
	fake_set_waiting(SECOND, is_first);
	fake_run(ns, ns);
	fake_advance(FIRST, ns);
	fake_advance(SECOND, ns);
}

/* The same for a set of one group, which waits for a while. */
static void run_one_group(int cpu, uint64_t ran_ns, uint64_t waited_ns)
{
	fake_set_cpu(cpu);
	fake_run(ran_ns, ran_ns);
	fake_advance(FIRST, ran_ns);
	fake_set_waiting(FIRST, true);
	fake_run(waited_ns, waited_ns);
	fake_set_waiting(FIRST, false);
}

/* Counts, before a reading is left. 0: in two groups; 1: in one group, on one CPU; 2: in one
 * group, whose task moves. */
static void run_kind(int kind)
{
	if (kind == 0) {
		run_groups(0, 3 * MS, true);
		run_groups(1, 5 * MS, false);
	} else {
		run_one_group(0, 3 * MS, 5 * MS);
		if (kind == 2)
			run_one_group(1, 3 * MS, 5 * MS);
	}
}

static struct ps_eventset *started_kind(int kind)
{
	fake_add_core_pmu(2);
	struct ps_eventset *set = kind == 0
	                              ? scene_started(IN_FIRST, "instructions", IN_SECOND, NULL)
	                              : scene_started(IN_FIRST, NULL);
	ck_assert_uint_eq(ps_eventset_group_count(set), kind == 0 ? 2 : 1);
	return set;
}

static void check_sum(const char *event, long steps, uint64_t running_ns, uint64_t enabled_ns)
{
	struct ps_value value = scene_total(event);

	ck_assert_msg(value.running_ns == running_ns && value.enabled_ns == enabled_ns,
	              "after step %ld: %s ran %llu of %llu ns, not %llu of %llu", steps, event,
	              (unsigned long long)value.running_ns, (unsigned long long)value.enabled_ns,
	              (unsigned long long)running_ns, (unsigned long long)enabled_ns);
}

static void check_kind(int kind, long steps, uint64_t rounds)
{
	if (kind == 0) {
		check_sum(IN_FIRST, steps, 3 * MS * rounds, 8 * MS * rounds);
		check_sum(IN_SECOND, steps, 5 * MS * rounds, 8 * MS * rounds);
	} else {
		uint64_t cpus = kind == 1 ? 1 : 2;
		check_sum(IN_FIRST, steps, cpus * 3 * MS * rounds, cpus * 8 * MS * rounds);
	}
}

START_TEST(a_waiting_time_is_told_once_if_a_reading_is_left)
{
	uint64_t rounds = 1;
	bool was_left = true;
	long steps;

	if (!step_is_possible())
		return;
	signal(SIGTRAP, count_step);
	struct ps_eventset *set = started_kind(_i);
	/* The first reading makes the storage of both CPUs. */
	run_kind(_i);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	for (steps = 1; was_left && steps < MOST_STEPS; steps += STRIDE) {
		run_kind(_i);
		was_left = leave_after(set, steps);
		check_ok(ps_read(set, scene.root, NULL, NULL));
		check_kind(_i, steps, ++rounds);
	}
	ck_assert(!was_left);
	ck_assert_int_gt(steps, 500);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("waiting_left");
	TCase *tests = scene_case_instances(suite, "waiting left");

#ifdef STEP_IS_POSSIBLE
	tcase_add_loop_test(tests, a_waiting_time_is_told_once_if_a_reading_is_left, 0, 3);
#else
	(void)tests;
#endif
	return scene_run(suite);
}

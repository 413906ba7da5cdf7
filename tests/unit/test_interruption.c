/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that were switched off behind the set's back, as prctl(PR_TASK_PERF_EVENTS_DISABLE)
 * does: the thread ran, and their enabled time stood still. Sleeping and being switched often is no
 * such thing. tests/api/test_prctl.c has the real kernel.
 */
#include "eventset/eventset.h"
#include "support/scene.h"

#include <stdlib.h>

#define EVENT       "page-faults"
#define MILLISECOND UINT64_C(1000000)

static uint64_t now_ns, cpu_ns;
static long switches;

/* Time passes: of it the thread ran for `ran`, and the counters were on for `enabled`. */
static void pass(uint64_t wall, uint64_t ran, uint64_t enabled)
{
	now_ns += wall;
	cpu_ns += ran;
	fake_set_clock(now_ns, 1000);
	fake_set_usage(cpu_ns, switches);
	fake_run(enabled, enabled);
}

static bool stop(struct ps_eventset *set)
{
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	return scene_total(EVENT).flags & PS_VALUE_INTERRUPTED;
}

static struct ps_eventset *begin(void)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	now_ns = 1000 * MILLISECOND;
	cpu_ns = 400 * MILLISECOND;
	switches = 70;
	pass(0, 0, 0);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	return set;
}

START_TEST(time_without_counting_is_flagged_at_the_stop)
{
	struct ps_eventset *set = begin();

	pass(50 * MILLISECOND, 50 * MILLISECOND, 20 * MILLISECOND);
	ck_assert(stop(set));
	ck_assert_int_eq(scene_total(EVENT).value, 5);
	/* It is told once. */
	check_ok(ps_start(set));
	pass(50 * MILLISECOND, 50 * MILLISECOND, 50 * MILLISECOND);
	ck_assert(!stop(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(sleep_and_context_switches_are_no_interruption)
{
	struct ps_eventset *set = begin();

	pass(500 * MILLISECOND, 20 * MILLISECOND, 20 * MILLISECOND);
	ck_assert(!stop(set));
	check_ok(ps_start(set));
	switches += 1000;
	pass(500 * MILLISECOND, 20 * MILLISECOND, 14 * MILLISECOND);
	ck_assert(!stop(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(work_while_the_set_is_stopped_is_no_interruption)
{
	struct ps_eventset *set = begin();

	for (int run = 0; run < 3; run++) {
		pass(10 * MILLISECOND, 10 * MILLISECOND, 10 * MILLISECOND);
		ck_assert(!stop(set));
		pass(200 * MILLISECOND, 200 * MILLISECOND, 0);
		check_ok(ps_start(set));
	}
	/* Something else took the CPU: now more than the clock is looked at. */
	pass(100 * MILLISECOND, 10 * MILLISECOND, 10 * MILLISECOND);
	ck_assert(!stop(set));
	ps_eventset_destroy(set);
}
END_TEST

static ssize_t (*fake_read)(int fd, void *buffer, size_t size_bytes);

/* A hypervisor takes the CPU away behind the read, when the counters have been stopped. */
static ssize_t read_slowly(int fd, void *buffer, size_t size_bytes)
{
	ssize_t length = fake_read(fd, buffer, size_bytes);

	pass(20 * MILLISECOND, 20 * MILLISECOND, 0);
	return length;
}

START_TEST(a_long_fetch_behind_the_stop_is_no_interruption)
{
	struct ps_eventset *set = begin();

	fake_read = ps__os.read;
	for (int run = 0; run < 2; run++) {
		pass(MILLISECOND, MILLISECOND, MILLISECOND);
		ps__os.read = read_slowly;
		ck_assert(!stop(set));
		ps__os.read = fake_read;
		check_ok(ps_start(set));
	}
	/* Time that is missing before the stop is told all the same. */
	pass(50 * MILLISECOND, 50 * MILLISECOND, 20 * MILLISECOND);
	ck_assert(stop(set));
	ps_eventset_destroy(set);
}
END_TEST

/* A hypervisor takes the CPU away in the midst of a switch: the kernel calls that processor time,
 * and no counter is on. _i: was there a switch? */
START_TEST(a_stall_in_a_switch_is_no_interruption)
{
	struct ps_eventset *set = begin();

	switches += _i;
	pass(60 * MILLISECOND, 40 * MILLISECOND, 30 * MILLISECOND);
	ck_assert_int_eq(stop(set), !_i);
	/* More than a stall is told all the same. */
	check_ok(ps_start(set));
	switches += _i;
	pass(60 * MILLISECOND, 50 * MILLISECOND, 30 * MILLISECOND);
	ck_assert(stop(set));
	ps_eventset_destroy(set);
}
END_TEST

/* Stalls are seldom: time that is missing again and again is none. */
START_TEST(stalls_are_allowed_for_now_and_then)
{
	struct ps_eventset *set = begin();
	int told = 0;

	for (int run = 0; run < 5; run++) {
		switches++;
		pass(12 * MILLISECOND, 10 * MILLISECOND, 1 * MILLISECOND);
		told += stop(set);
		check_ok(ps_start(set));
	}
	ck_assert_int_eq(told, 4);
	/* The allowance comes back, in a second. */
	pass(1000 * MILLISECOND, 20 * MILLISECOND, 20 * MILLISECOND);
	stop(set);
	check_ok(ps_start(set));
	switches++;
	pass(12 * MILLISECOND, 10 * MILLISECOND, 1 * MILLISECOND);
	ck_assert(!stop(set));
	ps_eventset_destroy(set);
}
END_TEST

/* A switch is processor time, too, and as slow as the machine. _i: is it slow? */
START_TEST(switches_may_take_as_long_as_starts)
{
	struct ps_eventset *set = begin();

	set->counters.backend->run.start_ns =
	    _i ? set->counters.backend->instances * MILLISECOND / 4 : 0;
	switches += 10;
	pass(100 * MILLISECOND, 50 * MILLISECOND, 30 * MILLISECOND);
	ck_assert_int_eq(stop(set), !_i);
	ps_eventset_destroy(set);
}
END_TEST

/* Nobody knows where the task was meanwhile. */
START_TEST(what_was_missed_is_0_nowhere)
{
	struct ps_eventset *set = begin();

	pass(50 * MILLISECOND, 50 * MILLISECOND, 20 * MILLISECOND);
	ck_assert(stop(set));
	char *csv = scene_text(PS_FORMAT_CSV);
	ck_assert_ptr_nonnull(strstr(csv, "\nThread,0,0,Thread 0,Core 0," EVENT ",5,"));
	ck_assert_ptr_nonnull(strstr(csv, "\nThread,1,1,Thread 1,Core 1," EVENT ",,"));
	free(csv);
	ps_eventset_destroy(set);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, time_without_counting_is_flagged_at_the_stop);
	tcase_add_test(tests, sleep_and_context_switches_are_no_interruption);
	tcase_add_test(tests, a_long_fetch_behind_the_stop_is_no_interruption);
	tcase_add_loop_test(tests, a_stall_in_a_switch_is_no_interruption, 0, 2);
	tcase_add_test(tests, stalls_are_allowed_for_now_and_then);
	tcase_add_loop_test(tests, switches_may_take_as_long_as_starts, 0, 2);
	tcase_add_test(tests, what_was_missed_is_0_nowhere);
	tcase_add_test(tests, work_while_the_set_is_stopped_is_no_interruption);
}

int main(void)
{
	Suite *suite = suite_create("interruption");

	add_tests(scene_case(suite, "auto"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

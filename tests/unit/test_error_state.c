/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups in the error state, which the kernel doesn't read: how long they were off. A task's sleep
 * is no time without a counter, so another group of the set tells the time. If there is none, the
 * values are lower bounds.
 */
#include "test_error_state.h"
#include "base/os.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>

static void check_lower_bound(const char *event, long long count)
{
	struct ps_value value = scene_part(0, event, 0);

	ck_assert_msg(value.status == PS_STATUS_INCOMPLETE && value.value == count,
	              "%s: %s, %lld of %llu", event, ps_status_name(value.status), value.value,
	              (unsigned long long)value.raw);
	ck_assert_uint_ne(value.flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert(isnan(ps_value_coverage(&value)));
}

/* _i: the target. */
START_TEST(sleep_is_no_time_without_a_counter)
{
	struct ps_eventset *set = set_of_two();

	attach(set, (enum target)_i);
	count_for_10_ms(set, (enum target)_i);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	check_value("instructions", PS_STATUS_COUNTED, 1000, 10, 10);
	fake_set_error_state(INSTRUCTIONS, true);
	sleep_ms(100);
	read_in_part(set);
	check_value("instructions", PS_STATUS_COUNTED, 1000, 10, 10);
	run_ms(5);
	sleep_ms(100);
	read_in_part(set);
	check_value("instructions", PS_STATUS_SCALED, 1500, 10, 15);
	check_value("cycles", PS_STATUS_COUNTED, 0, 15, 15);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: the target. */
START_TEST(a_lone_group_is_a_lower_bound_with_an_unknown_coverage)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);
	attach(set, (enum target)_i);
	count_for_10_ms(set, (enum target)_i);
	check_value("instructions", PS_STATUS_COUNTED, 1000, 10, 10);
	fake_set_error_state(INSTRUCTIONS, true);
	sleep_ms(100);
	read_in_part(set);
	check_lower_bound("instructions", 1000);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	check_lower_bound("instructions", 1000);
	fake_set_error_state(INSTRUCTIONS, false); /* as PERF_EVENT_IOC_ENABLE does */
	check_ok(ps_start(set));
	run_ms(10);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 0, 10, 10);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_lone_group_that_never_counted_is_never_scheduled)
{
	begin();
	struct ps_eventset *set = scene_started("instructions", NULL);
	fake_set_error_state(INSTRUCTIONS, true);
	uint64_t timestamp = 0;
	for (int reading = 0; reading < 3; reading++) {
		run_ms(10);
		check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_PARTIAL);
		struct ps_value value = scene_part(0, "instructions", timestamp);
		ck_assert_int_eq((int)value.status, PS_STATUS_NEVER_SCHEDULED);
		timestamp = 0;
	}
	ps_eventset_destroy(set);
}
END_TEST

/* The time that passes is no bound: several threads run at once. */
START_TEST(threads_that_run_at_once_miss_more_than_the_time_that_passes)
{
	struct ps_eventset *set = set_of_two();

	attach(set, A_PROCESS);
	count_for_10_ms(set, A_PROCESS);
	fake_set_error_state(INSTRUCTIONS, true);
	fake_run(40 * MS, 40 * MS);
	sleep_ms(10);
	read_in_part(set);
	check_value("instructions", PS_STATUS_SCALED, 5000, 10, 50);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: of a CPU; otherwise of a thread. */
START_TEST(time_before_the_error_state_is_counted_once)
{
	struct ps_eventset *set = set_of_two();

	if (_i)
		check_ok(ps_eventset_attach_cpu(set, 0));
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 10000);
	run_ms(400);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(INSTRUCTIONS, true);
	for (long long enabled_ms = 420; enabled_ms <= 440; enabled_ms += 10) {
		run_ms(enabled_ms == 420 ? 20 : 10);
		read_in_part(set);
		check_value("instructions", PS_STATUS_SCALED, 10000 * enabled_ms / 400, 400,
		            (uint64_t)enabled_ms);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(sleep_before_a_restart_is_no_time_in_the_error_state)
{
	struct ps_eventset *set = set_of_two();

	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 10000);
	run_ms(1);
	sleep_ms(999);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 500);
	run_ms(10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(INSTRUCTIONS, true);
	run_ms(10);
	read_in_part(set);
	check_value("instructions", PS_STATUS_SCALED, 1000, 10, 20);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: a group is alone. */
START_TEST(a_look_at_stopped_counters_adds_nothing_to_the_next_run)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", _i ? NULL : "cycles", NULL);
	long long residual[2];

	check_ok(ps_start(set));
	fake_set_error_state(INSTRUCTIONS, true);
	run_ms(10);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	sleep_ms(50);
	check_fails(ps_eventset_check(set, residual, _i ? 1 : 2), PS_PARTIAL);
	fake_set_error_state(INSTRUCTIONS, false);
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 7);
	run_ms(5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	ps_eventset_destroy(set);
}
END_TEST

/* In the second run the kernel reads what a group counted before it was in the error state, too. */
START_TEST(a_group_that_was_off_itself_does_not_tell_the_time)
{
	struct ps_eventset *set = set_of_two();

	check_ok(ps_start(set));
	run_ms(10);
	fake_set_error_state(INSTRUCTIONS, true);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	check_ok(ps_start(set));
	fake_set_error_state(INSTRUCTIONS, false);
	fake_advance(CYCLES, 100);
	run_ms(1);
	fake_set_error_state(CYCLES, true);
	read_in_part(set);
	ck_assert_int_eq((int)scene_part(0, "cycles", 0).status, PS_STATUS_NEVER_SCHEDULED);
	check_lower_bound("instructions", 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_any_group_that_can_be_read_the_time_is_unknown)
{
	struct ps_eventset *set = set_of_two();

	count_for_10_ms(set, SELF);
	fake_set_error_state(INSTRUCTIONS, true);
	fake_set_error_state(CYCLES, true);
	sleep_ms(100);
	read_in_part(set);
	check_lower_bound("instructions", 1000);
	check_lower_bound("cycles", 0);
	ps_eventset_destroy(set);
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static sigjmp_buf back;
static int reads_before;

static ssize_t leave(int fd, void *buffer, size_t size_bytes)
{
	if (reads_before-- > 0)
		return real_read(fd, buffer, size_bytes);
	ps__os.read = real_read;
	siglongjmp(back, 1);
}

/* _i: a jump leaves the reading before the first group is read, or before the second is; or the
 * second can't be read. */
START_TEST(after_a_reading_that_was_left_or_failed_time_is_counted_once)
{
	struct ps_eventset *set = set_of_two();

	count_for_10_ms(set, SELF);
	fake_set_error_state(INSTRUCTIONS, true);
	run_ms(10);
	real_read = ps__os.read;
	reads_before = 2 * _i;
	if (_i == 2) {
		fake_fail(FAKE_READ, 3, EIO);
		check_fails(ps_read(set, scene.root, NULL, NULL), PS_ESYS);
	} else if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		ps_read(set, scene.root, NULL, NULL);
		ck_abort_msg("the reading reads fewer groups");
	}
	run_ms(10);
	/* In a deeper function this would look like a call in a signal handler. */
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	check_value("instructions", PS_STATUS_SCALED, 3000, 10, 30);
	check_value("cycles", PS_STATUS_COUNTED, 0, 30, 30);
	ps_eventset_destroy(set);
}
END_TEST

/* After a CPU was offline, new descriptors count, whose time tells nothing of the time before. */
START_TEST(a_group_that_lost_its_cpu_does_not_tell_the_time)
{
	struct ps_eventset *set = set_of_two();

	attach(set, A_CGROUP);
	count_for_10_ms(set, A_CGROUP);
	fake_set_error_state(INSTRUCTIONS, true);
	run_ms(10);
	fake_set_online(0, false);
	fake_set_online(0, true);
	read_in_part(set);
	check_lower_bound("instructions", 1000);
	ps_eventset_destroy(set);
}
END_TEST

/* A set whose groups may take turns measures how long the task was on each CPU. */
START_TEST(residency_tells_the_time_if_no_group_does)
{
	struct ps_eventset *set = set_of_two();

	count_for_10_ms(set, SELF);
	fake_set_error_state(INSTRUCTIONS, true);
	fake_set_error_state(CYCLES, true);
	sleep_ms(100);
	run_ms(5);
	read_in_part(set);
	check_value("instructions", PS_STATUS_SCALED, 1500, 10, 15);
	ps_eventset_destroy(set);
}
END_TEST

/* The total then is a lower bound, and no estimate from the little time that is known. */
START_TEST(a_total_with_a_part_of_unknown_time_is_a_lower_bound)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);
	attach(set, A_PROCESS);
	check_ok(ps_start(set));
	fake_advance_on(INSTRUCTIONS, PROCESS, 0, 1000);
	run_ms(10);
	fake_set_error_state_on(INSTRUCTIONS, 1, true);
	read_in_part(set);
	ck_assert_int_eq((int)scene_part(1, "instructions", 0).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq((int)scene_total("instructions").status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_total("instructions").value, 1000);
	ps_eventset_destroy(set);
}
END_TEST

/* The group counted until it lost its counter at the migration; a record tells of that time. */
START_TEST(time_in_a_migration_record_is_counted_once)
{
	begin();
	struct ps_eventset *set = scene_started("instructions", "page-faults:D", NULL);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_advance(INSTRUCTIONS, 1000);
	run_ms(10);
	fake_set_cpu(1);
	fake_set_error_state(INSTRUCTIONS, true);
	run_ms(10);
	read_in_part(set);
	struct ps_value total = scene_total("instructions");
	ck_assert_uint_eq(total.running_ns, 10 * MS);
	ck_assert_uint_eq(total.enabled_ns, 20 * MS);
	ck_assert_int_eq(total.value, 2000);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("error state");
	TCase *tests = scene_case_last_cpu(suite, "one count for all CPUs");

	tcase_add_loop_test(tests, sleep_is_no_time_without_a_counter, 0, TARGETS);
	tcase_add_loop_test(tests, a_lone_group_is_a_lower_bound_with_an_unknown_coverage, 0,
	                    TARGETS);
	tcase_add_test(tests, a_lone_group_that_never_counted_is_never_scheduled);
	tcase_add_test(tests, threads_that_run_at_once_miss_more_than_the_time_that_passes);
	tcase_add_loop_test(tests, time_before_the_error_state_is_counted_once, 0, 2);
	tcase_add_test(tests, sleep_before_a_restart_is_no_time_in_the_error_state);
	tcase_add_loop_test(tests, a_look_at_stopped_counters_adds_nothing_to_the_next_run, 0, 2);
	tcase_add_test(tests, a_group_that_was_off_itself_does_not_tell_the_time);
	tcase_add_test(tests, without_any_group_that_can_be_read_the_time_is_unknown);
	tcase_add_loop_test(tests, after_a_reading_that_was_left_or_failed_time_is_counted_once, 0,
	                    3);
	tcase_add_test(tests, a_group_that_lost_its_cpu_does_not_tell_the_time);
	tests = scene_case_instances(suite, "per-CPU counters");
	tcase_add_test(tests, residency_tells_the_time_if_no_group_does);
	tcase_add_loop_test(tests, a_look_at_stopped_counters_adds_nothing_to_the_next_run, 0, 2);
	tcase_add_test(tests, a_total_with_a_part_of_unknown_time_is_a_lower_bound);
	tests = scene_case(suite, "migration records");
	tcase_add_test(tests, a_lone_group_that_never_counted_is_never_scheduled);
	tcase_add_test(tests, time_in_a_migration_record_is_counted_once);
	return scene_run(suite);
}

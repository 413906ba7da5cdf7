/* SPDX-License-Identifier: BSD-3-Clause */
/* One event of a set is paused, resumed, or counted from 0 on; the others go on. */
#include "support/scene.h"

#include <errno.h>

#define FIRST  "page-faults" /* leads the group */
#define SECOND (is_mixed ? "task-clock" : "minor-faults")
#define CHILD  4711

/* The kernel has a PMU for the second event alone: its total is held, as the leader's is. */
static bool is_mixed;

static void count_second(uint64_t count)
{
	fake_advance(PERF_TYPE_SOFTWARE,
	             is_mixed ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_PAGE_FAULTS_MIN, count);
}

static void advance_second_on(pid_t tid, int cpu, uint64_t count)
{
	fake_advance_on(PERF_TYPE_SOFTWARE,
	                is_mixed ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_PAGE_FAULTS_MIN, tid,
	                cpu, count);
}

static void count_both_on(int cpu, uint64_t count)
{
	fake_set_cpu(cpu);
	fake_advance(PAGE_FAULTS, count);
	count_second(count);
}

/* A loop's row tells which of the two events it is, and whether they are mixed. */
static int choose(int row)
{
	is_mixed = row / 2;
	return row % 2;
}

static void check_sums(struct ps_eventset *set, long long first, long long second)
{
	uint64_t timestamp = 0;

	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(FIRST, timestamp), first);
	ck_assert_int_eq(scene_sum(SECOND, timestamp), second);
	scene_check_residual(set);
}

START_TEST(one_event_is_left_out_and_the_other_goes_on)
{
	int which = choose(_i);
	struct ps_eventset *set = scene_started(FIRST, SECOND, NULL);
	long long counts[2] = {0, 0};

	for (int round = 0; round < 6; round++) {
		count_both_on(round % 4, 100);
		check_ok(ps_eventset_pause_event(set, (size_t)which));
		ck_assert_int_eq(ps_eventset_event_is_paused(set, (size_t)which), 1);
		ck_assert_int_eq(ps_eventset_event_is_paused(set, (size_t)!which), 0);
		count_both_on((round + 1) % 4, 7);
		if (round % 2)
			check_ok(ps_read(set, scene.root, NULL, NULL));
		count_both_on((round + 2) % 4, 7);
		check_ok(ps_eventset_resume_event(set, (size_t)which));
		count_both_on((round + 1) % 4, 1);
		counts[which] += 101;
		counts[!which] += 115;
		check_sums(set, counts[0], counts[1]);
	}
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_values_of_an_event_say_that_it_was_paused)
{
	struct ps_eventset *set = scene_started(FIRST, SECOND, NULL);
	uint64_t before = 0, after = 0;

	count_both_on(0, 5);
	check_ok(ps_accum(set, scene.root, &before, NULL));
	check_ok(ps_eventset_pause_event(set, 1));
	check_ok(ps_eventset_resume_event(set, 1));
	check_ok(ps_accum(set, scene.root, &after, NULL));
	ck_assert_uint_eq(scene_part(0, SECOND, before).flags & PS_VALUE_PAUSED, 0);
	ck_assert_uint_eq(scene_part(0, SECOND, after).flags & PS_VALUE_PAUSED, PS_VALUE_PAUSED);
	ck_assert_uint_eq(scene_part(0, FIRST, after).flags & PS_VALUE_PAUSED, 0);
	ck_assert_str_eq(ps_value_flag_name(PS_VALUE_PAUSED, 0), "paused");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_pause_holds_over_stops_starts_and_clones)
{
	int which = choose(_i);
	struct ps_eventset *set = scene_set(FIRST, SECOND, NULL), *clone;
	long long rest[2] = {4, 4};

	rest[which] = 0;
	check_ok(ps_eventset_pause_event(set, (size_t)which));
	check_ok(ps_start(set));
	count_both_on(0, 4);
	check_sums(set, rest[0], rest[1]);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	count_both_on(1, 4);
	check_sums(set, rest[0], rest[1]);
	check_ok(ps_pause(set));
	check_ok(ps_resume(set));
	count_both_on(1, 0);
	check_sums(set, rest[0], rest[1]);
	check_ok(ps_eventset_clone(&clone, set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(clone));
	count_both_on(2, 4);
	check_sums(clone, rest[0], rest[1]);
	ps_eventset_destroy(set);
	ps_eventset_destroy(clone);
}
END_TEST

/* A count that the kernel took away is carried over. */
START_TEST(a_paused_event_stays_so_on_a_cpu_that_was_offline)
{
	int which = choose(_i);
	struct ps_eventset *set = scene_set(FIRST, SECOND, NULL);
	long long counts[2] = {12, 12};

	check_ok(ps_eventset_attach_cpu(set, 2));
	check_ok(ps_start(set));
	fake_advance_on(PAGE_FAULTS, -1, 2, 5);
	advance_second_on(-1, 2, 5);
	check_ok(ps_eventset_pause_event(set, (size_t)which));
	fake_advance_on(PAGE_FAULTS, -1, 2, 3);
	advance_second_on(-1, 2, 3);
	fake_set_online(2, false);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_online(2, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_advance_on(PAGE_FAULTS, -1, 2, 3);
	advance_second_on(-1, 2, 3);
	check_ok(ps_eventset_resume_event(set, (size_t)which));
	fake_advance_on(PAGE_FAULTS, -1, 2, 1);
	advance_second_on(-1, 2, 1);
	counts[which] = 6;
	check_sums(set, counts[0], counts[1]);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(one_count_starts_over_and_the_base_stays)
{
	struct ps_eventset *set = scene_started(FIRST, SECOND, NULL);
	struct ps_snapshot *first = NULL, *last = NULL;
	struct ps_value values[2];
	uint64_t timestamp = 0;

	check_ok(ps_snapshot_take(set, &first));
	count_both_on(0, 5);
	count_both_on(1, 6);
	check_ok(ps_eventset_reset_event(set, 1));
	count_both_on(0, 1);
	check_sums(set, 12, 1);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	count_both_on(2, 3);
	check_ok(ps_eventset_reset_event(set, 0));
	count_both_on(2, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(FIRST, timestamp), 14);
	ck_assert_int_eq(scene_sum(SECOND, timestamp), 6);
	/* Snapshots only grow. */
	check_ok(ps_snapshot_take(set, &last));
	check_ok(ps_snapshot_difference(set, first, last, NULL, values, 2));
	ck_assert_int_eq(values[0].value, 17);
	ck_assert_int_eq(values[1].value, 17);
	check_ok(ps_eventset_reset_event(set, 0));
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_cannot_be_paused_is_refused)
{
	struct ps_eventset *set = scene_set(FIRST, NULL);

	check_fails(ps_eventset_pause_event(NULL, 0), PS_EINVAL);
	check_fails(ps_eventset_resume_event(NULL, 0), PS_EINVAL);
	check_fails(ps_eventset_pause_event(set, 1), PS_EINVAL);
	check_detail("no event 1");
	check_fails(ps_eventset_reset_event(set, 1), PS_EINVAL);
	check_fails(ps_eventset_reset_event(set, 0), PS_ENOTRUN);
	check_fails(ps_eventset_reset_event(NULL, 0), PS_EINVAL);
	ck_assert_int_eq(ps_eventset_event_is_paused(NULL, 0), 0);
	ck_assert_int_eq(ps_eventset_event_is_paused(set, 1), 0);
	check_ok(ps_eventset_add_optional(set, "cycles"));
	check_fails(ps_eventset_pause_event(set, 1), PS_ENOSUPP);
	check_detail("cycles");
	check_ok(ps_eventset_pause_event(set, 0));
	check_ok(ps_eventset_set_tasks(set, 1));
	fake_task(CHILD, "child", 1);
	check_ok(ps_eventset_attach_process(set, CHILD));
	check_fails(ps_start(set), PS_ECOMBO);
	check_detail(FIRST);
	check_fails(ps_eventset_resume_event(set, 0), PS_ENOSUPP);
	check_ok(ps_eventset_set_tasks(set, 0));
	check_ok(ps_eventset_resume_event(set, 0));
	ps_eventset_destroy(set);
}
END_TEST

/* Whatever fails, the event is as before, and nothing else is lost. */
START_TEST(a_refusal_leaves_the_event_as_it_was)
{
	static const enum fake_call calls[] = {FAKE_IOCTL, FAKE_READ};
	int which = choose(_i);

	for (size_t call = 0; call < 2; call++) {
		for (unsigned nth = 1; nth < 6; nth++) {
			struct ps_eventset *set = scene_started(FIRST, SECOND, NULL);
			long long counts[2] = {7, 7};

			count_both_on(0, 5);
			fake_fail(calls[call], nth, EIO);
			int result = ps_eventset_pause_event(set, (size_t)which);
			fake_fail(calls[call], 0, 0);
			ck_assert(result == PS_OK || *ps_error_detail());
			ck_assert_int_eq(ps_eventset_event_is_paused(set, (size_t)which),
			                 result == PS_OK);
			count_both_on(1, 2);
			counts[which] = result == PS_OK ? 5 : 7;
			check_sums(set, counts[0], counts[1]);
			ps_eventset_destroy(set);
		}
	}
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_loop_test(tests, one_event_is_left_out_and_the_other_goes_on, 0, 4);
	tcase_add_test(tests, the_values_of_an_event_say_that_it_was_paused);
	tcase_add_loop_test(tests, a_pause_holds_over_stops_starts_and_clones, 0, 4);
	tcase_add_test(tests, one_count_starts_over_and_the_base_stays);
	tcase_add_loop_test(tests, a_refusal_leaves_the_event_as_it_was, 0, 4);
}

int main(void)
{
	Suite *suite = suite_create("pause event");
	TCase *tests = scene_case(suite, "calls");

	tcase_add_test(tests, what_cannot_be_paused_is_refused);
	tcase_add_loop_test(tests, a_paused_event_stays_so_on_a_cpu_that_was_offline, 0, 4);
	add_all(scene_case_last_cpu(suite, "last cpu"));
	add_all(scene_case_instances(suite, "instances"));
	add_all(scene_case_records(suite, "records"));
	return scene_run(suite);
}

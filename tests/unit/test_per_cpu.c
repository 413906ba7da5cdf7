/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instances, the counts that the kernel split by CPU, where it is hard to know which of them have
 * news: CPUs that come later, errors, tasks that moved unseen. test_exact.c has the ordinary
 * course.
 */
#include "support/scene.h"

#include <errno.h>

#define EVENT   "page-faults"
#define PRESENT "/sys/devices/system/cpu/present"

START_TEST(what_happens_on_a_cpu_without_a_instance_is_labelled_as_not_known)
{
	struct ps_eventset *set;
	struct ps_value part;

	fake_file(PRESENT, "0-1\n");
	set = scene_started_exact();
	scene_count_on(0, 10);
	scene_count_on(3, 1000); /* came after ps_start: the kernel was not asked to count there */
	scene_count_on(1, 20);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(0, EVENT, 10, PS_ATTRIBUTION_EXACT);
	scene_check_part(1, EVENT, 20, PS_ATTRIBUTION_EXACT);
	part = scene_part(3, EVENT, 0);
	ck_assert_int_eq((int)part.attribution, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_uint_ne(part.flags & PS_VALUE_INTERRUPTED, 0);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_cpu_that_is_offline_at_the_start_is_counted_when_it_comes)
{
	struct ps_eventset *set;

	fake_set_online(2, false);
	set = scene_started_exact();
	scene_count_on(0, 10);
	fake_set_online(2, true);
	scene_count_on(2, 40);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(0, EVENT, 10, PS_ATTRIBUTION_EXACT);
	scene_check_part(2, EVENT, 40, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_group_in_the_error_state_takes_no_counts_of_another_instance)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);

	scene_count_on(0, 100);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(PAGE_FAULTS, true);
	fake_set_cpu(1);
	ck_assert_int_eq(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	fake_set_error_state(PAGE_FAULTS, false);
	ck_assert_int_eq(scene_count(0, EVENT, 0), 100);
	ck_assert_uint_eq(scene_part(1, EVENT, 0).raw, 0);
	ck_assert_uint_ne(scene_part(1, EVENT, 0).flags & PS_VALUE_INTERRUPTED, 0);
	scene_count_on(1, 3);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, 0), 100);
	ck_assert_uint_eq(scene_part(1, EVENT, 0).raw, 3);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

static struct ps_eventset *started_on_process(void)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	fake_task(500, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(ps_eventset_attach_process(set, 500));
	check_ok(ps_start(set));
	return set;
}

START_TEST(a_process_shows_where_a_group_was_in_the_error_state)
{
	struct ps_eventset *set = started_on_process();

	fake_advance_on(PAGE_FAULTS, 500, 1, 7);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(scene_part(1, EVENT, 0).flags & PS_VALUE_INTERRUPTED, 0);
	fake_set_error_state(PAGE_FAULTS, true);
	ck_assert_int_eq(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	ck_assert_uint_ne(scene_part(1, EVENT, 0).flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert_uint_eq(scene_part(1, EVENT, 0).raw, 7);
	fake_set_error_state(PAGE_FAULTS, false);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: the CPU where a group can't be read; on those behind it the groups can. */
START_TEST(a_check_tells_that_a_group_could_not_be_read)
{
	struct ps_eventset *set = started_on_process();
	long long residual[2];

	fake_set_error_state_on(PAGE_FAULTS, _i, true);
	check_fails(ps_eventset_check(set, residual, 2), PS_PARTIAL);
	check_detail(EVENT);
	fake_set_error_state(PAGE_FAULTS, false);
	check_ok(ps_eventset_check(set, residual, 2));
	ck_assert_int_eq(residual[0], 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_instance_that_can_not_be_read_is_told_though_others_are_read_in_part)
{
	struct ps_eventset *set = started_on_process();
	uint64_t timestamp = 0;

	fake_advance_on(PAGE_FAULTS, 500, 1, 3);
	fake_set_error_state(PAGE_FAULTS, true);
	fake_fail(FAKE_READ, 2, EIO);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ESYS);
	ck_assert(fake_fail_happened());
	fake_set_error_state(PAGE_FAULTS, false);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 3);
	ps_eventset_destroy(set);
}
END_TEST

static struct ps_eventset *watch_task(pid_t tid)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_task(tid, "solver", 0);
	fake_task_affinity(tid, "0-3");
	check_ok(ps_eventset_attach_tid(set, tid));
	check_ok(ps_start(set));
	return set;
}

static void check_reading(struct ps_eventset *set, int cpu, long long count)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(cpu, EVENT, timestamp), count);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), count);
}

START_TEST(a_failed_reading_does_not_make_the_set_forget_where_the_task_went)
{
	struct ps_eventset *set = watch_task(4711);
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 1);
	check_reading(set, 0, 1);
	fake_task(4711, "solver", 3);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_ESYS);
	fake_advance(PAGE_FAULTS, 20);
	check_reading(set, 3, 20);
	fake_advance(PAGE_FAULTS, 7);
	check_reading(set, 3, 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_code_of_a_reading_with_several_failures_is_that_of_its_sentence)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_count_on(1, 5);
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ENOMEM);
	check_detail("out of memory");
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_that_stays_after_the_ring_overflowed_is_counted_where_it_is)
{
	struct ps_eventset *set = watch_task(4711);

	for (int i = 0; i < 20000; i++)
		fake_switch_task(4711);
	fake_task(4711, "solver", 2);
	fake_advance(PAGE_FAULTS, 5);
	check_reading(set, 2, 5);
	fake_advance(PAGE_FAULTS, 6);
	check_reading(set, 2, 6);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_that_moved_while_the_set_was_stopped_is_counted_where_it_is)
{
	struct ps_eventset *set = watch_task(4711);

	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_task(4711, "solver", 3);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_reading(set, 3, 5);
	ps_eventset_destroy(set);
}
END_TEST

/* The mappings for rings are used up. */
START_TEST(without_a_ring_another_thread_is_still_seen_to_move)
{
	struct ps_thread *thread = NULL;

	struct ps_eventset *set = scene_set(EVENT, NULL);
	fake_task(4711, "solver", 0);
	fake_task_affinity(4711, "0-3");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	fake_fail_always(FAKE_MMAP, EPERM);
	check_ok(ps_start(set));
	fake_fail_always(FAKE_MMAP, 0);
	for (int cpu = 0; cpu < 4; cpu++) {
		fake_task(4711, "solver", cpu);
		fake_advance(PAGE_FAULTS, 5);
		check_ok(ps_read(set, scene.root, NULL, &thread));
		ck_assert_int_eq(ps_thread_cpu(thread), cpu);
		scene_check_part(cpu, "page-faults", 5, PS_ATTRIBUTION_EXACT);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stop_reads_each_instance_once)
{
	struct ps_eventset *set = scene_started_exact();

	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_advance(PAGE_FAULTS, 2);
	fake_count_reset();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 4);
	ck_assert_int_eq(scene_total(EVENT).value, 7);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_store_leaves_the_visits_to_the_next_reading)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	long long counter = 1;
	uint64_t timestamp = 0;

	scene_count_on(0, 100);
	fake_set_cpu(1);
	check_ok(ps_store(set, &counter, 1, scene.root, &timestamp, NULL));
	timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 100);
	ps_eventset_destroy(set);
}
END_TEST

#define US UINT64_C(1000)

START_TEST(waiting_for_the_hardware_is_told_however_short_the_intervals_are)
{
	struct ps_eventset *set;
	struct ps_value part;

	fake_add_core_pmu(4);
	set = scene_started("instructions", NULL);
	fake_run(1000 * US, 1000 * US);
	fake_advance(INSTRUCTIONS, 5000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(0, "instructions", 0).status, PS_STATUS_COUNTED);
	for (int i = 0; i < 100; i++) {
		fake_run(10 * US, 0);
		check_ok(ps_read(set, scene.root, NULL, NULL));
	}
	part = scene_part(0, "instructions", 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(part.running_ns, 1000 * US);
	ck_assert_uint_ge(part.enabled_ns, 1900 * US);
	ck_assert_uint_le(part.enabled_ns, 2000 * US);
	ps_eventset_destroy(set);
}
END_TEST

/* A hypervisor or an interrupt may come between the first CPU's group and the last: their clocks
 * differ by that. */
START_TEST(a_start_that_was_interrupted_is_no_waiting)
{
	static const uint64_t step_ns[2] = {1000, 1000 * US};
	static const enum ps_status expected[2] = {PS_STATUS_SCALED, PS_STATUS_COUNTED};

	fake_add_core_pmu(4);
	struct ps_eventset *set = scene_set("instructions", NULL);
	fake_set_clock(5000 * US, step_ns[_i]);
	check_ok(ps_start(set));
	fake_run(10 * US, 10 * US);
	fake_set_cpu(1);
	fake_run(900 * US, 0);
	fake_run(1000 * US, 1000 * US);
	fake_advance(INSTRUCTIONS, 5000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(1, "instructions", 0).status, (int)expected[_i]);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(of_a_task_that_stayed_the_shortest_waiting_is_known)
{
	fake_add_core_pmu(4);
	struct ps_eventset *set = scene_set("instructions", NULL);
	fake_set_clock(5000 * US, 1000 * US);
	check_ok(ps_start(set));
	fake_run(10, 5);
	fake_advance(INSTRUCTIONS, 5000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	struct ps_value part = scene_part(0, "instructions", 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(part.enabled_ns, 10);
	ck_assert_uint_eq(part.running_ns, 5);
	ck_assert_int_eq(part.value, 10000);
	ck_assert_int_eq((int)part.attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(time_spent_elsewhere_is_not_taken_for_waiting)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_started("instructions", NULL);
	for (int i = 0; i < 40; i++) {
		fake_set_cpu(i % 4);
		fake_run(1000 * US, 1000 * US);
		if (i % 3 == 0)
			check_ok(ps_read(set, scene.root, NULL, NULL));
	}
	check_ok(ps_read(set, scene.root, NULL, NULL));
	for (int cpu = 0; cpu < 4; cpu++) {
		struct ps_value part = scene_part(cpu, "instructions", 0);

		ck_assert_int_eq((int)part.status, PS_STATUS_COUNTED);
		ck_assert_uint_eq(part.enabled_ns, 10000 * US);
		ck_assert_uint_eq(part.running_ns, 10000 * US);
	}
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("per-CPU");
	TCase *tests = scene_case_instances(suite, "per-CPU");

	tcase_add_test(tests, what_happens_on_a_cpu_without_a_instance_is_labelled_as_not_known);
	tcase_add_test(tests, a_cpu_that_is_offline_at_the_start_is_counted_when_it_comes);
	tcase_add_test(tests, a_group_in_the_error_state_takes_no_counts_of_another_instance);
	tcase_add_test(tests, a_process_shows_where_a_group_was_in_the_error_state);
	tcase_add_loop_test(tests, a_check_tells_that_a_group_could_not_be_read, 0, 4);
	tcase_add_test(tests,
	               a_instance_that_can_not_be_read_is_told_though_others_are_read_in_part);
	tcase_add_test(tests, a_failed_reading_does_not_make_the_set_forget_where_the_task_went);
	tcase_add_test(tests, the_code_of_a_reading_with_several_failures_is_that_of_its_sentence);
	tcase_add_test(tests, a_task_that_stays_after_the_ring_overflowed_is_counted_where_it_is);
	tcase_add_test(tests, a_task_that_moved_while_the_set_was_stopped_is_counted_where_it_is);
	tcase_add_test(tests, without_a_ring_another_thread_is_still_seen_to_move);
	tcase_add_test(tests, a_stop_reads_each_instance_once);
	tcase_add_test(tests, a_store_leaves_the_visits_to_the_next_reading);
	tcase_add_test(tests, waiting_for_the_hardware_is_told_however_short_the_intervals_are);
	tcase_add_loop_test(tests, a_start_that_was_interrupted_is_no_waiting, 0, 2);
	tcase_add_test(tests, of_a_task_that_stayed_the_shortest_waiting_is_known);
	tcase_add_test(tests, time_spent_elsewhere_is_not_taken_for_waiting);
	return scene_run(suite);
}

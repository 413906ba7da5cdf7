/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place's actual placement: sums of hand-made times on synthetic trees. */
#include "test_place.h"

#include <errno.h>

#define SMT "pack:2 [numa] core:2 pu:2" /* 8 hardware threads, 2 NUMA nodes */

START_TEST(each_task_has_its_time_by_hardware_thread)
{
	static const struct slice slices[] = {
	    SLICE(12, 4, WAITS, 30, 40),  SLICE(11, 0, WAITS, 10, 20),
	    SLICE(11, 1, WAITS, 25, 55),  SLICE(11, 0, PREEMPTED, 60, 65),
	    SLICE(12, 5, EXITED, 50, 52), SLICE(11, 0, EXITED, 68, 70),
	};

	sum_up(SMT, slices, COUNT(slices));
	ck_assert_uint_eq(sums.task_count, 2);
	const struct place_task *first = &sums.tasks[0], *second = &sums.tasks[1];
	ck_assert_uint_eq(first->run_ns, 47000);
	ck_assert_uint_eq(first->wait_ns, 3000);
	ck_assert_uint_eq(first->moves, 2);
	ck_assert_uint_eq(first->leaves, 0);
	ck_assert_uint_eq(first->share_count, 2);
	check_share(first, 0, 1, 30);
	check_share(first, 1, 0, 17);
	check_share(second, 0, 4, 10);
	check_share(second, 1, 5, 2);
	ck_assert_uint_eq(sums.finding_count, 0);
}
END_TEST

START_TEST(a_task_that_leaves_its_NUMA_node_is_counted_each_time)
{
	static const struct slice slices[] = {
	    SLICE(11, 0, WAITS, 0, 1),   SLICE(11, 3, WAITS, 2, 3), SLICE(11, 4, WAITS, 4, 5),
	    SLICE(11, 7, WAITS, 6, 7),   SLICE(11, 0, WAITS, 8, 9), SLICE(11, 99, WAITS, 10, 11),
	    SLICE(11, 0, WAITS, 12, 13),
	};

	sum_up(SMT, slices, COUNT(slices));
	ck_assert_uint_eq(sums.tasks[0].moves, 6);
	/* It isn't known where CPU 99 is. */
	ck_assert_uint_eq(sums.tasks[0].leaves, 2);
	ck_assert_uint_eq(sums.tasks[0].share_count, 5);
}
END_TEST

/* Two tasks take turns on CPU 0 for 40 us; a third runs on CPU 1 for 10 of them. */
static const struct slice turns[] = {
    SLICE(11, 0, PREEMPTED, 0, 10),  SLICE(12, 0, PREEMPTED, 10, 20),
    SLICE(11, 0, PREEMPTED, 20, 30), SLICE(12, 0, PREEMPTED, 30, 40),
    SLICE(11, 0, EXITED, 40, 50),    SLICE(12, 0, EXITED, 50, 60),
    SLICE(13, 1, WAITS, 15, 25),
};

START_TEST(tasks_that_take_turns_while_another_is_idle_share)
{
	sum_up("core:2 pu:1", turns, COUNT(turns));
	ck_assert_uint_eq(sums.finding_count, 1);
	const struct place_finding *finding = finding_of(PS_COMPONENT_THREAD, 0);
	ck_assert_ptr_nonnull(finding);
	/* From 10, when 11 waits beside 12, to 50, when 11 has ended; less 10 on CPU 1. */
	ck_assert_uint_eq(finding->ns, 30000);
	ck_assert_uint_eq(finding->member_count, 2);
	check_member(finding, 0, 11, 30);
	check_member(finding, 1, 12, 30);
	ck_assert_uint_eq(finding->idle_count, 1);
	check_idle(finding, 0, 1, 30);
	ck_assert_uint_eq(sums.tasks[0].shared_thread_ns, 30000);
	ck_assert_uint_eq(sums.tasks[0].shared_core_ns, 0);
}
END_TEST

START_TEST(tasks_share_nothing_that_matters_while_all_are_busy)
{
	static const struct slice slices[] = {
	    SLICE(11, 0, PREEMPTED, 0, 10), SLICE(12, 0, PREEMPTED, 10, 20),
	    SLICE(11, 0, WAITS, 20, 30),    SLICE(12, 0, WAITS, 30, 40),
	    SLICE(13, 1, WAITS, 0, 40),
	};

	sum_up("core:2 pu:1", slices, COUNT(slices));
	ck_assert_uint_eq(sums.finding_count, 0);
	clear();
	sum_up("core:1 pu:1", slices, 4);
	ck_assert_uint_eq(sums.finding_count, 0);
}
END_TEST

START_TEST(a_task_that_waits_for_something_else_shares_nothing)
{
	static const struct slice slices[] = {
	    SLICE(11, 0, WAITS, 0, 10),
	    SLICE(12, 0, WAITS, 10, 20),
	    SLICE(11, 0, UNKNOWN, 20, 30),
	    SLICE(12, 0, PREEMPTED, 30, 40),
	};

	sum_up("core:2 pu:1", slices, COUNT(slices));
	ck_assert_uint_eq(sums.finding_count, 0);
	ck_assert_uint_eq(sums.tasks[0].wait_ns + sums.tasks[1].wait_ns, 0);
}
END_TEST

START_TEST(a_place_that_is_not_allowed_is_never_idle)
{
	struct place_input input = input_of("core:2 pu:1", turns, COUNT(turns));

	tool_cpus_remove(&allowed, 1);
	check_ok(place_sums_create(&sums, &input));
	ck_assert_uint_eq(sums.finding_count, 0);
}
END_TEST

/* Tasks on both hardware threads of core 0 from 10 to 30; core 1 has one from 20 on. */
static const struct slice siblings[] = {
    SLICE(11, 0, WAITS, 0, 30),
    SLICE(12, 1, WAITS, 10, 40),
    SLICE(13, 2, WAITS, 20, 50),
};

START_TEST(tasks_on_two_hardware_threads_share_their_core)
{
	sum_up("core:2 pu:2", siblings, COUNT(siblings));
	ck_assert_uint_eq(sums.finding_count, 1);
	const struct place_finding *finding = finding_of(PS_COMPONENT_CORE, 0);
	ck_assert_ptr_nonnull(finding);
	ck_assert_uint_eq(finding->ns, 10000);
	check_member(finding, 0, 11, 10);
	check_member(finding, 1, 12, 10);
	check_idle(finding, 0, 1, 10);
	ck_assert_uint_eq(sums.tasks[0].shared_core_ns, 10000);
	ck_assert_uint_eq(sums.tasks[0].shared_thread_ns, 0);
	ck_assert_uint_eq(sums.tasks[2].shared_core_ns, 0);
}
END_TEST

START_TEST(a_tree_without_cores_has_none_that_are_shared)
{
	sum_up("pu:4", siblings, COUNT(siblings));
	ck_assert_uint_eq(sums.finding_count, 0);
	ck_assert_uint_eq(sums.task_count, 3);
}
END_TEST

static void sum_up_with_hole(const char *tree, const struct slice *slices, size_t count,
                             struct tool_hole hole)
{
	struct place_input input = input_of(tree, slices, count);

	input.holes = &hole;
	input.hole_count = 1;
	check_ok(place_sums_create(&sums, &input));
}

START_TEST(in_a_hole_nothing_is_idle_and_nothing_is_shared)
{
	struct tool_hole hole = {.cpu = 1, .lost = 3, .begin_ns = 30000, .end_ns = 45000};

	sum_up_with_hole("core:2 pu:1", turns, COUNT(turns), hole);
	ck_assert_uint_eq(finding_of(PS_COMPONENT_THREAD, 0)->ns, 15000);
	check_idle(finding_of(PS_COMPONENT_THREAD, 0), 0, 1, 15);
	clear();
	/* A hole on the shared CPU. */
	hole.cpu = 0;
	sum_up_with_hole("core:2 pu:1", turns, COUNT(turns), hole);
	ck_assert_uint_eq(finding_of(PS_COMPONENT_THREAD, 0)->ns, 15000);
	clear();
	/* With a third CPU idle all the time: a waiting task may have run in the hole. */
	hole.cpu = 1;
	sum_up_with_hole("core:3 pu:1", turns, COUNT(turns), hole);
	ck_assert_uint_eq(finding_of(PS_COMPONENT_THREAD, 0)->ns, 25000);
	clear();
	/* Cores: running tasks are seen; a core without a hole is idle all the same. */
	hole = (struct tool_hole){.cpu = 2, .begin_ns = 0, .end_ns = 15000};
	sum_up_with_hole("core:2 pu:2", siblings, COUNT(siblings), hole);
	ck_assert_uint_eq(finding_of(PS_COMPONENT_CORE, 0)->ns, 5000);
	clear();
	sum_up_with_hole("core:3 pu:2", siblings, COUNT(siblings), hole);
	ck_assert_uint_eq(finding_of(PS_COMPONENT_CORE, 0)->ns, 20000);
	check_idle(finding_of(PS_COMPONENT_CORE, 0), 0, 2, 20);
	check_idle(finding_of(PS_COMPONENT_CORE, 0), 1, 1, 5);
	clear();
	hole.cpu = 0;
	sum_up_with_hole("core:3 pu:2", siblings, COUNT(siblings), hole);
	ck_assert_uint_eq(finding_of(PS_COMPONENT_CORE, 0)->ns, 15000);
}
END_TEST

START_TEST(a_CPU_that_the_tree_does_not_have_is_neither_shared_nor_idle)
{
	static const struct slice slices[] = {
	    SLICE(11, 90, PREEMPTED, 0, 10),
	    SLICE(12, 91, PREEMPTED, 0, 10),
	    SLICE(11, 90, WAITS, 20, 30),
	    SLICE(12, 91, WAITS, 20, 30),
	};

	sum_up(SMT, slices, COUNT(slices));
	ck_assert_uint_eq(sums.finding_count, 0);
	ck_assert_uint_eq(sums.tasks[0].run_ns, 20000);
	ck_assert_int_eq(ps_thread_cpu(sums.shares[0].thread), -1);
	ck_assert_int_eq(sums.shares[0].cpu, 90);
}
END_TEST

START_TEST(CPUs_that_the_tree_does_not_have_are_told_apart)
{
	static const struct slice slices[] = {
	    SLICE(11, 90, PREEMPTED, 0, 10),
	    SLICE(11, 91, PREEMPTED, 10, 30),
	    SLICE(11, 0, WAITS, 30, 35),
	};

	sum_up(SMT, slices, COUNT(slices));
	ck_assert_uint_eq(sums.tasks[0].moves, 2);
	ck_assert_uint_eq(sums.tasks[0].share_count, 3);
	ck_assert_int_eq(sums.shares[0].cpu, 91);
	ck_assert_uint_eq(sums.shares[0].run_ns, 20000);
	ck_assert_int_eq(sums.shares[1].cpu, 90);
	ck_assert_int_eq(sums.shares[2].cpu, 0);
}
END_TEST

START_TEST(no_slices_are_no_tasks)
{
	sum_up(SMT, NULL, 0);
	ck_assert_uint_eq(sums.task_count, 0);
	ck_assert_uint_eq(sums.finding_count, 0);
}
END_TEST

START_TEST(without_memory_there_are_no_sums)
{
	struct place_input input = input_of("core:2 pu:2", turns, COUNT(turns));

	for (unsigned nth = 1;; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = place_sums_create(&sums, &input);
		bool happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
		if (!happened)
			break;
		ck_assert_uint_eq(sums.task_count, 0);
		ck_assert_uint_lt(nth, 100);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("place_sums");
	TCase *tests = scene_case_of(suite, "place_sums", setup, teardown);

	tcase_add_test(tests, each_task_has_its_time_by_hardware_thread);
	tcase_add_test(tests, a_task_that_leaves_its_NUMA_node_is_counted_each_time);
	tcase_add_test(tests, tasks_that_take_turns_while_another_is_idle_share);
	tcase_add_test(tests, tasks_share_nothing_that_matters_while_all_are_busy);
	tcase_add_test(tests, a_task_that_waits_for_something_else_shares_nothing);
	tcase_add_test(tests, a_place_that_is_not_allowed_is_never_idle);
	tcase_add_test(tests, tasks_on_two_hardware_threads_share_their_core);
	tcase_add_test(tests, a_tree_without_cores_has_none_that_are_shared);
	tcase_add_test(tests, in_a_hole_nothing_is_idle_and_nothing_is_shared);
	tcase_add_test(tests, a_CPU_that_the_tree_does_not_have_is_neither_shared_nor_idle);
	tcase_add_test(tests, CPUs_that_the_tree_does_not_have_are_told_apart);
	tcase_add_test(tests, no_slices_are_no_tasks);
	tcase_add_test(tests, without_memory_there_are_no_sums);
	return scene_run(suite);
}

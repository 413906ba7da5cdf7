/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose one group waits for the hardware: the kernel doesn't tell on which CPU, so a wait
 * may have been on any. Also in sums that ps_accum makes.
 */
#include "test_waiting.h"

#include "backend/perf.h"

/* Its one group has the hardware to itself, so there is no clock of residency. */
static struct ps_eventset *started_process(void)
{
	fake_add_core_pmu(2);
	struct ps_eventset *set = scene_set(IN_FIRST, "instructions", NULL);
	fake_task(500, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(ps_eventset_attach_process(set, 500));
	check_ok(ps_start(set));
	return set;
}

/* The first thread's CPU gets the waiting time, though nothing was counted there. */
START_TEST(a_process_whose_group_never_ran_is_not_counted_as_0)
{
	struct ps_eventset *set = started_process();

	fake_set_waiting(FIRST, true);
	for (uint64_t reading = 1; reading <= 2; reading++) {
		fake_run(3 * MS, 3 * MS);
		check_ok(ps_read(set, scene.root, NULL, NULL));
		check_value(scene_part(1, IN_FIRST, 0), PS_STATUS_NEVER_SCHEDULED, 0,
		            3 * MS * reading);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_whose_group_never_ran_waits_anew_after_a_reset)
{
	struct ps_eventset *set = started_process();

	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_reset(set));
	fake_run(2 * MS, 2 * MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(1, IN_FIRST, 0), PS_STATUS_NEVER_SCHEDULED, 0, 2 * MS);
	ps_eventset_destroy(set);
}
END_TEST

/* The pauses in the start of a process's events are longer than this wait. The first start has no
 * pauses. */
START_TEST(a_wait_of_a_process_that_was_just_started_is_told)
{
	struct ps_eventset *set = started_process();

	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	fake_set_waiting(FIRST, true);
	fake_run(MS, MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(1, IN_FIRST, 0), PS_STATUS_SCALED, MS, 2 * MS);
	ps_eventset_destroy(set);
}
END_TEST

static void check_doubtful(struct ps_value value)
{
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_MIXED);
}

/* The wait was told to be on the first thread's CPU, and may have been on any. */
START_TEST(a_part_of_a_process_that_waited_before_is_no_count)
{
	struct ps_eventset *set = started_process();

	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_task(500, "solver", 3);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(3, IN_FIRST, 0), PS_STATUS_NEVER_SCHEDULED, 0, 1);
	fake_set_waiting(FIRST, false);
	fake_task(500, "solver", 2);
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_doubtful(scene_part(2, IN_FIRST, 0));
	check_ok(ps_reset(set));
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(2, IN_FIRST, 0), PS_STATUS_COUNTED, MS, MS);
	ck_assert_int_eq((int)scene_part(2, IN_FIRST, 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

/* The wait that ps_accum has added may have been on the CPU whose part comes later, or on one that
 * has had a part before. A new reading doesn't have it. */
START_TEST(a_wait_that_was_accumulated_may_have_been_on_any_cpu)
{
	struct ps_eventset *set = started_process();
	uint64_t kept = 0, other = 0;

	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_accum(set, scene.root, &kept, NULL));
	fake_set_waiting(FIRST, false);
	fake_task(500, "solver", 2);
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_accum(set, scene.root, &other, NULL));
	check_value(scene_part(2, IN_FIRST, other), PS_STATUS_COUNTED, MS, MS);
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_accum(set, scene.root, &kept, NULL));
	check_doubtful(scene_part(2, IN_FIRST, kept));
	fake_task(500, "solver", 3);
	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_accum(set, scene.root, &other, NULL));
	check_doubtful(scene_part(2, IN_FIRST, other));
	ps_eventset_destroy(set);
}
END_TEST

/* A slot without counts has no part of the reading, and no room for one. */
START_TEST(a_wait_gives_no_part_to_a_cpu_whose_counts_were_dropped)
{
	struct ps_eventset *set = started_process();
	struct ps_value value;

	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_task(500, "solver", 2);
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_reset(set));
	fake_task(500, "solver", 0);
	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(
	    ps_thread_reading(ps_topology_thread(scene.topology, 2), IN_FIRST, 0, &value),
	    PS_ENOEVST);
	ps_eventset_destroy(set);
}
END_TEST

/* The doubt is of the sum alone. */
START_TEST(a_wait_in_a_sum_is_in_no_later_reading)
{
	struct ps_eventset *set = started_process();
	uint64_t kept = 0, other = 0;
	struct ps_value value;

	fake_task(500, "solver", 2);
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_accum(set, scene.root, &kept, NULL));
	fake_task(500, "solver", 0);
	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_read(set, scene.root, &kept, NULL));
	check_doubtful(scene_part(2, IN_FIRST, kept));
	check_ok(ps_read(set, scene.root, &other, NULL));
	ck_assert_int_eq(
	    ps_thread_reading(ps_topology_thread(scene.topology, 2), IN_FIRST, other, &value),
	    PS_ENOEVST);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_wait_stays_in_a_sum_after_a_new_start)
{
	struct ps_eventset *set = started_process();
	uint64_t kept = 0, last = 0;

	fake_set_waiting(FIRST, true);
	fake_run(3 * MS, 3 * MS);
	check_ok(ps_accum(set, scene.root, &kept, NULL));
	check_ok(ps_stop(set, scene.root, &last, NULL));
	fake_set_waiting(FIRST, false);
	check_ok(ps_start(set));
	fake_task(500, "solver", 2);
	fake_run(MS, MS);
	fake_advance(FIRST, MS);
	check_ok(ps_accum(set, scene.root, &kept, NULL));
	check_doubtful(scene_part(2, IN_FIRST, kept));
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waiting process");
	TCase *tests = scene_case_instances(suite, "waiting process");

	tcase_add_test(tests, a_process_whose_group_never_ran_is_not_counted_as_0);
	tcase_add_test(tests, a_process_whose_group_never_ran_waits_anew_after_a_reset);
	tcase_add_test(tests, a_wait_of_a_process_that_was_just_started_is_told);
	tcase_add_test(tests, a_part_of_a_process_that_waited_before_is_no_count);
	tcase_add_test(tests, a_wait_that_was_accumulated_may_have_been_on_any_cpu);
	tcase_add_test(tests, a_wait_gives_no_part_to_a_cpu_whose_counts_were_dropped);
	tcase_add_test(tests, a_wait_in_a_sum_is_in_no_later_reading);
	tcase_add_test(tests, a_wait_stays_in_a_sum_after_a_new_start);
	return scene_run(suite);
}

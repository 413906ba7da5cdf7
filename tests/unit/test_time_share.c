/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose counts are shared out by the clocks of its CPUs: what the clocks prove and what
 * they don't, the sum of the shares, and what is opened for it. tests/tool/stat-method has real
 * processes, test_time_share_choice.c the choice of the method.
 */
#include "test_time_share.h"

static struct ps_eventset *started(const char *cpus)
{
	struct ps_eventset *set = attached(cpus);

	check_ok(ps_start(set));
	return set;
}

/* The process runs there for so long, and has page faults. */
static void work(int cpu, uint64_t time_ns, uint64_t faults)
{
	fake_task(500, "solver", cpu);
	fake_run(time_ns, time_ns);
	fake_advance(PAGE_FAULTS, faults);
}

START_TEST(events_count_on_any_cpu_and_clocks_on_each)
{
	struct ps_eventset *set = started("0-3");
	int fds[8], on_any = 0, clocks = 0;

	ck_assert_uint_eq(fake_counter_fds(fds, 8), 2 + 4);
	for (int index = 0; index < 6; index++) {
		pid_t tid;
		int cpu;
		fake_target_of_fd(fds[index], &tid, &cpu);
		ck_assert_int_eq(tid, 500);
		ck_assert_uint_eq(fake_attr_of_fd(fds[index])->inherit, 1);
		ck_assert(fake_enabled_of_fd(fds[index]));
		on_any += cpu < 0;
		clocks += cpu >= 0 && fake_attr_of_fd(fds[index])->config == PERF_COUNT_SW_DUMMY;
	}
	ck_assert_int_eq(on_any, 2);
	ck_assert_int_eq(clocks, 4);
	ck_assert_uint_eq(ps__set_time_share_copies(set), 6);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_that_stays_is_where_its_clock_says)
{
	struct ps_eventset *set = started("0-3");
	const char *why = NULL;

	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	work(2, 5 * MS, 70);
	check_part(2, take(set), 70, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_str_eq(why, "");
	work(2, 1 * MS, 7);
	check_part(2, take(set), 7, PS_ATTRIBUTION_EXACT);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(one_that_wanders_is_shared_out_by_time_and_nothing_is_lost)
{
	struct ps_eventset *set = started("0-3");
	const char *why = NULL;

	work(0, 1 * MS, 1000);
	work(3, 2 * MS, 1);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 333, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 668, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 1001);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ck_assert_ptr_nonnull(strstr(why, "PS_ATTRIBUTE_EXACT"));
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* The clocks are read after the counts: what comes between is in the next interval's counts, and
 * in this one's times. */
START_TEST(what_follows_an_interval_on_several_cpus_is_not_proven_yet)
{
	struct ps_eventset *set = started("0-3");

	work(0, 1 * MS, 10);
	check_part(0, take(set), 10, PS_ATTRIBUTION_EXACT);
	work(1, 1 * MS, 10);
	check_part(1, take(set), 10, PS_ATTRIBUTION_MIXED); /* it may be CPU 0's in part */
	work(1, 1 * MS, 10);
	check_part(1, take(set), 10, PS_ATTRIBUTION_EXACT);
	work(1, 1 * MS, 5);
	work(2, 1 * MS, 5);
	take(set);
	work(2, 1 * MS, 10);
	check_part(2, take(set), 10, PS_ATTRIBUTION_MIXED);
	work(2, 1 * MS, 10);
	check_part(2, take(set), 10, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_start_begins_a_proof_anew)
{
	struct ps_eventset *set = started("0-3");
	uint64_t timestamp = 0;

	work(0, 1 * MS, 10);
	work(1, 1 * MS, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	fake_task(500, "solver", 3);
	check_ok(ps_start(set));
	work(3, 1 * MS, 10);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	check_part(3, timestamp, 10, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_of_one_cpu_is_pinned_by_two_clocks)
{
	struct ps_eventset *set = started("1");

	ck_assert_uint_eq(fake_open_fds(), 2 + 2 + 1); /* and its file in /proc */
	work(1, 5 * MS, 42);
	check_part(1, take(set), 42, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

/* Its share isn't lost, and no CPU that it was not on gets it. */
START_TEST(one_that_left_its_cpus_has_a_share_on_an_unknown_one)
{
	struct ps_eventset *set = started("1");

	work(1, 1 * MS, 30);
	work(2, 2 * MS, 0);
	uint64_t timestamp = take(set);
	check_part(1, timestamp, 10, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 30);
	check_part(2, timestamp, 0, PS_ATTRIBUTION_MIXED); /* where it is seen */
	work(2, 3 * MS, 7);
	timestamp = take(set);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 7);
	ck_assert_uint_eq(scene_rows(1, EVENT), 1);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* Another part of the reading may lack some counts then: one on a CPU where the process was just
 * before; of a CPU without a clock, any part. Also what an earlier reading counted there. */
START_TEST(what_was_divided_weakens_the_parts_that_may_lack_some)
{
	struct ps_eventset *set = started(_i % 2 ? "1" : "0-3");
	int (*read_first)(struct ps_eventset *, struct ps_component *, uint64_t *,
	                  struct ps_thread **) = _i < 2 ? ps_read : ps_accum;
	uint64_t timestamp = 0;

	work(1, 1 * MS, 10);
	check_ok(read_first(set, scene.root, &timestamp, NULL));
	ck_assert_int_le(scene_part(1, EVENT, timestamp).attribution, PS_ATTRIBUTION_PINNED);
	work(2, 2 * MS, 20);
	work(3, 2 * MS, 20);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_part(1, timestamp, 10, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 50);
	ps_eventset_destroy(set);
}
END_TEST

static struct ps_eventset *started_with_worker(void)
{
	struct ps_eventset *set = attached("0-3");

	fake_task(501, "worker", 1);
	fake_task_affinity(501, "0-3");
	fake_file("/proc/500/task/501/stat", "501 (worker) R 1\n");
	check_ok(ps_start(set));
	return set;
}

/* Both threads run for a millisecond, and have a page fault. */
static void work_both(int first, int second)
{
	fake_task(500, "solver", first);
	fake_task(501, "worker", second);
	fake_run(MS, MS);
	fake_advance_on(PAGE_FAULTS, 500, -1, 1);
	fake_advance_on(PAGE_FAULTS, 501, -1, 1);
}

/* One thread stays on CPU 1, the other one leaves it; whichever is read first. */
START_TEST(a_thread_that_leaves_weakens_the_part_of_one_that_stays)
{
	struct ps_eventset *set = started_with_worker();

	work_both(1, 1);
	check_part(1, take(set), 2, PS_ATTRIBUTION_EXACT);
	for (int cpu = 2; cpu < 4; cpu++)
		work_both(_i ? 1 : cpu, _i ? cpu : 1);
	check_part(1, take(set), 2, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* It can have been on the CPU of the thread that is bound there. */
START_TEST(time_on_an_unknown_cpu_leaves_no_part_pinned)
{
	struct ps_eventset *set = attached("1");

	fake_task(501, "worker", 3);
	fake_task_affinity(501, "3");
	fake_file("/proc/500/task/501/stat", "501 (worker) R 1\n");
	check_ok(ps_start(set));
	work_both(1, 3);
	check_part(3, take(set), 1, PS_ATTRIBUTION_PINNED);
	work_both(2, 3);
	check_part(3, take(set), 1, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* The first thread was on CPU 1, but not in the interval before. The other one stays there. */
START_TEST(a_thread_that_left_long_ago_weakens_no_part)
{
	struct ps_eventset *set = started_with_worker();

	work_both(1, 1);
	take(set);
	work_both(3, 1);
	check_part(1, take(set), 1, PS_ATTRIBUTION_MIXED);
	work_both(3, 1);
	check_part(1, take(set), 1, PS_ATTRIBUTION_EXACT);
	work_both(3, 1);
	work_both(2, 1);
	uint64_t timestamp = take(set);
	check_part(1, timestamp, 2, PS_ATTRIBUTION_EXACT);
	check_part(2, timestamp, 1, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 1, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* By less than what is told from a skew of the clocks, but the clock knows that it was elsewhere.
 */
START_TEST(a_moment_elsewhere_is_no_proof)
{
	struct ps_eventset *set = started("1-2");

	work(1, 5 * MS, 30);
	work(3, 1000, 1);
	check_part(1, take(set), 31, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* The kernel forgets what the clock of a CPU was enabled for where the task ends, so that the clock
 * for any CPU alone tells of it. This one stayed for less than clocks may be apart. */
START_TEST(a_task_that_ended_elsewhere_after_a_moment_is_seen)
{
	struct ps_eventset *set = started("1");
	int fds[8], any = -1;

	for (size_t count = fake_counter_fds(fds, 8), index = 0; index < count; index++) {
		pid_t tid;
		int cpu;
		fake_target_of_fd(fds[index], &tid, &cpu);
		if (cpu < 0 && fake_attr_of_fd(fds[index])->config == PERF_COUNT_SW_DUMMY)
			any = fds[index];
	}
	ck_assert_int_ge(any, 0);
	work(1, 5 * MS, 30);
	fake_run_fd(any, 10000, 10000);
	fake_advance(PAGE_FAULTS, 1);
	check_part(1, take(set), 31, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counts_without_time_go_to_where_the_process_is)
{
	struct ps_eventset *set = started("0-3");

	fake_advance(PAGE_FAULTS, 3);
	check_part(1, take(set), 3, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_thread_that_was_there_has_clocks_of_its_own)
{
	struct ps_eventset *set = attached("0-3");
	uint64_t timestamp = 0;

	fake_task(501, "worker", 3);
	fake_task_affinity(501, "3");
	fake_file("/proc/500/task/501/stat", "501 (worker) R 1\n");
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 2 * 2 + 4 + 2 + 1);
	fake_run(MS, MS);
	fake_advance_on(PAGE_FAULTS, 500, -1, 5);
	fake_advance_on(PAGE_FAULTS, 501, -1, 7);
	timestamp = take(set);
	check_part(1, timestamp, 5, PS_ATTRIBUTION_EXACT);
	check_part(3, timestamp, 7, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(clocks_that_can_not_be_read_leave_the_counts_to_the_next_reading)
{
	struct ps_eventset *set = started("0-3");
	uint64_t timestamp = 0;

	work(2, MS, 9);
	fake_fail(FAKE_READ, 2, EIO);
	check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_ESYS);
	check_detail("the clock of CPU 0");
	check_part(2, take(set), 9, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

/* The measurement's readings of the clocks prove nothing for the set's. */
START_TEST(the_measurement_of_a_readings_cost_takes_no_proof_for_its_own)
{
	struct ps_eventset *set = started("0-3");
	struct ps_overhead cost;

	work(0, MS, 5);
	check_ok(ps_eventset_overhead(set, &cost));
	work(2, MS, 5);
	check_part(2, take(set), 5, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("time_share");
	TCase *tests = scene_case(suite, "clocks");

	tcase_add_test(tests, events_count_on_any_cpu_and_clocks_on_each);
	tcase_add_test(tests, a_process_that_stays_is_where_its_clock_says);
	tcase_add_test(tests, one_that_wanders_is_shared_out_by_time_and_nothing_is_lost);
	tcase_add_test(tests, what_follows_an_interval_on_several_cpus_is_not_proven_yet);
	tcase_add_test(tests, a_start_begins_a_proof_anew);
	tcase_add_test(tests, a_process_of_one_cpu_is_pinned_by_two_clocks);
	tcase_add_test(tests, one_that_left_its_cpus_has_a_share_on_an_unknown_one);
	tcase_add_loop_test(tests, what_was_divided_weakens_the_parts_that_may_lack_some, 0, 4);
	tcase_add_loop_test(tests, a_thread_that_leaves_weakens_the_part_of_one_that_stays, 0, 2);
	tcase_add_test(tests, time_on_an_unknown_cpu_leaves_no_part_pinned);
	tcase_add_test(tests, a_thread_that_left_long_ago_weakens_no_part);
	tcase_add_test(tests, a_moment_elsewhere_is_no_proof);
	tcase_add_test(tests, a_task_that_ended_elsewhere_after_a_moment_is_seen);
	tcase_add_test(tests, counts_without_time_go_to_where_the_process_is);
	tcase_add_test(tests, each_thread_that_was_there_has_clocks_of_its_own);
	tcase_add_test(tests, clocks_that_can_not_be_read_leave_the_counts_to_the_next_reading);
	tcase_add_test(tests, the_measurement_of_a_readings_cost_takes_no_proof_for_its_own);
	return scene_run(suite);
}

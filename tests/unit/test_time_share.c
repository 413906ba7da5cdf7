/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose counts are shared out by the clocks of its CPUs: what the clocks prove and what
 * they don't, the sum of the shares, the choice of the method, and what is opened for it.
 * tests/tool/stat-method has real processes.
 */
#include "eventset/eventset.h"
#include "eventset/parts.h"
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>

#define EVENT "page-faults"
#define MS    UINT64_C(1000000)

/* A process of one thread, on CPU 1. */
static struct ps_eventset *attached(const char *cpus)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	fake_task(500, "solver", 1);
	fake_task_affinity(500, cpus);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(ps_eventset_attach_process(set, 500));
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_TIME_SHARE));
	return set;
}

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

static uint64_t take(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	return timestamp;
}

static void check_part(int cpu, uint64_t timestamp, long long count,
                       enum ps_attribution attribution)
{
	struct ps_value part = scene_part(cpu, EVENT, timestamp);

	ck_assert_int_eq(part.value, count);
	ck_assert_str_eq(ps_attribution_name(part.attribution), ps_attribution_name(attribution));
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

/* A machine with so many CPUs, and a set with two events. */
static struct ps_eventset *on_a_node(int cpus, enum ps_attribution_mode mode)
{
	char list[16];
	struct ps_eventset *set = attached("0-3");

	snprintf(list, sizeof list, "0-%d\n", cpus - 1);
	fake_file("/sys/devices/system/cpu/possible", list);
	fake_file("/sys/devices/system/cpu/present", list);
	check_ok(ps_eventset_set_attribution(set, mode));
	return set;
}

static void check_choice(int cpus, enum ps_attribution_mode mode, const struct ps__method *method)
{
	struct ps_eventset *set = on_a_node(cpus, mode);

	fake_set_nofile(10000);
	check_ok(ps_start(set));
	ck_assert_ptr_eq(set->attribution.method, method);
	ps_eventset_destroy(set);
}

START_TEST(auto_takes_it_where_copies_of_all_events_would_cost_much)
{
	check_choice(127, PS_ATTRIBUTE_AUTO, &ps__method_per_cpu);
	check_choice(128, PS_ATTRIBUTE_AUTO, &ps__method_time_share);
	check_choice(128, PS_ATTRIBUTE_EXACT, &ps__method_per_cpu);
	check_choice(128, PS_ATTRIBUTE_LAST_CPU, &ps__method_last_cpu);
	check_choice(4, PS_ATTRIBUTE_TIME_SHARE, &ps__method_time_share);
}
END_TEST

START_TEST(tasks_that_are_kept_apart_have_counters_on_each_cpu)
{
	struct ps_eventset *set = on_a_node(4, PS_ATTRIBUTE_TIME_SHARE);

	check_ok(ps_eventset_set_tasks(set, 1));
	check_ok(ps_start(set));
	ck_assert_ptr_eq(set->attribution.method, &ps__method_per_cpu);
	ps_eventset_destroy(set);
}
END_TEST

/* Any target but a process is counted as with AUTO. */
START_TEST(a_thread_is_counted_as_with_auto)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_TIME_SHARE));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(more_descriptors_than_there_may_be_are_refused_before_any_is_opened)
{
	struct ps_eventset *set = attached("0-3");
	const char *why = NULL;

	fake_set_nofile(12); /* half of it: 6, and 7 are needed with the file in /proc */
	fake_count_reset();
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
	fake_set_nofile(11);
	set = attached("0-3");
	fake_count_reset();
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "time shares takes 6 file descriptors"));
	ck_assert_uint_eq(fake_count(FAKE_PERF_EVENT_OPEN), 2);
	ps_eventset_destroy(set);
}
END_TEST

static void show_thread(pid_t tid, int cpu)
{
	char path[64], stat[256];

	fake_task(tid, "thread", cpu);
	snprintf(path, sizeof path, "/proc/500/task/%d/stat", (int)tid);
	snprintf(stat, sizeof stat,
	         "%d (thread) R 1 500 500 0 -1 4194304 90 0 0 0 1 2 0 0 20 0 1 0 7777 9999360 300 "
	         "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	         (int)tid, cpu);
	fake_file(path, stat);
}

START_TEST(threads_whose_counts_are_not_split_are_looked_at_one_by_one)
{
	struct ps_eventset *set = attached("0-3");

	show_thread(500, 1);
	show_thread(501, 3);
	show_thread(502, 3);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 3 * 2 + 1);
	fake_advance_on(PAGE_FAULTS, 500, -1, 1);
	fake_advance_on(PAGE_FAULTS, 501, -1, 20);
	fake_advance_on(PAGE_FAULTS, 502, -1, 300);
	uint64_t timestamp = take(set);
	check_part(1, timestamp, 1, PS_ATTRIBUTION_LAST_CPU);
	check_part(3, timestamp, 320, PS_ATTRIBUTION_LAST_CPU);
	show_thread(501, 2);
	fake_file("/proc/500/task/502/stat", NULL); /* it has ended */
	fake_advance_on(PAGE_FAULTS, 501, -1, 5);
	fake_advance_on(PAGE_FAULTS, 502, -1, 6);
	timestamp = take(set);
	check_part(2, timestamp, 5, PS_ATTRIBUTION_LAST_CPU);
	check_part(3, timestamp, 6, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 11);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* 500 threads on 64 CPUs, 2 events: 64000 for counters on each, 33000 with clocks. */
START_TEST(so_many_descriptors_that_opening_them_takes_long_are_for_those_who_demand_it)
{
	struct ps_eventset *set = attached("0-3");
	const char *why = NULL;

	fake_file("/sys/devices/system/cpu/possible", "0-63\n");
	fake_file("/sys/devices/system/cpu/present", "0-63\n");
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_AUTO));
	fake_task_affinity(500, "0-63");
	for (pid_t tid = 501; tid < 500 + 500; tid++) {
		show_thread(tid, 3);
		fake_task_affinity(tid, "0-63");
	}
	fake_set_nofile(1000000);
	fake_count_reset();
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "takes 64000 file descriptors"));
	ck_assert_uint_eq(fake_count(FAKE_PERF_EVENT_OPEN), 500 * 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_thread_whose_cpus_are_not_told_is_named)
{
	struct ps_eventset *set = attached("0-3");
	const char *why = NULL;

	fake_fail_always(FAKE_GETAFFINITY, EPERM);
	check_ok(ps_start(set));
	fake_fail_always(FAKE_GETAFFINITY, 0);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "thread 500"));
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
	tcase_add_test(tests, a_moment_elsewhere_is_no_proof);
	tcase_add_test(tests, counts_without_time_go_to_where_the_process_is);
	tcase_add_test(tests, each_thread_that_was_there_has_clocks_of_its_own);
	tcase_add_test(tests, clocks_that_can_not_be_read_leave_the_counts_to_the_next_reading);
	tcase_add_test(tests, the_measurement_of_a_readings_cost_takes_no_proof_for_its_own);
	tests = scene_case(suite, "choice");
	tcase_add_test(tests, auto_takes_it_where_copies_of_all_events_would_cost_much);
	tcase_add_test(tests, tasks_that_are_kept_apart_have_counters_on_each_cpu);
	tcase_add_test(tests, a_thread_is_counted_as_with_auto);
	tcase_add_test(tests, more_descriptors_than_there_may_be_are_refused_before_any_is_opened);
	tcase_add_test(tests, a_thread_whose_cpus_are_not_told_is_named);
	tcase_add_test(tests, threads_whose_counts_are_not_split_are_looked_at_one_by_one);
	tcase_add_test(
	    tests, so_many_descriptors_that_opening_them_takes_long_are_for_those_who_demand_it);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process's counts are shared out by clocks, when its threads have counters of their own,
 * and what becomes of counts that nothing splits. */
#include "test_time_share.h"

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

/* 15 copies more than one of each event add a third to what creating a thread takes. */
START_TEST(looks_are_taken_where_clocks_would_cost_much_too)
{
	struct ps_eventset *set = on_a_node(128, PS_ATTRIBUTE_AUTO);

	fake_set_nofile(10000);
	fake_task_affinity(500, "0-15");
	check_ok(ps_start(set));
	ck_assert_ptr_eq(set->attribution.method, &ps__method_looks);
	ps_eventset_destroy(set);
	check_choice(4, PS_ATTRIBUTE_LOOKS, &ps__method_looks);
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

/* 500 threads on 64 CPUs, 2 events: 64000 for counters on each, 1000 with looks. */
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
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ck_assert_ptr_eq(set->attribution.method, &ps__method_looks);
	ck_assert_ptr_nonnull(strstr(why, "takes 64000 file descriptors"));
	ck_assert_ptr_nonnull(strstr(why, "shared out by looks at the CPUs of the tasks"));
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
	Suite *suite = suite_create("time_share_choice");
	TCase *tests = scene_case(suite, "choice");

	tcase_add_test(tests, auto_takes_it_where_copies_of_all_events_would_cost_much);
	tcase_add_test(tests, looks_are_taken_where_clocks_would_cost_much_too);
	tcase_add_test(tests, tasks_that_are_kept_apart_have_counters_on_each_cpu);
	tcase_add_test(tests, a_thread_is_counted_as_with_auto);
	tcase_add_test(tests, more_descriptors_than_there_may_be_are_refused_before_any_is_opened);
	tcase_add_test(tests, a_thread_whose_cpus_are_not_told_is_named);
	tcase_add_test(tests, threads_whose_counts_are_not_split_are_looked_at_one_by_one);
	tcase_add_test(
	    tests, so_many_descriptors_that_opening_them_takes_long_are_for_those_who_demand_it);
	return scene_run(suite);
}

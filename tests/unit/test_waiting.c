/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups that take turns on the hardware, split by CPU: where each waited, what was never counted,
 * and what the labels and totals say of it. Two counters for three events make two groups.
 */
#include "test_waiting.h"

#include "backend/perf.h"

#include <errno.h>
#include <fcntl.h>

#define SECOND PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS
/* Of the second group. */
#define IN_SECOND "branches"

static struct ps_eventset *started(void)
{
	fake_add_core_pmu(2);
	struct ps_eventset *set = scene_started(IN_FIRST, "instructions", IN_SECOND, NULL);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	return set;
}

/* The task is on this CPU for so long, while one of the groups is on the hardware; each event
 * counts one in a nanosecond. */
static void run_on(int cpu, uint64_t ns, bool is_first)
{
	fake_set_cpu(cpu);
	fake_set_waiting(FIRST, !is_first);
	fake_set_waiting(SECOND, is_first);
	fake_run(ns, ns);
	fake_advance(FIRST, ns);
	fake_advance(SECOND, ns);
}

START_TEST(a_group_that_never_ran_where_the_task_was_is_not_counted_as_0)
{
	struct ps_eventset *set = started();

	run_on(0, 10, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(0, IN_FIRST, 0), PS_STATUS_COUNTED, 10, 10);
	check_value(scene_part(0, IN_SECOND, 0), PS_STATUS_NEVER_SCHEDULED, 0, 10);
	ck_assert_int_eq((int)scene_part(0, IN_SECOND, 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(waiting_is_assigned_to_the_cpu_where_the_group_waited)
{
	struct ps_eventset *set = started();

	run_on(0, 20 * MS, true);
	run_on(1, 1 * MS, false);
	run_on(0, 15 * MS, false);
	run_on(0, 5 * MS, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(0, IN_FIRST, 0), PS_STATUS_SCALED, 25 * MS, 40 * MS);
	check_value(scene_part(0, IN_SECOND, 0), PS_STATUS_SCALED, 15 * MS, 40 * MS);
	check_value(scene_part(1, IN_FIRST, 0), PS_STATUS_NEVER_SCHEDULED, 0, 1 * MS);
	check_value(scene_part(1, IN_SECOND, 0), PS_STATUS_COUNTED, 1 * MS, 1 * MS);
	/* An estimate's part is not exact; a count's is. */
	ck_assert_int_eq((int)scene_part(0, IN_FIRST, 0).attribution, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq((int)scene_part(1, IN_SECOND, 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_total_takes_a_group_to_have_counted_as_fast_where_it_waited)
{
	struct ps_eventset *set = started();

	run_on(0, 20 * MS, true);
	run_on(1, 5 * MS, false);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_total(IN_FIRST), PS_STATUS_SCALED, 20 * MS, 25 * MS);
	check_value(scene_total(IN_SECOND), PS_STATUS_SCALED, 5 * MS, 25 * MS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(waiting_is_counted_anew_after_a_reset_and_after_a_start)
{
	struct ps_eventset *set = started();

	run_on(0, 7 * MS, true);
	check_ok(ps_reset(set));
	run_on(0, 2 * MS, false);
	run_on(0, 3 * MS, true);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_value(scene_part(0, IN_FIRST, 0), PS_STATUS_SCALED, 3 * MS, 5 * MS);
	check_ok(ps_start(set));
	run_on(0, 4 * MS, false);
	run_on(0, 1 * MS, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(0, IN_FIRST, 0), PS_STATUS_SCALED, 1 * MS, 5 * MS);
	check_value(scene_part(0, IN_SECOND, 0), PS_STATUS_SCALED, 4 * MS, 5 * MS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(waiting_adds_up_over_many_readings)
{
	struct ps_eventset *set = started();
	uint64_t timestamp = 0;

	for (int i = 0; i < 100; i++) {
		run_on(i % 3, 2000, i % 2);
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	}
	for (int cpu = 0; cpu < 3; cpu++) {
		struct ps_value first = scene_part(cpu, IN_FIRST, 0),
				second = scene_part(cpu, IN_SECOND, 0);
		ck_assert_uint_eq(first.enabled_ns, first.running_ns + second.running_ns);
		ck_assert_uint_eq(second.enabled_ns, first.enabled_ns);
	}
	ck_assert_uint_eq(scene_total(IN_FIRST).enabled_ns, 200000);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_is_told_where_its_threads_groups_waited)
{
	fake_add_core_pmu(2);
	struct ps_eventset *set = scene_set(IN_FIRST, "instructions", IN_SECOND, NULL);
	fake_task(500, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(ps_eventset_attach_process(set, 500));
	check_ok(ps_start(set));
	fake_set_waiting(SECOND, true);
	fake_run(3 * MS, 3 * MS);
	fake_advance(FIRST, 3 * MS);
	fake_task(500, "solver", 2);
	fake_set_waiting(SECOND, false);
	fake_set_waiting(FIRST, true);
	fake_run(2 * MS, 2 * MS);
	fake_advance(SECOND, 2 * MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(1, IN_FIRST, 0), PS_STATUS_COUNTED, 3 * MS, 3 * MS);
	check_value(scene_part(1, IN_SECOND, 0), PS_STATUS_NEVER_SCHEDULED, 0, 3 * MS);
	check_value(scene_part(2, IN_FIRST, 0), PS_STATUS_NEVER_SCHEDULED, 0, 2 * MS);
	check_value(scene_part(2, IN_SECOND, 0), PS_STATUS_COUNTED, 2 * MS, 2 * MS);
	ps_eventset_destroy(set);
}
END_TEST

/* The group's waiting time there isn't known: the CPUs share the time. */
START_TEST(a_part_of_a_group_that_waited_is_no_count_however_short_it_ran)
{
	fake_add_core_pmu(2);
	struct ps_eventset *set = scene_started(IN_FIRST, "instructions", NULL);

	run_on(0, MS, true);
	run_on(1, 5, true);
	fake_set_waiting(FIRST, true);
	fake_run(MS, MS);
	fake_set_waiting(FIRST, false);
	run_on(0, 5 * MS, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(1, IN_FIRST, 0).status, PS_STATUS_SCALED);
	ck_assert_int_eq((int)scene_part(1, IN_FIRST, 0).attribution, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* It is read first, so the first read(2) of a reading is its. */
START_TEST(a_clock_of_residency_that_can_not_be_read_fails_the_reading_and_loses_nothing)
{
	struct ps_eventset *set = started();

	run_on(0, 3 * MS, true);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ESYS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value(scene_part(0, IN_FIRST, 0), PS_STATUS_COUNTED, 3 * MS, 3 * MS);
	check_value(scene_part(0, IN_SECOND, 0), PS_STATUS_NEVER_SCHEDULED, 0, 3 * MS);
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* The loss is known: dup2 and close of the program's are noticed. */
START_TEST(what_is_under_the_number_of_a_clock_of_residency_is_not_read)
{
	struct ps_eventset *set = started();
	const struct ps__perf *perf = (struct ps__perf *)set->counters.backend;
	int fd = perf->instances[0].residency_fd;
	char bytes[8];

	fake_set_cpu(0);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_file("/tmp/own", "a program's own bytes, which are more than a clock has");
	ps__os.close(fd);
	ck_assert_int_eq(ps__os.open("/tmp/own", O_RDONLY | O_CLOEXEC), fd);
	atomic_fetch_add(&ps__os_losses, 1);
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ECLOST);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_ECLOST);
	ck_assert_int_eq(ps__os.read(fd, bytes, sizeof(bytes)), sizeof(bytes));
	ck_assert_mem_eq(bytes, "a progra", sizeof(bytes));
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 1);
	ps__os.close(fd);
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static int replaced;

static ssize_t replace_and_read(int fd, void *buffer, size_t size_bytes)
{
	if (fd != replaced)
		return real_read(fd, buffer, size_bytes);
	ps__os.read = real_read;
	ps__os.close(fd);
	ck_assert_int_eq(ps__os.open("/tmp/own", O_RDONLY | O_CLOEXEC), fd);
	return real_read(fd, buffer, size_bytes);
}

/* Another thread's dup2 comes between the look for losses and the read. */
START_TEST(bytes_of_a_file_are_no_times_of_a_clock)
{
	struct ps_eventset *set = started();
	const struct ps__perf *perf = (struct ps__perf *)set->counters.backend;

	fake_set_cpu(0);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_file("/tmp/own", "a program's own bytes, which are more than a clock has");
	replaced = perf->instances[0].residency_fd;
	real_read = ps__os.read;
	ps__os.read = replace_and_read;
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ECLOST);
	ck_assert_ptr_eq(ps__os.read, real_read);
	ps_eventset_destroy(set);
	ps__os.close(replaced);
}
END_TEST

START_TEST(one_group_needs_no_clock_of_residency)
{
	unsigned cpus = 4;

	fake_add_core_pmu(4);
	struct ps_eventset *set = scene_started(IN_FIRST, "instructions", NULL);
	unsigned open = (unsigned)fake_counter_fds(NULL, 0);
	ck_assert_uint_eq(open, 2 * cpus + 1);
	ps_eventset_destroy(set);
}
END_TEST

/* 4 CPUs: 12 events, 4 clocks, and a ring. */
START_TEST(the_clocks_are_part_of_the_budget_of_descriptors)
{
	fake_set_nofile(2 * 14);
	fake_add_core_pmu(2);
	struct ps_eventset *set = scene_started(IN_FIRST, "instructions", IN_SECOND, NULL);
	const char *why = NULL;
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_msg(strstr(why, "16 file descriptors"), "%s", why);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waiting");
	TCase *tests = scene_case_instances(suite, "waiting");

	tcase_add_test(tests, a_group_that_never_ran_where_the_task_was_is_not_counted_as_0);
	tcase_add_test(tests, waiting_is_assigned_to_the_cpu_where_the_group_waited);
	tcase_add_test(tests, a_total_takes_a_group_to_have_counted_as_fast_where_it_waited);
	tcase_add_test(tests, waiting_is_counted_anew_after_a_reset_and_after_a_start);
	tcase_add_test(tests, waiting_adds_up_over_many_readings);
	tcase_add_test(tests, a_process_is_told_where_its_threads_groups_waited);
	tcase_add_test(tests, a_part_of_a_group_that_waited_is_no_count_however_short_it_ran);
	tcase_add_test(
	    tests, a_clock_of_residency_that_can_not_be_read_fails_the_reading_and_loses_nothing);
	tcase_add_test(tests, what_is_under_the_number_of_a_clock_of_residency_is_not_read);
	tcase_add_test(tests, bytes_of_a_file_are_no_times_of_a_clock);
	tcase_add_test(tests, one_group_needs_no_clock_of_residency);
	tcase_add_test(tests, the_clocks_are_part_of_the_budget_of_descriptors);
	return scene_run(suite);
}

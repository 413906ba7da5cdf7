/* SPDX-License-Identifier: BSD-3-Clause */
/* A set is paused and resumed: what happens meanwhile is not counted, and nothing else is lost. */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>

#define EVENT "page-faults"
#define CHILD 4711

static long long sum_of(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	return scene_sum(EVENT, timestamp);
}

START_TEST(what_happens_while_a_set_is_paused_is_not_counted)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);

	ck_assert_int_eq(ps_eventset_is_paused(set), 0);
	scene_count_on(0, 1000);
	scene_count_on(1, 10);
	check_ok(ps_pause(set));
	ck_assert_int_eq(ps_eventset_is_paused(set), 1);
	ck_assert_int_eq(ps_eventset_is_running(set), 1);
	scene_count_on(2, 77);
	ck_assert_int_eq(sum_of(set), 1010);
	scene_count_on(1, 77);
	check_ok(ps_resume(set));
	ck_assert_int_eq(ps_eventset_is_paused(set), 0);
	scene_count_on(1, 5);
	scene_count_on(3, 6);
	ck_assert_int_eq(sum_of(set), 1021);
	scene_check_residual(set);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 1021);
	ps_eventset_destroy(set);
}
END_TEST

/* In the cases whose method splits the counts. */
START_TEST(counts_before_and_after_a_pause_are_where_they_happened)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);

	for (int round = 0; round < 20; round++) {
		scene_count_on(0, 100);
		scene_count_on(1, 10);
		check_ok(ps_pause(set));
		scene_count_on(round % 4, 7777);
		scene_count_on(2, 7777);
		check_ok(ps_resume(set));
		scene_count_on(3, 1);
	}
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(0, EVENT, 2000, PS_ATTRIBUTION_EXACT);
	scene_check_part(1, EVENT, 200, PS_ATTRIBUTION_EXACT);
	scene_check_part(3, EVENT, 20, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(scene_sum(EVENT, 0), 2220);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(times_stand_still_while_a_set_is_paused)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);

	fake_run(1000, 1000);
	check_ok(ps_pause(set));
	fake_run(5000, 5000);
	check_ok(ps_resume(set));
	fake_run(200, 200);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(scene_total(EVENT).enabled_ns, 1200);
	ck_assert_uint_eq(scene_total(EVENT).running_ns, 1200);
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(ps_stop_ends_a_paused_set_and_ps_start_begins_at_0)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);

	scene_count_on(0, 5);
	check_ok(ps_pause(set));
	scene_count_on(0, 3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 5);
	ck_assert_int_eq(ps_eventset_is_paused(set), 0);
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	check_fails(ps_resume(set), PS_ENOTRUN);
	check_ok(ps_start(set));
	scene_count_on(0, 2);
	ck_assert_int_eq(sum_of(set), 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_paused_set_is_accumulated_and_reset_as_any)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	scene_count_on(0, 5);
	check_ok(ps_pause(set));
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
	check_ok(ps_resume(set));
	scene_count_on(0, 4);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 9);
	scene_count_on(0, 3);
	check_ok(ps_pause(set));
	check_ok(ps_reset(set));
	check_ok(ps_resume(set));
	scene_count_on(0, 2);
	ck_assert_int_eq(sum_of(set), 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(snapshots_go_on_over_a_pause)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_snapshot *first = NULL, *last = NULL;
	struct ps_value value;

	check_ok(ps_snapshot_take(set, &first));
	scene_count_on(0, 5);
	check_ok(ps_pause(set));
	scene_count_on(0, 100);
	check_ok(ps_snapshot_take(set, &last));
	check_ok(ps_snapshot_difference(set, first, last, NULL, &value, 1));
	ck_assert_int_eq(value.value, 5);
	check_ok(ps_resume(set));
	scene_count_on(0, 3);
	check_ok(ps_snapshot_take(set, &last));
	check_ok(ps_snapshot_difference(set, first, last, NULL, &value, 1));
	ck_assert_int_eq(value.value, 8);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(only_a_set_that_was_started_can_be_paused)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	check_fails(ps_pause(NULL), PS_EINVAL);
	check_fails(ps_resume(NULL), PS_EINVAL);
	ck_assert_int_eq(ps_eventset_is_paused(NULL), 0);
	check_fails(ps_pause(set), PS_ENOTRUN);
	check_fails(ps_resume(set), PS_ENOTRUN);
	check_ok(ps_start(set));
	check_ok(ps_resume(set));
	check_ok(ps_pause(set));
	check_ok(ps_pause(set));
	check_fails(ps_start(set), PS_EISRUN);
	check_detail("ps_resume");
	check_fails(ps_eventset_add(set, "minor-faults"), PS_EISRUN);
	check_detail("paused");
	check_fails(ps_eventset_attach_cpu(set, 1), PS_EISRUN);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_fails(ps_pause(set), PS_ENOTRUN);
	check_ok(ps_eventset_add(set, "minor-faults"));
	ps_eventset_destroy(set);
}
END_TEST

/* Each call of the kernel and each allocation fails once. */
START_TEST(a_pause_that_fails_loses_nothing)
{
	static const enum fake_call calls[] = {FAKE_IOCTL, FAKE_READ, FAKE_ALLOCATE};

	for (size_t call = 0; call < sizeof calls / sizeof *calls; call++) {
		for (unsigned nth = 1; nth < 12; nth++) {
			struct ps_eventset *set = scene_started(EVENT, NULL);

			scene_count_on(0, 5);
			scene_count_on(1, 6);
			fake_fail(calls[call], nth, calls[call] == FAKE_ALLOCATE ? ENOMEM : EIO);
			int paused = ps_pause(set);
			int resumed = ps_resume(set);
			fake_fail(calls[call], 0, 0);
			ck_assert(paused == PS_OK || *ps_error_detail());
			if (resumed != PS_OK)
				check_ok(ps_resume(set));
			scene_count_on(0, 2);
			ck_assert_int_eq(sum_of(set), 13);
			scene_check_residual(set);
			ps_eventset_destroy(set);
		}
	}
}
END_TEST

START_TEST(a_pinned_task_that_moved_meanwhile_is_followed)
{
	struct ps_eventset *set;

	fake_set_affinity("0");
	fake_set_cpu(0);
	set = scene_started(EVENT, NULL);
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	scene_count_on(0, 100);
	check_ok(ps_pause(set));
	fake_set_affinity("0-3");
	scene_count_on(2, 7777);
	check_ok(ps_resume(set));
	scene_count_on(2, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(2, EVENT, 5, PS_ATTRIBUTION_EXACT);
	scene_check_part(0, EVENT, 100, PS_ATTRIBUTION_PINNED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_that_counts_from_an_exec_on_is_paused_after_it)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_task(CHILD, "child", 1);
	check_ok(ps_eventset_attach_tid(set, CHILD));
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	check_ok(ps_start(set));
	check_fails(ps_pause(set), PS_ENOTRUN);
	check_detail("exec");
	ck_assert_int_eq(ps_eventset_is_paused(set), 0);
	fake_task_exec(CHILD);
	fake_run(100, 100);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_pause(set));
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_resume(set));
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 7);
	ps_eventset_destroy(set);
}
END_TEST

static int (*open_of_fake)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                           unsigned long flags);

static int open_in_a_while(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                           unsigned long flags)
{
	fake_run(100, 100);
	return open_of_fake(attr, pid, cpu, group_fd, flags);
}

/* Hardware events count while they are opened, but that is not since the exec. */
START_TEST(a_set_of_hardware_events_too_is_paused_only_after_the_exec)
{
	fake_add_core_pmu(4);
	struct ps_eventset *set = scene_set("instructions", "cycles", NULL);

	fake_task(CHILD, "child", 1);
	check_ok(ps_eventset_attach_tid(set, CHILD));
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	open_of_fake = ps__os.perf_event_open;
	ps__os.perf_event_open = open_in_a_while;
	check_ok(ps_start(set));
	ps__os.perf_event_open = open_of_fake;
	check_fails(ps_pause(set), PS_ENOTRUN);
	fake_task_exec(CHILD);
	fake_run(100, 100);
	check_ok(ps_pause(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_ended_task_cannot_be_resumed_and_keeps_its_counts)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_task(CHILD, "child", 1);
	check_ok(ps_eventset_attach_tid(set, CHILD));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_pause(set));
	fake_task_end(CHILD);
	check_fails(ps_resume(set), PS_ESYS);
	check_detail("ps_stop");
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(cpus_and_processes_are_paused_as_threads_are)
{
	struct ps_eventset *cpu = scene_set(EVENT, NULL), *process = scene_set(EVENT, NULL);
	uint64_t of_cpu = 0, of_process = 0;

	fake_task(CHILD, "child", 1);
	fake_file("/proc/4711/task/4711", "");
	check_ok(ps_eventset_attach_cpu(cpu, 3));
	check_ok(ps_eventset_attach_process(process, CHILD));
	check_ok(ps_start(cpu));
	check_ok(ps_start(process));
	fake_advance_on(PAGE_FAULTS, -1, 3, 5);
	fake_advance_on(PAGE_FAULTS, CHILD, 1, 4);
	check_ok(ps_pause(cpu));
	check_ok(ps_pause(process));
	fake_advance_on(PAGE_FAULTS, -1, 3, 99);
	fake_advance_on(PAGE_FAULTS, CHILD, 1, 99);
	check_ok(ps_resume(cpu));
	check_ok(ps_resume(process));
	fake_advance_on(PAGE_FAULTS, -1, 3, 1);
	fake_advance_on(PAGE_FAULTS, CHILD, 1, 2);
	check_ok(ps_stop(cpu, scene.root, &of_cpu, NULL));
	check_ok(ps_stop(process, scene.root, &of_process, NULL));
	ck_assert_int_eq(scene_sum(EVENT, of_cpu), 6);
	ck_assert_int_eq(scene_sum(EVENT, of_process), 6);
	ps_eventset_destroy(cpu);
	ps_eventset_destroy(process);
}
END_TEST

static void add_common(TCase *tests)
{
	tcase_add_test(tests, what_happens_while_a_set_is_paused_is_not_counted);
	tcase_add_test(tests, times_stand_still_while_a_set_is_paused);
	tcase_add_test(tests, ps_stop_ends_a_paused_set_and_ps_start_begins_at_0);
	tcase_add_test(tests, a_paused_set_is_accumulated_and_reset_as_any);
	tcase_add_test(tests, snapshots_go_on_over_a_pause);
	tcase_add_test(tests, only_a_set_that_was_started_can_be_paused);
	tcase_add_test(tests, a_pause_that_fails_loses_nothing);
}

int main(void)
{
	Suite *suite = suite_create("pause");
	TCase *tests = scene_case(suite, "targets");

	tcase_add_test(tests, a_pinned_task_that_moved_meanwhile_is_followed);
	tcase_add_test(tests, a_set_that_counts_from_an_exec_on_is_paused_after_it);
	tcase_add_test(tests, a_set_of_hardware_events_too_is_paused_only_after_the_exec);
	tcase_add_test(tests, an_ended_task_cannot_be_resumed_and_keeps_its_counts);
	tcase_add_test(tests, cpus_and_processes_are_paused_as_threads_are);
	add_common(scene_case_last_cpu(suite, "last cpu"));
	tests = scene_case_instances(suite, "instances");
	add_common(tests);
	tcase_add_test(tests, counts_before_and_after_a_pause_are_where_they_happened);
	tests = scene_case_records(suite, "records");
	add_common(tests);
	tcase_add_test(tests, counts_before_and_after_a_pause_are_where_they_happened);
	return scene_run(suite);
}

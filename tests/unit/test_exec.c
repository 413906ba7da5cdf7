/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting from a task's exec on: ps_eventset_set_enable_on_exec. */
#include "support/scene.h"

#include <errno.h>

#define CHILD 600

static struct ps_eventset *set_of_process(void)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	fake_task(CHILD, "waits", 1);
	fake_file("/proc/600/task/600/stat", "600 (waits) R 1\n");
	check_ok(ps_eventset_attach_process(set, CHILD));
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	return set;
}

static void count_on(int cpu, uint64_t faults)
{
	fake_advance_on(PAGE_FAULTS, CHILD, cpu, faults);
}

START_TEST(nothing_is_counted_before_the_exec_and_all_after_it)
{
	struct ps_eventset *set = set_of_process();
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	count_on(1, 70);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 0);
	fake_task_exec(CHILD);
	count_on(1, 5);
	fake_task(CHILD, "runs", 3);
	count_on(3, 6);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, "page-faults", timestamp), 5);
	ck_assert_int_eq(scene_count(3, "page-faults", timestamp), 6);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(leaders_alone_wait_for_the_exec_and_start_enables_nothing)
{
	struct ps_eventset *set = set_of_process();
	int fds[64];

	check_ok(ps_start(set));
	size_t count = fake_counter_fds(fds, 64);
	ck_assert_uint_eq(count, 8); /* two events on four CPUs */
	for (size_t index = 0; index < count; index++) {
		bool leads = fake_leader_of_fd(fds[index]) == fds[index];
		ck_assert_int_eq(fake_attr_of_fd(fds[index])->enable_on_exec, leads);
		ck_assert(!fake_enabled_of_fd(fds[index]));
	}
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_start_waits_for_an_exec_of_its_own)
{
	struct ps_eventset *set = set_of_process();
	uint64_t first = 0, second = 0;

	check_ok(ps_start(set));
	fake_task_exec(CHILD);
	count_on(1, 5);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	check_ok(ps_start(set));
	count_on(1, 80);
	fake_task_exec(CHILD);
	count_on(1, 9);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_sum("page-faults", first), 5);
	ck_assert_int_eq(scene_sum("page-faults", second), 9);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_exec_after_the_stop_is_not_counted)
{
	struct ps_eventset *set = set_of_process();
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	fake_task_exec(CHILD);
	count_on(1, 5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 0);
	check_ok(ps_eventset_set_enable_on_exec(set, 0));
	check_ok(ps_start(set));
	count_on(1, 3);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 3);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_clone_waits_as_its_model_does)
{
	struct ps_eventset *model = set_of_process(), *set = NULL;

	check_ok(ps_eventset_clone(&set, model));
	check_fails(ps_start(set), PS_ECOMBO);
	check_ok(ps_eventset_attach_tid(set, CHILD));
	check_ok(ps_start(set));
	count_on(1, 70);
	fake_task_exec(CHILD);
	count_on(1, 4);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("page-faults").value, 4);
	ps_eventset_destroy(set);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(hardware_groups_are_planned_enabled_and_wait_all_the_same)
{
	struct ps_eventset *set = NULL;

	fake_add_core_pmu(4);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, "instructions"));
	check_ok(ps_eventset_add(set, "cycles"));
	fake_task(CHILD, "waits", 1);
	fake_file("/proc/600/task/600/stat", "600 (waits) R 1\n");
	check_ok(ps_eventset_attach_process(set, CHILD));
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	check_ok(ps_start(set));
	fake_advance_on(INSTRUCTIONS, CHILD, 1, 1000);
	fake_task_exec(CHILD);
	fake_advance_on(INSTRUCTIONS, CHILD, 1, 40);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("instructions").value, 40);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(it_needs_a_task_and_a_stopped_set)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_eventset_set_enable_on_exec(NULL, 1), PS_EINVAL);
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	check_fails(ps_start(set), PS_ECOMBO);
	check_detail("ps_eventset_attach_process");
	ck_assert_uint_eq(fake_open_fds(), 0);
	check_ok(ps_eventset_attach_cpu(set, 1));
	check_fails(ps_start(set), PS_ECOMBO);
	check_ok(ps_eventset_detach(set));
	check_ok(ps_eventset_set_enable_on_exec(set, 0));
	check_ok(ps_start(set));
	check_fails(ps_eventset_set_enable_on_exec(set, 1), PS_EISRUN);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exec");
	TCase *tests = scene_case(suite, "exec");

	tcase_add_test(tests, nothing_is_counted_before_the_exec_and_all_after_it);
	tcase_add_test(tests, leaders_alone_wait_for_the_exec_and_start_enables_nothing);
	tcase_add_test(tests, each_start_waits_for_an_exec_of_its_own);
	tcase_add_test(tests, an_exec_after_the_stop_is_not_counted);
	tcase_add_test(tests, a_clone_waits_as_its_model_does);
	tcase_add_test(tests, hardware_groups_are_planned_enabled_and_wait_all_the_same);
	tcase_add_test(tests, it_needs_a_task_and_a_stopped_set);
	return scene_run(suite);
}

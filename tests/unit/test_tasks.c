/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each task's share of what a process counted: of tasks that come, take a name and end; what the
 * one has of which no record tells; and when that can't be said.
 */
#include "support/task_records.h"

#include "base/kept.h"
#include "base/os.h"

#include <fcntl.h>

START_TEST(each_task_has_what_its_records_say_and_the_last_one_the_rest)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_name(3, PROCESS, 501, "worker");
	put_fork(3, 600, 600, 501);
	put_share(0, PROCESS, 501, 0, 0);
	put_share(1, PROCESS, 501, 30, 300);
	put_share(2, PROCESS, 501, 0, 0);
	put_share(3, PROCESS, 501, 5, 50);
	put_exit(1, PROCESS, 501);
	put_counts(3, 600, 600, 7, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 5);
	check_told(0, PROCESS, "solver", 1, 70, 700);
	check_told(1, PROCESS, "solver", 3, 38, 450);
	check_told(2, 501, "worker", 1, 30, 300);
	check_told(3, 501, "worker", 3, 5, 50);
	check_told(4, 600, "worker", 3, 7, 0);
	ck_assert_int_eq(told_pid(4), 600);
	check_sum("page-faults", 0);
	check_sum("task-clock", 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_rest_is_the_one_of_whom_no_record_told_whichever_that_is)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_exit(1, PROCESS, 501);
	put_counts(1, PROCESS, PROCESS, 12, 120);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, PROCESS, "solver", 1, 12, 120);
	check_told(1, 501, "solver", 1, 88, 880);
	check_told(2, 501, "solver", 3, 50, 500);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_several_living_tasks_counted_is_nobodys)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_fork(1, PROCESS, 502, PROCESS);
	put_counts(1, PROCESS, 502, 40, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, 502, "solver", 1, 40, 0);
	check_told(1, 0, "", 1, 60, 1000);
	check_told(2, 0, "", 3, 50, 500);
	ck_assert_int_eq(told_pid(2), PROCESS);
	ps_eventset_destroy(set);
}
END_TEST

#define MOST_COUNTERS 64

/* Of events, of those that write records, and of those that keep tasks apart. */
START_TEST(each_descriptor_that_the_program_closed_is_missed)
{
	size_t count = 1;

	fake_file("/tmp/own", "a program's own");
	for (size_t index = 0; index < count; index++) {
		struct ps_eventset *set = records_start_set();
		int fds[MOST_COUNTERS];

		count = fake_counter_fds(fds, MOST_COUNTERS);
		ck_assert_uint_lt(count, MOST_COUNTERS);
		ps__os.close(fds[index]);
		ck_assert_int_eq(ps__os.open("/tmp/own", O_RDONLY | O_CLOEXEC), fds[index]);
		atomic_fetch_add(&ps__os_losses, PS__KEPT_OVER); /* as the preloaded library does */
		check_fails(ps_read(set, scene.root, NULL, NULL), PS_ECLOST);
		ps_eventset_destroy(set);
		ck_assert_int_eq(ps__os.close(fds[index]), 0);
	}
	ck_assert_uint_gt(count, 1);
}
END_TEST

START_TEST(after_a_loss_the_rest_is_nobodys)
{
	struct ps_eventset *set = records_start_set();

	put_counts(1, PROCESS, 501, 40, 0);
	records_put(records_notes(1), PERF_RECORD_LOST, records_notes(1), (uint64_t[]){1, 3}, 2);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, 501, "", 1, 40, 0);
	check_told(1, 0, "", 1, 60, 1000);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Newer kernels write the leader's count in a member's record, older ones its own. */
/* Linux may lose a record without a word: two CPUs that write into one ring can overwrite each
 * other's. */
START_TEST(a_record_that_is_missing_makes_the_rest_nobodys_on_that_cpu_alone)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_share(0, PROCESS, 501, 0, 0);
	put_share(2, PROCESS, 501, 0, 0);
	put_share(3, PROCESS, 501, 5, 50);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, PROCESS, "solver", 3, 45, 450);
	check_told(1, 501, "solver", 3, 5, 50);
	check_told(2, 0, "", 1, 100, 1000);
	check_sum("page-faults", 0);
	check_sum("task-clock", 1);
	ps_eventset_destroy(set);
}
END_TEST

/* A parent that isn't known: the task may be of any of the process's threads. */
START_TEST(a_living_task_of_a_stranger_leaves_the_rest_to_nobody)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, 700, 700, 699);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 2);
	check_told(0, 0, "", 1, 100, 1000);
	check_told(1, 0, "", 3, 50, 500);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_number_that_is_used_again_is_another_task)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, 600, 600, PROCESS);
	put_counts(1, 600, 600, 10, 0);
	put_exit(1, 600, 600);
	put_fork(1, 600, 600, PROCESS);
	put_name(1, 600, 600, "later");
	put_counts(1, 600, 600, 20, 0);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 4);
	check_told(2, 600, "solver", 1, 10, 0);
	check_told(3, 600, "later", 1, 20, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Its threads' numbers came again, too. */
START_TEST(a_process_whose_number_is_used_again_is_another_process)
{
	struct ps_eventset *set = records_start_set();

	for (int life = 0; life < 2; life++) {
		put_fork(1, 600, 600, PROCESS);
		put_fork(1, 600, 601, 600);
		put_exit(1, 600, 601);
		put_counts(1, 600, 601, 5, 0);
		put_exit(1, 600, 600);
		put_counts(1, 600, 600, 10, 0);
	}
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 6);
	check_numbers(1, 1, 1);
	check_numbers(2, 2, 2);
	check_numbers(3, 3, 2);
	check_numbers(4, 4, 4);
	check_numbers(5, 5, 4);
	ps_eventset_destroy(set);
}
END_TEST

/* Its birth stands in a ring that had been looked at when it was written. */
START_TEST(a_task_whose_birth_is_told_late_is_one_task)
{
	struct ps_eventset *set = records_start_set();

	put_name(3, PROCESS, 501, "worker");
	put_counts(1, PROCESS, 501, 40, 0);
	check_ok(ps_eventset_take_tasks(set));
	put_fork(1, PROCESS, 501, PROCESS);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, PROCESS, "solver", 1, 60, 1000);
	check_told(1, PROCESS, "solver", 3, 50, 500);
	check_told(2, 501, "worker", 1, 40, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* A thread that begins a program ends the others, and then has the first one's number. */
START_TEST(a_thread_that_begins_a_program_keeps_its_counts_apart_from_the_first_ones)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_fork(1, PROCESS, 502, PROCESS);
	put_exit(1, PROCESS, PROCESS);
	put_exit(1, PROCESS, 502);
	put_counts(1, PROCESS, 502, 2, 20);
	put_exec(3, PROCESS, "later");
	put_exit(3, PROCESS, PROCESS);
	put_counts(1, PROCESS, PROCESS, 30, 300);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 4);
	check_told(0, PROCESS, "solver", 1, 68, 680);
	check_told(1, PROCESS, "solver", 3, 50, 500);
	check_told(2, PROCESS, "later", 1, 30, 300);
	check_told(3, 502, "solver", 1, 2, 20);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Both leave a record under the same number. Before or after the program's name. */
START_TEST(a_childs_thread_that_begins_a_program_is_not_its_first_thread)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, 600, 600, PROCESS);
	put_fork(1, 600, 601, 600);
	put_exit(1, 600, 600);
	put_counts(1, 600, 600, 60, 600);
	if (_i == 0)
		put_exec(3, 600, "later");
	put_exit(3, 600, 600); /* without a name: it was killed in its exec */
	put_counts(1, 600, 600, 30, 300);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 4);
	check_told(0, PROCESS, "solver", 1, 10, 100);
	check_told(1, PROCESS, "solver", 3, 50, 500);
	check_told(2, 600, "solver", 1, 60, 600);
	check_told(3, 600, _i == 0 ? "later" : "solver", 1, 30, 300);
	check_numbers(0, 1, 1);
	check_numbers(2, 2, 2);
	check_numbers(3, 3, 2);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Which of two it was can't be told. What it counted is told, what the others did is not. */
START_TEST(where_the_thread_that_began_a_program_is_not_known_the_rest_is_nobodys)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, PROCESS, 501, PROCESS);
	put_fork(1, PROCESS, 502, PROCESS);
	put_exit(1, PROCESS, PROCESS);
	put_exec(3, PROCESS, "later");
	put_counts(1, PROCESS, PROCESS, 30, 300);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(0, PROCESS, "later", 1, 30, 300);
	check_told(1, 0, "", 1, 70, 700);
	check_told(2, 0, "", 3, 50, 500);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_second_record_of_a_number_is_another_tasks)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, 600, 600, PROCESS);
	put_counts(1, 600, 600, 60, 600);
	put_counts(1, 600, 600, 30, 300);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 4);
	check_told(0, 600, "solver", 1, 60, 600);
	check_told(1, 600, "", 1, 30, 300);
	check_told(2, 0, "", 1, 10, 100);
	check_numbers(0, 2, 2);
	check_numbers(1, 3, 2);
	check_numbers(2, 0, 0);
	check_told(3, 0, "", 3, 50, 500);
	check_sum("page-faults", 0);
	ps_eventset_destroy(set);
}
END_TEST

/* The first one had ended before the set was attached: it isn't among those that are counted. */
START_TEST(a_program_of_a_process_without_its_first_thread_is_its_last_threads)
{
	struct ps_eventset *set = records_start_set();

	put_fork(1, 600, 601, PROCESS);
	put_exec(3, 600, "later");
	put_counts(1, 600, 600, 30, 300);
	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(walk_tasks(set), 3);
	check_told(2, 600, "later", 1, 30, 300);
	ps_eventset_destroy(set);
}
END_TEST

static int stop_at_once(const struct ps_task *task, void *context)
{
	(void)task;
	++*(int *)context;
	return 17;
}

START_TEST(a_walk_ends_when_it_is_told_to)
{
	struct ps_eventset *set = records_start_set();
	int visits = 0;

	count_all();
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(ps_eventset_for_each_task(set, stop_at_once, &visits), 17);
	ck_assert_int_eq(visits, 1);
	ps_eventset_destroy(set);
}
END_TEST

static int ignore(const struct ps_task *task, void *context)
{
	(void)task;
	(void)context;
	return 0;
}

START_TEST(misuse_is_told)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_eventset_set_tasks(NULL, 1), PS_EINVAL);
	check_fails(ps_eventset_take_tasks(NULL), PS_EINVAL);
	check_fails(ps_eventset_for_each_task(NULL, ignore, NULL), PS_EINVAL);
	check_fails(ps_eventset_for_each_task(set, NULL, NULL), PS_EINVAL);
	check_fails(ps_eventset_take_tasks(set), PS_ENOTRUN);
	check_fails(ps_eventset_for_each_task(set, ignore, NULL), PS_ENOTRUN);
	check_ok(ps_start(set));
	check_fails(ps_eventset_set_tasks(set, 1), PS_EISRUN);
	check_fails(ps_eventset_for_each_task(set, ignore, NULL), PS_ENOSUPP);
	check_detail("ps_eventset_set_tasks");
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_set_tasks(set, 1));
	check_fails(ps_start(set), PS_ECOMBO);
	check_detail("ps_eventset_attach_process");
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tasks");
	TCase *tests = scene_case(suite, "tasks");

	tcase_add_test(tests, each_task_has_what_its_records_say_and_the_last_one_the_rest);
	tcase_add_test(tests, the_rest_is_the_one_of_whom_no_record_told_whichever_that_is);
	tcase_add_test(tests, what_several_living_tasks_counted_is_nobodys);
	tcase_add_test(tests, each_descriptor_that_the_program_closed_is_missed);
	tcase_add_test(tests, after_a_loss_the_rest_is_nobodys);
	tcase_add_test(tests, a_record_that_is_missing_makes_the_rest_nobodys_on_that_cpu_alone);
	tcase_add_test(tests, a_living_task_of_a_stranger_leaves_the_rest_to_nobody);
	tcase_add_test(tests, a_number_that_is_used_again_is_another_task);
	tcase_add_test(tests, a_process_whose_number_is_used_again_is_another_process);
	tcase_add_test(tests, a_task_whose_birth_is_told_late_is_one_task);
	tcase_add_test(tests,
	               a_thread_that_begins_a_program_keeps_its_counts_apart_from_the_first_ones);
	tcase_add_loop_test(tests, a_childs_thread_that_begins_a_program_is_not_its_first_thread, 0,
	                    2);
	tcase_add_test(tests,
	               where_the_thread_that_began_a_program_is_not_known_the_rest_is_nobodys);
	tcase_add_test(tests, a_second_record_of_a_number_is_another_tasks);
	tcase_add_test(tests, a_program_of_a_process_without_its_first_thread_is_its_last_threads);
	tcase_add_test(tests, a_walk_ends_when_it_is_told_to);
	tcase_add_test(tests, misuse_is_told);
	return scene_run(suite);
}

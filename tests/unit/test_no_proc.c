/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No /proc is mounted, as in some containers and in chroots: what is counted needs none. A task's
 * CPU and a process's threads can't be known then, and no task passes for dead because its files
 * aren't there.
 */
#include "support/scene.h"

#include <pthread.h>

#define EVENT   "page-faults"
#define PROCESS 500

START_TEST(the_own_thread_is_counted_where_it_runs)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_set_cpu(2);
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 9);
	if (scene.mode != PS_ATTRIBUTE_LAST_CPU) {
		ck_assert_int_eq(scene_count(0, EVENT, 0), 7);
		ck_assert_int_eq(scene_count(2, EVENT, 0), 2);
	}
	ps_eventset_destroy(set);
}
END_TEST

static void *read_foreign(void *set)
{
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_EINVAL);
	check_detail("its owner, which still runs");
	return NULL;
}

START_TEST(a_living_owner_does_not_pass_for_dead)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	pthread_t thread;

	check_ok(ps_start(set));
	ck_assert_int_eq(pthread_create(&thread, NULL, read_foreign, set), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 3);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: a process, or a thread. */
START_TEST(an_attached_task_is_counted_and_its_end_is_told)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	const char *why;

	fake_task(PROCESS, "solver", 2);
	fake_task_affinity(PROCESS, "0-3");
	check_ok(_i ? ps_eventset_attach_process(set, PROCESS)
	            : ps_eventset_attach_tid(set, PROCESS));
	check_ok(ps_start(set));
	ps_eventset_attribution(set, &why);
	ck_assert_msg(!!strstr(why, "no /proc of this PID namespace is mounted") == (_i != 0),
	              "'%s'", why);
	fake_advance(PAGE_FAULTS, 40);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 40);
	/* Other threads of a process may have counted. */
	ck_assert_int_eq(scene_total(EVENT).status == PS_STATUS_INCOMPLETE, _i != 0);
	ck_assert_int_eq(ps_eventset_is_ended(set), 0);
	fake_advance(PAGE_FAULTS, 2);
	fake_task_end(PROCESS);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 42);
	ck_assert_int_eq(ps_eventset_is_ended(set), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_that_is_to_be_counted_from_its_exec_on_has_no_unknown_thread)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	const char *why;

	fake_task(PROCESS, "solver", 2);
	fake_task_affinity(PROCESS, "0-3");
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	check_ok(ps_eventset_attach_process(set, PROCESS));
	check_ok(ps_start(set));
	ps_eventset_attribution(set, &why);
	ck_assert_ptr_null(strstr(why, "/proc"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_that_is_not_there_is_refused)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	check_fails(ps_eventset_attach_tid(set, 4711), PS_ESYS);
	check_detail("4711");
	check_fails(ps_eventset_attach_process(set, 4711), PS_ESYS);
	ps_eventset_destroy(set);
}
END_TEST

static void setup(void)
{
	fake_unmount_proc();
}

static void add_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, the_own_thread_is_counted_where_it_runs);
	tcase_add_test(tests, a_living_owner_does_not_pass_for_dead);
	tcase_add_loop_test(tests, an_attached_task_is_counted_and_its_end_is_told, 0, 2);
	tcase_add_test(tests,
	               a_process_that_is_to_be_counted_from_its_exec_on_has_no_unknown_thread);
	tcase_add_test(tests, a_task_that_is_not_there_is_refused);
}

int main(void)
{
	Suite *suite = suite_create("no-proc");

	add_tests(scene_case(suite, "auto"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

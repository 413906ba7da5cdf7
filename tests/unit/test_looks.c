/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose counts are shared out by looks at its tasks: whose time goes where, what is no
 * proof, tasks that come and go between two looks, and looks that fail. tests/tool/stat-looks has
 * real processes.
 */
#include "test_looks.h"
#include "base/os.h"

START_TEST(events_count_on_any_cpu_and_a_created_task_copies_nothing_else)
{
	struct ps_eventset *set = started();
	int fds[8];

	ck_assert_uint_eq(fake_counter_fds(fds, 8), 2);
	ck_assert_uint_eq(ps__set_time_share_copies(set), 2);
	ck_assert(ps__set_has_looks(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counts_are_shared_out_by_the_time_since_the_start)
{
	struct ps_eventset *set = started();
	const char *why = NULL;

	show_thread(501, 3, 3 * MS);
	fake_advance(PAGE_FAULTS, 401);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 100, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 301, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 401);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ck_assert_ptr_nonnull(strstr(why, "by looks at the CPUs of the tasks"));
	show_thread(501, 2, 5 * MS);
	fake_advance(PAGE_FAULTS, 7);
	check_part(2, take(set), 7, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_look_between_two_readings_finds_who_moves)
{
	struct ps_eventset *set = started();

	ps__set_look(set);
	show_root(2, 1004 * MS);
	fake_advance(PAGE_FAULTS, 400);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 100, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 300, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_time_of_an_ended_task_is_kept_from_the_looks_that_saw_it)
{
	struct ps_eventset *set = started();

	show_thread(501, 3, 1 * MS);
	ps__set_look(set);
	hide(500, 501);
	ps__set_look(set);
	fake_advance(PAGE_FAULTS, 10);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 5, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 5, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* The counts are the whole's: of tasks that nobody saw, too. */
START_TEST(counts_of_unseen_tasks_are_shared_out_as_those_of_seen_ones)
{
	struct ps_eventset *set = started();

	fake_run(5000 * MS, 5000 * MS);
	fake_advance(PAGE_FAULTS, 1000);
	check_part(0, take(set), 1000, PS_ATTRIBUTION_MIXED);
	show_root(1, 1001 * MS);
	fake_run(5000 * MS, 5000 * MS);
	fake_advance(PAGE_FAULTS, 3);
	check_part(1, take(set), 3, PS_ATTRIBUTION_LAST_CPU); /* nobody ran whom a look saw */
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(children_are_counted_and_processes_that_were_there_are_not)
{
	struct ps_eventset *set = by_looks("0-3");

	show((struct shown){.pid = 400, .tid = 400, .parent = 500, .cpu = 1, .ran_ns = 1 * MS});
	check_ok(ps_start(set));
	show((struct shown){.pid = 400, .tid = 400, .parent = 500, .cpu = 1, .ran_ns = 9 * MS});
	show((struct shown){.pid = 450, .tid = 450, .parent = 1, .cpu = 1, .ran_ns = 9 * MS});
	show((struct shown){.pid = 600, .tid = 600, .parent = 500, .cpu = 2, .ran_ns = 9 * MS});
	show((struct shown){.pid = 600, .tid = 602, .parent = 500, .cpu = 3, .ran_ns = 1 * MS});
	ps__set_look(set);
	show((struct shown){.pid = 700, .tid = 700, .parent = 600, .cpu = 3, .ran_ns = 10 * MS});
	fake_advance(PAGE_FAULTS, 20);
	uint64_t timestamp = take(set);
	check_part(2, timestamp, 9, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 11, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 20);
	ps_eventset_destroy(set);
}
END_TEST

/* Its time is less or more than that of the first one; its start tells. */
START_TEST(a_number_that_another_task_has_by_now_is_not_taken_for_the_first_one)
{
	struct ps_eventset *set = started();

	show((struct shown){.pid = 600, .tid = 600, .parent = 500, .cpu = 1, .ran_ns = 2 * MS});
	ps__set_look(set);
	take(set);
	/* A foreign process, and a thread of it; and a new thread of the counted one. */
	show((struct shown){
	    .pid = 600, .tid = 600, .parent = 1, .start = 99, .cpu = 1, .ran_ns = 50 * MS});
	show((struct shown){
	    .pid = 600, .tid = 601, .parent = 1, .start = 99, .cpu = 1, .ran_ns = 50 * MS});
	show_root(0, 1002 * MS);
	fake_advance(PAGE_FAULTS, 10);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 10, PS_ATTRIBUTION_MIXED);
	show((struct shown){
	    .pid = 600, .tid = 600, .parent = 500, .start = 120, .cpu = 2, .ran_ns = 60 * MS});
	hide(600, 601);
	ps__set_look(set);
	hide(600, 600); /* it stays foreign until it is gone */
	ps__set_look(set);
	show((struct shown){
	    .pid = 600, .tid = 600, .parent = 500, .start = 130, .cpu = 2, .ran_ns = 60 * MS});
	fake_advance(PAGE_FAULTS, 10);
	check_part(2, take(set), 10, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_schedstat_the_ticks_of_stat_are_the_time)
{
	struct ps_eventset *set = by_looks("0-3");

	fake_file("/proc/500/task/500/schedstat", "0 0 0\n");
	check_ok(ps_start(set));
	show_root(2, 1040 * MS);
	fake_file("/proc/500/task/500/schedstat", "0 0 0\n");
	show_thread(501, 3, 120 * MS);
	fake_file("/proc/500/task/501/schedstat", NULL);
	fake_advance(PAGE_FAULTS, 8);
	uint64_t timestamp = take(set);
	check_part(2, timestamp, 2, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 6, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* The nth file can't be opened. What was seen before must not be new to the next look. */
START_TEST(a_look_that_fails_midway_is_made_up_for_by_the_next_one)
{
	for (unsigned nth = 1; nth < 6; nth++) {
		struct ps_eventset *set = started();
		show_thread(501, 3, 1000 * MS);
		ps__set_look(set);
		show_root(0, 1002 * MS);
		take(set);
		show_root(0, 1003 * MS);
		show_thread(501, 3, 1001 * MS);
		fake_fail(FAKE_OPEN, nth, EMFILE);
		ps__set_look(set);
		fake_fail(FAKE_OPEN, 0, 0);
		fake_advance(PAGE_FAULTS, 10);
		uint64_t timestamp = take(set);
		check_part(0, timestamp, 5, PS_ATTRIBUTION_MIXED);
		check_part(3, timestamp, 5, PS_ATTRIBUTION_MIXED);
		ps_eventset_destroy(set);
		hide(500, 501);
	}
}
END_TEST

START_TEST(a_list_that_fails_credits_no_old_time)
{
	for (unsigned nth = 1; nth < 3; nth++) {
		struct ps_eventset *set = by_looks("0-3");
		check_ok(ps_start(set));
		fake_fail(FAKE_LIST, nth, EMFILE);
		ps__set_look(set);
		ck_assert(fake_fail_happened());
		show_root(0, 1000 * MS); /* it has not run since */
		show_thread(501, 3, 1 * MS);
		fake_advance(PAGE_FAULTS, 10);
		check_part(3, take(set), 10, PS_ATTRIBUTION_MIXED);
		ps_eventset_destroy(set);
		hide(500, 501);
	}
}
END_TEST

static void show_children(uint64_t ran_ns)
{
	show((struct shown){.pid = 600, .tid = 600, .parent = 500, .cpu = 2, .ran_ns = ran_ns});
	show((struct shown){.pid = 700, .tid = 700, .parent = 500, .cpu = 2, .ran_ns = ran_ns});
}

/* The second one can't be read in a look that is cut short already. */
START_TEST(children_that_a_look_could_not_read_are_found_by_the_next_one)
{
	struct ps_eventset *set = started();

	show_children(1 * MS);
	fake_file_error("/proc/600/task/600/stat", EMFILE);
	fake_file_error("/proc/700/task/700/stat", EMFILE);
	ps__set_look(set);
	show_children(3 * MS);
	show_root(0, 1002 * MS);
	fake_advance(PAGE_FAULTS, 8);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 2, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 6, PS_ATTRIBUTION_MIXED);
	hide(600, 600);
	hide(700, 700);
	ps_eventset_destroy(set);
}
END_TEST

/* In ps_start, which looks again when it leaves out what was counted before. */
START_TEST(a_first_look_that_fails_is_followed_by_another_first_look)
{
	struct ps_eventset *set = by_looks("0-3");

	fake_fail(FAKE_LIST, 4, EMFILE); /* after those of the threads, and of /proc */
	check_ok(ps_start(set));
	ck_assert(fake_fail_happened());
	show_root(0, 1001 * MS);
	ps__set_look(set);
	show_root(2, 1002 * MS);
	fake_advance(PAGE_FAULTS, 10);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 5, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 5, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_that_is_hidden_is_told)
{
	struct ps_eventset *set = by_looks("0-3");
	const char *why = NULL;

	fake_file_error("/proc/500/task/500/stat", ENOENT);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "/proc/500, which is not there or hidden"));
	ck_assert_uint_eq(ps__set_time_share_copies(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

static void run_on(int cpu, uint64_t ran_ns, uint64_t faults)
{
	fake_task(500, "solver", cpu);
	show_root(cpu, ran_ns);
	fake_run(MS, MS);
	fake_advance(PAGE_FAULTS, faults);
}

START_TEST(a_process_of_one_cpu_is_pinned_by_its_clocks_and_mixed_when_it_left)
{
	struct ps_eventset *set = by_looks("1");

	check_ok(ps_start(set));
	run_on(1, 1001 * MS, 42);
	check_part(1, take(set), 42, PS_ATTRIBUTION_PINNED);
	run_on(2, 1002 * MS, 42);
	check_part(2, take(set), 42, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* A look can miss a stay on any CPU: no part of this reading is certain any more, also one that is
 * met later. The next interval can be. */
START_TEST(what_looks_divided_leaves_no_part_certain)
{
	struct ps_eventset *set = by_looks("1");
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	run_on(1, 1001 * MS, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_part(1, timestamp, 10, PS_ATTRIBUTION_PINNED);
	run_on(2, 1002 * MS, 20);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_part(1, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 20, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 30);
	check_ok(ps_reset(set));
	run_on(1, 1003 * MS, 0); /* the proof takes two intervals */
	take(set);
	run_on(1, 1004 * MS, 5);
	check_part(1, take(set), 5, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

/* Nothing was counted at the first reading: its part says 0, and is exact until looks divide
 * counts. */
START_TEST(an_idle_part_is_not_exact_once_looks_divided)
{
	struct ps_eventset *set = by_looks("0-3");
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_part(1, timestamp, 0, PS_ATTRIBUTION_EXACT);
	fake_task(500, "solver", 0);
	show_root(0, 1001 * MS);
	fake_run(MS, MS);
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_part(0, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, 0, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* A root's time that no look saw is completed by that of tasks of unknown roots. */
START_TEST(each_thread_that_was_there_has_its_own_time_first)
{
	struct ps_eventset *set = by_looks("0-3");

	show_thread(501, 3, 5 * MS);
	fake_task(501, "worker", 3);
	check_ok(ps_start(set));
	show_root(0, 1010 * MS);
	show_thread(501, 3, 15 * MS);
	show_thread(777, 2, 30 * MS);
	fake_run(10 * MS, 10 * MS);
	fake_advance_on(PAGE_FAULTS, 500, -1, 5);
	fake_advance_on(PAGE_FAULTS, 501, -1, 7);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 5, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 7, PS_ATTRIBUTION_MIXED);
	show_root(0, 1020 * MS);
	show_thread(501, 3, 25 * MS);
	show_thread(777, 2, 60 * MS);
	fake_run(40 * MS, 40 * MS);
	fake_advance_on(PAGE_FAULTS, 500, -1, 8);
	timestamp = take(set);
	check_part(0, timestamp, 2, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 6, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

#define MANY 10000

static int list_many(const char *path, int (*visit)(const char *name, void *context), void *context)
{
	char name[16];
	int result = 0;

	if (strcmp(path, "/proc") == 0)
		return visit("500", context);
	for (int tid = 500; result == 0 && tid < 500 + MANY; tid++) {
		snprintf(name, sizeof name, "%d", tid);
		result = visit(name, context);
	}
	return result;
}

static int (*open_one)(const char *path, int flags);
static size_t opened;

/* All tasks have the files of the first one. */
static int open_many(const char *path, int flags)
{
	char first[64];
	const char *name = strstr(path, "/task/") ? strrchr(path, '/') : NULL;

	if (!name)
		return open_one(path, flags);
	opened++;
	snprintf(first, sizeof first, "/proc/500/task/500%s", name);
	return open_one(first, flags);
}

START_TEST(of_ten_thousand_tasks_those_that_did_not_run_cost_one_file)
{
	struct ps_eventset *set = by_looks("0-3");

	check_ok(ps_start(set));
	open_one = ps__os.open;
	ps__os.open = open_many;
	ps__os.list = list_many;
	show_root(2, 1001 * MS);
	ps__set_look(set);
	opened = 0;
	ps__set_look(set);
	ck_assert_uint_eq(opened, MANY);
	fake_advance(PAGE_FAULTS, 10);
	check_part(2, take(set), 10, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("looks");
	TCase *tests = scene_case(suite, "looks");

	tcase_add_test(tests, events_count_on_any_cpu_and_a_created_task_copies_nothing_else);
	tcase_add_test(tests, counts_are_shared_out_by_the_time_since_the_start);
	tcase_add_test(tests, a_look_between_two_readings_finds_who_moves);
	tcase_add_test(tests, the_time_of_an_ended_task_is_kept_from_the_looks_that_saw_it);
	tcase_add_test(tests, counts_of_unseen_tasks_are_shared_out_as_those_of_seen_ones);
	tcase_add_test(tests, children_are_counted_and_processes_that_were_there_are_not);
	tcase_add_test(tests, a_number_that_another_task_has_by_now_is_not_taken_for_the_first_one);
	tcase_add_test(tests, without_schedstat_the_ticks_of_stat_are_the_time);
	tcase_add_test(tests, a_look_that_fails_midway_is_made_up_for_by_the_next_one);
	tcase_add_test(tests, a_list_that_fails_credits_no_old_time);
	tcase_add_test(tests, children_that_a_look_could_not_read_are_found_by_the_next_one);
	tcase_add_test(tests, a_first_look_that_fails_is_followed_by_another_first_look);
	tcase_add_test(tests, a_process_that_is_hidden_is_told);
	tcase_add_test(tests, a_process_of_one_cpu_is_pinned_by_its_clocks_and_mixed_when_it_left);
	tcase_add_test(tests, what_looks_divided_leaves_no_part_certain);
	tcase_add_test(tests, an_idle_part_is_not_exact_once_looks_divided);
	tcase_add_test(tests, each_thread_that_was_there_has_its_own_time_first);
	tcase_add_test(tests, of_ten_thousand_tasks_those_that_did_not_run_cost_one_file);
	return scene_run(suite);
}

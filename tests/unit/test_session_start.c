/* SPDX-License-Identifier: BSD-3-Clause */
/* src/sample/session_attach.c on the fake kernel: which threads are opened when, and what happens
 * if tasks are missed. What is known of tasks by their records: unit/test_session_attach. */
#include "test_session.h"

#include <limits.h>

static int (*fake_list)(const char *path, int (*visit)(const char *name, void *context),
                        void *context);
static unsigned legs;

/* At each look there is another thread, which has ended when it is looked at. */
static int list_relay(const char *path, int (*visit)(const char *name, void *context),
                      void *context)
{
	int result = fake_list(path, visit, context);
	char leg[16];

	if (result < 0 || strcmp(path, "/proc/4711/task") != 0)
		return result;
	snprintf(leg, sizeof leg, "%u", 5000 + legs++);
	return visit(leg, context);
}

/* The last of them may make one that is in no list: nobody may say that nothing is missed. */
START_TEST(threads_that_end_before_they_can_be_opened_are_told)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults");
	pid_t missed = 0;

	make_process();
	fake_list = ps__os.list;
	check_ok(ps_session_create(&session, PROCESS, &options));
	check_ok(ps_session_add(session, attr));
	ps__os.list = list_relay;
	check_fails(ps_session_start(session), PS_PARTIAL);
	ps__os.list = fake_list;
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 2);
	ck_assert_int_eq(missed, 5000 + (pid_t)legs - 2);
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

static int (*fake_open_event)(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                              unsigned long flags);

/* The process comes to a CPU, and sleeps again. */
static int open_while_it_runs(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                              unsigned long flags)
{
	fake_file("/proc/4711/task/4711/schedstat", "310 20 6");
	return fake_open_event(attr, pid, cpu, group, flags);
}

/* It slept all the time in which its events were opened, so it made nothing. _i: 1: it ran
 * meanwhile, 2: the kernel doesn't tell how much it ran */
START_TEST(a_creator_that_slept_while_it_was_opened_makes_heirs)
{
	static const char *const runs[] = {"300 20 5", "300 20 5", "0 0 0"};
	struct ps_session_options options = usual();
	struct ps_session *session;
	pid_t missed;

	fake_file("/proc/4711/task/4711/schedstat", runs[_i]);
	fake_open_event = ps__os.perf_event_open;
	if (_i == 1)
		ps__os.perf_event_open = open_while_it_runs;
	session = started_in_state(&options, 'S');
	ps__os.perf_event_open = fake_open_event;
	put_fork(session, 5000, PROCESS, opened_ns(session, PROCESS) + 1);
	ck_assert_uint_eq(missed_of(session, &missed), _i > 0);
	ck_assert_int_eq(missed, _i > 0 ? 5000 : 0);
	ps_session_destroy(session);
}
END_TEST

static int list_and_make_one(const char *path, int (*visit)(const char *name, void *context),
                             void *context)
{
	int result = fake_list(path, visit, context);

	if (result >= 0 && !strcmp(path, "/proc/4711/task") && legs++ == 1)
		result = visit("5000", context);
	return result;
}

/* It has run, so its FORK record would be there. _i: 1: it runs, and may be making a task, so it is
 * opened only after more rounds than there are. */
START_TEST(a_thread_that_sleeps_is_opened_at_once)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	struct ps_attr *attr = new_attr("page-faults");

	make_process();
	options.rounds = 3;
	legs = 0;
	fake_list = ps__os.list;
	fake_task(5000, "solver", 3);
	fake_file("/proc/4711/task/4711/stat", "4711 (solver) S 1 0 0 0 0 0 0 0\n");
	fake_file("/proc/4712/task/4712/stat", "4712 (solver) S 1 0 0 0 0 0 0 0\n");
	fake_file("/proc/5000/task/5000/stat",
	          _i ? "5000 (a) R 1 0 0 0 0 0 0 0\n" : "5000 (a) S 1 0 0 0 0 0 0 0\n");
	check_ok(ps_session_create(&session, PROCESS, &options));
	check_ok(ps_session_add(session, attr));
	ps__os.list = list_and_make_one;
	int result = ps_session_start(session);
	ck_assert_msg(result == (_i == 0 ? PS_OK : PS_PARTIAL), "%d: %s", result,
	              ps_error_detail());
	ps__os.list = fake_list;
	ps_session_destroy(session);
	ps_attr_destroy(attr);
}
END_TEST

/* Nobody waits for its threads to sleep in the last round. _i: how many rounds there are; 0: one,
 * and another after the descriptors are short */
START_TEST(a_process_that_runs_is_observed_with_few_rounds)
{
	struct ps_session_options options = usual();
	struct ps_session_stats stats = {.size = sizeof stats};

	options.rounds = _i ? (unsigned)_i : 1;
	options.descriptors = _i ? 0 : 2 * 2 * CPUS;
	options.shortage = PS_SESSION_CLOSE;
	struct ps_session *session = started(&options);
	check_ok(ps_session_stats(session, &stats));
	ck_assert_uint_eq(stats.threads, 2);
	ps_session_destroy(session);
}
END_TEST

/* Its creator was opened after the list was read. */
START_TEST(a_thread_that_is_made_in_the_last_round_is_missed)
{
	struct ps_session_options options = usual();
	struct ps_session *session = NULL;
	pid_t missed = 0;

	make_process();
	fake_task(5000, "solver", 3);
	fake_file("/proc/5000/task/5000/stat", "5000 (a) S 1 0 0 0 0 0 0 0\n");
	options.rounds = 1;
	legs = 0;
	fake_list = ps__os.list;
	ps__os.list = list_and_make_one;
	check_fails(start_with(&session, &options), PS_PARTIAL);
	ps__os.list = fake_list;
	ck_assert_uint_eq(ps_session_missed(session, &missed, 1), 1);
	ck_assert_int_eq(missed, 5000);
	ps_session_destroy(session);
}
END_TEST

static struct ps_session *of_list;

static unsigned bad_turns; /* so often is a task made while its creator is opened */

/* Each turn of a start looks at the list four times if it misses a task. The task is made at the
 * second look. */
static int list_and_fork(const char *path, int (*visit)(const char *name, void *context),
                         void *context)
{
	if (!strcmp(path, "/proc/4711/task") && legs++ % 4 == 1 && legs / 4 < bad_turns)
		put_fork(of_list, 5000, PROCESS, opened_ns(of_list, PROCESS) - 1);
	return fake_list(path, visit, context);
}

/* All events are opened again: the records of the first time are gone. _i: the first turn misses a
 * task, or each does */
START_TEST(a_start_that_misses_a_task_is_made_again)
{
	struct ps_session_options options = usual();
	struct ps_attr *attr = new_attr("page-faults");

	make_process();
	fake_file("/proc/4711/task/4711/stat", "4711 (solver) S 1 0 0 0 0 0 0 0\n");
	fake_file("/proc/4712/task/4712/stat", "4712 (solver) S 1 0 0 0 0 0 0 0\n");
	fake_task(5000, "solver", 3);
	legs = 0;
	bad_turns = _i ? UINT_MAX : 1;
	fake_list = ps__os.list;
	check_ok(ps_session_create(&of_list, PROCESS, &options));
	check_ok(ps_session_add(of_list, attr));
	ps__os.list = list_and_fork;
	ck_assert_int_eq(ps_session_start(of_list), _i ? PS_PARTIAL : PS_OK);
	ps__os.list = fake_list;
	ck_assert_uint_eq(ps_session_missed(of_list, NULL, 0), (size_t)_i);
	ck_assert_uint_eq(legs, _i ? 4 * 4 : 4 + 2);
	ps_session_destroy(of_list);
	ps_attr_destroy(attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session_start");
	TCase *tests = scene_case(suite, "session_start");

	tcase_add_test(tests, threads_that_end_before_they_can_be_opened_are_told);
	tcase_add_loop_test(tests, a_creator_that_slept_while_it_was_opened_makes_heirs, 0, 3);
	tcase_add_loop_test(tests, a_thread_that_sleeps_is_opened_at_once, 0, 2);
	tcase_add_loop_test(tests, a_process_that_runs_is_observed_with_few_rounds, 0, 4);
	tcase_add_test(tests, a_thread_that_is_made_in_the_last_round_is_missed);
	tcase_add_loop_test(tests, a_start_that_misses_a_task_is_made_again, 0, 2);
	return scene_run(suite);
}

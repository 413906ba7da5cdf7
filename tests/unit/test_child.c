/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work in a child process: its result and sentence come back, its crash is told and hurts nobody,
 * and the program's own signal handlers and children are left alone.
 */
#include "base/error.h"
#include "base/lock.h"
#include "support/scene.h"
#include "support/small.h"
#include "topology/child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

static int succeed(void *context)
{
	*(int *)context = 1;
	return PS_OK;
}

static int refuse(void *context)
{
	return ps__fail(PS_ENOMEM, "no memory for %s", (const char *)context);
}

static int crash(void *context)
{
	raise(*(int *)context);
	return PS_OK;
}

static int leave(void *context)
{
	_exit(*(int *)context);
}

START_TEST(success_comes_back_and_nothing_else)
{
	int changed = 0;

	check_ok(ps__child_run(succeed, &changed, "the file x"));
	ck_assert_int_eq(changed, 0);
}
END_TEST

START_TEST(a_failure_comes_back_with_its_sentence)
{
	char what[] = "the tree";

	ck_assert_int_eq(ps__child_run(refuse, what, "the file x"), PS_ENOMEM);
	check_detail("no memory for the tree (the file x may take 1024 MB)");
}
END_TEST

START_TEST(a_crash_is_an_error_that_names_the_subject)
{
	static int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGKILL};

	ck_assert_int_eq(ps__child_run(crash, &signals[_i], "the file x"), PS_EINVAL);
	check_detail("the file x makes hwloc crash (");
	check_detail("it is damaged, or needs more than 1024 MB");
	check_detail(strsignal(signals[_i]));
}
END_TEST

START_TEST(an_end_without_a_word_is_a_crash)
{
	static int status[] = {0, 1};

	ck_assert_int_eq(ps__child_run(leave, &status[_i], "the file x"), PS_EINVAL);
	check_detail("the file x makes hwloc crash: it is damaged");
}
END_TEST

START_TEST(work_without_an_end_is_ended_by_a_limit)
{
	static int signals[] = {SIGALRM, SIGXCPU};
	static const char *const words[] = {"was not done with it after 120 s of time",
	                                    "after 15 s of CPU time"};

	ck_assert_int_eq(ps__child_run(crash, &signals[_i], "the file x"), PS_EINVAL);
	check_detail("the file x is damaged or too large");
	check_detail(words[_i]);
}
END_TEST

static int see_limits(void *context)
{
	struct rlimit memory, time;

	(void)context;
	getrlimit(RLIMIT_AS, &memory);
	getrlimit(RLIMIT_CPU, &time);
	return ps__fail(PS_ENOSUPP, "%d %d", memory.rlim_cur != RLIM_INFINITY, time.rlim_cur <= 15);
}

START_TEST(time_and_memory_of_the_child_are_limited_and_not_the_program_s)
{
	struct rlimit memory, before, time;

	getrlimit(RLIMIT_AS, &before);
	ck_assert_int_eq(ps__child_run(see_limits, NULL, "the file x"), PS_ENOSUPP);
	ck_assert_str_eq(ps_error_detail(), "1 1");
	getrlimit(RLIMIT_AS, &memory);
	getrlimit(RLIMIT_CPU, &time);
	ck_assert_uint_eq(memory.rlim_cur, before.rlim_cur);
	ck_assert(time.rlim_cur == RLIM_INFINITY || time.rlim_cur > 15);
}
END_TEST

/* What malloc has left is used up first; each block is larger than any that lies about. */
static int take_memory(void *context)
{
	size_t block_bytes = (size_t)64 << 20, taken = 0;
	void *volatile block = context; /* compilers drop an allocation that nobody looks at */

	for (; taken < 64; taken++) {
		block = calloc(1, block_bytes);
		if (!block)
			break;
	}
	return taken == 64 ? PS_OK : ps__fail(PS_ENOMEM, "no memory after %zu blocks", taken);
}

START_TEST(a_child_that_takes_four_gigabytes_is_stopped)
{
	/* A sanitizer's allocator ends the program instead. */
	int code = ps__child_run(take_memory, NULL, "the file x");
	ck_assert_msg(code == PS_ENOMEM || code == PS_EINVAL, "%d", code);
	check_detail("the file x");
	check_detail("1024 MB");
}
END_TEST

static void *lock_and_unlock(void *unused)
{
	ps__lock_take(PS__LOCK_HWLOC);
	ps__lock_release(PS__LOCK_HWLOC);
	return unused;
}

static int wait_for_a_byte(void *context)
{
	char byte;

	return read(*(int *)context, &byte, 1) == 1 ? PS_OK : PS_ESYS;
}

static void *run_waiting(void *end)
{
	return (void *)(long)ps__child_run(wait_for_a_byte, end, "the file x");
}

/* Joins the other thread while the child still works: with the lock held it would wait for ever. */
START_TEST(other_threads_load_while_a_child_works)
{
	pthread_t runner, other;
	void *code;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(pthread_create(&runner, NULL, run_waiting, &ends[0]), 0);
	ck_assert_int_eq(pthread_create(&other, NULL, lock_and_unlock, NULL), 0);
	pthread_join(other, NULL);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	pthread_join(runner, &code);
	ck_assert_int_eq((int)(long)code, PS_OK);
}
END_TEST

START_TEST(handlers_of_the_program_do_not_run_in_the_child)
{
	struct sigaction action = {.sa_handler = handle};
	int number = SIGSEGV;

	sigaction(SIGSEGV, &action, NULL);
	ck_assert_int_eq(ps__child_run(crash, &number, "the file x"), PS_EINVAL);
	ck_assert_int_eq(handled, 0);
	raise(SIGSEGV);
	signal(SIGSEGV, SIG_DFL);
	ck_assert_int_eq(handled, 1);
}
END_TEST

START_TEST(a_program_that_reaps_its_children_itself_gets_the_same_answers)
{
	int number = SIGSEGV, changed = 0;

	signal(SIGCHLD, SIG_IGN);
	int good = ps__child_run(succeed, &changed, "the file x");
	int bad = ps__child_run(crash, &number, "the file x");
	signal(SIGCHLD, SIG_DFL);
	ck_assert_int_eq(good, PS_OK);
	ck_assert_int_eq(bad, PS_EINVAL);
	check_detail("the file x makes hwloc crash");
}
END_TEST

START_TEST(another_child_of_the_program_is_not_waited_for)
{
	int changed = 0, status;
	pid_t other = fork();

	if (other == 0)
		_exit(7);
	check_ok(ps__child_run(succeed, &changed, "the file x"));
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

START_TEST(the_signal_mask_is_as_before)
{
	int changed = 0;
	sigset_t mask, before, after;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, &before);
	check_ok(ps__child_run(succeed, &changed, "the file x"));
	pthread_sigmask(SIG_SETMASK, &before, &after);
	for (int number = 1; number < SIGRTMIN; number++)
		ck_assert_int_eq(sigismember(&after, number), number == SIGUSR2);
}
END_TEST

static void *run_some(void *unused)
{
	int number = SIGABRT, changed = 0;
	long wrong = 0;

	(void)unused;
	for (int i = 0; i < ps_test_size(10, 3); i++) {
		wrong += ps__child_run(succeed, &changed, "the file x") != PS_OK;
		wrong += ps__child_run(crash, &number, "the file x") != PS_EINVAL;
	}
	return (void *)wrong;
}

START_TEST(threads_do_not_disturb_each_other)
{
	pthread_t threads[4];
	void *wrong;

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run_some, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("child");
	TCase *tests = tcase_create("child");

	tcase_add_test(tests, success_comes_back_and_nothing_else);
	tcase_add_test(tests, a_failure_comes_back_with_its_sentence);
	tcase_add_loop_test(tests, a_crash_is_an_error_that_names_the_subject, 0, 5);
	tcase_add_loop_test(tests, an_end_without_a_word_is_a_crash, 0, 2);
	tcase_add_loop_test(tests, work_without_an_end_is_ended_by_a_limit, 0, 2);
	tcase_add_test(tests, time_and_memory_of_the_child_are_limited_and_not_the_program_s);
	tcase_add_test(tests, a_child_that_takes_four_gigabytes_is_stopped);
	tcase_add_test(tests, other_threads_load_while_a_child_works);
	tcase_add_test(tests, handlers_of_the_program_do_not_run_in_the_child);
	tcase_add_test(tests, a_program_that_reaps_its_children_itself_gets_the_same_answers);
	tcase_add_test(tests, another_child_of_the_program_is_not_waited_for);
	tcase_add_test(tests, the_signal_mask_is_as_before);
	tcase_add_test(tests, threads_do_not_disturb_each_other);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

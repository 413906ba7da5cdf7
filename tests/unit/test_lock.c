/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks over fork: a child never waits for a thread that it doesn't have. */
#include "base/identity.h"
#include "base/lock.h"
#include "region/profile.h"
#include "support/regions.h"
#include "support/sanitizer.h"
#include "support/skip.h"
#include "support/small.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANGS_S 20

struct holder {
	enum ps__lock lock;
	sem_t has_it, may_go;
	long rests_us; /* before it gives the lock back */
};

static volatile bool is_changing; /* what the lock is for */

static void *hold(void *argument)
{
	struct holder *holder = argument;

	ps__lock_take(holder->lock);
	is_changing = true;
	sem_post(&holder->has_it);
	sem_wait(&holder->may_go);
	usleep((useconds_t)holder->rests_us);
	is_changing = false;
	ps__lock_release(holder->lock);
	return NULL;
}

static pthread_t begin_to_hold(struct holder *holder)
{
	pthread_t thread;

	sem_init(&holder->has_it, 0, 0);
	sem_init(&holder->may_go, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, hold, holder), 0);
	while (sem_wait(&holder->has_it) < 0)
		;
	return thread;
}

/* Success is SIGKILL: a sanitizer or valgrind puts its own status in the place of 0, where it finds
 * threads or memory of the parent's. */
static void leave(int status)
{
	if (status == 0)
		kill(getpid(), SIGKILL);
	_exit(status);
}

static void take_each(void)
{
	for (unsigned lock = 0; lock < PS__LOCKS; lock++) {
		ps__lock_take(lock);
		sched_yield();
	}
	for (unsigned lock = PS__LOCKS; lock > 0; lock--)
		ps__lock_release(lock - 1);
}

/* Check has a handler of its own, which ends the test's whole group. */
static void end_if_it_hangs(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(HANGS_S);
}

static void check_child(pid_t child)
{
	int status = -1;

	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM, "the child hangs");
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %d", status);
}

/* _i: the lock. */
START_TEST(fork_waits_for_a_lock_that_another_thread_has)
{
	struct holder holder = {.lock = (enum ps__lock)_i, .rests_us = 20000};
	pthread_t thread = begin_to_hold(&holder);

	sem_post(&holder.may_go);
	pid_t child = fork();
	if (child == 0) {
		end_if_it_hangs();
		take_each();
		leave(is_changing);
	}
	check_child(child);
	take_each();
	pthread_join(thread, NULL);
}
END_TEST

static pid_t fork_without_handlers(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* Not in a kernel, or an emulator, that keeps the page of base/identity.c in a child. */
static bool sees_forks_without_handlers(void)
{
	uint64_t generation = ps__fork_generation();
	int status = 0;
	pid_t child = fork_without_handlers();

	if (child == 0)
		leave(ps__fork_is_same(generation));
	waitpid(child, &status, 0);
	return WIFSIGNALED(status);
}

START_TEST(a_child_without_fork_handlers_gets_its_locks_new)
{
	struct holder holder = {.lock = (enum ps__lock)_i};
	pthread_t thread;
	pid_t child;

	if (PS_TEST_HAS_THREAD_SANITIZER) {
		ps_test_skip("the thread sanitizer takes the child's lock for the parent's");
		return;
	}
	thread = begin_to_hold(&holder);
	child = fork_without_handlers();

	if (child == 0) {
		end_if_it_hangs();
		take_each();
		take_each();
		leave(0);
	}
	check_child(child);
	sem_post(&holder.may_go);
	pthread_join(thread, NULL);
	take_each();
}
END_TEST

#define THREADS 4
#define TURNS   20000

static long turns;

static void *count_turns(void *unused)
{
	for (int turn = 0; turn < TURNS; turn++) {
		ps__lock_take(PS__LOCK_HWLOC);
		turns++;
		ps__lock_release(PS__LOCK_HWLOC);
	}
	return unused;
}

/* Its threads come at once to a lock that none has made new. */
static int count_together(void)
{
	pthread_t threads[THREADS];

	turns = 0;
	for (int thread = 0; thread < THREADS; thread++) {
		if (pthread_create(&threads[thread], NULL, count_turns, NULL) != 0)
			return 1;
	}
	for (int thread = 0; thread < THREADS; thread++)
		pthread_join(threads[thread], NULL);
	return turns == (long)THREADS * TURNS ? 0 : 2;
}

START_TEST(threads_of_a_child_that_come_at_once_exclude_each_other)
{
	for (int trial = 0; trial < ps_test_size(20, 2); trial++) {
		ps__lock_take(PS__LOCK_HWLOC);
		pid_t child = fork();
		if (child == 0) {
			end_if_it_hangs();
			ps__lock_release(PS__LOCK_HWLOC);
			leave(count_together());
		}
		ps__lock_release(PS__LOCK_HWLOC);
		check_child(child);
	}
}
END_TEST

static void *fork_often(void *unused)
{
	for (int turn = 0; turn < ps_test_size(200, 10); turn++) {
		pid_t child = fork();
		if (child == 0)
			leave(0);
		waitpid(child, NULL, 0);
	}
	return unused;
}

/* Another thread takes an earlier lock first: in the other order the two would wait for each
 * other. */
START_TEST(fork_takes_the_locks_in_their_order)
{
	pthread_t thread;

	ps__lock_take(PS__LOCK_HWLOC);
	ps__lock_release(PS__LOCK_HWLOC);
	alarm(HANGS_S);
	ck_assert_int_eq(pthread_create(&thread, NULL, fork_often, NULL), 0);
	for (int turn = 0; turn < ps_test_size(2000, 100); turn++)
		take_each();
	pthread_join(thread, NULL);
	alarm(0);
}
END_TEST

/* As in a signal handler that interrupted who has the lock, or a visitor: another thread has an
 * earlier one, and waits for this. */
START_TEST(a_fork_of_a_thread_that_has_a_lock_waits_for_no_earlier_one)
{
	struct holder holder = {.lock = PS__LOCK_COLLECT};
	pthread_t thread = begin_to_hold(&holder);

	ps__lock_take(PS__LOCK_PFM);
	pid_t child = fork();
	if (child == 0) {
		end_if_it_hangs();
		ps__lock_release(PS__LOCK_PFM);
		take_each();
		leave(0);
	}
	ps__lock_release(PS__LOCK_PFM);
	check_child(child);
	sem_post(&holder.may_go);
	pthread_join(thread, NULL);
}
END_TEST

static struct {
	struct ps_profile *profile;
	sem_t has_it, may_go;
} reader;

static void *read_profile(void *unused)
{
	pthread_mutex_lock(&reader.profile->lock);
	sem_post(&reader.has_it);
	sem_wait(&reader.may_go);
	pthread_mutex_unlock(&reader.profile->lock);
	return unused;
}

START_TEST(a_child_destroys_a_profile_that_another_thread_was_reading)
{
	pthread_t thread;

	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_profile_join(regions.profile));
	reader.profile = regions.profile;
	sem_init(&reader.has_it, 0, 0);
	sem_init(&reader.may_go, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, read_profile, NULL), 0);
	while (sem_wait(&reader.has_it) < 0)
		;
	pid_t child = fork();
	if (child == 0) {
		end_if_it_hangs();
		ps_profile_destroy(regions.profile);
		leave(0);
	}
	check_child(child);
	sem_post(&reader.may_go);
	pthread_join(thread, NULL);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lock");
	TCase *locks = tcase_create("locks");

	/* An emulator of user space also has locks of its own, which its forks don't mind. */
	if (!sees_forks_without_handlers()) {
		ps__test_skip("main", "the kernel doesn't empty a page in the child");
		srunner_free(srunner_create(suite));
		return EXIT_SUCCESS;
	}
	tcase_set_timeout(locks, 120);
	tcase_add_loop_test(locks, fork_waits_for_a_lock_that_another_thread_has, 0, PS__LOCKS);
	tcase_add_loop_test(locks, a_child_without_fork_handlers_gets_its_locks_new, 0, PS__LOCKS);
	tcase_add_test(locks, threads_of_a_child_that_come_at_once_exclude_each_other);
	tcase_add_test(locks, fork_takes_the_locks_in_their_order);
	tcase_add_test(locks, a_fork_of_a_thread_that_has_a_lock_waits_for_no_earlier_one);
	suite_add_tcase(suite, locks);
	tcase_add_test(scene_case(suite, "profile"),
	               a_child_destroys_a_profile_that_another_thread_was_reading);
	return scene_run(suite);
}

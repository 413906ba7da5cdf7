/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribution by BPF on the real kernel: a process with two threads, attached to while it runs,
 * touches known numbers of pages on known CPUs, and so do the processes that it creates. Where BPF
 * isn't permitted the refusal must say why, and leave nothing. Sees the installed header and the
 * shared library alone.
 */
#include "actor.h"
#include "bpf_here.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Pages that the first thread touches on each CPU, the other one, and a child process. */
enum {
	FIRST_HERE = 1000,
	FIRST_THERE = 10,
	OTHER_HERE = 7,
	OTHER_THERE = 300,
	CHILD_THERE = 50
};

static struct wander_work works[2];

static void *be_other_thread(void *ends)
{
	const int *pipes = ends;
	char order;

	while (read(pipes[0], &order, 1) == 1) {
		wander_move(wander_cpu(1));
		wander_touch(&works[1], OTHER_THERE);
		wander_move(wander_cpu(0));
		wander_touch(&works[1], OTHER_HERE);
		if (write(pipes[1], &order, 1) != 1)
			break;
	}
	return NULL;
}

static void run_child(bool does_exec)
{
	pid_t pid = fork();

	if (pid == 0) {
		wander_move(wander_cpu(1));
		wander_touch(&works[0], CHILD_THERE);
		if (does_exec)
			execl("/bin/sh", "sh", "-c", ":; (:)", (char *)NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* w: both threads touch their pages; answers how many faults the process had beside them. f, e: a
 * child touches its pages, and ends, or executes a program. t: a thread is created. */
static long long obey(char order, const int *ends)
{
	long long before = actor_faults();
	pthread_t thread;
	int closed[2] = {-1, -1};
	char answer;

	if (order == 'f' || order == 'e')
		run_child(order == 'e');
	if (order == 't' && pthread_create(&thread, NULL, be_other_thread, closed) == 0)
		pthread_join(thread, NULL);
	if (order != 'w')
		return 0;
	wander_move(wander_cpu(0));
	wander_touch(&works[0], FIRST_HERE);
	wander_move(wander_cpu(1));
	wander_touch(&works[0], FIRST_THERE);
	if (write(ends[1], &order, 1) != 1 || read(ends[2], &answer, 1) != 1)
		_exit(1);
	return actor_faults() - before - FIRST_HERE - FIRST_THERE - OTHER_HERE - OTHER_THERE;
}

static void act(int orders, int answers)
{
	int to_other[2], from_other[2];
	pthread_t thread;
	char order;

	wander_create(&works[0], 8 * (FIRST_HERE + FIRST_THERE + CHILD_THERE));
	wander_create(&works[1], 8 * (OTHER_HERE + OTHER_THERE));
	if (pipe(to_other) < 0 || pipe(from_other) < 0)
		_exit(1);
	int ends_of_other[2] = {to_other[0], from_other[1]};
	int ends[3] = {-1, to_other[1], from_other[0]};
	pthread_create(&thread, NULL, be_other_thread, ends_of_other);
	while (read(orders, &order, 1) == 1) {
		long long answer = obey(order, ends);
		if (write(answers, &answer, sizeof answer) != sizeof answer)
			break;
	}
	_exit(0);
}

static long long part(int index, uint64_t timestamp)
{
	return wander_part(here.topology, wander_cpu(index), timestamp, PS_ATTRIBUTION_EXACT);
}

START_TEST(known_work_of_two_threads_is_split_by_cpu)
{
	uint64_t timestamp = 0;

	if (!bpf_is_possible())
		return;
	struct actor actor = actor_start(act);
	actor_tell(&actor, 'w'); /* code and stacks are there from now on */
	struct ps_eventset *set = attach(PS_ATTRIBUTE_BPF, actor.pid);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	long long strays = actor_tell(&actor, 'w');
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	wander_check_residual(set);
	long long here_count = part(0, timestamp), there = part(1, timestamp);
	printf("%lld and %lld page faults with %d and %d touched, %lld strays\n", here_count, there,
	       FIRST_HERE + OTHER_HERE, FIRST_THERE + OTHER_THERE, strays);
	wander_check_count(here_count, FIRST_HERE + OTHER_HERE, strays);
	wander_check_count(there, FIRST_THERE + OTHER_THERE, strays);
	actor_tell(&actor, 'w'); /* nothing is counted of what comes now */
	check_ok(ps_read(set, here.root, &timestamp, NULL));
	ck_assert_int_eq(part(0, timestamp), here_count);
	actor_end(&actor);
	ps_eventset_destroy(set);
}
END_TEST

/* Two sets count the same work at the same time: with children, programs and threads that are
 * created. Another process touches pages all the time. */
START_TEST(the_counts_are_those_of_per_cpu_events)
{
	uint64_t by_bpf = 0, by_events = 0;

	if (!bpf_is_possible())
		return;
	pid_t outsider = start_toucher();
	struct actor actor = actor_start(act);
	actor_tell(&actor, 'w');
	struct ps_eventset *events = attach(PS_ATTRIBUTE_EXACT, actor.pid);
	struct ps_eventset *bpf = attach(PS_ATTRIBUTE_BPF, actor.pid);
	check_ok(ps_start(events));
	check_ok(ps_start(bpf));
	for (const char *order = "fwetfet"; *order; order++)
		actor_tell(&actor, *order);
	check_ok(ps_stop(bpf, here.root, &by_bpf, NULL));
	check_ok(ps_stop(events, here.root, &by_events, NULL));
	kill_and_wait(outsider);
	printf("%lld and %lld by BPF, %lld and %lld by events on each CPU\n", part(0, by_bpf),
	       part(1, by_bpf), part(0, by_events), part(1, by_events));
	ck_assert_int_ge(here_sum(WANDER_EVENT, by_bpf),
	                 FIRST_HERE + FIRST_THERE + OTHER_HERE + OTHER_THERE + 4 * CHILD_THERE);
	for (int cpu = 0; cpu < 2; cpu++)
		ck_assert_int_eq(part(cpu, by_bpf), part(cpu, by_events));
	ck_assert_int_eq(here_sum(WANDER_EVENT, by_bpf), here_sum(WANDER_EVENT, by_events));
	actor_end(&actor);
	ps_eventset_destroy(events);
	ps_eventset_destroy(bpf);
}
END_TEST

/* The kernel gives the number to the next process that is created. */
static bool set_next_pid(pid_t pid)
{
	char text[32];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	int length = snprintf(text, sizeof text, "%d", (int)pid - 1);
	bool is_set = fd >= 0 && write(fd, text, (size_t)length) == length;

	if (fd >= 0)
		close(fd);
	return is_set;
}

static long long count_now(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_read(set, here.root, &timestamp, NULL));
	return here_sum(WANDER_EVENT, timestamp);
}

/* A child that is counted ends, and another process, which isn't, gets its number: while the first
 * one's parent waits nothing is counted. */
START_TEST(a_number_that_is_used_again_is_another_process)
{
	struct wander_work work;
	bool may_set = true;
	pid_t again = 0;

	if (!bpf_is_possible())
		return;
	struct actor actor = actor_start(act);
	struct ps_eventset *set = attach(PS_ATTRIBUTE_BPF, actor.pid);
	check_ok(ps_start(set));
	wander_create(&work, 500);
	/* The actor's threads have its number and the next one. Others may take the one behind. */
	for (int tries = 0; tries < 50 && may_set && again != actor.pid + 2; tries++) {
		may_set = set_next_pid(actor.pid + 2);
		actor_tell(&actor, 'f');
		actor_await(&actor);
		long long before = count_now(set);
		set_next_pid(actor.pid + 2);
		again = fork();
		if (again == 0) {
			wander_touch(&work, 500);
			_exit(0);
		}
		waitpid(again, NULL, 0);
		ck_assert_int_eq(count_now(set), before);
	}
	wander_destroy(&work);
	actor_end(&actor);
	ps_eventset_destroy(set);
	if (!may_set)
		ps_test_skip("/proc/sys/kernel/ns_last_pid can't be written to");
	else if (again != actor.pid + 2)
		ps_test_skip("others took the number each time");
}
END_TEST

/* The child has copies of the descriptors, and neither its end nor its set's disturbs. */
START_TEST(a_fork_of_the_counting_process_changes_nothing)
{
	uint64_t timestamp = 0;
	int status = 1;

	if (!bpf_is_possible())
		return;
	struct actor actor = actor_start(act);
	actor_tell(&actor, 'w');
	size_t before = here_count_descriptors();
	struct ps_eventset *set = attach(PS_ATTRIBUTE_BPF, actor.pid);
	check_ok(ps_start(set));
	pid_t pid = fork();
	if (pid == 0) {
		int result = ps_read(set, here.root, NULL, NULL);
		ps_eventset_destroy(set);
		_exit(result == PS_ECLOST && here_count_descriptors() == before ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	long long strays = actor_tell(&actor, 'w');
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	wander_check_count(part(0, timestamp), FIRST_HERE + OTHER_HERE, strays);
	actor_end(&actor);
	ps_eventset_destroy(set);
	ck_assert_uint_eq(here_count_descriptors(), before - 2); /* and the actor's pipes */
}
END_TEST

static void add(TCase *tests)
{
	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_test(tests, known_work_of_two_threads_is_split_by_cpu);
	tcase_add_test(tests, the_counts_are_those_of_per_cpu_events);
	tcase_add_test(tests, a_number_that_is_used_again_is_another_process);
	tcase_add_test(tests, a_fork_of_the_counting_process_changes_nothing);
}

int main(void)
{
	return wander_run("attribution by BPF", add, NULL);
}

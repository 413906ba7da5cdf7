/* SPDX-License-Identifier: BSD-3-Clause */
/* A process is attached: its threads come and go meanwhile, and what it did before is not counted.
 */
#include "support/small.h"
#include "wander.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATORS    3
#define CHURN_PAGES 10
#define CHURN       20 /* threads of each creator in a round, at least */

/* Shared by the test and the process: the threads of each creator that have ended. */
struct churn {
	_Atomic long ended[CREATORS];
	_Atomic int next;
};

static void *touch_and_end(void *unused)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), size_bytes = CHURN_PAGES * page_bytes;
	char *pages =
	    mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		_exit(1);
	madvise(pages, size_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < CHURN_PAGES; i++)
		((volatile char *)pages)[i * page_bytes] = 1;
	munmap(pages, size_bytes);
	return unused;
}

static void *create_for_ever(void *argument)
{
	struct churn *churn = argument;
	int number = churn->next++;
	pthread_t thread;

	while (pthread_create(&thread, NULL, touch_and_end, NULL) == 0) {
		pthread_join(thread, NULL);
		churn->ended[number]++;
	}
	_exit(1);
}

static _Noreturn void run_creators(struct churn *churn)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < CREATORS; i++)
		if (pthread_create(&thread, NULL, create_for_ever, churn) != 0)
			_exit(1);
	for (;;)
		pause();
}

static long long faults_of(struct ps_eventset *set, struct ps_topology *topology)
{
	struct ps_value value;

	check_ok(ps_read(set, ps_topology_root(topology), NULL, NULL));
	check_ok(ps_eventset_values(set, 0, &value, 1));
	return value.value;
}

/* A creator's thread that had not ended may have touched its pages before the first reading. */
static void count_churn(struct ps_topology *topology, struct churn *churn, pid_t pid)
{
	struct ps_eventset *set = NULL;
	long before[CREATORS], sure = 0;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, "page-faults:u"));
	check_ok(ps_eventset_attach_process(set, pid));
	int result = ps_start(set);
	ck_assert_msg(result == PS_OK || result == PS_PARTIAL, "%s", ps_error_detail());
	long long first = faults_of(set, topology);
	for (int i = 0; i < CREATORS; i++)
		before[i] = churn->ended[i];
	for (int i = 0; i < CREATORS; i++) {
		while (churn->ended[i] < before[i] + CHURN)
			usleep(1000);
	}
	for (int i = 0; i < CREATORS; i++)
		sure += churn->ended[i] - before[i] - 1;
	ck_assert_int_ge(faults_of(set, topology) - first, CHURN_PAGES * sure);
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	ps_eventset_destroy(set);
}

static pid_t start_churn(struct churn **out)
{
	struct churn *churn =
	    mmap(NULL, sizeof *churn, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(churn, MAP_FAILED);
	pid_t pid = fork();
	if (pid == 0)
		run_creators(churn);
	for (int i = 0; i < CREATORS; i++)
		while (churn->ended[i] == 0)
			usleep(1000);
	*out = churn;
	return pid;
}

static void end_churn(struct churn *churn, pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(churn, sizeof *churn);
}

/* The kernel may miss a copy of an event that is made while it is enabled, and threads may end
 * while they are attached. */
START_TEST(a_process_whose_threads_come_and_go_is_counted_whole)
{
	struct ps_topology *topology = NULL;
	struct churn *churn;
	int rounds = ps_test_size(100, 4);

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	pid_t pid = start_churn(&churn);
	for (int round = 0; round < rounds; round++)
		count_churn(topology, churn, pid);
	end_churn(churn, pid);
	ps_topology_destroy(topology);
}
END_TEST

/* PS_PARTIAL: threads came all the time. */
static void check_start(struct ps_eventset *set)
{
	int result = ps_start(set);

	ck_assert_msg(result == PS_OK || result == PS_PARTIAL, "%d: %s", result, ps_error_detail());
}

/* A thread may end after any of its events was opened; or after it was exchanged, as the kernel
 * does with the events of a creator and its thread: then a group's leader ends with it. */
static void start_and_stop(struct ps_topology *topology, pid_t pid, bool tells_tasks)
{
	static const char *const events[] = {"page-faults:u", "minor-faults:u", "task-clock:u",
	                                     "major-faults:u", "alignment-faults:u"};
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		check_ok(ps_eventset_add(set, events[i]));
	check_ok(ps_eventset_attach_process(set, pid));
	check_ok(ps_eventset_set_attribution(set, tells_tasks ? PS_ATTRIBUTE_AUTO
	                                                      : PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_eventset_set_tasks(set, tells_tasks));
	check_start(set);
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	check_start(set);
	ps_eventset_destroy(set);
}

START_TEST(threads_that_end_while_they_are_attached_are_left_out)
{
	struct ps_topology *topology = NULL;
	struct churn *churn;
	int rounds = ps_test_size(20, 4);

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	pid_t pid = start_churn(&churn);
	for (int round = 0; round < rounds; round++)
		start_and_stop(topology, pid, round % 2);
	end_churn(churn, pid);
	ps_topology_destroy(topology);
}
END_TEST

/* Touches as many pages as it is told to. */
static _Noreturn void touch_as_told(const int told[2], const int done[2])
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char count;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(told[0], &count, 1) == 1) {
		char *pages = mmap(NULL, count * page_bytes, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages == MAP_FAILED)
			_exit(1);
		madvise(pages, count * page_bytes, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < count; i++)
			((volatile char *)pages)[i * page_bytes] = 1;
		if (write(done[1], &count, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void tell_to_touch(const int told[2], const int done[2], unsigned char count)
{
	ck_assert_int_eq(write(told[1], &count, 1), 1);
	ck_assert_int_eq(read(done[0], &count, 1), 1);
}

/* The events count since they were opened, by ps_store. */
START_TEST(what_comes_before_the_start_is_left_out)
{
	struct ps_topology *topology = NULL;
	struct ps_eventset *set = NULL;
	long long nothing = 0;
	int told[2], done[2];

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	ck_assert_int_eq(pipe(told), 0);
	ck_assert_int_eq(pipe(done), 0);
	pid_t pid = fork();
	if (pid == 0)
		touch_as_told(told, done);
	tell_to_touch(told, done, 1);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, "page-faults:u"));
	check_ok(ps_eventset_attach_process(set, pid));
	check_ok(ps_store(set, &nothing, 1, ps_topology_root(topology), NULL, NULL));
	for (int run = 0; run < 2; run++) {
		tell_to_touch(told, done, 250);
		check_ok(ps_start(set));
		tell_to_touch(told, done, 10);
		long long faults = faults_of(set, topology);
		ck_assert_int_ge(faults, 10);
		/* A sanitizer has some pages of its own for each. */
		ck_assert_int_lt(faults, 250);
		check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	}
	ps_eventset_destroy(set);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int end = 0; end < 2; end++) {
		close(told[end]);
		close(done[end]);
	}
	ps_topology_destroy(topology);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_test(tests, what_comes_before_the_start_is_left_out);
	tcase_add_test(tests, a_process_whose_threads_come_and_go_is_counted_whole);
	tcase_add_test(tests, threads_that_end_while_they_are_attached_are_left_out);
}

int main(void)
{
	return wander_run("processes whose threads come and go", add, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact attribution of a whole process on the real kernel: threads and child processes that come
 * before or after the set was started touch pages here and there, and keep account of it
 * themselves. Sees the installed header and the shared library alone.
 */
#include "support/descriptors.h"
#include "support/small.h"
#include "wander.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDS 8
#define PAGES 120

/* What a thread or child process of the watched process did, by its own account. */
struct hand {
	long long pages[2]; /* by place: surely there */
	long long open;     /* on either */
	long long strays;   /* faults that it didn't make, on either */
};

/* Shared by the test and the watched process. */
struct crew {
	pthread_barrier_t start;    /* the test, and the process's first thread */
	pthread_barrier_t together; /* the test, and all hands */
	bool is_pinned;
	bool are_processes;
	struct hand hands[HANDS];
	struct hand rehearsals[HANDS];
	_Atomic int next;
	pid_t pid;
};

static void labour_pinned(struct hand *hand, struct wander_work *work, int number, size_t pages)
{
	for (int turn = 0; turn < 4; turn++) {
		int place = (number + turn) % 2;
		size_t share = pages / 8 * (size_t)(1 + place) + (size_t)number;

		wander_move(wander_cpu(place));
		wander_touch(work, share);
		hand->pages[place] += (long long)share;
	}
}

/* Where the CPU was another one before and after, it isn't known on which a page was touched. */
static void labour_free(struct hand *hand, struct wander_work *work, size_t pages)
{
	for (size_t page = 0; page < pages; page++) {
		int before = sched_getcpu();

		wander_touch(work, 1);
		if (sched_getcpu() != before)
			hand->open++;
		else
			hand->pages[before == wander_cpu(0) ? 0 : 1]++;
		if (page % 16 == 0)
			sched_yield();
	}
}

static void labour(struct crew *crew, struct hand *hand, struct wander_work *work, int number,
                   size_t pages)
{
	wander_settle(work);
	if (crew->is_pinned)
		labour_pinned(hand, work, number, pages);
	else
		labour_free(hand, work, pages);
	hand->strays = wander_strays(work);
}

/* A rehearsal first: code, stack and storage are in memory then, and the touched pages alone are
 * met anew. */
static void *run_hand(void *argument)
{
	struct crew *crew = argument;
	int number = atomic_fetch_add(&crew->next, 1);
	struct wander_work work;

	wander_create(&work, 4 * PAGES);
	crew->hands[number] = (struct hand){.open = 0};
	labour(crew, &crew->rehearsals[number], &work, number, 16);
	pthread_barrier_wait(&crew->together);
	pthread_barrier_wait(&crew->together); /* the test has read */
	labour(crew, &crew->hands[number], &work, number, PAGES);
	pthread_barrier_wait(&crew->together);
	pthread_barrier_wait(&crew->together); /* the test has read again */
	return NULL;
}

/* The account has two places. */
static void bind_to_both_places(void)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	for (int place = 0; place < 2; place++)
		CPU_SET((size_t)wander_cpu(place), &mask);
	if (sched_setaffinity(0, sizeof(mask), &mask) < 0)
		_exit(1);
}

static _Noreturn void run_process(struct crew *crew)
{
	pthread_t threads[HANDS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bind_to_both_places();
	pthread_barrier_wait(&crew->start);
	for (int i = 0; i < HANDS; i++) {
		if (!crew->are_processes && pthread_create(&threads[i], NULL, run_hand, crew) != 0)
			_exit(1);
		if (crew->are_processes && fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_hand(crew);
			_exit(0);
		}
	}
	for (int i = 0; i < HANDS; i++) {
		if (!crew->are_processes)
			pthread_join(threads[i], NULL);
		else
			wait(NULL);
	}
	pthread_barrier_wait(&crew->start);
	_exit(0);
}

static struct crew *start_process(bool is_pinned, bool are_processes)
{
	struct crew *crew =
	    mmap(NULL, sizeof(*crew), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;

	ck_assert_ptr_ne(crew, MAP_FAILED);
	*crew = (struct crew){.is_pinned = is_pinned, .are_processes = are_processes};
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&crew->start, &shared, 2);
	pthread_barrier_init(&crew->together, &shared, HANDS + 1);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		run_process(crew);
	crew->pid = pid;
	return crew;
}

static void end_process(struct crew *crew)
{
	int status = 1;

	pthread_barrier_wait(&crew->start);
	ck_assert_int_eq(waitpid(crew->pid, &status, 0), crew->pid);
	ck_assert_int_eq(status, 0);
	munmap(crew, sizeof(*crew));
}

/* The parts of a reading, by place. */
struct parts {
	long long value[2];
};

static struct parts read_parts(struct ps_eventset *set, struct ps_topology *topology)
{
	struct parts parts;
	uint64_t timestamp = 0;

	check_ok(ps_read(set, ps_topology_root(topology), &timestamp, NULL));
	for (int place = 0; place < 2; place++)
		parts.value[place] =
		    wander_part(topology, wander_cpu(place), timestamp, PS_ATTRIBUTION_EXACT);
	return parts;
}

/* Between two readings each CPU has what the hands touched there, and the sum is what they
 * touched. */
static void check_account(const struct crew *crew, struct parts before, struct parts after)
{
	long long sure[2] = {0, 0}, open = 0, strays = 0;

	for (int i = 0; i < HANDS; i++) {
		for (int place = 0; place < 2; place++)
			sure[place] += crew->hands[i].pages[place];
		open += crew->hands[i].open;
		strays += crew->hands[i].strays;
	}
	for (int place = 0; place < 2; place++) {
		ck_assert_int_ge(after.value[place] - before.value[place], sure[place]);
		ck_assert_int_le(after.value[place] - before.value[place],
		                 sure[place] + open + strays);
	}
	wander_check_count(after.value[0] + after.value[1] - before.value[0] - before.value[1],
	                   sure[0] + sure[1] + open, strays);
	ck_assert_int_gt(sure[0] + sure[1], 0);
}

static struct ps_eventset *attach(const struct crew *crew)
{
	struct ps_eventset *set = wander_set(PS_ATTRIBUTE_AUTO, 64);
	const char *why = NULL;

	check_ok(ps_eventset_attach_process(set, crew->pid));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_str_eq(why, "");
	return set;
}

/* comes_late: the set is attached when the threads are there already. */
static void watch_process(bool is_pinned, bool are_processes, bool comes_late)
{
	struct crew *crew = start_process(is_pinned, are_processes);
	struct ps_topology *topology = NULL;
	struct ps_eventset *set = NULL;
	struct parts before, after, last;

	check_ok(ps_topology_load(&topology, NULL));
	if (!comes_late)
		set = attach(crew);
	pthread_barrier_wait(&crew->start);
	pthread_barrier_wait(&crew->together);
	if (comes_late)
		set = attach(crew);
	before = read_parts(set, topology);
	pthread_barrier_wait(&crew->together);
	pthread_barrier_wait(&crew->together);
	after = read_parts(set, topology);
	check_account(crew, before, after);
	pthread_barrier_wait(&crew->together);
	end_process(crew);
	/* Those that have ended are still in it. */
	last = read_parts(set, topology);
	for (int place = 0; place < 2; place++)
		ck_assert_int_ge(last.value[place], after.value[place]);
	ck_assert_int_eq(ps_eventset_is_ended(set), 1);
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	wander_check_residual(set);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}

START_TEST(threads_that_come_after_the_set_and_move_about_are_counted_where_they_were)
{
	if (!wander_is_possible())
		return;
	watch_process(true, false, false);
}
END_TEST

START_TEST(threads_that_come_after_the_set_and_are_not_bound_are_counted_where_they_were)
{
	if (!wander_is_possible())
		return;
	watch_process(false, false, false);
}
END_TEST

START_TEST(child_processes_are_counted_where_they_were)
{
	if (!wander_is_possible())
		return;
	watch_process(true, true, false);
}
END_TEST

START_TEST(threads_that_were_there_before_the_set_are_counted_where_they_were)
{
	const char *why = ps_test_lack_on_all_cpus(2 * (HANDS + 1));

	if (!ps_test_may_run(why))
		return;
	if (!wander_is_possible())
		return;
	watch_process(true, false, true);
}
END_TEST

/* A shell script or a make: children come all the time. */
static _Noreturn void fork_on_and_on(void)
{
	const struct timespec pause_ns = {.tv_nsec = 200000};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int child = 0; child < 400; child++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sleep(60);
			_exit(0);
		}
		nanosleep(&pause_ns, NULL);
	}
	sleep(60);
	_exit(0);
}

/* A group of five events. */
static struct ps_eventset *start_group(pid_t pid)
{
	static const char *const events[] = {WANDER_EVENT, "minor-faults:u", "major-faults:u",
	                                     "task-clock:u", "alignment-faults:u"};
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		check_ok(ps_eventset_add(set, events[i]));
	check_ok(ps_eventset_attach_process(set, pid));
	check_ok(ps_start(set));
	return set;
}

START_TEST(a_process_that_forks_while_it_is_attached_can_be_read)
{
	struct ps_topology *topology = NULL;
	int attempts = ps_test_size(40, 10);

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	pid_t pid = fork();
	if (pid == 0)
		fork_on_and_on();
	for (int attempt = 0; attempt < attempts; attempt++) {
		struct ps_eventset *set = start_group(pid);

		check_ok(ps_read(set, ps_topology_root(topology), NULL, NULL));
		check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
		ps_eventset_destroy(set);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ps_topology_destroy(topology);
}
END_TEST

/* Children come and end without end. */
static _Noreturn void fork_and_reap(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (fork() == 0)
			_exit(0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* While a group is inherited or given back the kernel refuses to read it. */
START_TEST(a_process_can_be_read_while_children_come_and_end)
{
	struct ps_topology *topology = NULL;
	int reads = ps_test_size(5000, 500);

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	pid_t pid = fork();
	if (pid == 0)
		fork_and_reap();
	struct ps_eventset *set = start_group(pid);
	for (int i = 0; i < reads; i++)
		check_ok(ps_read(set, ps_topology_root(topology), NULL, NULL));
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	ps_eventset_destroy(set);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ps_topology_destroy(topology);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_test(tests,
	               threads_that_come_after_the_set_and_move_about_are_counted_where_they_were);
	tcase_add_test(
	    tests, threads_that_come_after_the_set_and_are_not_bound_are_counted_where_they_were);
	tcase_add_test(tests, child_processes_are_counted_where_they_were);
	tcase_add_test(tests, threads_that_were_there_before_the_set_are_counted_where_they_were);
	tcase_add_test(tests, a_process_that_forks_while_it_is_attached_can_be_read);
	tcase_add_test(tests, a_process_can_be_read_while_children_come_and_end);
}

int main(void)
{
	return wander_run("exact, of processes", add, NULL);
}

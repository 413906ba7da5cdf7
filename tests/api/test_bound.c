/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose threads are bound to one CPU each, counted without privileges: by looks at its
 * tasks, by time shares, and by what AUTO chooses, which is one of these on a big machine. None of
 * its counts is an estimate. Those of threads that wander are, by looks and by time shares. Sees
 * the installed header and the shared library alone.
 */
#include "actor.h"
#include "support/descriptors.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#define WORKERS 4
#define PAGES   200 /* that each of them touches, and one more than the one before */

/* So many that AUTO has no counters on each CPU where there are 64. */
static const char *const events[] = {WANDER_EVENT, "minor-faults:u", "major-faults:u",
                                     "task-clock:u", "cpu-clock:u"};
#define EVENTS (sizeof events / sizeof *events)

static struct {
	pthread_barrier_t begin, end;
	char order;
} team;

static int cpu_of(int worker)
{
	return wander_cpu(worker % 2);
}

/* w: it touches its pages; m: it goes to the other CPU and touches them there; u: it may go
 * everywhere. */
static void *be_worker(void *number)
{
	int worker = (int)(long)number;
	struct wander_work work;

	wander_create(&work, 8 * (PAGES + WORKERS));
	wander_move(cpu_of(worker));
	for (;;) {
		pthread_barrier_wait(&team.begin);
		if (team.order == 'u')
			wander_unpin();
		if (team.order == 'm')
			wander_move(cpu_of(worker + 1));
		if (team.order != 'u')
			wander_touch(&work, (size_t)(PAGES + worker));
		pthread_barrier_wait(&team.end);
	}
	return NULL;
}

/* Answers each order with the faults that it took. */
static void act(int orders, int answers)
{
	pthread_t thread;

	wander_move(wander_cpu(0));
	pthread_barrier_init(&team.begin, NULL, WORKERS + 1);
	pthread_barrier_init(&team.end, NULL, WORKERS + 1);
	for (long worker = 0; worker < WORKERS; worker++) {
		if (pthread_create(&thread, NULL, be_worker, (void *)worker) != 0)
			_exit(1);
	}
	while (read(orders, &team.order, 1) == 1) {
		long long before = actor_faults();
		if (team.order == 'u')
			wander_unpin();
		pthread_barrier_wait(&team.begin);
		pthread_barrier_wait(&team.end);
		long long answer = actor_faults() - before;
		if (write(answers, &answer, sizeof answer) != sizeof answer)
			break;
	}
	_exit(0);
}

/* A process that changed its user is closed to others of that user, too. */
static void give_up_privileges(void)
{
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

static struct ps_eventset *attach(enum ps_attribution_mode mode, pid_t pid)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	for (size_t event = 0; event < EVENTS; event++)
		check_ok(ps_eventset_add(set, events[event]));
	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_eventset_attach_process(set, pid));
	check_ok(ps_start(set));
	return set;
}

static struct ps_value part(int index, uint64_t timestamp)
{
	struct ps_value value = {0};

	check_ok(ps_thread_reading(ps_topology_thread(here.topology, wander_cpu(index)),
	                           WANDER_EVENT, timestamp, &value));
	return value;
}

static long long pages_on(int index)
{
	long long pages = 0;

	for (int worker = index; worker < WORKERS; worker += 2)
		pages += PAGES + worker;
	return pages;
}

static void check_residual(struct ps_eventset *set)
{
	long long residuals[EVENTS];

	check_ok(ps_eventset_check(set, residuals, EVENTS));
	for (size_t event = 0; event < EVENTS; event++)
		ck_assert_int_eq(residuals[event], 0);
}

static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_LOOKS, PS_ATTRIBUTE_TIME_SHARE,
                                                 PS_ATTRIBUTE_AUTO};

/* The reason why it can't be tried here, or NULL. */
static const char *prepare(void)
{
	static char reason[512];
	const char *obstacle = wander_obstacle();
	struct ps_eventset *set = NULL;

	if (obstacle)
		return obstacle;
	give_up_privileges();
	check_ok(ps_eventset_create(&set));
	int result = ps_eventset_add(set, WANDER_EVENT);
	snprintf(reason, sizeof reason, "%s", ps_error_detail());
	ps_eventset_destroy(set);
	return result == PS_OK ? NULL : reason;
}

START_TEST(bound_threads_are_counted_for_certain)
{
	const char *why = prepare();
	uint64_t timestamp = 0;

	if (!ps_test_may_run(why))
		return;
	struct actor actor = actor_start(act);
	actor_tell(&actor, 'w');
	/* A task that runs while the clocks are read isn't known to stay, if that takes long. */
	actor_await(&actor);
	struct ps_eventset *set = attach(modes[_i], actor.pid);
	long long strays = actor_tell(&actor, 'w') - pages_on(0) - pages_on(1);
	actor_await(&actor);
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	check_residual(set);
	for (int index = 0; index < 2; index++) {
		struct ps_value value = part(index, timestamp);
		ck_assert_msg(value.attribution == PS_ATTRIBUTION_EXACT ||
		                  value.attribution == PS_ATTRIBUTION_PINNED,
		              "%s", ps_attribution_name(value.attribution));
		wander_check_count(value.value, pages_on(index), strays);
	}
	actor_end(&actor);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(threads_that_wander_are_estimated)
{
	const char *why = ps_test_lack_on_all_cpus(2 * (WORKERS + 1));

	why = why ? why : prepare();
	uint64_t timestamp = 0;

	if (!ps_test_may_run(why))
		return;
	struct actor actor = actor_start(act);
	actor_tell(&actor, 'u');
	struct ps_eventset *set = attach(modes[_i], actor.pid);
	long long faults = actor_tell(&actor, 'm');
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	check_residual(set);
	for (int index = 0; index < 2; index++)
		ck_assert_int_eq((int)part(index, timestamp).attribution, PS_ATTRIBUTION_MIXED);
	/* The order itself may have taken a fault. */
	ck_assert_int_ge(here_sum(WANDER_EVENT, timestamp), pages_on(0) + pages_on(1));
	ck_assert_int_le(here_sum(WANDER_EVENT, timestamp), faults + 1);
	actor_end(&actor);
	ps_eventset_destroy(set);
}
END_TEST

static void add(TCase *tests)
{
	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_loop_test(tests, bound_threads_are_counted_for_certain, 0, 3);
	tcase_add_loop_test(tests, threads_that_wander_are_estimated, 0, 2);
}

int main(void)
{
	return wander_run("bound threads", add, NULL);
}

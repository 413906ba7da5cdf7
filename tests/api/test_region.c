/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions on the real kernel: known numbers of fresh pages in known paths, by threads that are
 * moved, come and go, by teams and signal handlers. The paths add up to what the tree shows.
 */
#include "support/small.h"
#include "support/unmarked.h"
#include "wander.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOVES 500

static struct ps_eventset *model;
static struct ps_profile *profile;

static void begin(enum ps_attribution_mode mode)
{
	check_ok(ps_eventset_create(&model));
	check_ok(ps_eventset_add(model, WANDER_EVENT));
	check_ok(ps_eventset_set_attribution(model, mode));
	check_ok(ps_profile_create(&profile, model, here.root));
}

/* All that the kernel counted in the threads that have ended is in the paths. */
static void end(void)
{
	long long residual = -1;

	ps_profile_leave(profile);
	check_ok(ps_profile_check(profile, &residual, 1));
	ck_assert_int_eq(residual, 0);
	ps_profile_destroy(profile);
	ps_eventset_destroy(model);
}

static struct ps_region *region(const char *name)
{
	struct ps_region *out = NULL;

	check_ok(ps_region_define(&out, profile, name));
	return out;
}

/* "outer", "inner", NULL: what they had until now; -1 CPU: anywhere. */
static long long count_of(const char *outer, const char *inner, int cpu, enum ps_share share)
{
	const char *names[] = {outer, inner};
	struct ps_value value = {0};
	struct ps_paths *paths = NULL;
	const struct ps_component *component =
	    cpu < 0 ? here.root : ps_thread_component(ps_topology_thread(here.topology, cpu));

	check_ok(ps_paths_create(&paths, profile));
	const struct ps_path *path =
	    ps_path_find(ps_paths_root(paths), names, (size_t)(outer != NULL) + (inner != NULL));
	ck_assert_ptr_nonnull(path);
	int result = ps_path_value(path, component, WANDER_EVENT, share, &value);
	ck_assert_msg(result == PS_OK || result == PS_ENOEVST, "%s", ps_error_detail());
	ps_paths_destroy(paths);
	return value.value;
}

static void check_tree_is(long long count)
{
	struct ps_value value;

	check_ok(ps_component_total(here.root, WANDER_EVENT, &value));
	ck_assert_int_eq(value.value, count);
}

static void visit_both(struct wander_work *work, size_t before, size_t inside, size_t after)
{
	struct ps_region *outer = region("outer"), *inner = region("inner");

	check_ok(ps_region_enter(outer));
	wander_touch(work, before);
	check_ok(ps_region_enter(inner));
	wander_touch(work, inside);
	check_ok(ps_region_leave(inner));
	wander_touch(work, after);
	check_ok(ps_region_leave(outer));
}

#define SAMPLED_VISITS 600

/* All visits are alike, so any choice of them gives the truth, but for what its first visit touches
 * itself; the coverage is that of the visits. */
START_TEST(sampled_visits_are_extrapolated)
{
	struct wander_work work;
	struct ps_paths *paths = NULL;
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_value value, around;
	const char *name = "sampled";

	if (!wander_is_possible())
		return;
	wander_create(&work, SAMPLED_VISITS * 4);
	begin(PS_ATTRIBUTE_AUTO);
	check_ok(ps_region_set_one_in(region(name), 4));
	check_ok(ps_profile_join(profile));
	wander_settle(&work);
	for (int visit = 0; visit < SAMPLED_VISITS; visit++) {
		check_ok(ps_region_enter(region(name)));
		wander_touch(&work, 3);
		check_ok(ps_region_leave(region(name)));
		wander_touch(&work, 1);
	}
	long long strays = wander_strays(&work);
	check_ok(ps_paths_create(&paths, profile));
	const struct ps_path *path = ps_path_find(ps_paths_root(paths), &name, 1);
	check_ok(ps_path_visits(path, &visits));
	check_ok(ps_path_value(path, here.root, WANDER_EVENT, PS_SHARE_EXCLUSIVE, &value));
	check_ok(ps_path_value(ps_paths_root(paths), here.root, WANDER_EVENT, PS_SHARE_EXCLUSIVE,
	                       &around));
	ck_assert_uint_eq(visits.count, SAMPLED_VISITS);
	ck_assert_uint_lt(visits.counted, SAMPLED_VISITS / 2);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_uint_ne(value.flags & PS_VALUE_SAMPLED, 0);
	double part = (double)visits.counted / SAMPLED_VISITS;
	ck_assert_double_eq_tol(ps_value_coverage(&value), part, 0.01);
	ck_assert_int_ge(value.value, 3 * SAMPLED_VISITS - 1);
	ck_assert_int_le(value.value,
	                 3 * SAMPLED_VISITS + (long long)((double)(20 + strays) / part));
	ck_assert_int_ge(value.value + around.value, 4 * SAMPLED_VISITS - 1);
	ck_assert_int_le(value.value + around.value, 4 * SAMPLED_VISITS + 60 + strays);
	ps_paths_destroy(paths);
	end();
	wander_destroy(&work);
}
END_TEST

/* The first visits touch what they need themselves. */
START_TEST(sixty_pages_of_which_twenty_are_in_the_inner_region)
{
	struct wander_work work;

	if (!wander_is_possible())
		return;
	wander_create(&work, 200);
	begin(PS_ATTRIBUTE_AUTO);
	for (int turn = 0; turn < 3; turn++)
		visit_both(&work, 1, 1, 1);
	long long outer = count_of("outer", NULL, -1, PS_SHARE_EXCLUSIVE);
	long long inner = count_of("outer", "inner", -1, PS_SHARE_EXCLUSIVE);
	wander_settle(&work);
	visit_both(&work, 30, 20, 10);
	long long strays = wander_strays(&work);
	wander_check_count(count_of("outer", NULL, -1, PS_SHARE_EXCLUSIVE) - outer, 40, strays);
	wander_check_count(count_of("outer", "inner", -1, PS_SHARE_EXCLUSIVE) - inner, 20, strays);
	wander_check_count(count_of("outer", NULL, -1, PS_SHARE_INCLUSIVE) - outer - inner, 60,
	                   strays);
	check_ok(ps_profile_leave(profile));
	check_tree_is(count_of(NULL, NULL, -1, PS_SHARE_INCLUSIVE));
	end();
	wander_destroy(&work);
}
END_TEST

/* Before and after a move, and inside and outside of the inner region. */
static void wander_about(struct wander_work *work, const int cpus[2], size_t moves,
                         long long expected[2][2])
{
	struct ps_region *outer = region("outer"), *inner = region("inner");

	check_ok(ps_region_enter(outer));
	for (size_t move = 0; move < moves; move++) {
		size_t pages = move % 3;
		int from = (int)(move / 2 % 2), to = (int)((move + 1) / 2 % 2);
		wander_move(cpus[from]);
		wander_touch(work, pages);
		expected[0][from] += (long long)pages;
		check_ok(ps_region_enter(inner));
		wander_touch(work, 1);
		expected[1][from]++;
		wander_move(cpus[to]);
		wander_touch(work, 2);
		expected[1][to] += 2;
		check_ok(ps_region_leave(inner));
	}
	check_ok(ps_region_leave(outer));
}

START_TEST(each_path_has_its_touches_on_each_cpu)
{
	const int cpus[2] = {wander_cpu(0), wander_cpu(1)};
	long long expected[2][2] = {{0}}, before[2][2];
	struct wander_work work;

	if (!wander_is_possible())
		return;
	wander_create(&work, 6 * MOVES + 200);
	begin(PS_ATTRIBUTE_EXACT);
	wander_about(&work, cpus, 20, expected);
	for (int place = 0; place < 4; place++) {
		before[place / 2][place % 2] = count_of("outer", place / 2 ? "inner" : NULL,
		                                        cpus[place % 2], PS_SHARE_EXCLUSIVE);
		expected[place / 2][place % 2] = 0;
	}
	wander_settle(&work);
	wander_about(&work, cpus, MOVES, expected);
	long long strays = wander_strays(&work);
	for (int place = 0; place < 4; place++)
		wander_check_count(count_of("outer", place / 2 ? "inner" : NULL, cpus[place % 2],
		                            PS_SHARE_EXCLUSIVE) -
		                       before[place / 2][place % 2],
		                   expected[place / 2][place % 2], strays);
	check_ok(ps_profile_leave(profile));
	check_tree_is(count_of(NULL, NULL, -1, PS_SHARE_INCLUSIVE));
	end();
	wander_destroy(&work);
	wander_unpin();
}
END_TEST

#define THREADS 16
#define ROUNDS  ps_test_size(12, 3)
#define OUTSIDE (uint64_t) ps_test_size(2000, 300)
#define VISITS  20
#define PATHS   50

static void *visit_paths(void *argument)
{
	char name[32];

	(void)argument;
	for (int path = 0; path < PATHS; path++) {
		snprintf(name, sizeof name, "path %d", path);
		struct ps_region *one = region(name);
		for (int visit = 0; visit < VISITS; visit++) {
			if (ps_region_enter(one) != PS_OK || ps_region_leave(one) != PS_OK)
				abort();
		}
	}
	return NULL;
}

/* While others come and go, too. */
static uint64_t visits_until_now(void)
{
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_paths *paths = NULL;
	uint64_t sum = 0;

	check_ok(ps_paths_create(&paths, profile));
	for (const struct ps_path *path = ps_path_child(ps_paths_root(paths)); path;
	     path = ps_path_next(path)) {
		check_ok(ps_path_visits(path, &visits));
		sum += visits.count;
	}
	ps_paths_destroy(paths);
	return sum;
}

START_TEST(threads_that_come_and_go_have_all_their_visits)
{
	pthread_t threads[THREADS];
	uint64_t last = 0;

	begin(PS_ATTRIBUTE_AUTO);
	visit_paths(NULL);
	check_ok(ps_profile_leave(profile));
	size_t descriptors = here_count_descriptors();
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, visit_paths, NULL), 0);
		uint64_t now = visits_until_now();
		ck_assert_uint_ge(now, last);
		last = now;
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	ck_assert_uint_eq(visits_until_now(), (uint64_t)(1 + THREADS * ROUNDS) * VISITS * PATHS);
	ck_assert_uint_eq(here_count_descriptors(), descriptors);
	check_tree_is(count_of(NULL, NULL, -1, PS_SHARE_INCLUSIVE));
	end();
}
END_TEST

static struct ps_region *handled;
static volatile sig_atomic_t handler_visits, handler_refusals;
static timer_t timer; /* set by each handler: however long that takes, other code goes on */
static const struct itimerspec soon = {.it_value = {.tv_nsec = 100000}};

static void visit_in_handler(int number)
{
	int error = errno;

	(void)number;
	int entered = ps_region_enter(handled);
	int given = ps_region_add_value(handled, 1);
	int left = ps_region_leave(handled);

	if (entered == PS_OK && given == PS_OK && left == PS_OK)
		handler_visits++;
	else if (entered == PS_ECNFLCT && given == PS_ECNFLCT && left == PS_ECNFLCT)
		handler_refusals++;
	else
		abort();
	timer_settime(timer, 0, &soon, NULL);
	errno = error;
}

/* A handler's regions are inside what it interrupts; but not in the midst of a boundary. */
START_TEST(signal_handlers_may_enter_regions)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
	struct sigaction action = {.sa_handler = visit_in_handler, .sa_flags = SA_RESTART};
	struct ps_profile_faults faults = {.size = sizeof faults};
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_mark_value given = {.size = sizeof given};
	struct ps_paths *paths = NULL;
	const char *names[] = {"outer", "handled"};
	uint64_t in_handler = 0, outside = 0;

	begin(PS_ATTRIBUTE_AUTO);
	handler_visits = handler_refusals = 0; /* another case may have run in this process */
	handled = region("handled");
	struct ps_region *outer = region("outer");
	wander_move(wander_cpu(0));
	/* What is new takes memory, which a handler may not ask for: all its paths, here. */
	for (int known = 0; known < 3; known++) {
		check_ok(ps_region_enter(handled));
		check_ok(ps_region_add_value(handled, 1));
		check_ok(ps_region_leave(handled));
		check_ok(ps_region_enter(outer));
		check_ok(ps_region_enter(handled));
		check_ok(ps_region_add_value(handled, 1));
		check_ok(ps_region_leave(handled));
		check_ok(ps_region_leave(outer));
	}
	sigaction(SIGRTMIN, &action, NULL);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &soon, NULL);
	for (; outside < OUTSIDE || handler_visits + handler_refusals < 100; outside++) {
		check_ok(ps_region_enter(outer));
		check_ok(ps_region_leave(outer));
	}
	timer_delete(timer);
	check_ok(ps_paths_create(&paths, profile));
	for (size_t depth = 1; depth <= 2; depth++) {
		const struct ps_path *path =
		    ps_path_find(ps_paths_root(paths), &names[2 - depth], depth);
		ck_assert_ptr_nonnull(path);
		check_ok(ps_path_visits(path, &visits));
		in_handler += visits.count;
	}
	check_ok(ps_path_visits(ps_path_find(ps_paths_root(paths), &names[0], 1), &visits));
	ck_assert_uint_eq(visits.count, outside + 3);
	ck_assert_uint_eq(in_handler, (uint64_t)handler_visits + 6);
	check_ok(ps_profile_faults(profile, &faults));
	check_ok(ps_path_mark_value(ps_paths_root(paths), "handled", PS_SHARE_INCLUSIVE, &given));
	ck_assert_uint_eq(given.count, in_handler);
	ck_assert_int_eq(given.sum, (int64_t)in_handler);
	ck_assert_uint_eq(faults.in_handler, 3 * (uint64_t)handler_refusals);
	ck_assert_uint_eq(faults.unmatched + faults.crossed + faults.failed, 0);
	ps_paths_destroy(paths);
	end();
}
END_TEST

/* A sleep is wall time, and not time on a CPU. */
START_TEST(sleeping_and_computing_are_told_apart)
{
	const struct timespec nap = {.tv_nsec = 50000000};
	struct ps_visits asleep = {.size = sizeof asleep}, busy = {.size = sizeof busy};
	const char *names[] = {"asleep", "busy"};
	struct ps_paths *paths = NULL;
	struct timespec begun, now;

	begin(_i ? PS_ATTRIBUTE_AUTO : PS_ATTRIBUTE_LAST_CPU);
	check_ok(ps_region_enter(region("asleep")));
	nanosleep(&nap, NULL);
	check_ok(ps_region_leave(region("asleep")));
	check_ok(ps_region_enter(region("busy")));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec <
	         50000000);
	check_ok(ps_region_leave(region("busy")));
	check_ok(ps_paths_create(&paths, profile));
	check_ok(ps_path_visits(ps_path_find(ps_paths_root(paths), &names[0], 1), &asleep));
	check_ok(ps_path_visits(ps_path_find(ps_paths_root(paths), &names[1], 1), &busy));
	ck_assert_uint_ge(asleep.wall_ns, 50000000);
	ck_assert_uint_lt(asleep.on_cpu_ns, asleep.wall_ns / 2);
	ck_assert_uint_ge(busy.on_cpu_ns, 45000000);
	ck_assert_uint_le(busy.on_cpu_ns, busy.wall_ns + busy.wall_ns / 4);
	ps_paths_destroy(paths);
	end();
}
END_TEST

/* A report has the touches, and goes where it is wanted. */
START_TEST(a_report_has_the_paths)
{
	char path[] = "/tmp/perfsage-report-XXXXXX", count[64], *text = NULL;
	size_t bytes;
	struct ps_paths *paths = NULL;

	int fd = mkstemp(path);
	FILE *stream = open_memstream(&text, &bytes);
	ck_assert_int_ge(fd, 0);
	begin(PS_ATTRIBUTE_AUTO);
	check_ok(ps_region_enter(region("outer")));
	check_ok(ps_region_leave(region("outer")));
	long long counted = count_of("outer", NULL, -1, PS_SHARE_EXCLUSIVE);
	check_ok(ps_paths_create(&paths, profile));
	check_ok(ps_paths_export(paths, PS_FORMAT_JSON, NULL, stream));
	check_ok(ps_paths_export_to_fd(paths, PS_FORMAT_TEXT, NULL, fd));
	check_ok(ps_paths_export_to_path(paths, PS_FORMAT_CSV, NULL, path));
	ps_paths_destroy(paths);
	fclose(stream);
	char *found = strstr(text, "\"path\": [\"outer\"]");
	ck_assert_ptr_nonnull(found);
	snprintf(count, sizeof count, "\"exclusive\": {\"%s\": %lld}", WANDER_EVENT, counted);
	ck_assert_msg(strstr(found, count) != NULL, "%s is not in %s", count, found);
	free(text);
	close(fd);
	unlink(path);
	end();
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_test(tests, sixty_pages_of_which_twenty_are_in_the_inner_region);
	tcase_add_test(tests, sampled_visits_are_extrapolated);
	tcase_add_test(tests, each_path_has_its_touches_on_each_cpu);
	tcase_add_test(tests, threads_that_come_and_go_have_all_their_visits);
	tcase_add_test(tests, signal_handlers_may_enter_regions);
	tcase_add_test(tests, a_report_has_the_paths);
	tcase_add_loop_test(tests, sleeping_and_computing_are_told_apart, 0, 2);
}

int main(void)
{
	return here_may_count(WANDER_EVENT) ? wander_run("region", add, add) : EXIT_SUCCESS;
}

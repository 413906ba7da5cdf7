/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths of threads that go on: what they have counted since their last boundary is there, in the
 * region that is open and on the CPU where it was counted, and comes once. Real page faults.
 */
#include "support/unmarked.h"
#include "wander.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define VISITS 3000

static struct ps_eventset *model;
static struct ps_profile *profile;

/* A thread that does its work, and then waits until the test has looked at it. */
static struct {
	void (*work)(void);
	struct wander_work pages;
	long long strays;
	int ready[2], go_on[2];
	pthread_t thread;
} worker;

static struct ps_region *region(const char *name)
{
	struct ps_region *out = NULL;

	check_ok(ps_region_define(&out, profile, name));
	return out;
}

/* The count of a path on a CPU; -1: anywhere. No names: the root path. */
static long long count_of(const char *const *names, size_t depth, int cpu, enum ps_share share,
                          enum ps_attribution *label)
{
	struct ps_value value = {.value = 0};
	struct ps_paths *paths = NULL;
	const struct ps_component *component =
	    cpu < 0 ? here.root : ps_thread_component(ps_topology_thread(here.topology, cpu));

	check_ok(ps_paths_create(&paths, profile));
	const struct ps_path *path =
	    ps_path_find(ps_paths_root(paths), (const char **)names, depth);
	ck_assert_ptr_nonnull(path);
	if (ps_path_value(path, component, WANDER_EVENT, share, &value) != PS_OK)
		value.value = 0;
	else if (label)
		*label = value.attribution;
	ps_paths_destroy(paths);
	return value.value;
}

static long long total(void)
{
	return count_of(NULL, 0, -1, PS_SHARE_INCLUSIVE, NULL);
}

static long long part_of(const char *const *names, size_t depth, int cpu)
{
	enum ps_attribution label = PS_ATTRIBUTION_EXACT;
	long long count = count_of(names, depth, cpu, PS_SHARE_EXCLUSIVE, &label);

	ck_assert_msg(label <= PS_ATTRIBUTION_PINNED, "CPU %d: %s", cpu,
	              ps_attribution_name(label));
	return count;
}

static void *run_worker(void *unused)
{
	char byte = 0;

	/* The first time these calls meet code. */
	check_ok(ps_profile_join(profile));
	ck_assert_int_eq(write(worker.ready[1], &byte, 1), 1);
	ck_assert_int_eq(read(worker.go_on[0], &byte, 1), 1);
	wander_settle(&worker.pages);
	worker.work();
	worker.strays = wander_strays(&worker.pages);
	ck_assert_int_eq(write(worker.ready[1], &byte, 1), 1);
	ck_assert_int_eq(read(worker.go_on[0], &byte, 1), 1);
	while (ps_region_level(profile))
		check_ok(ps_region_close(profile, 0));
	return unused;
}

static void begin_worker(void (*work)(void), enum ps_attribution_mode mode, size_t pages)
{
	char byte = 0;

	model = wander_set(mode, 64);
	check_ok(ps_profile_create(&profile, model, here.root));
	wander_create(&worker.pages, pages);
	worker.work = work;
	ck_assert_int_eq(pipe(worker.ready) | pipe(worker.go_on), 0);
	ck_assert_int_eq(pthread_create(&worker.thread, NULL, run_worker, NULL), 0);
	ck_assert_int_eq(read(worker.ready[0], &byte, 1), 1);
	ck_assert_int_eq(write(worker.go_on[1], &byte, 1), 1);
}

static void await_worker(void)
{
	char byte;

	ck_assert_int_eq(read(worker.ready[0], &byte, 1), 1);
}

/* The worker's counts are whole, and no more than that. */
static void end_worker(long long before)
{
	char byte = 0;
	long long residual = -1;

	ck_assert_int_eq(write(worker.go_on[1], &byte, 1), 1);
	pthread_join(worker.thread, NULL);
	check_ok(ps_profile_check(profile, &residual, 1));
	ck_assert_int_eq(residual, 0);
	ck_assert_int_ge(total(), before);
	for (int end = 0; end < 2; end++) {
		close(worker.ready[end]);
		close(worker.go_on[end]);
	}
	wander_destroy(&worker.pages);
	ps_profile_destroy(profile);
	ps_eventset_destroy(model);
}

static const char *const path[] = {"outer", "inner"};

static void work_in_two_regions(void)
{
	check_ok(ps_region_enter(region("outer")));
	wander_touch(&worker.pages, 10);
	check_ok(ps_region_enter(region("inner")));
	wander_touch(&worker.pages, 20);
}

static void work_on_two_cpus(void)
{
	wander_move(wander_cpu(0));
	work_in_two_regions();
	wander_move(wander_cpu(1));
	wander_touch(&worker.pages, 5);
}

START_TEST(what_a_running_thread_counted_is_in_its_open_region)
{
	if (!wander_is_possible())
		return;
	begin_worker(work_on_two_cpus, PS_ATTRIBUTE_EXACT, 35);
	await_worker();
	struct ps_profile_faults faults = {.size = sizeof faults};
	check_ok(ps_profile_faults(profile, &faults));
	ck_assert_uint_eq(faults.inside, 0);
	wander_check_count(part_of(path, 1, -1), 10, worker.strays);
	if (wander_means() == WANDER_PER_CPU) {
		wander_check_count(part_of(path, 2, wander_cpu(0)), 20, worker.strays);
		wander_check_count(part_of(path, 2, wander_cpu(1)), 5, worker.strays);
	} else {
		/* A record of the move is in its ring: the thread alone takes it out. */
		long long sum = count_of(path, 2, -1, PS_SHARE_EXCLUSIVE, NULL);
		wander_check_count(sum, 25, worker.strays);
	}
	end_worker(total());
}
END_TEST

static void work_on_one_cpu(void)
{
	/* The set is of a thread that is bound. */
	check_ok(ps_profile_leave(profile));
	wander_move(wander_cpu(1));
	work_in_two_regions();
}

START_TEST(what_a_pinned_thread_counted_is_pinned)
{
	if (!wander_is_possible())
		return;
	begin_worker(work_on_one_cpu, PS_ATTRIBUTE_AUTO, 30);
	await_worker();
	wander_check_count(part_of(path, 1, wander_cpu(1)), 10, worker.strays);
	wander_check_count(part_of(path, 2, wander_cpu(1)), 20, worker.strays);
	wander_check_count(part_of(path, 2, -1), 20, worker.strays);
	end_worker(total());
}
END_TEST

/* The last boundary is on CPU 1. What comes behind it is counted somewhere. */
static void work_and_leave_the_cpu(void)
{
	check_ok(ps_profile_leave(profile));
	wander_move(wander_cpu(1));
	work_in_two_regions();
	check_ok(ps_region_leave(region("inner")));
	wander_move(wander_cpu(0));
	wander_touch(&worker.pages, 5);
}

START_TEST(counts_that_are_somewhere_leave_no_part_of_their_path_pinned)
{
	enum ps_attribution label = PS_ATTRIBUTION_EXACT;

	if (!wander_is_possible())
		return;
	begin_worker(work_and_leave_the_cpu, PS_ATTRIBUTE_AUTO, 35);
	await_worker();
	wander_check_count(count_of(path, 1, -1, PS_SHARE_EXCLUSIVE, &label), 15, worker.strays);
	ck_assert_int_eq((int)label, PS_ATTRIBUTION_LAST_CPU);
	count_of(path, 1, wander_cpu(1), PS_SHARE_EXCLUSIVE, &label);
	ck_assert_int_eq((int)label, PS_ATTRIBUTION_LAST_CPU);
	label = PS_ATTRIBUTION_EXACT;
	count_of(path, 1, wander_cpu(1), PS_SHARE_INCLUSIVE, &label);
	ck_assert_int_eq((int)label, PS_ATTRIBUTION_LAST_CPU);
	/* The inner region was left before. */
	wander_check_count(part_of(path, 2, wander_cpu(1)), 20, worker.strays);
	end_worker(total());
}
END_TEST

/* That it is chosen has the odds of 1 to a million. */
static void work_in_a_sampled_region(void)
{
	check_ok(ps_region_set_one_in(region("rare"), 1000000));
	check_ok(ps_region_enter(region("rare")));
	wander_touch(&worker.pages, 30);
	check_ok(ps_region_leave(region("rare")));
}

START_TEST(visits_that_are_not_counted_are_outside_any_region)
{
	if (!wander_is_possible())
		return;
	begin_worker(work_in_a_sampled_region, PS_ATTRIBUTE_EXACT, 30);
	await_worker();
	ck_assert_int_ge(total(), 30);
	ck_assert_int_ge(count_of(NULL, 0, -1, PS_SHARE_EXCLUSIVE, NULL), 30);
	end_worker(total());
}
END_TEST

static atomic_bool is_done;

static void work_all_the_time(void)
{
	struct ps_region *outer = region("outer"), *inner = region("inner");

	for (int visit = 0; visit < VISITS; visit++) {
		check_ok(ps_region_enter(outer));
		check_ok(ps_region_enter(inner));
		wander_touch(&worker.pages, 1);
		check_ok(ps_region_leave(inner));
		check_ok(ps_region_leave(outer));
	}
	atomic_store(&is_done, true);
}

/* Looked at all the time, by another thread. */
START_TEST(a_busy_threads_counts_come_once)
{
	const char *obstacle = wander_obstacle_to_means();
	long long before = 0;

	if (!ps_test_may_run(obstacle))
		return;
	atomic_store(&is_done, false);
	begin_worker(work_all_the_time, PS_ATTRIBUTE_EXACT, VISITS);
	while (!atomic_load(&is_done)) {
		long long now = total();
		ck_assert_int_ge(now, before);
		before = now;
	}
	await_worker();
	if (!wander_has_thread_sanitizer()) {
		wander_check_count(part_of(path, 2, -1), VISITS, worker.strays);
		ck_assert_int_ge(total(), VISITS);
	}
	end_worker(before);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_test(tests, what_a_running_thread_counted_is_in_its_open_region);
	tcase_add_test(tests, what_a_pinned_thread_counted_is_pinned);
	tcase_add_test(tests, counts_that_are_somewhere_leave_no_part_of_their_path_pinned);
	tcase_add_test(tests, visits_that_are_not_counted_are_outside_any_region);
	tcase_add_test(tests, a_busy_threads_counts_come_once);
}

int main(void)
{
	return wander_run("region running", add, add);
}

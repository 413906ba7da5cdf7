/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: their threads, what can go wrong at a boundary, and bad arguments. */
#include "base/os.h"
#include "region/profile.h"
#include "support/regions.h"
#include "support/sanitizer.h"
#include "support/skip.h"

#include <errno.h>
#include <perfsage/marks.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The counts of a boundary at which the counters could not be read are not lost. */
START_TEST(a_failed_boundary_loses_nothing)
{
	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer"), *inner = region("inner");
	check_ok(ps_region_enter(outer));
	fake_advance(PAGE_FAULTS, 5);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_enter(inner), PS_OK);
	ck_assert_uint_eq(ps_region_level(regions.profile), 2);
	ck_assert_int_ne(ps_region_leave(inner), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	ck_assert_uint_eq(faults_of_profile().failed, 2);
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_region_leave(outer));
	take_paths();
	ck_assert_int_eq(all("", -1), 12);
	ck_assert_int_eq(own("outer", -1), 12);
	ck_assert_uint_eq(visits_of("outer/inner").count, 1);
	check_ok(ps_profile_leave(regions.profile));
	ck_assert_int_eq(scene_total(EVENT).value, 12);
	regions_end();
}
END_TEST

/* Time went by in the region, and nobody knows how much of it on a CPU: not 0. */
START_TEST(the_time_on_a_cpu_is_unknown_where_no_counter_was_read)
{
	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_profile_join(regions.profile));
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_enter(region("outer")), PS_OK);
	ck_assert_int_ne(ps_region_leave(region("outer")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	take_paths();
	ck_assert_uint_eq(visits_of("outer").count, 1);
	ck_assert_uint_gt(visits_of("outer").wall_ns, 0);
	ck_assert_uint_eq(visits_of("outer").on_cpu_ns, UINT64_MAX);
	/* The path around has what the region counted, and can't tell its own part either. */
	ck_assert_uint_eq(visits_of("").on_cpu_ns, UINT64_MAX);
	regions_end();
}
END_TEST

/* One allocation after the other fails: what was counted is there, in some path. */
START_TEST(without_memory_nothing_is_lost)
{
	unsigned failures = 0;

	for (unsigned nth = 1; nth < 60; nth++) {
		regions_begin(EVENT, "minor-faults", NULL);
		struct ps_region *outer = region("outer"), *inner = region("inner");
		check_ok(ps_profile_join(regions.profile));
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		fake_advance(PAGE_FAULTS, 1);
		bool has_outer =
		    ps_region_enter(outer) == PS_OK || ps_region_level(regions.profile) == 1;
		fake_set_cpu(1);
		fake_advance(PAGE_FAULTS, 2);
		bool has_inner = ps_region_enter(inner) == PS_OK ||
		                 ps_region_level(regions.profile) == has_outer + 1u;
		fake_advance(PAGE_FAULTS, 4);
		failures += !has_inner || !has_outer;
		if (has_inner)
			ps_region_leave(inner);
		if (has_outer)
			ps_region_leave(outer);
		if (ps_paths_create(&regions.paths, regions.profile) != PS_OK)
			failures++;
		ps_profile_leave(regions.profile);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		take_paths();
		ck_assert_int_eq(all("", -1), 7);
		ck_assert_int_eq(scene_total(EVENT).value, 7 * (long long)nth);
		regions_end();
		fake_set_cpu(0);
	}
	ck_assert_uint_gt(failures, 5);
}
END_TEST

/* A thread without descriptors is told, with the reason, and does not try at each visit. */
START_TEST(a_thread_that_cannot_be_counted_is_told)
{
	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer");

	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(outer), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	fake_count_reset();
	ck_assert_int_ne(ps_region_enter(outer), PS_OK);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "ps_profile_join"));
	ck_assert_uint_eq(fake_count(FAKE_PERF_EVENT_OPEN), 0);
	ck_assert_int_eq(ps_region_leave(outer), PS_EINVAL);
	ck_assert_int_eq(ps_region_leave(outer), PS_EINVAL);
	struct ps_profile_faults faults = faults_of_profile();
	ck_assert_uint_eq(faults.uncounted, 2);
	ck_assert_uint_eq(faults.unmatched, 0);
	ck_assert_ptr_nonnull(strstr(faults.uncounted_why, "descriptors"));

	check_ok(ps_profile_join(regions.profile));
	check_ok(ps_region_enter(outer));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_region_leave(outer));
	take_paths();
	ck_assert_int_eq(own("outer", -1), 3);
	ck_assert_uint_eq(faults_of_profile().uncounted, 2);
	regions_end();
}
END_TEST

struct guest {
	pthread_barrier_t met;
	int number;
};

static void *stay_inside(void *argument)
{
	struct guest *guest = argument;
	struct ps_region *outer = region("outer");

	if (guest->number > 0)
		check_ok(ps_region_enter(outer));
	else
		check_ok(ps_profile_join(regions.profile));
	pthread_barrier_wait(&guest->met);
	pthread_barrier_wait(&guest->met);
	if (guest->number > 0)
		check_ok(ps_region_leave(outer));
	return NULL;
}

/* Threads are told if their counters can't be read, inside a region and outside of any; the caller
 * is not. */
START_TEST(threads_whose_counters_cant_be_read_are_told)
{
	struct guest guests[2] = {{.number = 0}, {.number = 1}};
	pthread_t threads[2];

	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_region_enter(region("outer")));
	for (int i = 0; i < 2; i++) {
		pthread_barrier_init(&guests[i].met, NULL, 2);
		ck_assert_int_eq(pthread_create(&threads[i], NULL, stay_inside, &guests[i]), 0);
		pthread_barrier_wait(&guests[i].met);
	}
	ck_assert_uint_eq(faults_of_profile().inside, 0);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_uint_eq(faults_of_profile().inside, 2);
	fake_fail_always(FAKE_READ, 0);
	for (int i = 0; i < 2; i++) {
		pthread_barrier_wait(&guests[i].met);
		pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&guests[i].met);
	}
	ck_assert_uint_eq(faults_of_profile().inside, 0);
	check_ok(ps_region_leave(region("outer")));
	regions_end();
}
END_TEST

#define MILLISECOND UINT64_C(1000000)

/* What switched the counters off is found when they are stopped; any path may lack something. */
START_TEST(counters_that_were_off_are_told_of_all_paths)
{
	fake_set_clock(1000 * MILLISECOND, 1000);
	fake_set_usage(400 * MILLISECOND, 70);
	regions_begin(EVENT, NULL);
	check_ok(ps_region_enter(region("a")));
	fake_advance(PAGE_FAULTS, 5);
	fake_run(10 * MILLISECOND, 10 * MILLISECOND);
	check_ok(ps_region_leave(region("a")));
	fake_set_clock(1060 * MILLISECOND, 1000);
	fake_set_usage((400 + 60 * (uint64_t)_i) * MILLISECOND, 70);
	check_ok(ps_profile_leave(regions.profile));
	take_paths();
	ck_assert_int_eq(own("a", -1), 5);
	ck_assert_int_eq((value_of("a", -1, PS_SHARE_EXCLUSIVE).flags & PS_VALUE_INTERRUPTED) != 0,
	                 _i);
	ck_assert_int_eq((value_of("", -1, PS_SHARE_EXCLUSIVE).flags & PS_VALUE_INTERRUPTED) != 0,
	                 _i);
	regions_end();
}
END_TEST

START_TEST(without_any_event_the_time_on_a_cpu_is_unknown)
{
	struct ps_eventset *lacking = NULL;

	check_ok(ps_eventset_create(&lacking));
	check_ok(ps_eventset_add_optional(lacking, "instructions"));
	check_ok(ps_profile_create(&regions.profile, lacking, scene.root));
	ps_eventset_destroy(lacking);
	check_ok(ps_region_enter(region("a")));
	check_ok(ps_region_leave(region("a")));
	for (int turn = 0; turn < 2; turn++) {
		struct ps_value value;
		take_paths();
		ck_assert_uint_eq(visits_of("a").on_cpu_ns, UINT64_MAX);
		check_ok(ps_path_values(path_of("a"), scene.root, PS_SHARE_EXCLUSIVE, &value, 1));
		ck_assert_int_eq((int)value.status, PS_STATUS_NOT_SUPPORTED);
		if (turn == 0)
			check_ok(ps_profile_leave(regions.profile));
	}
	regions_end();
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	struct ps_profile *other = NULL;
	struct ps_region *out = NULL;
	struct ps_value value[2];
	struct ps_visits visits = {.size = 1};

	regions_begin(EVENT, "minor-faults", NULL);
	check_fails(ps_profile_create(NULL, regions.model, scene.root), PS_EINVAL);
	check_fails(ps_profile_create(&other, NULL, scene.root), PS_EINVAL);
	check_fails(ps_profile_create(&other, regions.model, NULL), PS_EINVAL);
	check_fails(ps_profile_create(&other, regions.model, ps_component_child(scene.root, 0)),
	            PS_EINVAL);
	struct ps_eventset *empty;
	check_ok(ps_eventset_create(&empty));
	check_fails(ps_profile_create(&other, empty, scene.root), PS_EINVAL);
	check_ok(ps_eventset_add(empty, EVENT));
	check_ok(ps_eventset_attach_cpu(empty, 0));
	check_fails(ps_profile_create(&other, empty, scene.root), PS_ENOSUPP);
	ps_eventset_destroy(empty);
	ck_assert_ptr_null(other);
	check_fails(ps_region_define(&out, regions.profile, ""), PS_EINVAL);
	check_fails(ps_region_define(&out, regions.profile, NULL), PS_EINVAL);
	check_fails(ps_region_define(NULL, regions.profile, "a"), PS_EINVAL);
	check_fails(ps_region_define(&out, NULL, "a"), PS_EINVAL);
	check_fails(ps_region_enter(NULL), PS_EINVAL);
	check_fails(ps_region_leave(NULL), PS_EINVAL);
	check_fails(ps_region_close(NULL, 0), PS_EINVAL);
	check_fails(ps_profile_join(NULL), PS_EINVAL);
	check_fails(ps_profile_leave(NULL), PS_EINVAL);
	check_fails(ps_paths_create(NULL, regions.profile), PS_EINVAL);
	check_fails(ps_paths_create(&regions.paths, NULL), PS_EINVAL);
	ck_assert_uint_eq(ps_region_level(NULL), 0);
	check_ok(ps_region_enter(region("a")));
	check_ok(ps_region_leave(region("a")));
	take_paths();
	const struct ps_path *a = path_of("a");
	check_fails(ps_path_value(NULL, scene.root, EVENT, PS_SHARE_EXCLUSIVE, value), PS_EINVAL);
	check_fails(ps_path_value(a, NULL, EVENT, PS_SHARE_EXCLUSIVE, value), PS_EINVAL);
	check_fails(ps_path_value(a, scene.root, NULL, PS_SHARE_EXCLUSIVE, value), PS_EINVAL);
	check_fails(ps_path_value(a, scene.root, EVENT, (enum ps_share)7, value), PS_EINVAL);
	check_fails(ps_path_value(a, scene.root, EVENT, PS_SHARE_EXCLUSIVE, NULL), PS_EINVAL);
	check_fails(ps_path_value(a, scene.root, "cycles", PS_SHARE_EXCLUSIVE, value), PS_ENOEVNT);
	check_detail("'cycles'");
	check_fails(ps_path_value(a, ps_thread_component(ps_topology_thread(scene.topology, 3)),
	                          EVENT, PS_SHARE_EXCLUSIVE, value),
	            PS_ENOEVST);
	check_fails(ps_path_values(a, scene.root, PS_SHARE_EXCLUSIVE, value, 1), PS_EBUF);
	check_ok(ps_path_values(a, scene.root, PS_SHARE_EXCLUSIVE, value, 2));
	check_fails(ps_path_visits(a, &visits), PS_EINVAL);
	check_fails(
	    ps_paths_region_value(regions.paths, "b", scene.root, EVENT, PS_SHARE_EXCLUSIVE, value),
	    PS_ENOEVST);
	ck_assert_ptr_null(ps_path_find(ps_paths_root(regions.paths), NULL, 1));
	ps_paths_destroy(NULL);
	ps_profile_destroy(NULL);
	regions_end();
}
END_TEST

/* The child's calls leave the parent's counts alone. */
START_TEST(in_a_forked_child_the_profile_is_the_parents)
{
	int status = -1;

	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer");
	check_ok(ps_region_enter(outer));
	fake_advance(PAGE_FAULTS, 5);
	pid_t pid = fork();
	if (pid == 0) {
		bool is_refused = ps_region_leave(outer) == PS_ECLOST &&
		                  ps_region_enter(outer) == PS_ECLOST &&
		                  ps_region_level(regions.profile) == 0 &&
		                  ps_paths_create(&regions.paths, regions.profile) == PS_ECLOST &&
		                  strstr(ps_error_detail(), "create one here") &&
		                  ps_profile_leave(regions.profile) == PS_ECLOST;
		ps_profile_destroy(regions.profile);
		_exit(is_refused ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	check_ok(ps_region_leave(outer));
	take_paths();
	ck_assert_int_eq(own("outer", -1), 5);
	regions_end();
}
END_TEST

static int (*close_unseen)(int fd);
static struct ps_region *entered_at_close;
static unsigned closes, refusals;

/* As a signal handler that comes while a thread's set is destroyed. */
static int close_and_enter(int fd)
{
	closes++;
	refusals += ps_region_enter(entered_at_close) == PS_ECNFLCT;
	return close_unseen(fd);
}

static void *visit_and_end(void *argument)
{
	check_ok(ps_region_enter(argument));
	check_ok(ps_region_leave(argument));
	close_unseen = ps__os.close;
	ps__os.close = close_and_enter;
	return NULL;
}

static void check_all_were_refused(void)
{
	ps__os.close = close_unseen;
	ck_assert_uint_gt(closes, 0);
	ck_assert_uint_eq(refusals, closes);
	ck_assert_uint_eq(faults_of_profile().left_open, 0);
}

/* What is being released is not entered. */
START_TEST(a_handler_at_the_end_of_a_thread_is_refused)
{
	pthread_t thread;

	closes = refusals = 0;
	regions_begin(EVENT, "minor-faults", NULL);
	entered_at_close = region("late");
	pthread_create(&thread, NULL, visit_and_end, entered_at_close);
	pthread_join(thread, NULL);
	check_all_were_refused();
	ck_assert_uint_eq(faults_of_profile().in_handler, closes);
	check_ok(ps_region_enter(entered_at_close));
	regions_end();
}
END_TEST

static void pass_new_mark_after_a_jump(void)
{
	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_profile_listen(regions.profile));
	visit_counting(region("before"), 1);
	ps__own.is_inside = true;
	ps__stack_noted = PS__STACK_LEFT;
	PS_REGION("after")
	{
		fake_advance(PAGE_FAULTS, 5);
	}
	take_paths();
	ck_assert_uint_eq(visits_of("after").count, 1);
	ck_assert_int_eq(own("after", -1), 5);
	ck_assert_uint_eq(faults_of_profile().in_handler, 0);
}

/* The name of the mark is kept until the process ends, so a child has it. */
START_TEST(a_mark_with_a_new_name_is_heard_after_a_jump_left_a_call)
{
	int status;

	if (PS_TEST_HAS_THREAD_SANITIZER) {
		ps_test_skip("with ThreadSanitizer no call is known to be left");
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		pass_new_mark_after_a_jump();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_thread_that_cannot_be_counted_is_told);
	tcase_add_test(tests, threads_whose_counters_cant_be_read_are_told);
	tcase_add_test(tests, a_handler_at_the_end_of_a_thread_is_refused);
	tcase_add_test(tests, a_failed_boundary_loses_nothing);
	tcase_add_test(tests, the_time_on_a_cpu_is_unknown_where_no_counter_was_read);
	tcase_add_test(tests, without_memory_nothing_is_lost);
}

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tests = scene_case(suite, "once");

	tcase_add_loop_test(tests, counters_that_were_off_are_told_of_all_paths, 0, 2);
	tcase_add_test(tests, bad_arguments_are_refused);
	tcase_add_test(tests, without_any_event_the_time_on_a_cpu_is_unknown);
	tcase_add_test(tests, in_a_forked_child_the_profile_is_the_parents);
	tcase_add_test(tests, a_mark_with_a_new_name_is_heard_after_a_jump_left_a_call);
	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_records(suite, "records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions whose counts could not all be read: paths that lack some, and those that have others'. */
#include "region/boundary.h"
#include "support/regions.h"

#include <errno.h>
#include <pthread.h>

static void expect_count(const char *names, enum ps_share share, long long count,
                         enum ps_status status)
{
	struct ps_value value = value_of(names, -1, share);

	ck_assert_int_eq(value.value, count);
	ck_assert_int_eq(value.status, status);
}

/* "inner" has 32 page faults, of which 30 are not read at its end; 400 follow in "outer". */
static void lose_the_end_of_inner(void)
{
	check_ok(ps_region_enter(region("outer")));
	visit_counting(region("inner"), 2);
	check_ok(ps_region_enter(region("inner")));
	fake_advance(PAGE_FAULTS, 30);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_leave(region("inner")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	fake_advance(PAGE_FAULTS, 400);
}

/* The counts before and after go to the region around, and neither one is called exact. */
START_TEST(a_region_without_a_reading_at_its_end_lacks_counts)
{
	regions_begin(EVENT, "minor-faults", NULL);
	lose_the_end_of_inner();
	check_ok(ps_region_leave(region("outer")));
	visit_counting(region("other"), 5000);
	take_paths();
	expect_count("outer/inner", PS_SHARE_EXCLUSIVE, 2, PS_STATUS_INCOMPLETE);
	expect_count("outer", PS_SHARE_EXCLUSIVE, 430, PS_STATUS_SCALED);
	expect_count("outer", PS_SHARE_INCLUSIVE, 432, PS_STATUS_INCOMPLETE);
	expect_count("other", PS_SHARE_INCLUSIVE, 5000, PS_STATUS_COUNTED);
	expect_count("", PS_SHARE_EXCLUSIVE, 0, PS_STATUS_COUNTED);
	ck_assert_uint_eq(visits_of("outer/inner").on_cpu_ns, UINT64_MAX);
	regions_end();
}
END_TEST

START_TEST(a_region_without_a_reading_at_its_beginning_lacks_counts)
{
	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_region_enter(region("outer")));
	visit_counting(region("inner"), 2);
	fake_advance(PAGE_FAULTS, 30);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_enter(region("inner")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	fake_advance(PAGE_FAULTS, 400);
	check_ok(ps_region_leave(region("inner")));
	check_ok(ps_region_leave(region("outer")));
	take_paths();
	expect_count("outer/inner", PS_SHARE_EXCLUSIVE, 2, PS_STATUS_INCOMPLETE);
	expect_count("outer", PS_SHARE_EXCLUSIVE, 430, PS_STATUS_SCALED);
	expect_count("outer", PS_SHARE_INCLUSIVE, 432, PS_STATUS_INCOMPLETE);
	regions_end();
}
END_TEST

START_TEST(a_thread_that_can_not_be_read_any_more_lacks_counts)
{
	regions_begin(EVENT, "minor-faults", NULL);
	visit_counting(region("before"), 2);
	check_ok(ps_region_enter(region("outer")));
	visit_counting(region("inner"), 30);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_profile_leave(regions.profile), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	take_paths();
	expect_count("before", PS_SHARE_INCLUSIVE, 2, PS_STATUS_COUNTED);
	expect_count("outer/inner", PS_SHARE_INCLUSIVE, 30, PS_STATUS_COUNTED);
	expect_count("outer", PS_SHARE_INCLUSIVE, 30, PS_STATUS_INCOMPLETE);
	expect_count("", PS_SHARE_EXCLUSIVE, 0, PS_STATUS_INCOMPLETE);
	regions_end();
}
END_TEST

/* The visit goes on in another path, and its first part could not be read. */
START_TEST(a_path_told_apart_without_a_reading_lacks_counts)
{
	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_profile_set_group(regions.profile, "level"));
	for (int turn = 0; turn < 2; turn++) {
		check_ok(ps_region_enter(region("cycle")));
		check_ok(ps_region_add_value(region("level"), 1));
		fake_advance(PAGE_FAULTS, 1000);
		fake_fail_always(FAKE_READ, turn ? EIO : 0);
		ck_assert_int_eq(ps_region_add_value(region("level"), 2) == PS_OK, turn == 0);
		fake_fail_always(FAKE_READ, 0);
		fake_advance(PAGE_FAULTS, 7);
		check_ok(ps_region_leave(region("cycle")));
	}
	take_paths();
	expect_count("cycle[level=1]", PS_SHARE_EXCLUSIVE, 1000, PS_STATUS_INCOMPLETE);
	expect_count("cycle[level=2]", PS_SHARE_EXCLUSIVE, 7, PS_STATUS_INCOMPLETE);
	expect_count("", PS_SHARE_EXCLUSIVE, 1007, PS_STATUS_SCALED);
	expect_count("", PS_SHARE_INCLUSIVE, 2014, PS_STATUS_INCOMPLETE);
	regions_end();
}
END_TEST

static void *visit_unread(void *context)
{
	(void)context;
	fake_set_cpu(2);
	check_ok(ps_region_enter(region("inner")));
	fake_advance(PAGE_FAULTS, 30);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_leave(region("inner")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	check_ok(ps_profile_leave(regions.profile));
	return NULL;
}

static void *visit_read(void *context)
{
	(void)context;
	fake_set_cpu(1);
	visit_counting(region("inner"), 100);
	check_ok(ps_profile_leave(regions.profile));
	return NULL;
}

static void run_thread(void *(*work)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* The thread whose counts are missing has none at all in the path. */
START_TEST(what_one_thread_lacks_the_path_lacks)
{
	regions_begin(EVENT, "minor-faults", NULL);
	run_thread(visit_read);
	take_paths();
	expect_count("inner", PS_SHARE_EXCLUSIVE, 100, PS_STATUS_COUNTED);
	ps_paths_destroy(regions.paths);
	regions.paths = NULL;
	run_thread(visit_unread);
	take_paths();
	expect_count("inner", PS_SHARE_EXCLUSIVE, 100, PS_STATUS_INCOMPLETE);
	expect_count("", PS_SHARE_EXCLUSIVE, 30, PS_STATUS_SCALED);
	regions_end();
}
END_TEST

/* Half of the time the counter was elsewhere: of 100 counted, 200 is no lower bound. */
START_TEST(a_lower_bound_is_of_what_was_counted)
{
	struct ps_value value;

	fake_add_core_pmu(4);
	regions_begin(EVENT, "instructions", NULL);
	check_ok(ps_region_enter(region("inner")));
	fake_run(1000000, 500000);
	fake_advance(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 100);
	check_ok(ps_region_leave(region("inner")));
	check_ok(ps_region_enter(region("inner")));
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_leave(region("inner")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	take_paths();
	check_ok(ps_path_value(path_of("inner"), scene.root, "instructions", PS_SHARE_EXCLUSIVE,
	                       &value));
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value.value, 100);
	regions_end();
}
END_TEST

static pthread_barrier_t turn;

static void wait_turn(void)
{
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
}

/* Looked at behind a boundary that failed, at the end of "inner" and then at its beginning. */
static void *go_on_unread(void *context)
{
	(void)context;
	fake_set_cpu(1);
	lose_the_end_of_inner();
	wait_turn();
	check_ok(ps_region_leave(region("outer")));
	check_ok(ps_region_enter(region("around")));
	fake_advance(PAGE_FAULTS, 5);
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_enter(region("inside")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	fake_advance(PAGE_FAULTS, 6);
	wait_turn();
	check_ok(ps_profile_leave(regions.profile));
	return NULL;
}

static void expect_doubt(void)
{
	take_paths();
	expect_count("outer/inner", PS_SHARE_EXCLUSIVE, 2, PS_STATUS_INCOMPLETE);
	expect_count("outer", PS_SHARE_EXCLUSIVE, 430, PS_STATUS_SCALED);
	ck_assert_uint_eq(visits_of("outer").on_cpu_ns, UINT64_MAX);
}

START_TEST(a_running_thread_whose_boundary_failed_is_in_doubt)
{
	pthread_t thread;

	regions_begin(EVENT, "minor-faults", NULL);
	pthread_barrier_init(&turn, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, go_on_unread, NULL), 0);
	pthread_barrier_wait(&turn);
	expect_doubt();
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	expect_doubt();
	expect_count("around", PS_SHARE_EXCLUSIVE, 11, PS_STATUS_SCALED);
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	take_paths();
	expect_count("around", PS_SHARE_EXCLUSIVE, 11, PS_STATUS_SCALED);
	pthread_barrier_destroy(&turn);
	regions_end();
}
END_TEST

/* As a jump out of a handler leaves a boundary. */
static void *stay_in_boundary(void *context)
{
	(void)context;
	for (int visit = 0; visit < 10; visit++)
		visit_counting(region("before"), 0);
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 1000);
	ck_assert(ps__own.member->fast->set.calls != NULL);
	__atomic_store_n(&ps__own.member->fast->set.calls->busy, 16, __ATOMIC_RELEASE);
	wait_turn();
	__atomic_store_n(&ps__own.member->fast->set.calls->busy, 0, __ATOMIC_RELEASE);
	check_ok(ps_profile_leave(regions.profile));
	return NULL;
}

/* Its counts since then can't be told, and that is said. */
START_TEST(a_thread_that_left_a_boundary_is_inside)
{
	pthread_t thread;

	regions_begin(EVENT, NULL);
	pthread_barrier_init(&turn, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, stay_in_boundary, NULL), 0);
	pthread_barrier_wait(&turn);
	take_paths();
	ck_assert_int_eq(all("", -1), 0);
	ck_assert_uint_eq(faults_of_profile().inside, 1);
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	take_paths();
	ck_assert_int_eq(all("", -1), 1000);
	ck_assert_uint_eq(faults_of_profile().inside, 0);
	pthread_barrier_destroy(&turn);
	regions_end();
}
END_TEST

/* The records of a later move split its visit, and CPU 3 has its first counts in that visit. */
START_TEST(lost_records_leave_the_labels_of_later_visits)
{
	regions_begin(EVENT, NULL);
	check_ok(ps_region_enter(region("lost")));
	for (int i = 0; i < 2000; i++)
		scene_count_on(1 + i % 2, 3);
	check_ok(ps_region_leave(region("lost")));
	check_ok(ps_region_enter(region("moved")));
	scene_count_on(2, 5);
	scene_count_on(3, 7);
	check_ok(ps_region_leave(region("moved")));
	take_paths();
	ck_assert_int_eq(own("lost", -1), 6000);
	ck_assert_int_eq(value_of("lost", -1, PS_SHARE_EXCLUSIVE).attribution,
	                 PS_ATTRIBUTION_LAST_CPU);
	for (int cpu = 2; cpu < 4; cpu++) {
		ck_assert_int_eq(own("moved", cpu), cpu == 2 ? 5 : 7);
		ck_assert_int_eq(value_of("moved", cpu, PS_SHARE_EXCLUSIVE).attribution,
		                 PS_ATTRIBUTION_EXACT);
	}
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_region_without_a_reading_at_its_end_lacks_counts);
	tcase_add_test(tests, a_region_without_a_reading_at_its_beginning_lacks_counts);
	tcase_add_test(tests, a_thread_that_can_not_be_read_any_more_lacks_counts);
	tcase_add_test(tests, a_path_told_apart_without_a_reading_lacks_counts);
	tcase_add_test(tests, a_running_thread_whose_boundary_failed_is_in_doubt);
}

int main(void)
{
	Suite *suite = suite_create("region doubt");
	TCase *tests = scene_case(suite, "once");
	TCase *last_cpu = scene_case_last_cpu(suite, "last-cpu");

	tcase_add_test(tests, what_one_thread_lacks_the_path_lacks);
	add_tests(scene_case(suite, "automatic"));
	TCase *instances = scene_case_instances(suite, "per-CPU");
	add_tests(instances);
	tcase_add_test(instances, a_thread_that_left_a_boundary_is_inside);
	TCase *records = scene_case_records(suite, "records");
	add_tests(records);
	tcase_add_test(records, lost_records_leave_the_labels_of_later_visits);
	add_tests(last_cpu);
	tcase_add_test(last_cpu, a_lower_bound_is_of_what_was_counted);
	return scene_run(suite);
}

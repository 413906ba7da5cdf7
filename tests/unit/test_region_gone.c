/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that are gone, and whose profile was not told: it has their counts, and keeps none of
 * their descriptors. */
#include "base/os.h"
#include "region/profile.h"
#include "support/regions.h"
#include "support/sanitizer.h"
#include "support/skip.h"

#include <pthread.h>
#include <semaphore.h>

#define THREADS 10
#define LATER   UINT64_C(100000000000)

static pthread_key_t key;

static void begin(void)
{
	fake_set_clock(UINT64_C(1000000000), 1000);
	regions_begin(EVENT, NULL);
}

/* Waits, as a program does that goes on for long: no thread that is gone gets that time. */
static void check_times(void)
{
	for (int times = 0; times < 2; times++) {
		fake_set_clock(ps__os_now_ns() + LATER, 1000);
		take_paths();
		ck_assert_uint_lt(visits_of("").wall_ns + visits_of("").inside_ns, LATER);
	}
}

static void *work(void *times)
{
	pthread_setspecific(key, times);
	visit_counting(region("work"), 5);
	return NULL;
}

/* A destructor with marks, which comes again as often as the C library lets it. The fake thread has
 * ended before: it counts no more. */
static void clean_up(void *times)
{
	const char *left = times;

	check_ok(ps_region_enter(region("cleanup")));
	check_ok(ps_region_leave(region("cleanup")));
	if (*left)
		pthread_setspecific(key, left + 1);
}

/* As syscall(SYS_exit): no destructor runs, and what comes after the last mark is counted. */
static void *work_and_exit(void *unused)
{
	visit_counting(region("work"), 5);
	fake_advance(PAGE_FAULTS, 7);
	pthread_setspecific(regions.profile->key.id, NULL);
	return unused;
}

static void *exit_inside(void *unused)
{
	check_ok(ps_region_enter(region("work")));
	fake_advance(PAGE_FAULTS, 5);
	pthread_setspecific(regions.profile->key.id, NULL);
	return unused;
}

static void run_threads(void *(*run)(void *argument), void *argument)
{
	for (int number = 0; number < THREADS; number++) {
		pthread_t thread;
		ck_assert_int_eq(pthread_create(&thread, NULL, run, argument), 0);
		pthread_join(thread, NULL);
		/* The member of the last one, and nobody's else. */
		ck_assert_ptr_nonnull(regions.profile->members);
		ck_assert_ptr_null(regions.profile->members->next);
	}
}

START_TEST(a_mark_in_the_last_destructor_of_a_thread_is_counted)
{
	static const char three_more[] = "123";

	if (PS_TEST_HAS_THREAD_SANITIZER) {
		ps_test_skip("ThreadSanitizer knows no thread in the last of its destructors");
		return;
	}
	begin();
	unsigned before = fake_open_fds();
	ck_assert_int_eq(pthread_key_create(&key, clean_up), 0);
	run_threads(work, (void *)three_more);
	check_times();
	ck_assert_uint_eq(fake_open_fds(), before);
	ck_assert_uint_eq(visits_of("work").count, THREADS);
	ck_assert_int_eq(own("work", -1), 5 * THREADS);
	ck_assert_uint_eq(visits_of("cleanup").count, 4 * THREADS);
	ck_assert_int_eq(all("", -1), 5 * THREADS);
	ck_assert_uint_eq(faults_of_profile().left_open, 0);
	ck_assert_uint_eq(faults_of_profile().uncounted, 0);
	ck_assert_uint_eq(ps__profile_threads(regions.profile), THREADS);
	pthread_key_delete(key);
	regions_end();
}
END_TEST

static sem_t has_come;

/* Comes while the one before lives, and is gone without having said so. */
static void *overlap(void *may_go)
{
	visit_counting(region("work"), 5);
	pthread_setspecific(regions.profile->key.id, NULL);
	sem_post(&has_come);
	sem_wait(may_go);
	return NULL;
}

/* The newest member always lives, so the next thread doesn't look further; until it lacks
 * descriptors. */
START_TEST(descriptors_of_threads_that_are_gone_go_to_a_new_one)
{
	pthread_t threads[2];
	sem_t may_go[2];

	begin();
	sem_init(&has_come, 0, 0);
	unsigned before = fake_open_fds();
	for (int number = 0; number < 2 * THREADS; number++) {
		int turn = number % 2;
		sem_init(&may_go[turn], 0, 0);
		ck_assert_int_eq(pthread_create(&threads[turn], NULL, overlap, &may_go[turn]), 0);
		sem_wait(&has_come);
		if (number == 0)
			fake_set_nofile(before + 8 * (fake_open_fds() - before));
		if (number > 0) {
			sem_post(&may_go[!turn]);
			pthread_join(threads[!turn], NULL);
		}
	}
	sem_post(&may_go[1]);
	pthread_join(threads[1], NULL);
	take_paths();
	ck_assert_uint_eq(fake_open_fds(), before);
	ck_assert_uint_eq(visits_of("work").count, 2 * THREADS);
	ck_assert_int_eq(own("work", -1), 5 * 2 * THREADS);
	ck_assert_uint_eq(faults_of_profile().uncounted, 0);
	regions_end();
}
END_TEST

START_TEST(a_thread_that_ends_by_exit_is_counted)
{
	size_t count;

	begin();
	check_ok(ps_profile_keep_threads(regions.profile));
	unsigned before = fake_open_fds();
	run_threads(work_and_exit, NULL);
	check_times();
	ck_assert_uint_eq(fake_open_fds(), before);
	ck_assert_uint_eq(visits_of("work").count, THREADS);
	ck_assert_int_eq(own("work", -1), 5 * THREADS);
	ck_assert_int_eq(own("", -1), 7 * THREADS);
	check_ok(ps_profile_threads(regions.profile, NULL, 0, &count));
	ck_assert_uint_eq(count, THREADS);
	regions_end();
}
END_TEST

/* The visit goes on for ever: it is no visit, and its counts are there. */
START_TEST(a_thread_that_ends_inside_a_region_is_counted)
{
	begin();
	run_threads(exit_inside, NULL);
	check_times();
	ck_assert_int_eq(own("work", -1), 5 * THREADS);
	ck_assert_int_eq(all("", -1), 5 * THREADS);
	ck_assert_uint_eq(faults_of_profile().left_open, THREADS);
	regions_end();
}
END_TEST

/* A member with the number of the thread that comes is another thread's. */
START_TEST(a_number_that_is_given_again_is_a_new_thread)
{
	begin();
	pthread_t thread;
	ck_assert_int_eq(pthread_create(&thread, NULL, work_and_exit, NULL), 0);
	pthread_join(thread, NULL);
	regions.profile->members->tid = ps__os.gettid();
	visit_counting(region("work"), 1);
	ck_assert_ptr_null(regions.profile->members->next);
	take_paths();
	ck_assert_uint_eq(visits_of("work").count, 2);
	ck_assert_int_eq(own("work", -1), 6);
	ck_assert_int_eq(all("", -1), 13);
	regions_end();
}
END_TEST

static void *left_behind; /* what the thread that is gone had under the profile's key */

/* Gets the stack of the thread that is gone, and with it the key's value, as from the C library. */
static void *inherit(void *unused)
{
	pthread_setspecific(regions.profile->key.id, left_behind);
	ck_assert_uint_eq(ps_region_level(regions.profile), 0);
	check_ok(ps_region_enter(region("open")));
	visit_counting(region("work"), 5);
	left_behind = pthread_getspecific(regions.profile->key.id);
	pthread_setspecific(regions.profile->key.id, NULL);
	return unused;
}

/* Has no region, so that at its end the key still has the value. */
static void *inherit_only(void *unused)
{
	pthread_setspecific(regions.profile->key.id, left_behind);
	return unused;
}

START_TEST(a_thread_on_the_stack_of_one_that_is_gone_is_another_thread)
{
	begin();
	unsigned before = fake_open_fds();
	left_behind = NULL; /* an earlier profile's key has no values any more */
	run_threads(inherit, NULL);
	take_paths();
	ck_assert_ptr_null(regions.profile->members);
	pthread_t thread;
	ck_assert_int_eq(pthread_create(&thread, NULL, inherit_only, NULL), 0);
	pthread_join(thread, NULL);
	take_paths();
	ck_assert_uint_eq(fake_open_fds(), before);
	ck_assert_uint_eq(visits_of("open/work").count, THREADS);
	ck_assert_int_eq(all("", -1), 5 * THREADS);
	ck_assert_uint_eq(faults_of_profile().left_open, THREADS);
	ck_assert_uint_eq(ps__profile_threads(regions.profile), THREADS);
	regions_end();
}
END_TEST

/* A thread that is there is left alone. */
START_TEST(threads_that_go_on_are_not_ended)
{
	begin();
	visit_counting(region("work"), 1);
	struct ps__member *own_member = regions.profile->members;
	pthread_t thread;
	ck_assert_int_eq(pthread_create(&thread, NULL, work_and_exit, NULL), 0);
	pthread_join(thread, NULL);
	take_paths();
	ck_assert_ptr_eq(regions.profile->members, own_member);
	visit_counting(region("work"), 1);
	take_paths();
	/* Each thread counts what is counted on any. */
	ck_assert_int_eq(own("work", -1), 7);
	ck_assert_int_eq(all("", -1), 26);
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_mark_in_the_last_destructor_of_a_thread_is_counted);
	tcase_add_test(tests, descriptors_of_threads_that_are_gone_go_to_a_new_one);
	tcase_add_test(tests, a_thread_that_ends_by_exit_is_counted);
	tcase_add_test(tests, a_thread_that_ends_inside_a_region_is_counted);
	tcase_add_test(tests, a_number_that_is_given_again_is_a_new_thread);
	tcase_add_test(tests, a_thread_on_the_stack_of_one_that_is_gone_is_another_thread);
	tcase_add_test(tests, threads_that_go_on_are_not_ended);
}

int main(void)
{
	Suite *suite = suite_create("threads of regions that are gone");

	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_records(suite, "records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that the program gives in its regions: their sums by path and name, of all threads. */
#include "base/os.h"
#include "support/regions.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ps_mark_value sum_of(const char *names, const char *name, enum ps_share share)
{
	struct ps_mark_value out = {.size = sizeof out};

	check_ok(ps_path_mark_value(path_of(names), name, share, &out));
	return out;
}

static void check_sum(const char *names, const char *name, int64_t sum, uint64_t count)
{
	struct ps_mark_value own = sum_of(names, name, PS_SHARE_EXCLUSIVE);

	ck_assert_int_eq(own.sum, sum);
	ck_assert_uint_eq(own.count, count);
	ck_assert_uint_eq(own.flags, 0);
}

static void check_all(const char *names, const char *name, int64_t sum, uint64_t count)
{
	struct ps_mark_value all = sum_of(names, name, PS_SHARE_INCLUSIVE);

	ck_assert_int_eq(all.sum, sum);
	ck_assert_uint_eq(all.count, count);
	ck_assert_uint_eq(all.flags, 0);
}

static void give(const char *name, int64_t value)
{
	check_ok(ps_region_add_value(region(name), value));
}

START_TEST(a_number_belongs_to_the_innermost_region)
{
	regions_begin(EVENT, NULL);
	give("rows", 1);
	check_ok(ps_region_enter(region("outer")));
	give("rows", 100);
	give("level", -3);
	check_ok(ps_region_enter(region("inner")));
	give("rows", 20);
	give("rows", 0);
	check_ok(ps_region_leave(region("inner")));
	give("level", 5);
	check_ok(ps_region_leave(region("outer")));
	give("rows", 2);
	for (int turn = 0; turn < 2; turn++) {
		take_paths();
		check_sum("", "rows", 3, 2);
		check_sum("outer", "rows", 100, 1);
		check_sum("outer", "level", 2, 2);
		check_sum("outer/inner", "rows", 20, 2);
		check_sum("outer/inner", "level", 0, 0);
		check_all("", "rows", 123, 5);
		check_all("", "level", 2, 2);
		check_all("outer", "rows", 120, 3);
		check_all("outer/inner", "level", 0, 0);
		ck_assert_str_eq(ps_paths_mark_value_name(regions.paths, 0), "rows");
		ck_assert_str_eq(ps_paths_mark_value_name(regions.paths, 1), "level");
		ck_assert_ptr_null(ps_paths_mark_value_name(regions.paths, 2));
		if (turn == 0)
			check_ok(ps_profile_leave(regions.profile));
	}
	ck_assert_ptr_null(ps_path_child(path_of("outer/inner")));
	regions_end();
}
END_TEST

/* No counter is read, and no time is taken: what is counted stays with its region. */
START_TEST(a_number_is_no_boundary)
{
	regions_begin(EVENT, NULL);
	check_ok(ps_region_enter(region("outer")));
	give("rows", 1);
	unsigned reads = fake_count(FAKE_READ);
	size_t bytes = fake_allocated_bytes();
	struct ps_region *rows = region("rows");
	for (int turn = 0; turn < 1000; turn++)
		check_ok(ps_region_add_value(rows, turn));
	ck_assert_uint_eq(fake_count(FAKE_READ), reads);
	ck_assert_uint_eq(fake_allocated_bytes(), bytes);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_region_leave(region("outer")));
	take_paths();
	ck_assert_int_eq(own("outer", -1), 5);
	ck_assert_uint_eq(visits_of("outer").count, 1);
	check_sum("outer", "rows", 499501, 1001);
	regions_end();
}
END_TEST

/* In between the sum may be far beyond 64 bits; only the result counts. */
START_TEST(a_sum_beyond_64_bits_says_so)
{
	regions_begin(EVENT, NULL);
	for (int turn = 0; turn < 5; turn++) {
		give("up", INT64_MAX);
		give("down", INT64_MIN);
		give("both", INT64_MIN);
	}
	for (int turn = 0; turn < 5; turn++)
		give("both", INT64_MAX);
	give("least", INT64_MIN);
	check_ok(ps_region_enter(region("outer")));
	give("up", INT64_MAX);
	give("least", -1);
	check_ok(ps_region_leave(region("outer")));
	for (int turn = 0; turn < 2; turn++) {
		take_paths();
		struct ps_mark_value up = sum_of("", "up", PS_SHARE_EXCLUSIVE);
		ck_assert_int_eq(up.sum, INT64_MAX);
		ck_assert_uint_eq(up.flags, PS_VALUE_SATURATED);
		ck_assert_uint_eq(up.count, 5);
		struct ps_mark_value down = sum_of("", "down", PS_SHARE_EXCLUSIVE);
		ck_assert_int_eq(down.sum, INT64_MIN);
		ck_assert_uint_eq(down.flags, PS_VALUE_SATURATED);
		check_sum("", "both", -5, 10);
		check_sum("outer", "up", INT64_MAX, 1);
		check_sum("", "least", INT64_MIN, 1);
		struct ps_mark_value all = sum_of("", "least", PS_SHARE_INCLUSIVE);
		ck_assert_int_eq(all.sum, INT64_MIN);
		ck_assert_uint_eq(all.flags, PS_VALUE_SATURATED);
		if (turn == 0)
			check_ok(ps_profile_leave(regions.profile));
	}
	regions_end();
}
END_TEST

enum {
	THREADS = 8
};
#define TURNS ps_test_size(5000, 500)

static void *give_in_thread(void *data)
{
	char name[16];

	check_ok(ps_region_enter(region("work")));
	for (int turn = 1; turn <= TURNS; turn++) {
		snprintf(name, sizeof name, "name %d", turn % 50);
		give("sum", *(int *)data);
		give(name, turn);
	}
	check_ok(ps_region_leave(region("work")));
	return NULL;
}

/* Also while other threads take the paths: each sum is whole, and nothing is lost at an end. */
START_TEST(all_threads_are_in_the_sum)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	char name[16];

	regions_begin(EVENT, NULL);
	region("work");
	for (int thread = 0; thread < THREADS; thread++) {
		numbers[thread] = -3;
		ck_assert_int_eq(
		    pthread_create(&threads[thread], NULL, give_in_thread, &numbers[thread]), 0);
	}
	for (int turn = 0; turn < 50; turn++) {
		take_paths();
		const char *const work[] = {"work"};
		struct ps_mark_value sum = {.size = sizeof sum};
		const struct ps_path *path = ps_path_find(ps_paths_root(regions.paths), work, 1);
		if (path && ps_path_mark_value(path, "sum", PS_SHARE_EXCLUSIVE, &sum) == PS_OK)
			ck_assert_int_eq(sum.sum, -3 * (int64_t)sum.count);
	}
	for (int thread = 0; thread < THREADS; thread++)
		pthread_join(threads[thread], NULL);
	take_paths();
	check_sum("work", "sum", -3LL * THREADS * TURNS, (uint64_t)(THREADS * TURNS));
	int64_t total = 0;
	for (int number = 0; number < 50; number++) {
		snprintf(name, sizeof name, "name %d", number);
		total += sum_of("", name, PS_SHARE_INCLUSIVE).sum;
		ck_assert_uint_eq(sum_of("work", name, PS_SHARE_EXCLUSIVE).count,
		                  (uint64_t)(THREADS * TURNS) / 50);
	}
	ck_assert_int_eq(total, (int64_t)THREADS * TURNS * (TURNS + 1) / 2);
	regions_end();
}
END_TEST

/* One allocation after the other fails: what the call took is there. */
START_TEST(without_memory_what_was_taken_is_there)
{
	unsigned failures = 0;

	for (unsigned nth = 1; nth < 40; nth++) {
		regions_begin(EVENT, NULL);
		struct ps_region *names[20];
		int64_t given = 0;
		char name[16];
		for (int number = 0; number < 20; number++) {
			snprintf(name, sizeof name, "name %d", number);
			names[number] = region(name);
		}
		check_ok(ps_profile_join(regions.profile));
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		for (int number = 0; number < 20; number++) {
			int result = ps_region_add_value(names[number], 1);
			ck_assert(result == PS_OK || result == PS_ENOMEM);
			given += result == PS_OK;
		}
		ck_assert_uint_eq(faults_of_profile().failed, 20 - (uint64_t)given);
		if (ps_paths_create(&regions.paths, regions.profile) != PS_OK)
			failures++;
		ps_profile_leave(regions.profile);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		take_paths();
		int64_t found = 0;
		for (size_t index = 0; ps_paths_mark_value_name(regions.paths, index); index++)
			found += sum_of("", ps_paths_mark_value_name(regions.paths, index),
			                PS_SHARE_EXCLUSIVE)
			             .sum;
		ck_assert_int_eq(found, given);
		failures += given < 20;
		regions_end();
	}
	ck_assert_uint_gt(failures, 30);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	struct ps_mark_value out = {.size = sizeof out}, small = {.size = 1};
	int status = -1;

	regions_begin(EVENT, NULL);
	struct ps_region *rows = region("rows");
	check_fails(ps_region_add_value(NULL, 1), PS_EINVAL);
	give("rows", 1);
	take_paths();
	const struct ps_path *root = ps_paths_root(regions.paths);
	check_fails(ps_path_mark_value(NULL, "rows", PS_SHARE_EXCLUSIVE, &out), PS_EINVAL);
	check_fails(ps_path_mark_value(root, NULL, PS_SHARE_EXCLUSIVE, &out), PS_EINVAL);
	check_fails(ps_path_mark_value(root, "rows", PS_SHARE_EXCLUSIVE, NULL), PS_EINVAL);
	check_fails(ps_path_mark_value(root, "rows", (enum ps_share)7, &out), PS_EINVAL);
	check_fails(ps_path_mark_value(root, "rows", PS_SHARE_EXCLUSIVE, &small), PS_EINVAL);
	check_fails(ps_path_mark_value(root, "lines", PS_SHARE_EXCLUSIVE, &out), PS_ENOEVNT);
	check_detail("'lines'");
	ck_assert_uint_eq(out.count, 0);
	ck_assert_ptr_null(ps_paths_mark_value_name(NULL, 0));
	pid_t pid = fork();
	if (pid == 0)
		_exit(ps_region_add_value(rows, 1) == PS_ECLOST ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	regions_end();
}
END_TEST

static int (*close_unseen)(int fd);
static struct ps_region *given_at_close;
static unsigned closes, refusals;

/* As a signal handler that comes while a thread's set is destroyed. */
static int close_and_give(int fd)
{
	closes++;
	refusals += ps_region_add_value(given_at_close, 1) == PS_ECNFLCT;
	return close_unseen(fd);
}

START_TEST(a_handler_that_interrupts_a_call_is_refused)
{
	closes = refusals = 0;
	regions_begin(EVENT, NULL);
	given_at_close = region("rows");
	give("rows", 1);
	close_unseen = ps__os.close;
	ps__os.close = close_and_give;
	check_ok(ps_profile_leave(regions.profile));
	ps__os.close = close_unseen;
	ck_assert_uint_gt(closes, 0);
	ck_assert_uint_eq(refusals, closes);
	ck_assert_uint_eq(faults_of_profile().in_handler, closes);
	take_paths();
	check_sum("", "rows", 1, 1);
	regions_end();
}
END_TEST

/* "cycle" three times, and in it "smooth" at levels 0, 1, 0 */
static void run_cycle(struct ps_region *cycle, struct ps_region *smooth, struct ps_region *inner)
{
	static const int64_t levels[] = {0, -1, 0};

	for (int turn = 0; turn < 3; turn++) {
		check_ok(ps_region_enter(cycle));
		for (int at = 0; at < 3; at++) {
			check_ok(ps_region_enter(smooth));
			fake_advance(PAGE_FAULTS, 10);
			give("level", levels[at]);
			give("rows", 7);
			fake_advance(PAGE_FAULTS, 1);
			check_ok(ps_region_enter(inner));
			fake_advance(PAGE_FAULTS, 100);
			check_ok(ps_region_leave(inner));
			check_ok(ps_region_leave(smooth));
		}
		check_ok(ps_region_leave(cycle));
	}
}

START_TEST(a_number_tells_visits_apart)
{
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_group(regions.profile, "level"));
	check_ok(ps_profile_set_group(regions.profile, "level"));
	check_fails(ps_profile_set_group(regions.profile, "rows"), PS_ECNFLCT);
	check_detail("'level'");
	check_fails(ps_profile_set_group(NULL, "rows"), PS_EINVAL);
	check_fails(ps_profile_set_group(regions.profile, NULL), PS_EINVAL);
	check_fails(ps_profile_set_group(regions.profile, ""), PS_EINVAL);
	give("level", 4);
	run_cycle(region("cycle"), region("smooth"), region("inner"));
	for (int turn = 0; turn < 2; turn++) {
		take_paths();
		ck_assert_int_eq(own("cycle/smooth[level=0]", -1), 66);
		ck_assert_int_eq(own("cycle/smooth[level=-1]", -1), 33);
		ck_assert_int_eq(own("cycle/smooth", -1), 0);
		ck_assert_uint_eq(visits_of("cycle/smooth[level=0]").count, 6);
		ck_assert_uint_eq(visits_of("cycle/smooth[level=-1]").count, 3);
		ck_assert_uint_eq(visits_of("cycle/smooth").count, 0);
		ck_assert_int_eq(own("cycle/smooth[level=0]/inner", -1), 600);
		ck_assert_int_eq(all("", -1), 999);
		check_sum("cycle/smooth[level=0]", "rows", 42, 6);
		check_sum("cycle/smooth[level=-1]", "rows", 21, 3);
		check_all("", "level", 4, 1);
		if (turn == 0)
			check_ok(ps_profile_leave(regions.profile));
	}
	ck_assert_uint_eq(faults_of_profile().left_open, 0);
	regions_end();
}
END_TEST

/* What was counted before the second number stays with the first. */
START_TEST(a_second_number_is_a_boundary)
{
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_group(regions.profile, "level"));
	check_ok(ps_region_enter(region("smooth")));
	fake_advance(PAGE_FAULTS, 1);
	unsigned reads = fake_count(FAKE_READ);
	give("level", INT64_MIN);
	give("level", INT64_MIN);
	ck_assert_uint_eq(fake_count(FAKE_READ), reads);
	fake_advance(PAGE_FAULTS, 20);
	give("level", INT64_MAX);
	fake_advance(PAGE_FAULTS, 300);
	check_ok(ps_region_leave(region("smooth")));
	check_ok(ps_region_enter(region("smooth")));
	fake_advance(PAGE_FAULTS, 4000);
	check_ok(ps_region_leave(region("smooth")));
	take_paths();
	ck_assert_int_eq(own("smooth[level=-9223372036854775808]", -1), 21);
	ck_assert_uint_eq(visits_of("smooth[level=-9223372036854775808]").count, 0);
	ck_assert_int_eq(own("smooth[level=9223372036854775807]", -1), 300);
	ck_assert_uint_eq(visits_of("smooth[level=9223372036854775807]").count, 1);
	ck_assert_int_eq(own("smooth", -1), 4000);
	struct ps_value value;
	check_ok(ps_paths_region_value(regions.paths, "smooth", scene.root, EVENT,
	                               PS_SHARE_EXCLUSIVE, &value));
	ck_assert_int_eq(value.value, 4321);
	check_ok(ps_paths_region_value(regions.paths, "smooth[level=9223372036854775807]",
	                               scene.root, EVENT, PS_SHARE_INCLUSIVE, &value));
	ck_assert_int_eq(value.value, 300);
	check_fails(ps_paths_region_value(regions.paths, "smoo", scene.root, EVENT,
	                                  PS_SHARE_INCLUSIVE, &value),
	            PS_ENOEVST);
	check_detail("no thread has entered a region 'smoo'");
	regions_end();
}
END_TEST

/* One allocation after the other fails: the visit stays where it is, and nothing is lost. */
START_TEST(without_memory_a_visit_stays_in_its_path)
{
	unsigned failures = 0;

	for (unsigned nth = 1; nth < 12; nth++) {
		regions_begin(EVENT, NULL);
		check_ok(ps_profile_set_group(regions.profile, "level"));
		struct ps_region *level = region("level");
		check_ok(ps_region_enter(region("smooth")));
		fake_advance(PAGE_FAULTS, 5);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_region_add_value(level, 3);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		fake_advance(PAGE_FAULTS, 2);
		check_ok(ps_region_leave(region("smooth")));
		take_paths();
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		ck_assert_int_eq(own(result == PS_OK ? "smooth[level=3]" : "smooth", -1), 7);
		ck_assert_int_eq(all("", -1), 7);
		ck_assert_uint_eq(faults_of_profile().failed, result != PS_OK);
		failures += result != PS_OK;
		regions_end();
	}
	ck_assert_uint_gt(failures, 2);
	ck_assert_uint_lt(failures, 11);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mark_values");
	TCase *tests = scene_case(suite, "mark values");

	tcase_add_test(tests, a_number_belongs_to_the_innermost_region);
	tcase_add_test(tests, a_number_is_no_boundary);
	tcase_add_test(tests, a_sum_beyond_64_bits_says_so);
	tcase_add_test(tests, all_threads_are_in_the_sum);
	tcase_add_test(tests, without_memory_what_was_taken_is_there);
	tcase_add_test(tests, bad_arguments_are_refused);
	tcase_add_test(tests, a_handler_that_interrupts_a_call_is_refused);
	tcase_add_test(tests, a_number_tells_visits_apart);
	tcase_add_test(tests, a_second_number_is_a_boundary);
	tcase_add_test(tests, without_memory_a_visit_stays_in_its_path);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How readings are told apart: timestamps 0, NULL, reused and unknown; their order; and that a
 * finished reading never changes.
 */
#include "support/scene.h"
#include "support/unmarked.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define EVENT "page-faults"

START_TEST(timestamp_NULL_makes_the_first_reading_then_updates_the_latest)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, 0), 10);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, 0), 15);
	ck_assert_uint_eq(scene_rows(0, EVENT), 1);
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_uint_eq(scene_rows(0, EVENT), 2);
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_accum(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(scene_rows(0, EVENT), 2);
	ck_assert_int_eq(scene_count(0, EVENT, 0), 17);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, 0), 17);
	ps_eventset_destroy(set);
}
END_TEST

static int call(unsigned kind, struct ps_eventset *set, uint64_t *timestamp)
{
	return (kind == 0   ? ps_read
	        : kind == 1 ? ps_accum
	                    : ps_stop)(set, scene.root, timestamp, NULL);
}

START_TEST(a_timestamp_is_the_clocks_time_of_the_call)
{
	const uint64_t at_ns[] = {5000000000, 5000001000, 8000000000};
	struct ps_eventset *set = scene_started(EVENT, NULL);

	for (unsigned kind = 0; kind < 3; kind++) {
		uint64_t timestamp = 0;
		fake_set_clock(at_ns[kind], 0);
		check_ok(call(kind, set, &timestamp));
		ck_assert_uint_eq(timestamp, at_ns[kind]);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_unknown_timestamp_makes_a_new_reading)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0, unknown = 12345, future = UINT64_MAX, outdated;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, &first, NULL));
	check_ok(ps_read(set, scene.root, &unknown, NULL));
	ck_assert_uint_ne(unknown, 12345);
	ck_assert_uint_gt(unknown, first);
	check_ok(ps_read(set, scene.root, &future, NULL));
	ck_assert_uint_gt(future, unknown);
	ck_assert_uint_ne(future, UINT64_MAX);
	ck_assert_uint_eq(scene_rows(0, EVENT), 3);
	outdated = first;
	/* Restamped: the old name of it is unknown now */
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_uint_eq(scene_rows(0, EVENT), 3);
	check_ok(ps_read(set, scene.root, &outdated, NULL));
	ck_assert_uint_eq(scene_rows(0, EVENT), 4);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_older_reading_is_updated_in_place_and_becomes_the_latest)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t times[3] = {0, 0, 0}, old;
	struct ps_value all[3];
	size_t n = 0;

	for (size_t i = 0; i < 3; i++) {
		fake_advance(PAGE_FAULTS, 10);
		check_ok(ps_read(set, scene.root, &times[i], NULL));
	}
	fake_advance(PAGE_FAULTS, 2);
	old = times[0];
	check_ok(ps_read(set, scene.root, &times[0], NULL));
	ck_assert_uint_gt(times[0], times[2]);
	check_ok(ps_thread_readings(ps_topology_thread(scene.topology, 0), EVENT, all, 3, &n));
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(all[0].timestamp, times[1]);
	ck_assert_int_eq(all[0].value, 20);
	ck_assert_uint_eq(all[1].timestamp, times[2]);
	ck_assert_int_eq(all[1].value, 30);
	ck_assert_uint_eq(all[2].timestamp, times[0]);
	ck_assert_int_eq(all[2].value, 32);
	check_fails(ps_thread_reading(ps_topology_thread(scene.topology, 0), EVENT, old, &all[0]),
	            PS_ENOEVST);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_finished_reading_never_changes)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_value before[200], after[200];
	uint64_t timestamp;
	size_t n = 0;

	for (size_t i = 0; i < 200; i++) {
		fake_advance(PAGE_FAULTS, i);
		timestamp = 0;
		check_ok((i % 3 ? ps_read : ps_accum)(set, scene.root, &timestamp, NULL));
	}
	check_ok(ps_thread_readings(ps_topology_thread(scene.topology, 0), EVENT, before, 200, &n));
	ck_assert_uint_eq(n, 200);
	check_ok(ps_reset(set));
	/* The last one is updated, the others are finished */
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	check_ok(ps_start(set));
	for (size_t i = 0; i < 500; i++) {
		fake_advance(PAGE_FAULTS, 1);
		timestamp = 0;
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	ps_eventset_destroy(set);
	check_fails(
	    ps_thread_readings(ps_topology_thread(scene.topology, 0), EVENT, after, 200, &n),
	    PS_EBUF);
	ck_assert_uint_eq(n, 700);
	for (size_t i = 0; i < 199; i++) {
		after[0] = scene_part(0, EVENT, before[i].timestamp);
		ck_assert_int_eq(after[0].value, before[i].value);
		ck_assert_uint_eq(after[0].raw, before[i].raw);
		ck_assert_uint_eq(after[0].enabled_ns, before[i].enabled_ns);
	}
}
END_TEST

START_TEST(timestamps_increase_though_the_clock_stands_still_or_goes_back)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t last = 0;

	for (size_t i = 0; i < 100; i++) {
		uint64_t timestamp = 0;

		fake_set_clock(i < 50 ? 5000000000u : 5000000000u - i, 0);
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
		ck_assert_uint_gt(timestamp, last);
		ck_assert_int_eq(scene_count(0, EVENT, timestamp), 0);
		last = timestamp;
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
		ck_assert_uint_gt(timestamp, last);
		last = timestamp;
	}
	ck_assert_uint_eq(scene_rows(0, EVENT), 100);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_timestamp_is_nanoseconds_of_the_clock)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_set_clock(7123456789u, 0);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_eq(timestamp, 7123456789u);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_event_of_a_set_has_its_own_value)
{
	static const char *const names[] = {"page-faults",      "minor-faults",     "major-faults",
	                                    "task-clock",       "alignment-faults", "cpu-clock",
	                                    "context-switches", "cpu-migrations"};
	static const uint64_t configs[] = {
	    PERF_COUNT_SW_PAGE_FAULTS,      PERF_COUNT_SW_PAGE_FAULTS_MIN,
	    PERF_COUNT_SW_PAGE_FAULTS_MAJ,  PERF_COUNT_SW_TASK_CLOCK,
	    PERF_COUNT_SW_ALIGNMENT_FAULTS, PERF_COUNT_SW_CPU_CLOCK,
	    PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS};
	struct ps_eventset *set = scene_set(NULL, NULL);

	for (size_t i = 0; i < 8; i++)
		check_ok(ps_eventset_add(set, names[i]));
	check_ok(ps_start(set));
	for (size_t i = 0; i < 8; i++)
		fake_advance(PERF_TYPE_SOFTWARE, configs[i], 100 + i);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(scene_count(0, names[i], 0), 100 + (long long)i);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_interrupted_read_is_made_again)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 10);
	fake_fail(FAKE_READ, 1, EINTR);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert(fake_fail_happened());
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	ps_eventset_destroy(set);
}
END_TEST

/* The base on one CPU finds room each time, that on the other doesn't: more often than a chunk has
 * rows. */
START_TEST(a_reading_that_lacks_memory_for_a_base_can_be_tried_again_and_again)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0, second = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &first, NULL));
	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 20);
	check_ok(ps_accum(set, scene.root, &first, NULL));
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(set, scene.root, &first, NULL));
	fake_set_cpu(0);
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_read(set, scene.root, &first, NULL));
	fake_fail(FAKE_ALLOCATE, 4, ENOMEM); /* a log takes three */
	check_fails(ps_read(set, scene.root, &second, NULL), PS_ENOMEM);
	ck_assert(fake_fail_happened());
	fake_fail_always(FAKE_ALLOCATE, ENOMEM);
	for (int i = 0; i < 100; i++)
		check_fails(ps_read(set, scene.root, &second, NULL), PS_ENOMEM);
	fake_fail_always(FAKE_ALLOCATE, 0);
	check_ok(ps_read(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_sum(EVENT, second), 3);
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, first), 12);
	ck_assert_int_eq(scene_count(1, EVENT, first), 21);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(one_reading_of_a_group_is_one_read)
{
	struct ps_eventset *set =
	    scene_started("page-faults", "minor-faults", "major-faults", "task-clock", NULL);

	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_count_reset();
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_ok(ps_accum(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 2);
	ck_assert_uint_eq(fake_count(FAKE_IOCTL), 0);
	ck_assert_uint_eq(fake_count(FAKE_OPEN), 0);
	ps_eventset_destroy(set);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, timestamp_NULL_makes_the_first_reading_then_updates_the_latest);
	tcase_add_test(tests, a_timestamp_is_the_clocks_time_of_the_call);
	tcase_add_test(tests, an_unknown_timestamp_makes_a_new_reading);
	tcase_add_test(tests, an_older_reading_is_updated_in_place_and_becomes_the_latest);
	tcase_add_test(tests, a_finished_reading_never_changes);
	tcase_add_test(tests, timestamps_increase_though_the_clock_stands_still_or_goes_back);
	tcase_add_test(tests, a_timestamp_is_nanoseconds_of_the_clock);
	tcase_add_test(tests, each_event_of_a_set_has_its_own_value);
	tcase_add_test(tests, an_interrupted_read_is_made_again);
	tcase_add_test(tests, a_reading_that_lacks_memory_for_a_base_can_be_tried_again_and_again);
	tcase_add_test(tests, one_reading_of_a_group_is_one_read);
}

/* Readings of one set on one CPU, each updated in turn and at random: as a list in which the
 * updated one goes to the end. */
struct kept {
	uint64_t timestamp;
	long long number;
};
#define KEPT 1500

static void check_kept(const struct kept *kept)
{
	static struct ps_value values[KEPT + 1];
	size_t count = 0;

	check_ok(ps_thread_readings(ps_topology_thread(scene.topology, 0), "page-faults", values,
	                            KEPT + 1, &count));
	ck_assert_uint_eq(count, KEPT);
	for (size_t index = 1; index < count; index++)
		ck_assert_uint_gt(values[index].timestamp, values[index - 1].timestamp);
	for (size_t index = 0; index < KEPT; index++)
		ck_assert_int_eq(scene_count(0, "page-faults", kept[index].timestamp),
		                 kept[index].number);
}

START_TEST(readings_that_are_updated_over_and_over_stay_what_they_are)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	static struct kept kept[KEPT];
	size_t bytes = 0;

	if (_i)
		check_ok(ps_eventset_reserve(set, KEPT));
	for (size_t index = 0; index < KEPT; index++) {
		kept[index] = (struct kept){0, (long long)index};
		check_ok(ps_store(set, &kept[index].number, 1, scene.root, &kept[index].timestamp,
		                  NULL));
	}
	srand(1);
	fake_count_reset();
	for (int turn = 0; turn < 20000; turn++) {
		struct kept *one = &kept[turn % 2000 < 1000 ? turn % KEPT : rand() % KEPT];
		uint64_t before = one->timestamp;
		struct ps_value value;

		one->number += 10000;
		check_ok(ps_store(set, &one->number, 1, scene.root, &one->timestamp, NULL));
		ck_assert_uint_gt(one->timestamp, before);
		check_fails(ps_thread_reading(ps_topology_thread(scene.topology, 0), "page-faults",
		                              before, &value),
		            PS_ENOEVST);
		if (turn % 4000 == 0)
			check_kept(kept);
		if (turn == 4000)
			bytes = fake_mapped_bytes() + fake_allocated_bytes();
	}
	check_kept(kept);
	ck_assert_uint_eq(fake_mapped_bytes() + fake_allocated_bytes(), bytes);
	if (_i)
		ck_assert_uint_eq(fake_count(FAKE_ALLOCATE) + fake_count(FAKE_MMAP), 0);
	ps_eventset_destroy(set);
}
END_TEST

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* So many readings; then so long takes updating the oldest of them, again and again. */
static double update_oldest(size_t count)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	uint64_t *timestamps = calloc(count, sizeof *timestamps);
	long long number = 1;

	for (size_t index = 0; index < count; index++)
		check_ok(ps_store(set, &number, 1, scene.root, &timestamps[index], NULL));
	double begin = cpu_seconds();
	for (size_t turn = 0; turn < 20000; turn++)
		check_ok(ps_store(set, &number, 1, scene.root, &timestamps[turn % count], NULL));
	double took = cpu_seconds() - begin;
	free(timestamps);
	ps_eventset_destroy(set);
	return took;
}

/* Times of this processor, of the same work; where all later rows are moved it is a hundred
 * times. */
START_TEST(updating_an_older_reading_costs_the_same_among_many)
{
	double among_few = update_oldest(32), among_many = update_oldest(16384);

	ck_assert_msg(among_many < 5 * among_few, "%.6f s among many, %.6f s among few", among_many,
	              among_few);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timestamps");

	add_tests(scene_case(suite, "exact"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	TCase *tests = scene_case(suite, "many");

	tcase_add_loop_test(tests, readings_that_are_updated_over_and_over_stay_what_they_are, 0,
	                    2);
	tcase_add_test(tests, updating_an_older_reading_costs_the_same_among_many);
	return scene_run(suite);
}

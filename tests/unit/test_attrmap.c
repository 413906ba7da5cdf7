/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribute maps: what is found on a Thread by event and timestamp, what a bounded history drops,
 * what storage costs, and the roll-up to every type of component.
 */
#include "support/scene.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <errno.h>
#include <stdlib.h>

#define EVENT "page-faults"

static struct ps_thread *cpu_thread(int cpu)
{
	return ps_topology_thread(scene.topology, cpu);
}

static uint64_t store(struct ps_eventset *set, int cpu, long long number)
{
	uint64_t timestamp = 0;

	fake_set_cpu(cpu);
	check_ok(ps_store(set, &number, 1, scene.root, &timestamp, NULL));
	return timestamp;
}

START_TEST(zero_unknown_event_unknown_timestamp_and_unknown_thread_are_told_apart)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_value value = {.value = 99};
	uint64_t timestamp = store(set, 0, 0);

	check_ok(ps_thread_reading(cpu_thread(0), EVENT, timestamp, &value));
	ck_assert_int_eq(value.value, 0);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	value.value = 99;
	check_fails(ps_thread_reading(cpu_thread(0), "minor-faults", 0, &value), PS_ENOEVNT);
	check_detail("minor-faults");
	check_fails(ps_thread_reading(cpu_thread(0), EVENT, timestamp + 1, &value), PS_ENOEVST);
	check_fails(ps_thread_reading(cpu_thread(0), EVENT, timestamp - 1, &value), PS_ENOEVST);
	check_fails(ps_thread_reading(cpu_thread(1), EVENT, timestamp, &value), PS_ENOEVNT);
	check_fails(ps_thread_reading(cpu_thread(1), EVENT, 0, &value), PS_ENOEVNT);
	check_fails(ps_thread_reading(NULL, EVENT, 0, &value), PS_EINVAL);
	check_fails(ps_thread_reading(cpu_thread(0), NULL, 0, &value), PS_EINVAL);
	check_fails(ps_thread_reading(cpu_thread(0), EVENT, 0, NULL), PS_EINVAL);
	ck_assert_int_eq(value.value, 99);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(all_readings_come_oldest_first_and_the_newest_fit_a_small_array)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_value values[150];
	size_t count = 0;

	for (int i = 0; i < 150; i++)
		store(set, i % 3 ? 0 : 1, i);
	check_ok(ps_thread_readings(cpu_thread(0), EVENT, values, 150, &count));
	ck_assert_uint_eq(count, 100);
	for (size_t i = 0; i < 100; i++) {
		ck_assert_int_eq(values[i].value, (long long)(i / 2 * 3 + i % 2 + 1));
		if (i)
			ck_assert_uint_gt(values[i].timestamp, values[i - 1].timestamp);
	}
	memset(values, 0, sizeof(values));
	check_fails(ps_thread_readings(cpu_thread(0), EVENT, values, 2, &count), PS_EBUF);
	ck_assert_uint_eq(count, 100);
	ck_assert_int_eq(values[0].value, 148);
	ck_assert_int_eq(values[1].value, 149);
	ck_assert_uint_eq(values[2].timestamp, 0);
	check_fails(ps_thread_readings(cpu_thread(0), EVENT, NULL, 0, &count), PS_EBUF);
	ck_assert_uint_eq(count, 100);
	check_fails(ps_thread_readings(cpu_thread(2), EVENT, values, 2, &count), PS_ENOEVNT);
	check_fails(ps_thread_readings(NULL, EVENT, values, 2, &count), PS_EINVAL);
	check_fails(ps_thread_readings(cpu_thread(0), NULL, values, 2, &count), PS_EINVAL);
	check_fails(ps_thread_readings(cpu_thread(0), EVENT, values, 2, NULL), PS_EINVAL);
	check_fails(ps_thread_readings(cpu_thread(0), EVENT, NULL, 2, &count), PS_EINVAL);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(readings_of_several_sets_are_merged_by_time)
{
	struct ps_eventset *sets[3] = {scene_set(EVENT, NULL), scene_set(EVENT, NULL),
	                               scene_set(EVENT, NULL)};
	struct ps_value values[300];
	size_t count = 0;

	for (int i = 0; i < 300; i++)
		store(sets[i * 7 % 3], 0, i);
	check_ok(ps_thread_readings(cpu_thread(0), EVENT, values, 300, &count));
	ck_assert_uint_eq(count, 300);
	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(values[i].value, i);
	ck_assert_int_eq(scene_count(0, EVENT, 0), 299);
	check_fails(ps_thread_readings(cpu_thread(0), EVENT, values, 5, &count), PS_EBUF);
	ck_assert_int_eq(values[0].value, 295);
	ck_assert_int_eq(values[4].value, 299);
	for (size_t i = 0; i < 3; i++)
		ps_eventset_destroy(sets[i]);
}
END_TEST

START_TEST(every_reading_is_found_by_its_timestamp)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t *times = calloc(5000, sizeof(*times));

	for (int i = 0; i < 5000; i++)
		times[i] = store(set, 0, i);
	for (int i = 0; i < 5000; i++) {
		ck_assert_int_eq(scene_count(0, EVENT, times[i]), i);
		ck_assert_uint_eq(scene_part(0, EVENT, times[i]).timestamp, times[i]);
	}
	ps_eventset_destroy(set);
	ck_assert_int_eq(scene_count(0, EVENT, times[0]), 0); /* outlives the set */
	ck_assert_int_eq(scene_count(0, EVENT, 0), 4999);
	free(times);
}
END_TEST

START_TEST(the_events_of_a_thread_are_listed_once_in_the_order_in_which_they_came)
{
	struct ps_eventset *one = scene_set(EVENT, NULL),
			   *two = scene_set("minor-faults", EVENT, NULL);
	const long long counters[2] = {1, 2};

	ck_assert_uint_eq(ps_thread_event_count(cpu_thread(0)), 0);
	ck_assert_ptr_null(ps_thread_event_name(cpu_thread(0), 0));
	store(one, 0, 1);
	check_ok(ps_store(two, counters, 2, scene.root, NULL, NULL));
	ck_assert_uint_eq(ps_thread_event_count(cpu_thread(0)), 2);
	ck_assert_str_eq(ps_thread_event_name(cpu_thread(0), 0), EVENT);
	ck_assert_str_eq(ps_thread_event_name(cpu_thread(0), 1), "minor-faults");
	ck_assert_ptr_null(ps_thread_event_name(cpu_thread(0), 2));
	ck_assert_uint_eq(ps_thread_event_count(cpu_thread(1)), 0);
	ck_assert_uint_eq(ps_thread_event_count(NULL), 0);
	ck_assert_ptr_null(ps_thread_event_name(NULL, 0));
	ps_eventset_destroy(one);
	ps_eventset_destroy(two);
}
END_TEST

START_TEST(a_bounded_history_drops_the_oldest_and_counts_them)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_value values[64], value;
	uint64_t first;
	size_t count = 0, bytes;

	check_ok(ps_eventset_set_history(set, 50)); /* rounded up to 64 */
	first = store(set, 0, 0);
	for (int i = 1; i < 64; i++)
		store(set, 0, i);
	ck_assert_uint_eq(ps_thread_dropped(cpu_thread(0), EVENT), 0);
	ck_assert_int_eq(scene_count(0, EVENT, first), 0);
	for (int i = 64; i < 1000; i++)
		store(set, 0, i);
	bytes = fake_mapped_bytes() + fake_allocated_bytes();
	for (int i = 1000; i < 20000; i++)
		store(set, 0, i);
	ck_assert_uint_eq(fake_mapped_bytes() + fake_allocated_bytes(), bytes);
	check_ok(ps_thread_readings(cpu_thread(0), EVENT, values, 64, &count));
	ck_assert_uint_eq(count, 64);
	ck_assert_int_eq(values[0].value, 19936);
	ck_assert_int_eq(values[63].value, 19999);
	ck_assert_uint_eq(ps_thread_dropped(cpu_thread(0), EVENT), 19936);
	ck_assert_uint_eq(ps_thread_dropped(cpu_thread(1), EVENT), 0);
	check_fails(ps_thread_reading(cpu_thread(0), EVENT, first, &value), PS_ENOEVST);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_dropped_reading_that_is_updated_becomes_a_new_one)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t old;

	check_ok(ps_eventset_set_history(set, 64));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 10);
	old = 0;
	check_ok(ps_accum(set, scene.root, &old, NULL));
	for (int i = 0; i < 200; i++)
		check_ok(ps_accum(set, scene.root, &(uint64_t){0}, NULL));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_accum(set, scene.root, &old, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, old), 3);
	ck_assert_uint_eq(scene_rows(0, EVENT), 64);
	ps_eventset_destroy(set);
}
END_TEST

/* Before it is started, too: ps_start would fail then, when it is late. */
START_TEST(what_can_never_be_had_is_not_reserved)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_eventset_reserve(set, SIZE_MAX), PS_ENOMEM);
	check_fails(ps_eventset_reserve(set, SIZE_MAX / 16), PS_ENOMEM);
	fake_fail(FAKE_MMAP, 1, ENOMEM);
	check_fails(ps_eventset_reserve(set, (size_t)1 << 40), PS_ENOMEM);
	ck_assert(fake_fail_happened());
	check_ok(ps_start(set)); /* what was refused isn't tried again */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(after_reserve_no_reading_allocates)
{
	struct ps_eventset *set =
	    scene_set(EVENT, "minor-faults", "task-clock", "major-faults", NULL);
	uint64_t timestamp = 0;

	check_ok(ps_eventset_reserve(set, 20000));
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_count_reset();
	for (int i = 0; i < 19000; i++) {
		fake_advance(PAGE_FAULTS, 1);
		timestamp = i % 5 == 4 ? timestamp : 0;
		check_ok((i % 2 ? ps_read : ps_accum)(set, scene.root, &timestamp, NULL));
	}
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 0);
	ck_assert_uint_eq(fake_count(FAKE_MMAP), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(after_reserve_not_even_the_first_reading_allocates)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	check_ok(ps_eventset_reserve(set, 100));
	check_ok(ps_start(set));
	fake_count_reset();
	check_ok(ps_accum(set, scene.root, &(uint64_t){0}, NULL));
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE) + fake_count(FAKE_MMAP), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Also where the mask is larger than a cpu_set_t, and the kernel refuses one of that size. */
START_TEST(after_reserve_readings_on_all_cpus_do_not_allocate)
{
	static const char *const masks[] = {"0-3", "0-3,2000"};
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_set_affinity(masks[_i]);
	/* The thread moves: a part where it was, one where it is */
	check_ok(ps_eventset_reserve(set, 8000));
	check_ok(ps_start(set));
	fake_count_reset();
	for (int i = 0; i < 4000; i++) {
		fake_set_cpu(i % 4);
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_accum(set, scene.root, &(uint64_t){0}, NULL));
	}
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE) + fake_count(FAKE_MMAP), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(reserve_leaves_no_trace_on_threads_where_nothing_was_counted)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_value value;
	size_t count;

	check_ok(ps_eventset_reserve(set, 1000));
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_reserve(set, 1000));
	ck_assert_uint_eq(ps_thread_event_count(cpu_thread(0)), 1);
	ck_assert_uint_eq(ps_thread_event_count(cpu_thread(1)), 0);
	check_fails(ps_thread_reading(cpu_thread(1), EVENT, 0, &value), PS_ENOEVNT);
	check_fails(ps_thread_readings(cpu_thread(1), EVENT, &value, 1, &count), PS_ENOEVNT);
	ps_eventset_destroy(set);
}
END_TEST

static void check_bytes(const char *const *names, size_t n, bool reserved)
{
	struct ps_eventset *set = scene_set(NULL, NULL);
	const size_t readings = 100000;
	size_t before, after, rows = scene_rows(0, names[0]);

	for (size_t i = 0; i < n; i++)
		check_ok(ps_eventset_add(set, names[i]));
	before = fake_mapped_bytes() + fake_allocated_bytes();
	if (reserved)
		check_ok(ps_eventset_reserve(set, readings));
	check_ok(ps_start(set));
	for (size_t i = 0; i < readings; i++) {
		uint64_t timestamp = 0;

		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	after = fake_mapped_bytes() + fake_allocated_bytes();
	ck_assert_msg(after - before <= readings * 8 * (n + 4),
	              "%zu events%s: %.2f bytes a reading, not %zu", n,
	              reserved ? ", reserved" : "", (double)(after - before) / (double)readings,
	              8 * (n + 4));
	ck_assert_uint_eq(scene_rows(0, names[0]) - rows, readings);
	ps_eventset_destroy(set);
}

START_TEST(a_reading_takes_at_most_8_bytes_for_each_event_and_4_more)
{
	static const char *const names[] = {
	    EVENT,       "minor-faults",     "major-faults",     "task-clock",
	    "cpu-clock", "alignment-faults", "context-switches", "cpu-migrations"};

	for (size_t n = 1; n <= (size_t)ps_test_serial_size(8, 1); n *= n == 1 ? 4 : 2) {
		check_bytes(names, n, false);
		check_bytes(names, n, true);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attrmap");
	TCase *tests = scene_case(suite, "lookup");

	tcase_add_test(tests,
	               zero_unknown_event_unknown_timestamp_and_unknown_thread_are_told_apart);
	tcase_add_test(tests, all_readings_come_oldest_first_and_the_newest_fit_a_small_array);
	tcase_add_test(tests, readings_of_several_sets_are_merged_by_time);
	tcase_add_test(tests, every_reading_is_found_by_its_timestamp);
	tcase_add_test(tests,
	               the_events_of_a_thread_are_listed_once_in_the_order_in_which_they_came);
	tests = scene_case(suite, "storage");
	tcase_add_test(tests, a_bounded_history_drops_the_oldest_and_counts_them);
	tcase_add_test(tests, a_dropped_reading_that_is_updated_becomes_a_new_one);
	tcase_add_test(tests, what_can_never_be_had_is_not_reserved);
	tcase_add_test(tests, after_reserve_no_reading_allocates);
	tcase_add_test(tests, after_reserve_not_even_the_first_reading_allocates);
	tcase_add_loop_test(tests, after_reserve_readings_on_all_cpus_do_not_allocate, 0, 2);
	tcase_add_test(tests, reserve_leaves_no_trace_on_threads_where_nothing_was_counted);
	tcase_add_test(tests, a_reading_takes_at_most_8_bytes_for_each_event_and_4_more);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reading's value is, after every sequence of the counter calls: base + count since the last
 * start, reset or accum. Where the parts go is test_parts.c's, what a value's status says
 * test_status.c's, and how readings are told apart test_timestamps.c's.
 */
#include "base/kept.h"
#include "support/scene.h"

#define EVENT "page-faults"

START_TEST(read_read_stop_on_one_timestamp_is_one_reading_of_all)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0, earlier;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	earlier = timestamp;
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_gt(timestamp, earlier);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 22);
	ck_assert_uint_eq(scene_rows(0, EVENT), 1);
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 22);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(read_with_timestamp_0_makes_a_reading_each_time_of_the_count_since_start)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t times[3] = {0, 0, 0};

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, &times[0], NULL));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, &times[1], NULL));
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, &times[2], NULL));
	ck_assert_int_eq(scene_count(0, EVENT, times[0]), 10);
	ck_assert_int_eq(scene_count(0, EVENT, times[1]), 15);
	ck_assert_int_eq(scene_count(0, EVENT, times[2]), 22);
	ck_assert_uint_eq(scene_rows(0, EVENT), 3);
	ck_assert_uint_lt(times[0], times[1]);
	ck_assert_uint_lt(times[1], times[2]);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(accum_accum_stop_on_one_timestamp_is_everything)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 22);
	ck_assert_uint_eq(scene_rows(0, EVENT), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(accum_with_timestamp_0_makes_readings_that_add_up_to_everything)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t times[3] = {0, 0, 0};

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &times[0], NULL));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_accum(set, scene.root, &times[1], NULL));
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, &times[2], NULL));
	ck_assert_int_eq(scene_count(0, EVENT, times[0]), 10);
	ck_assert_int_eq(scene_count(0, EVENT, times[1]), 5);
	ck_assert_int_eq(scene_count(0, EVENT, times[2]), 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_read_after_accum_counts_from_the_accum_on_its_base)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0, fresh = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 16);
	check_ok(ps_read(set, scene.root, &fresh, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, fresh), 6);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 16);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 16);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_base_survives_readings_that_come_between)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0, second = 0, third = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &first, NULL)); /* base 10 */
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, &first, NULL)); /* 10 + 5 */
	check_ok(ps_read(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, second), 5);
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, first), 16);
	check_ok(ps_accum(set, scene.root, &second, NULL)); /* base 6 */
	ck_assert_int_eq(scene_count(0, EVENT, second), 6);
	check_ok(ps_read(set, scene.root, &third, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, third), 0);
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, first), 12);
	check_ok(ps_read(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, second), 8);
	check_ok(ps_read(set, scene.root, &third, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, third), 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(bases_of_many_readings_are_kept_apart)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t times[40] = {0};

	for (size_t i = 0; i < 40; i++) {
		fake_advance(PAGE_FAULTS, i + 1);
		check_ok(ps_accum(set, scene.root, &times[i], NULL)); /* base i + 1 */
		fake_advance(PAGE_FAULTS, 3);
		/* Its base is no longer its value */
		check_ok(ps_read(set, scene.root, &times[i], NULL));
		check_ok(ps_reset(set));
	}
	fake_advance(PAGE_FAULTS, 100);
	for (size_t i = 0; i < 40; i += 3) {
		check_ok(ps_read(set, scene.root, &times[i], NULL));
		ck_assert_int_eq(scene_count(0, EVENT, times[i]), (long long)i + 101);
	}
	for (size_t i = 0; i < 40; i++)
		ck_assert_int_eq(scene_count(0, EVENT, times[i]), (long long)i + (i % 3 ? 4 : 101));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(start_again_counts_from_0_and_leaves_finished_readings)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0, second = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	fake_advance(PAGE_FAULTS, 50); /* nobody counts now */
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, first), 10);
	ck_assert_int_eq(scene_count(0, EVENT, second), 3);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(start_again_keeps_the_base_of_a_reading)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 13);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(accum_over_several_starts_adds_up)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t timestamp = 0;

	for (uint64_t i = 1; i <= 10; i++) {
		check_ok(ps_start(set));
		fake_advance(PAGE_FAULTS, i);
		check_ok(ps_stop(set, scene.root, &timestamp, NULL));
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	}
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 55);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(reset_sets_the_count_to_0_and_keeps_the_base)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0, fresh = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_reset(set));
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 12);
	check_ok(ps_read(set, scene.root, &fresh, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, fresh), 2);
	check_ok(ps_stop(set, scene.root, &fresh, NULL));
	check_ok(ps_reset(set));
	check_ok(ps_read(set, scene.root, &fresh, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, fresh), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(read_of_a_stopped_set_gives_the_final_counts_once_more)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_thread *thread = NULL;
	uint64_t times[2] = {0, 0};

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_stop(set, scene.root, &times[0], NULL));
	fake_advance(PAGE_FAULTS, 5);
	fake_set_cpu(1);
	check_ok(ps_read(set, scene.root, &times[1], &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 0); /* where ps_stop was called */
	ck_assert_int_eq(scene_count(0, EVENT, times[0]), 10);
	ck_assert_int_eq(scene_count(0, EVENT, times[1]), 10);
	check_ok(ps_accum(set, scene.root, &times[1], NULL));
	check_ok(ps_accum(set, scene.root, &times[1], NULL));
	ck_assert_int_eq(scene_count(0, EVENT, times[1]), 10);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(stop_with_a_wrong_root_stops_and_keeps_the_counts)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_topology *other;
	uint64_t timestamp = 0;

	check_ok(ps_topology_load_synthetic(&other, "pack:2 core:2 pu:1"));
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_advance(PAGE_FAULTS, 5);
	uint64_t before = timestamp;
	check_fails(ps_stop(set, ps_topology_root(other), &timestamp, NULL), PS_EINVAL);
	ck_assert_uint_eq(timestamp, before);
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 3);
	check_fails(ps_stop(set, NULL, &timestamp, NULL), PS_EINVAL);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 3);
	ps_eventset_destroy(set);
	ps_topology_destroy(other);
}
END_TEST

START_TEST(stop_with_a_destroyed_topology_stops_and_the_counts_go_to_another)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_topology *other;
	struct ps_value total;
	uint64_t timestamp = 0;

	check_ok(ps_topology_load_synthetic(&other, "pack:2 core:2 pu:1"));
	check_ok(ps_read(set, ps_topology_root(other), &timestamp, NULL));
	struct ps_component *destroyed = ps_topology_root(other);
	ps_topology_destroy(other);
	fake_advance(PAGE_FAULTS, 5);
	check_fails(ps_stop(set, destroyed, &timestamp, NULL), PS_EINVAL);
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	fake_advance(PAGE_FAULTS, 100);
	timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_ok(ps_component_total(scene.root, EVENT, &total));
	ck_assert_int_eq(total.value, 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(store_gives_base_and_counters_and_leaves_the_running_count)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);
	const long long counters[2] = {5, -6}, others[2] = {7, 8};
	struct ps_thread *thread = NULL;
	uint64_t stored = 0, read = 0;

	check_ok(ps_store(set, counters, 2, scene.root, &stored, NULL)); /* never started */
	ck_assert_int_eq(scene_count(0, EVENT, stored), 5);
	ck_assert_int_eq(scene_count(0, "minor-faults", stored), -6);
	ck_assert_int_eq((int)scene_part(0, EVENT, stored).status, PS_STATUS_COUNTED);
	ck_assert_double_eq(ps_value_coverage(&(struct ps_value){.value = 5}), 1.0);
	check_ok(ps_store(set, others, 2, scene.root, &stored, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, stored), 7);
	ck_assert_int_eq(scene_count(0, "minor-faults", stored), 8);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_store(set, others, 2, scene.root, &stored, NULL));
	check_ok(ps_accum(set, scene.root, &read, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, read), 10);
	check_ok(ps_store(set, others, 2, scene.root, &read, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, read), 17);
	ck_assert_int_eq(scene_count(0, "minor-faults", read), 8);
	ck_assert_int_eq(scene_count(0, EVENT, stored), 7);
	fake_set_cpu(1);
	check_ok(ps_store(set, counters, 2, scene.root, &(uint64_t){0}, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(store_refuses_wrong_arguments_and_changes_nothing)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);
	const long long counters[3] = {5, 6, 7};
	uint64_t timestamp = 0;
	struct ps_thread *thread = NULL;

	check_fails(ps_store(NULL, counters, 2, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_store(set, NULL, 2, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_store(set, counters, -1, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_store(set, counters, 0, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_store(set, counters, 1, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_store(set, counters, 3, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_store(set, counters, 2, NULL, &timestamp, &thread), PS_EINVAL);
	check_fails(
	    ps_store(set, counters, 2, ps_component_child(scene.root, 0), &timestamp, &thread),
	    PS_EINVAL);
	ck_assert_uint_eq(timestamp, 0);
	ck_assert_ptr_null(thread);
	ck_assert_uint_eq(scene_rows(0, EVENT), 0);
	ps_eventset_destroy(set);
}
END_TEST

static unsigned looks_of_a_reading(struct ps_eventset *set)
{
	fake_count_reset();
	check_ok(ps_read(set, scene.root, NULL, NULL));
	return fake_count(FAKE_IOCTL);
}

/* Between a look and the end of the call the descriptor becomes the program's. */
START_TEST(while_a_descriptor_may_be_overwritten_each_reading_looks_at_it)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	uint64_t before = atomic_load(&ps__os_losses);

	ck_assert_uint_eq(looks_of_a_reading(set), 0);
	atomic_fetch_add(&ps__os_losses, PS__KEPT_UNDER_WAY);
	ck_assert_uint_gt(looks_of_a_reading(set), 0);
	ck_assert_uint_gt(looks_of_a_reading(set), 0);
	atomic_fetch_add(&ps__os_losses, PS__KEPT_OVER - PS__KEPT_UNDER_WAY);
	ck_assert_uint_gt(looks_of_a_reading(set), 0);
	ck_assert_uint_eq(looks_of_a_reading(set), 0);
	atomic_store(&ps__os_losses, before);
	ps_eventset_destroy(set);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, read_read_stop_on_one_timestamp_is_one_reading_of_all);
	tcase_add_test(tests,
	               read_with_timestamp_0_makes_a_reading_each_time_of_the_count_since_start);
	tcase_add_test(tests, accum_accum_stop_on_one_timestamp_is_everything);
	tcase_add_test(tests, accum_with_timestamp_0_makes_readings_that_add_up_to_everything);
	tcase_add_test(tests, a_read_after_accum_counts_from_the_accum_on_its_base);
	tcase_add_test(tests, a_base_survives_readings_that_come_between);
	tcase_add_test(tests, bases_of_many_readings_are_kept_apart);
	tcase_add_test(tests, start_again_counts_from_0_and_leaves_finished_readings);
	tcase_add_test(tests, start_again_keeps_the_base_of_a_reading);
	tcase_add_test(tests, accum_over_several_starts_adds_up);
	tcase_add_test(tests, reset_sets_the_count_to_0_and_keeps_the_base);
	tcase_add_test(tests, read_of_a_stopped_set_gives_the_final_counts_once_more);
	tcase_add_test(tests, stop_with_a_wrong_root_stops_and_keeps_the_counts);
	tcase_add_test(tests, stop_with_a_destroyed_topology_stops_and_the_counts_go_to_another);
	tcase_add_test(tests, store_gives_base_and_counters_and_leaves_the_running_count);
	tcase_add_test(tests, store_refuses_wrong_arguments_and_changes_nothing);
	tcase_add_test(tests, while_a_descriptor_may_be_overwritten_each_reading_looks_at_it);
}

int main(void)
{
	Suite *suite = suite_create("read");

	add_tests(scene_case(suite, "exact"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

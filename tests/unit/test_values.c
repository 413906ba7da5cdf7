/* SPDX-License-Identifier: BSD-3-Clause */
/* A reading of one event set as an array; and look-ups by the name that was added, where another is
 * shown. */
#include "support/scene.h"

#define ADDED "cpu/config=2,name=calls/"

static struct ps_eventset *set;

static void setup(void)
{
	scene_setup_instances();
	fake_set_affinity("0-3");
	fake_set_cpu(0);
	set = scene_set("page-faults", "minor-faults", NULL);
}

static void teardown(void)
{
	ps_eventset_destroy(set);
	scene_teardown();
}

/* Faults on two CPUs; the reading's timestamp. */
static uint64_t read_both(uint64_t faults, uint64_t minor)
{
	uint64_t timestamp = 0;

	fake_set_cpu(0);
	fake_advance(PAGE_FAULTS, faults);
	fake_set_cpu(2);
	fake_advance(MINOR_FAULTS, minor);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	return timestamp;
}

static void check_counts(uint64_t timestamp, long long faults, long long minor)
{
	struct ps_value values[3] = {{0}, {0}, {.value = 4711}};
	long long counts[3] = {0, 0, 4711};

	check_ok(ps_eventset_values(set, timestamp, values, 3));
	ck_assert_int_eq(values[0].value, faults);
	ck_assert_int_eq(values[1].value, minor);
	ck_assert_int_eq(values[2].value, 4711);
	if (timestamp)
		ck_assert_uint_eq(values[0].timestamp, timestamp);
	check_ok(ps_eventset_counts(set, timestamp, counts, 3));
	ck_assert_int_eq(counts[0], faults);
	ck_assert_int_eq(counts[1], minor);
	ck_assert_int_eq(counts[2], 4711);
}

START_TEST(the_array_has_the_sets_order_and_sums_over_all_hardware_threads)
{
	struct ps_value values[2];

	check_ok(ps_start(set));
	read_both(100, 7);
	check_counts(0, 100, 7);
	check_ok(ps_eventset_values(set, 0, values, 2));
	ck_assert_int_eq((int)values[0].status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)values[0].attribution, PS_ATTRIBUTION_EXACT);
	ck_assert(values[0].flags & PS_VALUE_MERGED);
}
END_TEST

START_TEST(zero_is_the_latest_reading_and_older_ones_are_found)
{
	check_ok(ps_start(set));
	uint64_t before = read_both(100, 7);
	uint64_t after = read_both(20, 1);
	check_counts(before, 100, 7);
	check_counts(after, 120, 8);
	check_counts(0, 120, 8);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_counts(0, 120, 8);
	check_counts(before, 100, 7);
}
END_TEST

START_TEST(what_other_sets_count_of_the_same_event_is_not_in_it)
{
	struct ps_eventset *other = scene_set("page-faults", NULL);
	struct ps_value total;

	check_ok(ps_start(set));
	check_ok(ps_start(other));
	read_both(100, 7);
	check_ok(ps_stop(other, scene.root, NULL, NULL));
	check_ok(ps_component_total(scene.root, "page-faults", &total));
	ck_assert_int_eq(total.value, 200);
	check_counts(0, 100, 7);
	ps_eventset_destroy(other);
	check_counts(0, 100, 7);
}
END_TEST

START_TEST(what_is_not_known_is_no_plain_number)
{
	struct ps_eventset *lacking;
	struct ps_value values[2];
	long long counts[2] = {4711, 4711};

	check_ok(ps_eventset_create(&lacking));
	check_ok(ps_eventset_add(lacking, "page-faults"));
	check_ok(ps_eventset_add_optional(lacking, "instructions"));
	check_ok(ps_start(lacking));
	check_ok(ps_stop(lacking, scene.root, NULL, NULL));
	check_ok(ps_eventset_values(lacking, 0, values, 2));
	ck_assert_int_eq((int)values[0].status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)values[1].status, PS_STATUS_NOT_SUPPORTED);
	check_fails(ps_eventset_counts(lacking, 0, counts, 2), PS_ENOSUPP);
	check_detail("'instructions'");
	check_detail("not supported");
	check_detail("ps_eventset_values");
	ck_assert_int_eq(counts[0], 4711);
	ck_assert_int_eq(counts[1], 4711);
	ps_eventset_destroy(lacking);
}
END_TEST

START_TEST(an_estimate_is_no_plain_number)
{
	long long counts[1] = {4711};
	struct ps_value values[1];

	fake_add_core_pmu(4);
	struct ps_eventset *scaled = scene_set("instructions", NULL);
	check_ok(ps_start(scaled));
	fake_advance(INSTRUCTIONS, 100);
	fake_run(3000, 1000);
	check_ok(ps_stop(scaled, scene.root, NULL, NULL));
	check_ok(ps_eventset_values(scaled, 0, values, 1));
	ck_assert_int_eq((int)values[0].status, PS_STATUS_SCALED);
	check_fails(ps_eventset_counts(scaled, 0, counts, 1), PS_ENOSUPP);
	check_detail("'instructions'");
	check_detail("scaled");
	ck_assert_int_eq(counts[0], 4711);
	ps_eventset_destroy(scaled);
}
END_TEST

START_TEST(a_reading_from_before_the_events_changed_is_refused)
{
	struct ps_value values[3] = {{.value = 4711}};

	check_ok(ps_start(set));
	read_both(100, 7);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_remove(set, "page-faults"));
	check_ok(ps_eventset_values(set, 0, values, 3));
	ck_assert_int_eq(values[0].value, 7);
	check_ok(ps_eventset_add(set, "major-faults"));
	check_fails(ps_eventset_values(set, 0, values, 3), PS_ENOEVST);
	check_detail("'major-faults'");
	check_ok(ps_start(set));
	read_both(5, 3);
	check_ok(ps_eventset_values(set, 0, values, 3));
	ck_assert_int_eq(values[0].value, 3);
	ck_assert_int_eq(values[1].value, 0);
	ck_assert_int_eq((int)values[1].status, PS_STATUS_COUNTED);
}
END_TEST

START_TEST(bad_arguments_are_errors_and_leave_the_array_alone)
{
	struct ps_eventset *empty = scene_set(NULL, NULL);
	struct ps_value values[2] = {{.value = 4711}};
	long long counts[2] = {4711};

	check_fails(ps_eventset_values(set, 0, values, 2), PS_ENOEVST);
	check_detail("no reading yet");
	check_ok(ps_start(set));
	uint64_t timestamp = read_both(100, 7);
	check_fails(ps_eventset_values(set, timestamp + 1, values, 2), PS_ENOEVST);
	check_fails(ps_eventset_values(set, 0, values, 1), PS_EBUF);
	check_detail("2 events");
	check_fails(ps_eventset_values(NULL, 0, values, 2), PS_EINVAL);
	check_fails(ps_eventset_values(set, 0, NULL, 2), PS_EINVAL);
	check_fails(ps_eventset_values(empty, 0, values, 2), PS_EINVAL);
	check_fails(ps_eventset_counts(set, timestamp + 1, counts, 2), PS_ENOEVST);
	check_fails(ps_eventset_counts(set, 0, counts, 1), PS_EBUF);
	check_fails(ps_eventset_counts(NULL, 0, counts, 2), PS_EINVAL);
	check_fails(ps_eventset_counts(set, 0, NULL, 2), PS_EINVAL);
	ck_assert_int_eq(values[0].value, 4711);
	ck_assert_int_eq(counts[0], 4711);
	ps_eventset_destroy(empty);
}
END_TEST

START_TEST(the_name_that_was_added_finds_what_is_shown_under_another)
{
	struct ps_eventset *named;
	struct ps_value value, all[4];
	size_t count;

	fake_add_core_pmu(4);
	named = scene_started(ADDED, NULL);
	fake_advance(PERF_TYPE_RAW, 2, 1000);
	check_ok(ps_stop(named, scene.root, NULL, NULL));
	ck_assert_str_eq(ps_eventset_event_name(named, 0), "calls");
	const struct ps_thread *thread = ps_topology_thread(scene.topology, 0);
	static const char *const names[] = {"calls", ADDED};
	for (size_t i = 0; i < 2; i++) {
		check_ok(ps_component_total(scene.root, names[i], &value));
		ck_assert_int_eq(value.value, 1000);
		check_ok(ps_eventset_reading(named, scene.root, names[i], 0, &value));
		ck_assert_int_eq(value.value, 1000);
		check_ok(ps_thread_reading(thread, names[i], 0, &value));
		ck_assert_int_eq(value.value, 1000);
		check_ok(ps_thread_reading(thread, names[i], value.timestamp, &value));
		check_ok(ps_component_reading(scene.root, names[i], value.timestamp, &value));
		ck_assert_int_eq(value.value, 1000);
		check_ok(ps_thread_readings(thread, names[i], all, 4, &count));
		ck_assert_uint_eq(count, 1);
		ck_assert_int_eq(all[0].value, 1000);
	}
	ck_assert_uint_eq(ps_thread_event_count(thread), 1);
	check_fails(ps_component_total(scene.root, "cpu/config=3,name=calls/", &value), PS_ENOEVNT);
	check_fails(ps_thread_reading(thread, "cpu/config=3/", 0, &value), PS_ENOEVNT);
	check_fails(ps_eventset_reading(named, scene.root, "cpu/config=3/", 0, &value), PS_ENOEVNT);
	check_fails(ps_thread_readings(thread, "cpu/config=3/", all, 4, &count), PS_ENOEVNT);
	ps_eventset_destroy(named);
	check_ok(ps_component_total(scene.root, ADDED, &value));
	ck_assert_int_eq(value.value, 1000);
}
END_TEST

/* Of a set that has gone to another tree, the names go with it. */
START_TEST(the_name_that_was_added_is_known_in_the_next_tree_too)
{
	struct ps_eventset *named;
	struct ps_topology *next;
	struct ps_value value;

	fake_add_core_pmu(4);
	named = scene_started(ADDED, NULL);
	check_ok(ps_topology_load_synthetic(&next, "pack:2 core:2 pu:1"));
	check_ok(ps_read(named, scene.root, NULL, NULL));
	ps_topology_destroy(scene.topology);
	scene.topology = next;
	scene.root = ps_topology_root(next);
	fake_advance(PERF_TYPE_RAW, 2, 10);
	check_ok(ps_stop(named, scene.root, NULL, NULL));
	check_ok(ps_component_total(scene.root, ADDED, &value));
	ck_assert_int_eq(value.value, 10);
	ps_eventset_destroy(named);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("values");
	TCase *tests = tcase_create("a set's values");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, the_array_has_the_sets_order_and_sums_over_all_hardware_threads);
	tcase_add_test(tests, zero_is_the_latest_reading_and_older_ones_are_found);
	tcase_add_test(tests, what_other_sets_count_of_the_same_event_is_not_in_it);
	tcase_add_test(tests, what_is_not_known_is_no_plain_number);
	tcase_add_test(tests, an_estimate_is_no_plain_number);
	tcase_add_test(tests, a_reading_from_before_the_events_changed_is_refused);
	tcase_add_test(tests, bad_arguments_are_errors_and_leave_the_array_alone);
	tcase_add_test(tests, the_name_that_was_added_finds_what_is_shown_under_another);
	tcase_add_test(tests, the_name_that_was_added_is_known_in_the_next_tree_too);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI event sets through the whole library, on a fake PAPI: what values come out of every way to
 * start, stop and reset one, by ps_ calls and by PAPI_start. What the user may change in between is
 * test_papi_changes.c's.
 */
#include "support/papi_scene.h"

#include <config.h>
#include <stdlib.h>

START_TEST(names_and_scope_come_from_papi_once)
{
	int papi = fake_papi_create(EVENT, "perf::PAGE-FAULTS", NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	ck_assert_uint_eq(ps_eventset_event_count(set), 2);
	ck_assert_str_eq(ps_eventset_event_name(set, 0), EVENT);
	ck_assert_str_eq(ps_eventset_event_name(set, 1), "perf::PAGE-FAULTS");
	ck_assert_int_eq(ps_eventset_event_scope(set, 0), PS_SCOPE_THREAD);
	ck_assert_int_eq(ps_eventset_event_status(set, 0), PS_STATUS_COUNTED);
	check_ok(ps_start(set));
	for (int i = 0; i < 10; i++)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_eq(fake_papi.calls[FAKE_PAPI_EVENT_NAME], 2);
	ck_assert_uint_eq(fake_papi.calls[FAKE_PAPI_EVENT_INFO], 2);
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	ck_assert_int_eq(ps_eventset_event_group(set, 1), 0);
}
END_TEST

#ifdef PS_WITH_PFM
/* libpfm4 has perf's PMU alone; PAPI leaves that out of names, as its default. */
START_TEST(a_name_is_found_with_the_pmu_that_papi_left_out)
{
	setenv("LIBPFM_FORCE_PMU", "perf", 1);
	int papi = fake_papi_create("PAGE-FAULTS", EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	struct ps_value value;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_str_eq(ps_eventset_event_name(set, 0), "PAGE-FAULTS");
	check_ok(ps_component_total(scene.root, "PAGE-FAULTS", &value));
	ck_assert_int_eq(value.value, 10);
	check_ok(ps_component_total(scene.root, "perf::PAGE-FAULTS", &value));
	ck_assert_int_eq(value.value, 10);
	check_fails(ps_component_total(scene.root, "skl::PAGE-FAULTS", &value), PS_ENOEVNT);
	check_fails(ps_component_total(scene.root, "perf::" EVENT, &value), PS_ENOEVNT);
}
END_TEST
#endif

START_TEST(start_read_accum_stop_count_as_any_set_does)
{
	int papi = fake_papi_create(EVENT, OTHER, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	ck_assert(fake_papi.sets[papi].is_running);
	ck_assert_int_eq(ps_eventset_is_running(set), 1);
	fake_papi_count(papi, 0, 10);
	fake_papi_count(papi, 1, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	ck_assert_int_eq(scene_count(0, OTHER, timestamp), 1000);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	fake_papi_count(papi, 0, 5);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	fake_papi_count(papi, 0, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 22);
	ck_assert(!fake_papi.sets[papi].is_running);
	ck_assert_uint_eq(scene_rows(0, EVENT), 1);
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ENOTRUN);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 22);
}
END_TEST

/* From the second reading on a shorter way is taken: what ends it, and what comes after, must not
 * show. */
START_TEST(readings_in_any_order_give_the_same_as_one_by_one)
{
	int papi = fake_papi_create(EVENT, OTHER, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0, other;

	for (int run = 0; run < 3; run++) {
		long long sum = 0;
		timestamp = 0;
		check_ok(ps_start(set));
		for (int i = 1; i <= 5; i++) {
			fake_papi_count(papi, 0, i);
			check_ok(ps_read(set, scene.root, &timestamp, NULL));
			ck_assert_int_eq(scene_count(0, EVENT, timestamp), sum += i);
		}
		for (int i = 1; i <= 5; i++) {
			fake_papi_count(papi, 0, i);
			check_ok(ps_accum(set, scene.root, &timestamp, NULL));
			ck_assert_int_eq(scene_count(0, EVENT, timestamp), sum += i);
		}
		scene_check_residual(set);
		fake_set_cpu(2);
		fake_papi_count(papi, 0, 7);
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
		ck_assert_int_eq(scene_sum(EVENT, timestamp), sum + 7);
		check_ok(ps_reset(set));
		other = 0;
		for (int i = 1; i <= 3; i++) {
			fake_papi_count(papi, 0, 2);
			check_ok(ps_read(set, scene.root, &other, NULL));
			ck_assert_int_eq(scene_sum(EVENT, other), 2 * i);
		}
		fake_set_cpu(0);
		check_ok(ps_stop(set, scene.root, &other, NULL));
		ck_assert_int_eq(scene_sum(EVENT, other), 6);
		ck_assert_int_eq(scene_part(0, EVENT, timestamp).flags & PS_VALUE_WENT_BACK, 0);
	}
}
END_TEST

START_TEST(accum_accum_stop_keeps_everything)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_papi_start(papi);
	for (int i = 1; i <= 2; i++) {
		fake_papi_count(papi, 0, 100 * i);
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	}
	fake_papi_count(papi, 0, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 307);
}
END_TEST

START_TEST(restart_then_accum_with_timestamp_0_starts_at_0)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t first = 0, second = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 3);
	check_ok(ps_accum(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, second), 3);
	ck_assert_int_eq(scene_count(0, EVENT, first), 1000);
}
END_TEST

START_TEST(a_set_that_papi_start_started_is_read_from_papi_start_on)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	uint64_t timestamp = 0;

	fake_papi_start(papi);
	fake_papi_count(papi, 0, 40);
	set = papi_scene_wrap(papi);
	fake_papi_count(papi, 0, 2);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 42);
	ck_assert_int_eq(ps_eventset_is_running(set), 1);
	check_fails(ps_start(set), PS_EISRUN);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 42);
	ck_assert_uint_eq(fake_papi.calls[FAKE_PAPI_START], 0);
}
END_TEST

START_TEST(a_loop_of_papi_start_and_ps_stop_gives_each_runs_counts)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamps[3] = {0};

	for (int run = 0; run < 3; run++) {
		fake_papi_start(papi);
		fake_papi_count(papi, 0, 100 + run);
		check_ok(ps_stop(set, scene.root, &timestamps[run], NULL));
	}
	for (int run = 0; run < 3; run++) {
		ck_assert_int_eq(scene_count(0, EVENT, timestamps[run]), 100 + run);
		ck_assert_uint_eq(scene_part(0, EVENT, timestamps[run]).flags & PS_VALUE_WENT_BACK,
		                  0);
	}
}
END_TEST

START_TEST(ps_start_on_a_set_that_papi_runs_counts_from_there_without_a_restart)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_papi_start(papi);
	fake_papi_count(papi, 0, 500);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 30);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 30);
	check_ok(ps_reset(set));
	fake_papi_count(papi, 0, 4);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 4);
	ck_assert_uint_eq(fake_papi.calls[FAKE_PAPI_START], 0);
	ck_assert_int_eq(fake_papi.sets[papi].values[0], 534);
}
END_TEST

START_TEST(a_set_that_nobody_started_has_no_reading)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	long long counters[1] = {77}, residual[1];
	uint64_t timestamp = 0;

	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ENOTRUN);
	check_detail("PAPI_start");
	check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_ENOTRUN);
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ENOTRUN);
	check_fails(ps_reset(set), PS_ENOTRUN);
	check_fails(ps_eventset_check(set, residual, 1), PS_ENOTRUN);
	ck_assert_uint_eq(scene_rows(0, EVENT), 0);
	check_ok(ps_store(set, counters, 1, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 77);
}
END_TEST

START_TEST(estimates_of_a_multiplexed_set_are_scaled_and_may_fall_a_little)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set;
	struct ps_value value;
	uint64_t timestamp = 0;

	fake_papi.sets[papi].state = PS__PAPI_MULTIPLEXING;
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	value = scene_part(0, EVENT, timestamp);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 1000);
	ck_assert_msg(ps_value_coverage(&value) != ps_value_coverage(&value),
	              "a coverage that nobody knows");
	fake_papi_count(papi, 0, -10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 990);
	ck_assert_uint_eq(scene_part(0, EVENT, timestamp).flags & PS_VALUE_WENT_BACK, 0);
	fake_papi_reset(papi);
	fake_papi_count(papi, 0, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 1000);
	ck_assert_uint_ne(scene_part(0, EVENT, timestamp).flags & PS_VALUE_WENT_BACK, 0);
}
END_TEST

START_TEST(derived_differences_and_momentary_values_go_up_and_down)
{
	struct ps_eventset *set;
	uint64_t timestamp = 0;

	strcpy(fake_papi_kind("A-B")->info.derived, "DERIVED_SUB");
	strcpy(fake_papi_kind("A+B")->info.derived, "DERIVED_ADD");
	fake_papi_kind("temperature")->info.is_momentary = true;
	int papi = fake_papi_create("A-B", "A+B", "temperature", NULL);
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	fake_papi_count(papi, 1, 10);
	fake_papi_count(papi, 2, 45);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_papi_count(papi, 0, -30);
	fake_papi_count(papi, 2, -5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, "A-B", timestamp), -20);
	ck_assert_int_eq(scene_count(0, "temperature", timestamp), 40);
	ck_assert_uint_eq(scene_part(0, "A-B", timestamp).flags & PS_VALUE_WENT_BACK, 0);
	fake_papi_count(papi, 1, -9);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, "A+B", timestamp), 11);
	ck_assert_uint_ne(scene_part(0, "A+B", timestamp).flags & PS_VALUE_WENT_BACK, 0);
}
END_TEST

START_TEST(a_stored_zero_and_what_is_unknown_are_four_answers)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	struct ps_thread *here = ps_topology_thread(scene.topology, 0);
	struct ps_value value;
	uint64_t timestamp = 0;

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_ok(ps_thread_reading(here, EVENT, timestamp, &value));
	ck_assert_int_eq(value.value, 0);
	check_fails(ps_thread_reading(here, "PAPI_BR_INS", timestamp, &value), PS_ENOEVNT);
	check_fails(ps_thread_reading(here, EVENT, timestamp + 1, &value), PS_ENOEVST);
	fake_set_cpu(77);
	fake_papi_count(papi, 0, 8);
	check_ok(ps_read(set, scene.root, NULL, &here));
	ck_assert_int_eq(ps_thread_cpu(here), -1);
	check_ok(ps_thread_reading(here, EVENT, 0, &value));
	ck_assert_int_eq(value.value, 8);
	ck_assert_int_eq(scene_total(EVENT).value, 8);
}
END_TEST

START_TEST(a_topology_destroyed_under_a_wrapped_set_is_refused_and_its_counts_go_on)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 8);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	struct ps_component *old = scene.root;
	ps_topology_destroy(scene.topology);
	check_fails(ps_read(set, old, &timestamp, NULL), PS_EINVAL);
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:2 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
	fake_papi_count(papi, 0, 1);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi");
	TCase *tests = papi_scene_case(suite, "values");

	tcase_add_test(tests, names_and_scope_come_from_papi_once);
#ifdef PS_WITH_PFM
	tcase_add_test(tests, a_name_is_found_with_the_pmu_that_papi_left_out);
#endif
	tcase_add_test(tests, start_read_accum_stop_count_as_any_set_does);
	tcase_add_test(tests, readings_in_any_order_give_the_same_as_one_by_one);
	tcase_add_test(tests, accum_accum_stop_keeps_everything);
	tcase_add_test(tests, restart_then_accum_with_timestamp_0_starts_at_0);
	tcase_add_test(tests, a_set_that_papi_start_started_is_read_from_papi_start_on);
	tcase_add_test(tests, a_loop_of_papi_start_and_ps_stop_gives_each_runs_counts);
	tcase_add_test(tests, ps_start_on_a_set_that_papi_runs_counts_from_there_without_a_restart);
	tcase_add_test(tests, a_set_that_nobody_started_has_no_reading);
	tcase_add_test(tests, estimates_of_a_multiplexed_set_are_scaled_and_may_fall_a_little);
	tcase_add_test(tests, derived_differences_and_momentary_values_go_up_and_down);
	tcase_add_test(tests, a_stored_zero_and_what_is_unknown_are_four_answers);
	tcase_add_test(tests,
	               a_topology_destroyed_under_a_wrapped_set_is_refused_and_its_counts_go_on);
	return scene_run(suite);
}

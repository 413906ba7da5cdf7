/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user does to a PAPI event set beside the library: resets it, stops and restarts it,
 * gives it other events, destroys it, so that PAPI gives its number to another one. On a fake PAPI.
 */
#include "support/papi_scene.h"

START_TEST(events_added_between_two_runs_are_taken_over_at_the_next_start)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t first = 0, second;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 5);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	fake_papi_add(papi, OTHER);
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_event_count(set), 2);
	fake_papi_count(papi, 0, 6);
	fake_papi_count(papi, 1, 60);
	second = first;
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, second), 6);
	ck_assert_int_eq(scene_count(0, OTHER, second), 60);
	ck_assert_int_eq(scene_count(0, EVENT, first), 5);
}
END_TEST

START_TEST(events_added_before_a_papi_start_are_taken_over_by_the_first_reading)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_papi_add(papi, OTHER);
	fake_papi_start(papi);
	fake_papi_count(papi, 1, 60);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, OTHER, timestamp), 60);
}
END_TEST

START_TEST(events_exchanged_for_as_many_others_are_noticed_at_the_next_start)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);

	fake_papi.sets[papi].count = 0;
	fake_papi_add(papi, OTHER);
	check_ok(ps_start(set));
	ck_assert_str_eq(ps_eventset_event_name(set, 0), OTHER);
}
END_TEST

START_TEST(events_added_within_a_run_are_refused_and_write_no_memory)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	for (int i = 0; i < 6; i++)
		fake_papi_add(papi, i % 2 ? OTHER : "X");
	fake_papi.sets[papi].is_running = true;
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ECNFLCT);
	check_detail("7 events");
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ECNFLCT);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 5);
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_event_count(set), 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
}
END_TEST

START_TEST(a_change_in_number_is_noticed_with_and_without_room_for_more)
{
	static const int rooms[] = {FAKE_PAPI_EVENTS, 1 << 20};

	for (int i = 0; i < 4; i++) {
		fake_papi.component.most_events = rooms[i % 2];
		int papi = fake_papi_create(EVENT, OTHER, NULL);
		struct ps_eventset *set = papi_scene_wrap(papi);
		uint64_t timestamp = 0;

		check_ok(ps_start(set));
		for (int reading = 0; reading < 3; reading++) {
			fake_papi_count(papi, 0, 10);
			fake_papi_count(papi, 1, 20);
			check_ok(ps_read(set, scene.root, &timestamp, NULL));
		}
		if (i < 2)
			fake_papi_add(papi, "X");
		else
			fake_papi.sets[papi].count--;
		check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ECNFLCT);
		ck_assert_int_eq(scene_count(0, EVENT, timestamp), 30);
		ck_assert_int_eq(scene_count(0, OTHER, timestamp), 60);
		papi_scene_destroy(set);
		fake_papi_destroy(papi);
	}
}
END_TEST

START_TEST(a_number_that_papi_gave_again_brings_up_no_old_reading)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *old = papi_scene_wrap(papi), *set;
	uint64_t before = 0, timestamp;

	check_ok(ps_start(old));
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_stop(old, scene.root, &before, NULL));
	fake_papi_destroy(papi);
	ck_assert_int_eq(fake_papi_create(EVENT, NULL), papi);
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 3);
	timestamp = before;
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_uint_ne(timestamp, before);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 3);
	ck_assert_int_eq(scene_count(0, EVENT, before), 1000);
}
END_TEST

START_TEST(a_wrap_of_a_set_that_is_gone_says_so_and_that_it_is_another_one)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_papi_destroy(papi);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ENOEVST);
	check_detail("PAPI's words for -11");
	fake_papi_create(OTHER, NULL);
	fake_papi_start(papi);
	fake_papi_count(papi, 0, 7);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ENOEVST);
	check_detail("another one");
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 1000);
	papi_scene_destroy(set);
	ck_assert_msg(fake_papi.sets[papi].is_running, "destroying a wrap touched a PAPI set");
}
END_TEST

START_TEST(a_set_destroyed_by_papi_after_ps_stop_keeps_its_final_counts)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 12);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	fake_papi_destroy(papi);
	timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 12);
	check_fails(ps_start(set), PS_ENOEVST);
}
END_TEST

START_TEST(a_papi_reset_behind_the_back_is_flagged_and_no_huge_number)
{
	int papi = fake_papi_create(EVENT, OTHER, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_papi_reset(papi);
	fake_papi_count(papi, 0, 20);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 1020);
	ck_assert_uint_ne(scene_part(0, EVENT, timestamp).flags & PS_VALUE_WENT_BACK, 0);
	fake_papi_count(papi, 0, 1);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 1021);
	fake_papi_reset(papi); /* as PAPI_accum does */
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 0);
	ck_assert_uint_ne(scene_part(0, EVENT, timestamp).flags & PS_VALUE_WENT_BACK, 0);
}
END_TEST

START_TEST(a_reset_after_a_restart_or_a_takeover_is_noticed_as_well)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_papi_start(papi);
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_papi_reset(papi);
	fake_papi_count(papi, 0, 500);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 600);
	ck_assert_uint_ne(scene_part(0, EVENT, timestamp).flags & PS_VALUE_WENT_BACK, 0);
}
END_TEST

START_TEST(a_stop_by_papi_stop_leaves_the_final_counts_to_ps_stop)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 9);
	fake_papi_stop(papi);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 9);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 9);
}
END_TEST

/* Where the thread was before the first reading nobody has seen. */
START_TEST(what_papi_started_is_last_cpu_until_the_first_reading)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	fake_set_clock(1000000, 0);
	ck_assert_int_eq(ps__papi_calls.start(papi), 0);
	fake_papi_count(papi, 0, 100);
	fake_set_cpu(2);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 100);
	ck_assert_int_eq(scene_part(2, EVENT, timestamp).attribution, PS_ATTRIBUTION_LAST_CPU);
	timestamp = 0;
	fake_papi_count(papi, 0, 100);
	fake_set_clock(2000000, 0);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(2, EVENT, timestamp).attribution, PS_ATTRIBUTION_MIXED);
}
END_TEST

/* It is pinned if it was when it was wrapped, and PAPI had not started it by then. */
START_TEST(what_papi_started_is_pinned_if_it_was_before)
{
	int papi = fake_papi_create(EVENT, NULL), running = fake_papi_create(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_set_affinity("3");
	fake_set_cpu(3);
	struct ps_eventset *set = papi_scene_wrap(papi);
	ck_assert_int_eq(ps__papi_calls.start(papi), 0);
	fake_papi_count(papi, 0, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq(ps__papi_calls.start(running), 0);
	set = papi_scene_wrap(running);
	fake_papi_count(running, 0, 10);
	timestamp = 0;
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_LAST_CPU);
	timestamp = 0;
	fake_papi_count(running, 0, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_PINNED);
}
END_TEST

/* In a later run, too: the set watches its task by then, but for another CPU. */
START_TEST(what_papi_started_again_is_not_pinned_if_the_thread_was_bound_since)
{
	int papi = fake_papi_create(EVENT, NULL);
	uint64_t timestamp = 0;

	struct ps_eventset *set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(ps__papi_calls.start(papi), 0);
	fake_papi_count(papi, 0, 10);
	fake_set_affinity("3");
	fake_set_cpu(3);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 10);
	ck_assert_int_eq(scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_LAST_CPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi changes");
	TCase *tests = papi_scene_case(suite, "changes");

	tcase_add_test(tests, what_papi_started_is_last_cpu_until_the_first_reading);
	tcase_add_test(tests, what_papi_started_is_pinned_if_it_was_before);
	tcase_add_test(tests, what_papi_started_again_is_not_pinned_if_the_thread_was_bound_since);
	tcase_add_test(tests, events_added_between_two_runs_are_taken_over_at_the_next_start);
	tcase_add_test(tests, events_added_before_a_papi_start_are_taken_over_by_the_first_reading);
	tcase_add_test(tests, events_exchanged_for_as_many_others_are_noticed_at_the_next_start);
	tcase_add_test(tests, events_added_within_a_run_are_refused_and_write_no_memory);
	tcase_add_test(tests, a_change_in_number_is_noticed_with_and_without_room_for_more);
	tcase_add_test(tests, a_number_that_papi_gave_again_brings_up_no_old_reading);
	tcase_add_test(tests, a_wrap_of_a_set_that_is_gone_says_so_and_that_it_is_another_one);
	tcase_add_test(tests, a_set_destroyed_by_papi_after_ps_stop_keeps_its_final_counts);
	tcase_add_test(tests, a_papi_reset_behind_the_back_is_flagged_and_no_huge_number);
	tcase_add_test(tests, a_reset_after_a_restart_or_a_takeover_is_noticed_as_well);
	tcase_add_test(tests, a_stop_by_papi_stop_leaves_the_final_counts_to_ps_stop);
	return scene_run(suite);
}

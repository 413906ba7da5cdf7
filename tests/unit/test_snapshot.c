/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: between any two of them stands what was counted, on the hardware threads where it was;
 * whatever readings are made meanwhile; and the readings are what they are without snapshots.
 */
#include "test_snapshot.h"
#include "eventset/eventset.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <stdlib.h>

#define CPUS 4

START_TEST(counts_between_two_stand_where_they_were_counted)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *before, *middle, *after;

	scene_count_on(0, 7);
	before = taken(set);
	scene_count_on(0, 1000);
	scene_count_on(3, 10);
	middle = taken(set);
	scene_count_on(3, 5);
	scene_count_on(1, 1);
	after = taken(set);
	ck_assert_int_eq(difference(set, before, after, NULL).value, 1016);
	ck_assert_int_eq(count_between(set, before, middle, 0), 1000);
	ck_assert_int_eq(count_between(set, before, middle, 3), 10);
	ck_assert_int_eq(count_between(set, middle, after, 3), 5);
	ck_assert_int_eq(count_between(set, before, after, 3), 15);
	ck_assert_int_eq(count_between(set, before, after, 2), 0);
	ck_assert_int_eq(difference(set, NULL, after, NULL).value, 1023);
	struct ps_value part = difference(set, before, after, scene_thread(0));
	ck_assert_int_eq((int)part.attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq((int)part.status, PS_STATUS_COUNTED);
	ck_assert_uint_eq(part.timestamp, ps_snapshot_timestamp(after));
	ck_assert_uint_lt(ps_snapshot_timestamp(before), ps_snapshot_timestamp(after));
	struct ps_component *package = ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 1);
	ck_assert_int_eq(difference(set, before, after, package).value, 15);
	/* Nothing went to the tree. */
	ck_assert_uint_eq(scene_rows(0, EVENT) + scene_rows(3, EVENT), 0);
	check_fails(ps_component_total(scene.root, EVENT, &part), PS_ENOEVNT);
	ps_snapshot_destroy(before);
	ps_snapshot_destroy(middle);
	ps_snapshot_destroy(after);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_on_one_cpu_is_pinned)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_snapshot *before, *after;

	fake_set_affinity("2");
	fake_set_cpu(2);
	check_ok(ps_start(set));
	before = taken(set);
	fake_advance(PAGE_FAULTS, 9);
	after = taken(set);
	struct ps_value value = difference(set, before, after, scene_thread(2));
	ck_assert_int_eq(value.value, 9);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_PINNED);
	ps_snapshot_destroy(before);
	ps_snapshot_destroy(after);
	ps_eventset_destroy(set);
}
END_TEST

/* The total is true in any case. */
START_TEST(a_count_that_is_not_split_says_so)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_snapshot *before = taken(set), *after;

	scene_count_on(0, 100);
	scene_count_on(1, 1);
	after = taken(set);
	struct ps_value value = difference(set, before, after, scene_thread(1));
	ck_assert_int_eq(value.value, 101);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_LAST_CPU);
	ps_snapshot_destroy(before);
	ps_snapshot_destroy(after);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_starts_over_in_readings_goes_on_in_snapshots)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *first = taken(set), *last = NULL;
	uint64_t timestamp = 0;

	scene_count_on(0, 1);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	scene_count_on(1, 10);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	check_ok(ps_reset(set));
	scene_count_on(1, 100);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	scene_count_on(1, 50000); /* stopped */
	check_ok(ps_snapshot_take(set, &last));
	ck_assert_int_eq(difference(set, first, last, NULL).value, 111);
	check_ok(ps_start(set));
	scene_count_on(2, 1000);
	check_ok(ps_snapshot_take(set, &last));
	ck_assert_int_eq(difference(set, first, last, NULL).value, 1111);
	ck_assert_int_eq(count_between(set, first, last, 0), 1);
	ck_assert_int_eq(count_between(set, first, last, 1), 110);
	ck_assert_int_eq(count_between(set, first, last, 2), 1000);
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 100);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

/* Numbers that are the same everywhere. */
static unsigned next_number(unsigned below)
{
	static uint64_t state = 7;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % below;
}

/* One call on both sets. */
static void call_both(struct ps_eventset *one, struct ps_eventset *other, unsigned what,
                      uint64_t timestamps[2])
{
	struct ps_eventset *sets[2] = {one, other};

	for (size_t index = 0; index < 2; index++) {
		uint64_t new = 0, *timestamp = what % 2 ? &new : &timestamps[index];
		switch (what / 2) {
		case 0:
			check_ok(ps_read(sets[index], scene.root, timestamp, NULL));
			break;
		case 1:
			check_ok(ps_accum(sets[index], scene.root, timestamp, NULL));
			break;
		case 2:
			check_ok(ps_stop(sets[index], scene.root, timestamp, NULL));
			check_ok(ps_start(sets[index]));
			break;
		default:
			check_ok(ps_reset(sets[index]));
			continue;
		}
		timestamps[index] = *timestamp;
	}
}

/* A set with snapshots beside one without: the readings agree, and each snapshot has all that was
 * counted until then. */
START_TEST(readings_and_snapshots_do_not_disturb_each_other)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_eventset *twin = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *first = taken(set), *last = NULL;
	long long counted[CPUS] = {0};
	uint64_t timestamps[2] = {0, 0};
	unsigned rounds = (unsigned)ps_test_serial_size(4000, 500);

	for (unsigned round = 0; round < rounds; round++) {
		int cpu = (int)next_number(CPUS);
		unsigned amount = next_number(100), what = next_number(10);
		if (next_number(3) == 0) {
			scene_count_on(cpu, amount);
			counted[cpu] += amount;
		}
		if (what < 7)
			call_both(set, twin, what, timestamps);
		if (timestamps[0])
			ck_assert_int_eq(scene_sum(EVENT, timestamps[0]),
			                 scene_sum(EVENT, timestamps[1]));
		if (next_number(2))
			continue;
		check_ok(ps_snapshot_take(set, &last));
		for (cpu = 0; cpu < CPUS; cpu++)
			ck_assert_int_eq(count_between(set, first, last, cpu), counted[cpu]);
	}
	scene_check_residual(set);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
	ps_eventset_destroy(twin);
}
END_TEST

START_TEST(multiplexing_shows_in_the_interval_where_it_was)
{
	struct ps_eventset *set;
	struct ps_snapshot *first, *second, *third;

	fake_add_core_pmu(4);
	fake_set_affinity("0");
	set = scene_started("instructions", NULL);
	first = taken(set);
	fake_run(1000, 500);
	fake_advance(INSTRUCTIONS, 100);
	second = taken(set);
	fake_run(1000, 1000);
	fake_advance(INSTRUCTIONS, 30);
	third = taken(set);
	struct ps_value value = difference(set, first, second, NULL);
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 200);
	ck_assert_uint_eq(value.raw, 100);
	value = difference(set, second, third, NULL);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.value, 30);
	ck_assert_uint_eq(value.enabled_ns, 1000);
	fake_run(1000, 0);
	check_ok(ps_snapshot_take(set, &first));
	ck_assert_int_eq((int)difference(set, third, first, NULL).status,
	                 PS_STATUS_NEVER_SCHEDULED);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(second);
	ps_snapshot_destroy(third);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_snapshot_that_has_room_allocates_nothing)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_snapshot *snapshot;

	scene_count_on(1, 1);
	snapshot = taken(set);
	fake_count_reset();
	for (unsigned round = 0; round < 100; round++)
		check_ok(ps_snapshot_take(set, &snapshot));
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 0);
	ps_snapshot_destroy(snapshot);
	ps_eventset_destroy(set);
}
END_TEST

/* Readings and several snapshots take turns on the fast path, with and without a tree. */
START_TEST(a_task_that_stays_costs_one_read_a_snapshot)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *snapshots[3];
	uint64_t timestamp = 0;

	scene_count_on(2, 5);
	if (_i)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	for (size_t index = 0; index < 3; index++)
		snapshots[index] = taken(set);
	ck_assert_ptr_nonnull(set->fast_path.root);
	fake_count_reset();
	for (unsigned round = 0; round < 60; round++) {
		fake_advance(PAGE_FAULTS, round);
		check_ok(ps_snapshot_take(set, &snapshots[round % 3]));
		if (round >= 2)
			ck_assert_int_eq(
			    count_between(set, snapshots[(round + 2) % 3], snapshots[round % 3], 2),
			    round);
		if (_i && round % 7 == 0)
			check_ok(ps_read(set, scene.root, &timestamp, NULL));
	}
	ck_assert_ptr_nonnull(set->fast_path.root);
	ck_assert_uint_eq(fake_count(FAKE_READ), _i ? 69 : 60);
	for (size_t index = 0; index < 3; index++)
		ps_snapshot_destroy(snapshots[index]);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(other_targets_have_snapshots_too)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_snapshot *first, *last;

	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	first = taken(set);
	fake_advance_on(PAGE_FAULTS, -1, 3, 12);
	last = taken(set);
	struct ps_value value = difference(set, first, last, scene_thread(3));
	ck_assert_int_eq(value.value, 12);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_ATTACHED);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

/* The memory of one set's snapshot becomes the other set's, though both are as old. */
START_TEST(a_snapshot_of_another_set_is_taken_anew)
{
	struct ps_eventset *one = scene_started(EVENT, NULL);
	struct ps_eventset *other = scene_started("minor-faults", NULL);
	struct ps_snapshot *snapshot = taken(one), *others = taken(other);

	scene_count_on(0, 7);
	for (int i = 0; i < 2; i++) {
		check_ok(ps_snapshot_take(one, &snapshot));
		check_ok(ps_snapshot_take(other, &others));
	}
	ck_assert_uint_eq(one->openings, other->openings);
	fake_advance(MINOR_FAULTS, 5);
	check_ok(ps_snapshot_take(other, &snapshot));
	ck_assert_int_eq(difference(other, NULL, snapshot, NULL).value, 5);
	struct ps_value value;
	check_fails(ps_snapshot_difference(one, NULL, snapshot, NULL, &value, 1), PS_EINVAL);
	ps_snapshot_destroy(snapshot);
	ps_snapshot_destroy(others);
	ps_eventset_destroy(other);
	ps_eventset_destroy(one);
}
END_TEST

/* An interval without counts is 0 on a hardware thread that counted before, and not known on one
 * that never did. */
START_TEST(a_hardware_thread_that_never_counted_was_not_met)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_snapshot *bare = taken(set), *first, *second;
	struct ps_value value;

	check_fails(ps_snapshot_difference(set, NULL, bare, scene_thread(0), &value, 1),
	            PS_ENOEVST);
	fake_advance(PAGE_FAULTS, 3);
	first = taken(set);
	second = taken(set);
	ck_assert_int_eq(difference(set, bare, first, scene_thread(0)).value, 3);
	ck_assert_int_eq(difference(set, first, second, scene_thread(0)).value, 0);
	ps_snapshot_destroy(second);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(bare);
	ps_eventset_destroy(set);
}
END_TEST

static void add_split(TCase *tests)
{
	tcase_add_test(tests, counts_between_two_stand_where_they_were_counted);
	tcase_add_test(tests, what_starts_over_in_readings_goes_on_in_snapshots);
	tcase_add_test(tests, readings_and_snapshots_do_not_disturb_each_other);
	tcase_add_test(tests, a_snapshot_that_has_room_allocates_nothing);
	tcase_add_test(tests, a_snapshot_of_another_set_is_taken_anew);
}

int main(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tests = scene_case(suite, "snapshot");
	TCase *unsplit = scene_case_last_cpu(suite, "last-cpu");

	TCase *instances = scene_case_instances(suite, "per-CPU counters");

	add_split(instances);
	tcase_add_loop_test(instances, a_task_that_stays_costs_one_read_a_snapshot, 0, 2);
	add_split(scene_case_records(suite, "migration records"));
	tcase_add_test(unsplit, a_count_that_is_not_split_says_so);
	tcase_add_test(tests, a_task_on_one_cpu_is_pinned);
	tcase_add_test(tests, multiplexing_shows_in_the_interval_where_it_was);
	tcase_add_test(tests, other_targets_have_snapshots_too);
	tcase_add_test(tests, a_hardware_thread_that_never_counted_was_not_met);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: between any two of them stands what was counted, on the hardware threads where it was;
 * whatever readings are made meanwhile; and the readings are what they are without snapshots.
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#define EVENT "page-faults"
#define CPUS  4

static struct ps_snapshot *taken(struct ps_eventset *set)
{
	struct ps_snapshot *snapshot = NULL;

	check_ok(ps_snapshot_take(set, &snapshot));
	return snapshot;
}

static struct ps_value difference(const struct ps_eventset *set, const struct ps_snapshot *from,
                                  const struct ps_snapshot *to,
                                  const struct ps_component *component)
{
	struct ps_value values[8] = {0};

	check_ok(ps_snapshot_difference(set, from, to, component, values, 8));
	return values[0];
}

static struct ps_component *thread_component(int cpu)
{
	return ps_component_find(scene.root, PS_COMPONENT_THREAD, cpu);
}

/* 0 where the task was not. */
static long long count_between(const struct ps_eventset *set, const struct ps_snapshot *from,
                               const struct ps_snapshot *to, int cpu)
{
	struct ps_value values[8] = {0};
	int result = ps_snapshot_difference(set, from, to, thread_component(cpu), values, 8);

	ck_assert(result == PS_OK || result == PS_ENOEVST);
	return values[0].value;
}

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
	struct ps_value part = difference(set, before, after, thread_component(0));
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
	struct ps_value value = difference(set, before, after, thread_component(2));
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
	struct ps_value value = difference(set, before, after, thread_component(1));
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

	for (unsigned round = 0; round < 4000; round++) {
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

/* Each allocation fails once; the counts come with the next snapshot. */
START_TEST(a_lack_of_memory_loses_nothing)
{
	for (unsigned nth = 1; nth < 8; nth++) {
		struct ps_eventset *set = scene_started(EVENT, NULL);
		struct ps_snapshot *first = taken(set), *last = NULL;
		struct ps_value values[2];

		scene_count_on(1, 5);
		scene_count_on(2, 6);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_snapshot_take(set, &last);
		if (result == PS_OK)
			result = ps_snapshot_difference(set, first, last, NULL, values, 2);
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		check_ok(ps_snapshot_take(set, &last));
		ck_assert_int_eq(difference(set, first, last, NULL).value, 11);
		ps_snapshot_destroy(first);
		ps_snapshot_destroy(last);
		ps_eventset_destroy(set);
	}
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static sigjmp_buf back;

static ssize_t leave(int fd, void *buffer, size_t size_bytes)
{
	(void)fd;
	(void)buffer;
	(void)size_bytes;
	ps__os.read = real_read;
	siglongjmp(back, 1);
}

/* Out of a reading that a signal handler left. */
START_TEST(a_call_that_was_left_loses_nothing)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_snapshot *first = taken(set), *last = NULL;

	real_read = ps__os.read;
	scene_count_on(0, 4);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_count_on(1, 3);
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		ps_accum(set, scene.root, NULL, NULL);
		ck_abort_msg("the reading reads no counters");
	}
	check_ok(ps_snapshot_take(set, &last));
	ck_assert_int_eq(difference(set, first, last, NULL).value, 7);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
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
	struct ps_value value = difference(set, first, last, thread_component(3));
	ck_assert_int_eq(value.value, 12);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_ATTACHED);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_is_no_interval_is_refused)
{
	struct ps_eventset *set = scene_set(EVENT, NULL), *other;
	struct ps_snapshot *first = NULL, *last = NULL, *foreign;
	struct ps_value value = {.value = 42};

	check_fails(ps_snapshot_take(NULL, &first), PS_EINVAL);
	check_fails(ps_snapshot_take(set, NULL), PS_EINVAL);
	check_fails(ps_snapshot_take(set, &first), PS_ENOTRUN);
	ck_assert_ptr_eq(first, NULL);
	check_ok(ps_start(set));
	first = taken(set);
	last = taken(set);
	other = scene_started(EVENT, NULL);
	foreign = taken(other);
	check_fails(ps_snapshot_difference(set, first, foreign, NULL, &value, 1), PS_EINVAL);
	check_detail("another event set");
	check_fails(ps_snapshot_difference(set, foreign, last, NULL, &value, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, last, first, NULL, &value, 1), PS_EINVAL);
	check_detail("exchange them");
	check_fails(ps_snapshot_difference(set, first, last, NULL, &value, 0), PS_EBUF);
	check_fails(ps_snapshot_difference(NULL, first, last, NULL, &value, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, first, NULL, NULL, &value, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, first, last, NULL, NULL, 1), PS_EINVAL);
	check_fails(ps_snapshot_difference(set, first, last, thread_component(2), &value, 1),
	            PS_ENOEVST);
	ck_assert_int_eq(value.value, 42);
	/* Other events are another matter. */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_start(set));
	struct ps_value two[2];
	check_fails(ps_snapshot_difference(set, first, last, NULL, two, 2), PS_EINVAL);
	check_ok(ps_snapshot_take(set, &last));
	check_fails(ps_snapshot_difference(set, first, last, NULL, two, 2), PS_EINVAL);
	check_detail("of other events");
	ck_assert_uint_eq(ps_snapshot_timestamp(NULL), 0);
	ps_snapshot_destroy(NULL);
	ps_eventset_destroy(set);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_snapshot_destroy(foreign);
	ps_eventset_destroy(other);
}
END_TEST

static void add_split(TCase *tests)
{
	tcase_add_test(tests, counts_between_two_stand_where_they_were_counted);
	tcase_add_test(tests, what_starts_over_in_readings_goes_on_in_snapshots);
	tcase_add_test(tests, readings_and_snapshots_do_not_disturb_each_other);
	tcase_add_test(tests, a_call_that_was_left_loses_nothing);
	tcase_add_test(tests, a_lack_of_memory_loses_nothing);
	tcase_add_test(tests, a_snapshot_that_has_room_allocates_nothing);
}

int main(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tests = scene_case(suite, "snapshot");
	TCase *unsplit = scene_case_last_cpu(suite, "last-cpu");

	add_split(scene_case_instances(suite, "per-CPU counters"));
	add_split(scene_case_records(suite, "migration records"));
	tcase_add_test(unsplit, a_count_that_is_not_split_says_so);
	tcase_add_test(unsplit, a_call_that_was_left_loses_nothing);
	tcase_add_test(unsplit, a_lack_of_memory_loses_nothing);
	tcase_add_test(tests, a_task_on_one_cpu_is_pinned);
	tcase_add_test(tests, multiplexing_shows_in_the_interval_where_it_was);
	tcase_add_test(tests, other_targets_have_snapshots_too);
	tcase_add_test(tests, what_is_no_interval_is_refused);
	return scene_run(suite);
}

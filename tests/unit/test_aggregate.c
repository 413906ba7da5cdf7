/* SPDX-License-Identifier: BSD-3-Clause */
/* Event sets that were destroyed: they count on in totals, once each, and a total does not look at
 * each of them. */
#include "store/aggregate.h"

#include "support/scene.h"

#include <errno.h>
#include <pthread.h>

#define EVENT "page-faults"

static long long total_of(enum ps_component_type type, int cache_level, int logical_id,
                          const char *event)
{
	struct ps_value value;

	check_ok(ps_component_total(
	    ps_component_find_logical(scene.root, type, cache_level, logical_id), event, &value));
	return value.value;
}

/* A set that is alive for one reading, on a CPU. */
static void count_and_go(int cpu, long long number)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);
	long long counters[] = {number, 2 * number};

	fake_set_cpu(cpu);
	check_ok(ps_store(set, counters, 2, scene.root, &(uint64_t){0}, NULL));
	ps_eventset_destroy(set);
}

/* What a total looks at. */
static size_t count_current(void)
{
	size_t count = 0;

	for (const struct ps__recording *series = ps__recording_first_current(scene.topology);
	     series; series = ps__recording_next_current(series))
		count++;
	for (const struct ps__aggregate *one = ps__aggregate_first(scene.topology); one;
	     one = one->next)
		count++;
	return count;
}

START_TEST(sets_that_are_gone_count_on_and_a_total_does_not_look_at_each_of_them)
{
	struct ps_eventset *living = scene_set(EVENT, NULL), *mute = scene_set(EVENT, NULL);
	struct ps_value total, part;
	long long one = 5;

	check_ok(ps_store(living, &one, 1, scene.root, NULL, NULL));
	for (int turn = 0; turn < 1000; turn++)
		count_and_go(turn % 4, turn % 4 + 1);
	ck_assert_int_eq(scene_total(EVENT).value, 2505);
	ck_assert_int_eq(scene_total("minor-faults").value, 5000);
	ck_assert_int_eq(total_of(PS_COMPONENT_PACKAGE, 0, 1, EVENT), 1750);
	ck_assert_int_eq(total_of(PS_COMPONENT_CORE, 0, 1, EVENT), 500);
	ck_assert_uint_le(count_current(), 16);
	total = scene_total(EVENT);
	part = scene_part(3, EVENT, 0);
	ck_assert_uint_eq(total.timestamp, part.timestamp);
	ck_assert_uint_eq(total.raw, 2505);
	ck_assert_uint_ne(total.flags & PS_VALUE_MERGED, 0);
	ck_assert_int_eq((int)total.attribution, (int)part.attribution);
	ck_assert_uint_eq(scene_rows(3, EVENT), 250);
	ps_eventset_destroy(living);
	ps_eventset_destroy(mute);
	ck_assert_int_eq(scene_total(EVENT).value, 2505);
}
END_TEST

START_TEST(sets_that_live_long_cost_nothing_more_when_they_go)
{
	struct ps_eventset *sets[300];
	long long one = 1;

	for (size_t index = 0; index < 300; index++) {
		sets[index] = scene_set(EVENT, NULL);
		check_ok(ps_store(sets[index], &one, 1, scene.root, NULL, NULL));
	}
	/* From the middle, both ways: the first in the list, the last, and those between. */
	for (size_t index = 0; index < 300; index++) {
		ps_eventset_destroy(sets[index % 2 ? 150 + index / 2 : 149 - index / 2]);
		ck_assert_int_eq(scene_total(EVENT).value, 300);
	}
	ck_assert_uint_le(count_current(), 16);
}
END_TEST

/* A set that goes from task to task, with the same events: only what it counted last counts. */
START_TEST(a_set_that_is_used_again_and_again_counts_once)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	long long number;

	for (number = 1; number <= 300; number++) {
		check_ok(ps_eventset_detach(set));
		check_ok(ps_store(set, &number, 1, scene.root, NULL, NULL));
		ck_assert_int_eq(scene_total(EVENT).value, number);
	}
	check_ok(ps_eventset_detach(set));
	ck_assert_uint_le(count_current(), 16);
	ck_assert_int_eq(scene_total(EVENT).value, 300);
	ps_eventset_destroy(set);
	ck_assert_int_eq(scene_total(EVENT).value, 300);
}
END_TEST

START_TEST(without_memory_for_it_a_set_that_is_gone_counts_all_the_same)
{
	for (unsigned nth = 1; nth < 6; nth++) {
		struct ps_eventset *set = scene_set(EVENT, NULL);
		long long number = nth;

		fake_set_cpu((int)nth % 4);
		check_ok(ps_store(set, &number, 1, scene.root, NULL, NULL));
		fake_fail(FAKE_ALLOCATE, nth < 3 ? nth : 1, ENOMEM);
		ps_eventset_destroy(set);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(scene_total(EVENT).value, (long long)(nth * (nth + 1) / 2));
	}
}
END_TEST

struct watched {
	_Atomic bool is_done;
	_Atomic bool has_failed;
};

static void *watch_total(void *context)
{
	struct watched *watched = context;
	long long before = 0;

	while (!atomic_load(&watched->is_done)) {
		struct ps_value one, two;
		if (ps_component_total(scene.root, EVENT, &one) != PS_OK)
			continue;
		/* Sets come and go, but what they counted does not. */
		if (one.value < before ||
		    ps_component_total(scene.root, "minor-faults", &two) != PS_OK ||
		    two.value < 2 * one.value || (one.value - before) > 2000)
			atomic_store(&watched->has_failed, true);
		before = one.value;
	}
	return NULL;
}

START_TEST(a_total_sees_each_set_once_while_sets_go)
{
	struct watched watched = {0};
	pthread_t thread;

	count_and_go(0, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, watch_total, &watched), 0);
	for (int turn = 1; turn < 2000; turn++)
		count_and_go(turn % 4, 1);
	atomic_store(&watched.is_done, true);
	pthread_join(thread, NULL);
	ck_assert(!atomic_load(&watched.has_failed));
	ck_assert_int_eq(scene_total(EVENT).value, 2000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate");
	TCase *tests = scene_case(suite, "sets that are gone");

	tcase_add_test(tests,
	               sets_that_are_gone_count_on_and_a_total_does_not_look_at_each_of_them);
	tcase_add_test(tests, sets_that_live_long_cost_nothing_more_when_they_go);
	tcase_add_test(tests, a_set_that_is_used_again_and_again_counts_once);
	tcase_add_test(tests, without_memory_for_it_a_set_that_is_gone_counts_all_the_same);
	tcase_add_test(tests, a_total_sees_each_set_once_while_sets_go);
	return scene_run(suite);
}

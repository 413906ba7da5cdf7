/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of many events: each is found by its name, and one more costs what it cost in a small
 * set. */
#include "eventset/eventset.h"
#include "support/scene.h"

#include <stdio.h>

#define MANY 3000

/* One encoding under many names. */
static const char *name_of(int number)
{
	static char name[32];

	snprintf(name, sizeof name, "cpu/config=2,name=n%d/", number);
	return name;
}

static struct ps_eventset *set_of(int count)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake_add_event(4, 2);
	for (int number = 0; number < count; number++)
		check_ok(ps_eventset_add(set, name_of(number)));
	return set;
}

START_TEST(each_of_many_events_is_found_and_none_is_added_twice)
{
	struct ps_eventset *set = set_of(MANY);

	for (int number = 0; number < MANY; number += 7) {
		ck_assert_int_eq(ps__set_find_event(set, name_of(number)), number);
		check_fails(ps_eventset_add(set, name_of(number)), PS_ECNFLCT);
	}
	ck_assert_int_eq(ps__set_find_event(set, name_of(MANY)), -1);
	ck_assert_uint_eq(ps_eventset_event_count(set), MANY);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_was_removed_is_not_found_and_may_be_added_again)
{
	struct ps_eventset *set = set_of(100), *copy;

	check_ok(ps_eventset_remove(set, name_of(40)));
	ck_assert_int_eq(ps__set_find_event(set, name_of(40)), -1);
	ck_assert_int_eq(ps__set_find_event(set, name_of(39)), 39);
	ck_assert_int_eq(ps__set_find_event(set, name_of(41)), 40);
	check_ok(ps_eventset_add(set, name_of(40)));
	ck_assert_int_eq(ps__set_find_event(set, name_of(40)), 99);
	check_ok(ps_eventset_clone(&copy, set));
	check_fails(ps_eventset_add(copy, name_of(40)), PS_ECNFLCT);
	check_ok(ps_eventset_add(copy, name_of(100)));
	ck_assert_str_eq(ps_eventset_event_name(copy, 100), "n100");
	ck_assert_uint_eq(ps_eventset_event_count(set), 100);
	ps_eventset_destroy(copy);
	ps_eventset_destroy(set);
}
END_TEST

/* Given by the term name=, and as it was written. */
START_TEST(either_name_finds_an_event_among_many)
{
	struct ps_eventset *set = set_of(100);

	check_ok(ps_eventset_add(set, "cpu/config=2,name=mine/"));
	ck_assert_int_eq(ps__set_find_event(set, "mine"), 100);
	ck_assert_int_eq(ps__set_find_event(set, "cpu/config=2,name=mine/"), 100);
	check_fails(ps_eventset_add(set, "cpu/name=mine,config=2/"), PS_ECNFLCT);
	check_ok(ps_eventset_remove(set, "mine"));
	ck_assert_int_eq(ps__set_find_event(set, "cpu/config=2,name=mine/"), -1);
	ps_eventset_destroy(set);
}
END_TEST

/* How many entries of the table a look-up meets at most, until it finds its event. */
static size_t longest_walk(const struct ps_eventset *set)
{
	const struct ps__event_names *names = &set->events.names;
	size_t longest = 0, walk = 0;

	/* Twice around: a run of entries may go on at the table's beginning. */
	for (size_t place = 0; place < 2 * names->capacity; place++) {
		walk = names->places[place % names->capacity] ? walk + 1 : 0;
		longest = walk > longest ? walk : longest;
	}
	return longest;
}

/* A list that is walked for each event, or a table that fills up, would have walks as long as the
 * set. */
START_TEST(one_more_event_costs_the_same_in_a_large_set)
{
	struct ps_eventset *large = set_of(10000);

	ck_assert_uint_ge(large->events.names.event_count, 10000 / 2);
	ck_assert_uint_ge(large->events.names.capacity, 10000);
	ck_assert_uint_le(longest_walk(large), 100);
	ck_assert_uint_le(large->events.room, 2 * 10000);
	ps_eventset_destroy(large);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_names");
	TCase *tests = scene_case(suite, "many events");

	tcase_add_test(tests, each_of_many_events_is_found_and_none_is_added_twice);
	tcase_add_test(tests, what_was_removed_is_not_found_and_may_be_added_again);
	tcase_add_test(tests, either_name_finds_an_event_among_many);
	tcase_add_test(tests, one_more_event_costs_the_same_in_a_large_set);
	return scene_run(suite);
}

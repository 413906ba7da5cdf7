/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that are to be in one group, in one if they fit, or each alone; on a PMU of few
 * counters. */
#include "support/scene.h"

#include <errno.h>

#define COUNTERS 3

static const char *const cores[] = {"cycles",       "instructions", "cache-references",
                                    "cache-misses", "branches",     "branch-misses"};

static void setup(void)
{
	scene_setup();
	fake_add_core_pmu(COUNTERS);
}

/* A set of the first events of the cores, and page faults behind them. */
static struct ps_eventset *set_of(size_t count)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	for (size_t event = 0; event < count; event++)
		check_ok(ps_eventset_add(set, cores[event]));
	check_ok(ps_eventset_add(set, "page-faults"));
	return set;
}

static int group(struct ps_eventset *set, enum ps_grouping how, size_t first, size_t last)
{
	size_t events[8], count = 0;

	for (size_t event = first; event <= last; event++)
		events[count++] = event;
	return ps_eventset_group(set, events, count, how);
}

static bool are_together(const struct ps_eventset *set, size_t first, size_t last)
{
	for (size_t event = first; event <= last; event++) {
		if (ps_eventset_event_group(set, event) != ps_eventset_event_group(set, first))
			return false;
	}
	return ps_eventset_event_group(set, first) >= 0;
}

START_TEST(events_that_are_to_be_together_are)
{
	struct ps_eventset *set = set_of(4);

	check_ok(ps_start(set));
	ck_assert(!are_together(set, 2, 3));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(group(set, PS_GROUP_TOGETHER, 2, 3));
	check_ok(ps_start(set));
	ck_assert(are_together(set, 2, 3));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("page-faults", 0), 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(group(set, PS_GROUP_AUTO, 2, 3));
	check_ok(ps_start(set));
	ck_assert(!are_together(set, 2, 3));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(software_events_join_the_group_that_they_are_asked_into)
{
	struct ps_eventset *set = set_of(6);
	const size_t last_and_faults[] = {6, 5};

	check_ok(ps_eventset_group(set, last_and_faults, 2, PS_GROUP_TOGETHER));
	check_ok(ps_start(set));
	ck_assert(are_together(set, 5, 6));
	ps_eventset_destroy(set);
}
END_TEST

/* Counts the open counters of the event, and tells whether they are pinned. */
static size_t count_open(uint64_t config, bool pinned)
{
	int fds[64];
	size_t count = fake_counter_fds(fds, 64), found = 0;

	for (size_t index = 0; index < count; index++) {
		const struct perf_event_attr *attr = fake_attr_of_fd(fds[index]);
		found += attr->type == PERF_TYPE_HARDWARE && attr->config == config &&
		         attr->pinned == pinned;
	}
	return found;
}

static struct ps_eventset *set_with_pinned(void)
{
	struct ps_eventset *set = scene_set("cycles", "instructions:D", NULL);

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	return set;
}

/* _i: whether it is named first. */
START_TEST(a_pinned_event_leads_the_group_that_it_is_asked_into)
{
	struct ps_eventset *set = set_with_pinned();
	const size_t events[] = {_i ? 1 : 0, _i ? 0 : 1};

	check_ok(ps_eventset_group(set, events, 2, PS_GROUP_TOGETHER));
	check_ok(ps_start(set));
	ck_assert(are_together(set, 0, 1));
	ck_assert_uint_eq(count_open(PERF_COUNT_HW_INSTRUCTIONS, true), 1);
	ck_assert_uint_eq(count_open(PERF_COUNT_HW_CPU_CYCLES, false), 1);
	fake_advance(CYCLES, 5);
	fake_advance(INSTRUCTIONS, 6);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("cycles", 0), 5);
	ck_assert_int_eq(scene_sum("instructions:D", 0), 6);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_weak_group_whose_pinned_event_takes_all_counters_is_split)
{
	struct ps_eventset *set = set_with_pinned();

	fake_add_core_pmu(1);
	check_ok(group(set, PS_GROUP_WEAK, 0, 1));
	check_ok(ps_start(set));
	ck_assert(!are_together(set, 0, 1));
	ck_assert_int_ge(ps_eventset_event_group(set, 0), 0);
	ck_assert_uint_eq(count_open(PERF_COUNT_HW_INSTRUCTIONS, true), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_does_not_fit_is_refused_at_once_and_named)
{
	struct ps_eventset *set = set_of(4);

	check_fails(group(set, PS_GROUP_TOGETHER, 0, 3), PS_ENOCNTR);
	check_detail("'cache-misses'");
	check_detail("'cycles'");
	check_detail("PS_GROUP_WEAK");
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_group_count(set), 3);
	ps_eventset_destroy(set);
}
END_TEST

/* The hardware may have fewer counters by then. */
START_TEST(what_does_not_fit_any_more_is_refused_by_ps_start)
{
	struct ps_eventset *set = set_of(3);

	check_ok(group(set, PS_GROUP_TOGETHER, 0, 2));
	fake_add_core_pmu(COUNTERS - 1);
	check_fails(ps_start(set), PS_ENOCNTR);
	check_detail("'cache-references'");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_weak_group_is_split_if_it_does_not_fit)
{
	struct ps_eventset *set = set_of(6);

	check_ok(group(set, PS_GROUP_WEAK, 1, 5));
	check_ok(ps_start(set));
	ck_assert(are_together(set, 1, 3));
	ck_assert(are_together(set, 4, 5));
	ck_assert(!are_together(set, 3, 4));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(group(set, PS_GROUP_WEAK, 3, 5));
	check_ok(ps_start(set));
	ck_assert(are_together(set, 3, 5));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(events_that_are_to_be_apart_share_no_group)
{
	struct ps_eventset *set = set_of(2);

	check_ok(group(set, PS_GROUP_APART, 0, 1));
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_group_count(set), 3);
	ck_assert(!are_together(set, 0, 1));
	ck_assert(!are_together(set, 1, 2));
	fake_advance(CYCLES, 5);
	fake_advance(INSTRUCTIONS, 6);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum("cycles", 0), 5);
	ck_assert_int_eq(scene_sum("instructions", 0), 6);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(no_other_event_joins_one_that_is_to_be_apart)
{
	struct ps_eventset *set = set_of(3);

	check_ok(group(set, PS_GROUP_APART, 0, 0));
	check_ok(ps_start(set));
	ck_assert(!are_together(set, 0, 1));
	ck_assert(are_together(set, 1, 2));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_leaves_its_group_for_another)
{
	struct ps_eventset *set = set_of(4), *clone;

	check_ok(group(set, PS_GROUP_TOGETHER, 0, 1));
	check_ok(group(set, PS_GROUP_TOGETHER, 1, 3));
	check_ok(ps_eventset_clone(&clone, set));
	check_ok(ps_start(clone));
	ck_assert(!are_together(clone, 0, 1));
	ck_assert(are_together(clone, 1, 3));
	check_ok(ps_eventset_remove(set, "cycles"));
	check_ok(ps_start(set));
	ck_assert(are_together(set, 0, 2));
	ps_eventset_destroy(set);
	ps_eventset_destroy(clone);
}
END_TEST

START_TEST(an_event_that_cannot_be_counted_is_left_out_of_the_group)
{
	struct ps_eventset *set = scene_set("cycles", NULL);

	check_ok(ps_eventset_add_optional(set, "stalled-cycles-backend"));
	check_ok(ps_eventset_add_optional(set, "sched:nothing") == PS_ENOEVNT ? PS_OK : PS_EBUG);
	check_ok(ps_eventset_add(set, "instructions"));
	check_ok(group(set, PS_GROUP_TOGETHER, 0, 2));
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_event_group(set, 0), ps_eventset_event_group(set, 2));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(wrong_arguments_change_nothing)
{
	struct ps_eventset *set = set_of(2);
	const size_t twice[] = {1, 1};

	check_fails(ps_eventset_group(NULL, twice, 1, PS_GROUP_APART), PS_EINVAL);
	check_fails(ps_eventset_group(set, NULL, 1, PS_GROUP_APART), PS_EINVAL);
	check_fails(ps_eventset_group(set, twice, 0, PS_GROUP_APART), PS_EINVAL);
	check_fails(ps_eventset_group(set, twice, 2, PS_GROUP_APART), PS_EINVAL);
	check_detail("twice");
	check_fails(group(set, PS_GROUP_APART, 2, 3), PS_EINVAL);
	check_detail("no event 3");
	check_fails(ps_eventset_group(set, twice, 1, (enum ps_grouping)4), PS_EINVAL);
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	check_fails(group(set, PS_GROUP_APART, 0, 1), PS_EISRUN);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(whatever_fails_leaves_the_grouping_as_it_was)
{
	static const enum fake_call calls[] = {FAKE_ALLOCATE, FAKE_PERF_EVENT_OPEN, FAKE_IOCTL};

	for (size_t call = 0; call < 3; call++) {
		for (unsigned nth = 1; nth < 16; nth++) {
			struct ps_eventset *set = set_of(4);
			unsigned fds = fake_open_fds();

			fake_fail(calls[call], nth, calls[call] == FAKE_ALLOCATE ? ENOMEM : EMFILE);
			int result = group(set, PS_GROUP_TOGETHER, 2, 3);
			fake_fail(calls[call], 0, 0);
			ck_assert(result == PS_OK || *ps_error_detail());
			ck_assert_uint_eq(fake_open_fds(), fds);
			check_ok(ps_start(set));
			ck_assert_int_eq(are_together(set, 2, 3), result == PS_OK);
			ps_eventset_destroy(set);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("group");
	TCase *tests = scene_case_of(suite, "group", setup, scene_teardown);

	tcase_add_test(tests, events_that_are_to_be_together_are);
	tcase_add_test(tests, software_events_join_the_group_that_they_are_asked_into);
	tcase_add_loop_test(tests, a_pinned_event_leads_the_group_that_it_is_asked_into, 0, 2);
	tcase_add_test(tests, a_weak_group_whose_pinned_event_takes_all_counters_is_split);
	tcase_add_test(tests, what_does_not_fit_is_refused_at_once_and_named);
	tcase_add_test(tests, what_does_not_fit_any_more_is_refused_by_ps_start);
	tcase_add_test(tests, a_weak_group_is_split_if_it_does_not_fit);
	tcase_add_test(tests, events_that_are_to_be_apart_share_no_group);
	tcase_add_test(tests, no_other_event_joins_one_that_is_to_be_apart);
	tcase_add_test(tests, an_event_leaves_its_group_for_another);
	tcase_add_test(tests, an_event_that_cannot_be_counted_is_left_out_of_the_group);
	tcase_add_test(tests, wrong_arguments_change_nothing);
	tcase_add_test(tests, whatever_fails_leaves_the_grouping_as_it_was);
	return scene_run(suite);
}

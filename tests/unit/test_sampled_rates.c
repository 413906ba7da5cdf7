/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions whose rates change: where no visit was counted at one of the rates, those that were
 * counted at others stand for it. */
#include "support/regions.h"

#include <errno.h>
#include <perfsage/sampling.h>
#include <stdlib.h>

/* No visit is chosen: one in so many. */
#define NONE UINT64_MAX

/* So many visits of "outer", each with 2 faults of its own and so many visits of "hot", with 3 each
 * and one in "leaf" inside. */
static void visit(int outers, int hots)
{
	for (int outer = 0; outer < outers; outer++) {
		check_ok(ps_region_enter(region("outer")));
		fake_advance(PAGE_FAULTS, 2);
		for (int hot = 0; hot < hots; hot++) {
			check_ok(ps_region_enter(region("hot")));
			fake_advance(PAGE_FAULTS, 3);
			visit_counting(region("leaf"), 1);
			check_ok(ps_region_leave(region("hot")));
		}
		check_ok(ps_region_leave(region("outer")));
	}
}

static void set_rates(uint64_t outer, uint64_t hot)
{
	check_ok(ps_region_set_one_in(region("outer"), outer));
	check_ok(ps_region_set_one_in(region("hot"), hot));
}

static void check_sampled(const char *path)
{
	struct ps_value value = value_of(path, -1, PS_SHARE_EXCLUSIVE);

	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_uint_ne(value.flags & PS_VALUE_SAMPLED, 0);
}

/* All visits are alike, so the estimate is right. */
static void check_all(int outers, int hots)
{
	take_paths();
	ck_assert_uint_eq(visits_of("outer").count, (uint64_t)outers);
	ck_assert_uint_eq(visits_of("outer/hot").count, (uint64_t)hots);
	ck_assert_int_le(llabs(own("outer/hot/leaf", -1) - hots), 9);
	ck_assert_int_le(llabs(own("outer/hot", -1) - 3 * hots), 9);
	ck_assert_int_le(llabs(own("outer", -1) - 2 * outers), 9);
	ck_assert_int_le(llabs(own("", -1)), 9);
	ck_assert_int_eq(all("", -1), 2 * outers + 4 * hots);
	check_sampled("outer/hot");
	check_sampled("outer");
}

START_TEST(a_rate_with_no_counted_visit_is_estimated_by_the_others)
{
	regions_begin(EVENT, NULL);
	visit(10, 1);
	set_rates(1, NONE);
	visit(90, 1);
	check_all(100, 100);
	ck_assert_uint_eq(visits_of("outer/hot").counted, 10);
	regions_end();
}
END_TEST

/* Also where it is the region around whose rate has changed. */
START_TEST(rates_of_the_region_around_are_estimated_by_the_others)
{
	regions_begin(EVENT, NULL);
	visit(10, 4);
	set_rates(NONE, NONE);
	visit(30, 4);
	set_rates(NONE, 1);
	visit(60, 4);
	set_rates(1, NONE);
	visit(100, 4);
	check_all(200, 800);
	ck_assert_uint_eq(visits_of("outer").counted, 110);
	ck_assert_uint_eq(visits_of("outer/hot").counted, 40);
	regions_end();
}
END_TEST

/* Each of many runs is right, whichever combinations of rates have a counted visit. */
START_TEST(each_choice_of_visits_gives_the_same)
{
	for (int seed = 0; seed < 20; seed++) {
		regions_begin(EVENT, NULL);
		check_ok(ps_profile_set_seed(regions.profile, (uint64_t)seed));
		for (uint64_t rate = 1; rate <= 1024; rate *= 4) {
			set_rates(rate, 1);
			visit(12, 1);
			set_rates(rate, rate);
			visit(12, 1);
			set_rates(1, rate);
			visit(12, 1);
		}
		check_all(216, 216);
		check_ok(ps_profile_leave(regions.profile));
		regions_end();
	}
}
END_TEST

START_TEST(a_path_that_was_counted_at_no_rate_has_no_value)
{
	struct ps_value value;

	regions_begin(EVENT, NULL);
	set_rates(1, NONE);
	visit(50, 1);
	set_rates(NONE, NONE - 1);
	visit(50, 1);
	take_paths();
	ck_assert_uint_eq(visits_of("outer/hot").count, 100);
	ck_assert_uint_eq(visits_of("outer/hot").counted, 0);
	ck_assert_uint_eq(visits_of("outer/hot").wall_ns, UINT64_MAX);
	ck_assert_int_eq(
	    ps_path_value(path_of("outer/hot"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value),
	    PS_ENOEVST);
	/* Theirs are in the path around. */
	ck_assert_int_eq(own("outer", -1), 600);
	check_sampled("outer");
	ck_assert_int_eq(all("", -1), 600);
	regions_end();
}
END_TEST

START_TEST(an_estimate_without_memory_is_an_error)
{
	unsigned nth = 0;
	int result = PS_ENOMEM;

	regions_begin(EVENT, NULL);
	visit(10, 1);
	set_rates(1, NONE);
	visit(10, 1);
	while (result != PS_OK) {
		ck_assert_int_eq(result, PS_ENOMEM);
		fake_fail(FAKE_ALLOCATE, ++nth, ENOMEM);
		result = ps_paths_create(&regions.paths, regions.profile);
		fake_fail(FAKE_ALLOCATE, 0, 0);
	}
	ck_assert_uint_gt(nth, 10);
	check_all(20, 20);
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_rate_with_no_counted_visit_is_estimated_by_the_others);
	tcase_add_test(tests, rates_of_the_region_around_are_estimated_by_the_others);
	tcase_add_test(tests, each_choice_of_visits_gives_the_same);
	tcase_add_test(tests, a_path_that_was_counted_at_no_rate_has_no_value);
	tcase_add_test(tests, an_estimate_without_memory_is_an_error);
}

int main(void)
{
	Suite *suite = suite_create("sampled_rates");

	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

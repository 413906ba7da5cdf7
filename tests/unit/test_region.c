/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: exclusive and inclusive counts by path and hardware thread, their sum, and the times
 * of visits. */
#include "support/regions.h"
#include "support/unmarked.h"

#include <errno.h>
#include <stdio.h>

START_TEST(counts_belong_to_the_innermost_region)
{
	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer"), *inner = region("inner");
	check_ok(ps_profile_join(regions.profile));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_region_enter(outer));
	fake_advance(PAGE_FAULTS, 30);
	check_ok(ps_region_enter(inner));
	fake_advance(PAGE_FAULTS, 20);
	check_ok(ps_region_leave(inner));
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_region_leave(outer));
	fake_advance(PAGE_FAULTS, 4);
	take_paths();
	ck_assert_int_eq(own("outer", -1), 40);
	ck_assert_int_eq(own("outer/inner", -1), 20);
	ck_assert_int_eq(all("outer", -1), 60);
	ck_assert_int_eq(all("outer/inner", -1), 20);
	ck_assert_int_eq(own("", -1), 7);
	ck_assert_int_eq(all("", -1), 67);
	ck_assert_int_eq((int)value_of("outer", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_COUNTED);
	check_ok(ps_profile_leave(regions.profile));
	ck_assert_int_eq(scene_total(EVENT).value, 67);
	take_paths();
	ck_assert_int_eq(all("", -1), 67);
	ck_assert_int_eq(own("outer/inner", -1), 20);
	regions_end();
	ck_assert_int_eq(scene_total(EVENT).value, 67);
}
END_TEST

/* The path that was made after the one entered last may be of the same region, elsewhere. */
START_TEST(one_region_below_several_paths_is_told_apart)
{
	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *first = region("first"), *second = region("second"),
			 *step = region("step");
	for (int turn = 0; turn < 3; turn++) {
		check_ok(ps_region_enter(first));
		visit_counting(step, 100);
		check_ok(ps_region_leave(first));
		check_ok(ps_region_enter(second));
		visit_counting(step, 10);
		check_ok(ps_region_leave(second));
		visit_counting(first, 7);
		visit_counting(step, 1);
		visit_counting(second, 5);
		visit_counting(step, 1);
	}
	take_paths();
	ck_assert_int_eq(own("first/step", -1), 300);
	ck_assert_int_eq(own("second/step", -1), 30);
	ck_assert_int_eq(own("step", -1), 6);
	ck_assert_int_eq(own("first", -1), 21);
	ck_assert_int_eq(own("second", -1), 15);
	regions_end();
}
END_TEST

/* Whatever finds no memory: the region isn't open then, and its counts are the root's. */
START_TEST(a_region_that_found_no_memory_is_not_open)
{
	unsigned refused = 0, nth = 1;
	bool happened = true;

	for (; happened; nth++) {
		regions_begin(EVENT, "minor-faults", NULL);
		check_ok(ps_profile_join(regions.profile));
		struct ps_region *outer = region("outer");
		fake_set_affinity("0-3");
		fake_set_cpu((int)nth % 4);
		fake_advance(PAGE_FAULTS, 3);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_region_enter(outer);
		happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		ck_assert_uint_eq(ps_region_level(regions.profile), result == PS_OK);
		refused += result != PS_OK;
		fake_advance(PAGE_FAULTS, 20);
		ck_assert_int_eq(ps_region_leave(outer), result == PS_OK ? PS_OK : PS_EINVAL);
		check_ok(ps_profile_leave(regions.profile));
		take_paths();
		ck_assert_int_eq(all("", -1), 23);
		regions_end();
	}
	ck_assert_uint_ge(refused, 2);
}
END_TEST

/* Where the counts can be split, each path has its own on each hardware thread. */
START_TEST(a_thread_that_moves_has_counts_on_each_cpu)
{
	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer"), *inner = region("inner");
	long long expected[2][4] = {{0}};
	fake_set_affinity("0-3");
	fake_set_cpu(0);
	check_ok(ps_region_enter(outer));
	for (int turn = 0; turn < 40; turn++) {
		fake_set_cpu(turn * 7 / 3 % 4);
		fake_advance(PAGE_FAULTS, 10);
		expected[0][turn * 7 / 3 % 4] += 10;
		check_ok(ps_region_enter(inner));
		for (int move = 0; move < turn % 3; move++) {
			fake_set_cpu((turn + move) % 4);
			fake_advance(PAGE_FAULTS, 1);
			expected[1][(turn + move) % 4]++;
		}
		check_ok(ps_region_leave(inner));
	}
	check_ok(ps_region_leave(outer));
	check_ok(ps_profile_leave(regions.profile));
	take_paths();
	for (int cpu = 0; cpu < 4 && scene.mode != PS_ATTRIBUTE_LAST_CPU; cpu++) {
		ck_assert_int_eq(own("outer", cpu), expected[0][cpu]);
		ck_assert_int_eq(own("outer/inner", cpu), expected[1][cpu]);
		ck_assert_int_eq(scene_count(cpu, EVENT, 0), expected[0][cpu] + expected[1][cpu]);
		ck_assert_int_eq((int)value_of("outer", cpu, PS_SHARE_INCLUSIVE).attribution,
		                 PS_ATTRIBUTION_EXACT);
	}
	ck_assert_int_eq(own("outer", -1), 400);
	ck_assert_int_eq(own("outer/inner", -1), 39);
	ck_assert_int_eq(scene_total(EVENT).value, 439);
	if (scene.mode == PS_ATTRIBUTE_LAST_CPU)
		ck_assert_int_eq((int)value_of("outer", -1, PS_SHARE_EXCLUSIVE).attribution,
		                 PS_ATTRIBUTION_LAST_CPU);
	regions_end();
}
END_TEST

/* A region inside itself is a path of its own; its counts are in the region's sum once. */
START_TEST(recursion_is_summed_once)
{
	struct ps_value value;

	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer"), *walk = region("walk");
	check_ok(ps_region_enter(outer));
	for (int depth = 0; depth < 50; depth++) {
		check_ok(ps_region_enter(walk));
		fake_advance(PAGE_FAULTS, 2);
	}
	ck_assert_uint_eq(ps_region_level(regions.profile), 51);
	check_ok(ps_region_close(regions.profile, 1));
	ck_assert_uint_eq(ps_region_level(regions.profile), 1);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_region_enter(walk));
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_region_leave(walk));
	check_ok(ps_region_leave(outer));
	take_paths();
	ck_assert_int_eq(all("outer/walk", -1), 101);
	ck_assert_int_eq(own("outer/walk", -1), 3);
	ck_assert_int_eq(all("outer/walk/walk", -1), 98);
	check_ok(ps_paths_region_value(regions.paths, "walk", scene.root, EVENT, PS_SHARE_INCLUSIVE,
	                               &value));
	ck_assert_int_eq(value.value, 101);
	check_ok(ps_paths_region_value(regions.paths, "walk", scene.root, EVENT, PS_SHARE_EXCLUSIVE,
	                               &value));
	ck_assert_int_eq(value.value, 101);
	check_ok(ps_paths_region_value(regions.paths, "outer", scene.root, EVENT,
	                               PS_SHARE_INCLUSIVE, &value));
	ck_assert_int_eq(value.value, 106);
	ck_assert_uint_eq(visits_of("outer/walk").count, 2);
	ck_assert_uint_eq(faults_of_profile().left_open, 0);
	regions_end();
}
END_TEST

#define US UINT64_C(1000)

START_TEST(visits_have_their_times)
{
	const uint64_t lengths_us[] = {1, 1000, 3, 1};
	uint64_t now_ns = 1000000 * US;

	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer"), *inner = region("inner");
	fake_set_clock(now_ns, 0);
	check_ok(ps_region_enter(outer));
	for (int i = 0; i < 4; i++) {
		fake_set_clock(now_ns += 100 * US, 0);
		check_ok(ps_region_enter(inner));
		fake_set_clock(now_ns += lengths_us[i] * US, 0);
		check_ok(ps_region_leave(inner));
	}
	take_paths();
	ck_assert_uint_eq(visits_of("outer").count, 0);
	ck_assert_uint_eq(visits_of("outer").shortest_ns, UINT64_MAX);
	check_ok(ps_region_leave(outer));
	take_paths();
	struct ps_visits visits = visits_of("outer/inner");
	ck_assert_uint_eq(visits.count, 4);
	ck_assert_uint_eq(visits.wall_ns, 1005 * US);
	ck_assert_uint_eq(visits.inside_ns, 0);
	ck_assert_uint_eq(visits.shortest_ns, 1 * US);
	ck_assert_uint_eq(visits.longest_ns, 1000 * US);
	ck_assert_uint_eq(visits.times[9], 2);  /* 512 to 1023 ns */
	ck_assert_uint_eq(visits.times[11], 1); /* 2048 to 4095 ns */
	ck_assert_uint_eq(visits.times[19], 1); /* 524,288 to 1,048,575 ns */
	visits = visits_of("outer");
	ck_assert_uint_eq(visits.count, 1);
	ck_assert_uint_eq(visits.wall_ns, 400 * US);
	ck_assert_uint_eq(visits.inside_ns, 1005 * US);
	ck_assert_uint_eq(visits.longest_ns, 1405 * US);
	regions_end();
}
END_TEST

START_TEST(leaves_that_do_not_match_are_refused_and_told)
{
	regions_begin(EVENT, "minor-faults", NULL);
	struct ps_region *outer = region("outer"), *inner = region("inner");
	check_fails(ps_region_leave(outer), PS_EINVAL);
	check_detail("'outer' isn't open");
	check_ok(ps_region_enter(outer));
	check_ok(ps_region_enter(inner));
	fake_advance(PAGE_FAULTS, 5);
	check_fails(ps_region_leave(outer), PS_EINVAL);
	check_detail("'outer' is left while 'inner' is open");
	ck_assert_uint_eq(ps_region_level(regions.profile), 2);
	check_ok(ps_region_leave(inner));
	ck_assert_uint_eq(faults_of_profile().unmatched, 1);
	ck_assert_uint_eq(faults_of_profile().crossed, 1);
	check_ok(ps_profile_leave(regions.profile));
	ck_assert_uint_eq(faults_of_profile().left_open, 1);
	ck_assert_uint_eq(ps_region_level(regions.profile), 0);
	check_fails(ps_profile_leave(regions.profile), PS_ENOTRUN);
	take_paths();
	ck_assert_int_eq(own("outer/inner", -1), 5);
	ck_assert_uint_eq(visits_of("outer").count, 1);
	regions_end();
}
END_TEST

START_TEST(an_estimate_is_labelled_in_its_path_alone)
{
	fake_add_core_pmu(4);
	regions_begin("instructions", NULL);
	struct ps_region *whole = region("whole"), *half = region("half");
	struct ps_value value;
	check_ok(ps_region_enter(whole));
	fake_advance(INSTRUCTIONS, 1000);
	fake_run(1000, 1000);
	check_ok(ps_region_leave(whole));
	check_ok(ps_region_enter(half));
	fake_advance(INSTRUCTIONS, 100);
	fake_run(2000, 1000);
	check_ok(ps_region_leave(half));
	take_paths();
	check_ok(ps_path_values(path_of("whole"), scene.root, PS_SHARE_EXCLUSIVE, &value, 1));
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.value, 1000);
	check_ok(ps_path_values(path_of("half"), scene.root, PS_SHARE_EXCLUSIVE, &value, 1));
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 200);
	ck_assert_uint_eq(value.raw, 100);
	check_ok(ps_path_values(ps_paths_root(regions.paths), scene.root, PS_SHARE_INCLUSIVE,
	                        &value, 1));
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 1200);
	regions_end();
}
END_TEST

/* A flag of one visit stays with its path, and with no other. */
START_TEST(a_flag_stays_with_its_path)
{
	regions_begin(EVENT, NULL);
	struct ps_region *sound = region("sound"), *reset = region("reset");
	for (int visit = 0; visit < 2; visit++) {
		check_ok(ps_region_enter(sound));
		fake_advance(PAGE_FAULTS, 10);
		check_ok(ps_region_leave(sound));
		check_ok(ps_region_enter(reset));
		fake_advance(PAGE_FAULTS, 10);
		if (visit == 1)
			fake_set_count(PAGE_FAULTS, 3);
		check_ok(ps_region_leave(reset));
	}
	take_paths();
	ck_assert_uint_eq(value_of("sound", -1, PS_SHARE_EXCLUSIVE).flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_uint_ne(value_of("reset", -1, PS_SHARE_EXCLUSIVE).flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_uint_ne(value_of("", -1, PS_SHARE_INCLUSIVE).flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_int_eq(own("sound", -1), 20);
	ck_assert_int_eq(own("reset", -1), 13);
	regions_end();
}
END_TEST

START_TEST(many_names_and_many_paths_are_found)
{
	enum {
		NAMES = 3000
	};
	struct ps_region *list[NAMES];
	char name[32];

	regions_begin(EVENT, "minor-faults", NULL);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "\xff\n\"%d", i);
		list[i] = region(name);
	}
	for (int i = 0; i < NAMES; i++) {
		check_ok(ps_region_enter(list[i]));
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_region_leave(list[i]));
	}
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "\xff\n\"%d", i);
		ck_assert_ptr_eq(region(name), list[i]);
		check_ok(ps_region_enter(list[i]));
		check_ok(ps_region_leave(list[i]));
	}
	take_paths();
	int seen = 0;
	for (const struct ps_path *path = ps_path_child(ps_paths_root(regions.paths)); path;
	     path = ps_path_next(path)) {
		snprintf(name, sizeof name, "\xff\n\"%d", seen);
		ck_assert_str_eq(ps_path_name(path), name);
		ck_assert_ptr_eq(ps_path_parent(path), ps_paths_root(regions.paths));
		ck_assert_int_eq(own(name, -1), 1);
		ck_assert_uint_eq(visits_of(name).count, 2);
		seen++;
	}
	ck_assert_int_eq(seen, NAMES);
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, counts_belong_to_the_innermost_region);
	tcase_add_test(tests, a_thread_that_moves_has_counts_on_each_cpu);
	tcase_add_test(tests, recursion_is_summed_once);
}

int main(void)
{
	Suite *suite = suite_create("region");
	TCase *tests = scene_case(suite, "once");

	tcase_add_test(tests, visits_have_their_times);
	tcase_add_test(tests, leaves_that_do_not_match_are_refused_and_told);
	tcase_add_test(tests, an_estimate_is_labelled_in_its_path_alone);
	tcase_add_test(tests, a_flag_stays_with_its_path);
	tcase_add_test(tests, many_names_and_many_paths_are_found);
	tcase_add_test(tests, one_region_below_several_paths_is_told_apart);
	tcase_add_test(tests, a_region_that_found_no_memory_is_not_open);
	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_records(suite, "records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

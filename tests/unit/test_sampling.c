/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampled regions: their counts are near the truth and say so, and what all paths counted together
 * is exact. */
#include "base/os.h"
#include "support/regions.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define VISITS 1000
#define SEEDS  ps_test_serial_size(100, 10)

static long long faults_of_visit(int visit)
{
	return 1 + visit * 7 % 13;
}

/* Of an estimate from n of N visits: N * sqrt((1 - n/N) / n) * the deviation of one visit. */
static double deviation_of_estimate(double counted)
{
	double sum = 0, squares = 0;

	for (int visit = 0; visit < VISITS; visit++) {
		double faults = (double)faults_of_visit(visit);
		sum += faults;
		squares += faults * faults;
	}
	double variance = (squares - sum * sum / VISITS) / (VISITS - 1);
	return VISITS * sqrt((1 - counted / VISITS) / counted * variance);
}

static long long visit_all(struct ps_region *solve)
{
	long long truth = 0;

	for (int visit = 0; visit < VISITS; visit++) {
		fake_advance(PAGE_FAULTS, 2);
		check_ok(ps_region_enter(solve));
		fake_advance(PAGE_FAULTS, (uint64_t)faults_of_visit(visit));
		truth += faults_of_visit(visit);
		check_ok(ps_region_leave(solve));
	}
	return truth;
}

/* One seed after the other; of 100, one may be beyond three deviations. */
START_TEST(one_visit_in_10_is_near_the_truth)
{
	int beyond = 0;

	for (int seed = 0; seed < SEEDS; seed++) {
		regions_begin(EVENT, "minor-faults", NULL);
		check_ok(ps_profile_set_seed(regions.profile, (uint64_t)seed));
		check_ok(ps_profile_join(regions.profile));
		struct ps_region *solve = region("solve");
		check_ok(ps_region_set_one_in(solve, 10));
		long long truth = visit_all(solve);
		take_paths();
		struct ps_visits visits = visits_of("solve");
		ck_assert_uint_eq(visits.count, VISITS);
		ck_assert_uint_gt(visits.counted, VISITS / 20);
		ck_assert_uint_lt(visits.counted, VISITS / 5);
		struct ps_value value = value_of("solve", -1, PS_SHARE_EXCLUSIVE);
		ck_assert_int_eq(value.status, PS_STATUS_SCALED);
		ck_assert_uint_ne(value.flags & PS_VALUE_SAMPLED, 0);
		ck_assert_uint_lt(value.raw, (uint64_t)truth);
		beyond += fabs((double)(value.value - truth)) >
		          3 * deviation_of_estimate((double)visits.counted);
		/* What was put there was taken off the path around. */
		ck_assert_int_eq(all("", -1), truth + 2 * VISITS);
		ck_assert_int_eq(value.value + own("", -1), truth + 2 * VISITS);
		ck_assert_uint_ne(value_of("", -1, PS_SHARE_EXCLUSIVE).flags & PS_VALUE_SAMPLED, 0);
		check_ok(ps_profile_leave(regions.profile));
		ck_assert_int_eq(scene_total(EVENT).value, (seed + 1) * (truth + 2 * VISITS));
		regions_end();
	}
	ck_assert_int_le(beyond, 1);
}
END_TEST

/* The choice depends on the seed alone. */
START_TEST(the_same_seed_chooses_the_same_visits)
{
	long long first = 0;
	int others = 0;

	for (int run = 0; run < 6; run++) {
		regions_begin(EVENT, NULL);
		check_ok(ps_profile_set_seed(regions.profile, run < 3 ? 7 : (uint64_t)run));
		check_ok(ps_region_set_one_in(region("solve"), 10));
		visit_all(region("solve"));
		take_paths();
		first = run == 0 ? own("solve", -1) : first;
		if (run < 3)
			ck_assert_int_eq(own("solve", -1), first);
		else
			others += own("solve", -1) != first;
		regions_end();
	}
	ck_assert_int_gt(others, 0);
}
END_TEST

/* Both regions are sampled, one inside the other; without a bias the mean of many runs is right. */
START_TEST(sampled_regions_may_nest)
{
	double outer = 0, inner = 0, leaf = 0;

	for (int seed = 0; seed < SEEDS; seed++) {
		regions_begin(EVENT, NULL);
		check_ok(ps_profile_set_seed(regions.profile, (uint64_t)seed));
		struct ps_region *solve = region("solve"), *step = region("step"),
				 *write = region("write");
		check_ok(ps_region_set_one_in(solve, 4));
		check_ok(ps_region_set_one_in(step, 3));
		for (int visit = 0; visit < 300; visit++) {
			check_ok(ps_region_enter(solve));
			fake_advance(PAGE_FAULTS, 5);
			for (int part = 0; part < 4; part++) {
				check_ok(ps_region_enter(step));
				fake_advance(PAGE_FAULTS, 10);
				check_ok(ps_region_enter(write));
				fake_advance(PAGE_FAULTS, 1);
				check_ok(ps_region_leave(write));
				check_ok(ps_region_leave(step));
			}
			check_ok(ps_region_leave(solve));
			fake_advance(PAGE_FAULTS, 7);
		}
		take_paths();
		outer += (double)own("solve", -1);
		inner += (double)own("solve/step", -1);
		leaf += (double)own("solve/step/write", -1);
		ck_assert_uint_eq(visits_of("solve/step/write").count, 1200);
		ck_assert_uint_eq(visits_of("solve/step").count, 1200);
		ck_assert_int_eq(all("", -1), 300 * (5 + 44 + 7));
		regions_end();
	}
	/* Some five standard errors. */
	double margin = sqrt(100.0 / SEEDS);
	ck_assert_double_eq_tol(outer / SEEDS, 1500, 30 * margin);
	ck_assert_double_eq_tol(inner / SEEDS, 12000, 120 * margin);
	ck_assert_double_eq_tol(leaf / SEEDS, 1200, 12 * margin);
}
END_TEST

static void *visit_some(void *argument)
{
	struct ps_region *solve = region("solve");

	fake_set_cpu(*(int *)argument);
	for (int visit = 0; visit < 20; visit++) {
		check_ok(ps_region_enter(solve));
		fake_advance(PAGE_FAULTS, 100);
		check_ok(ps_region_leave(solve));
	}
	return NULL;
}

/* Most threads have one counted visit, or none: those of all threads count together. */
START_TEST(threads_with_few_visits_are_extrapolated_together)
{
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_seed(regions.profile, 1));
	check_ok(ps_region_set_one_in(region("solve"), 16));
	for (int number = 0; number < 60; number++) {
		int cpu = number % 4;
		pthread_t thread;
		ck_assert_int_eq(pthread_create(&thread, NULL, visit_some, &cpu), 0);
		pthread_join(thread, NULL);
	}
	take_paths();
	ck_assert_uint_eq(visits_of("solve").count, 1200);
	/* All visits are alike. */
	ck_assert_int_le(llabs(own("solve", -1) - 120000), 60);
	ck_assert_int_eq(all("", -1), 120000);
	regions_end();
}
END_TEST

/* It makes no boundary, nor do the regions inside. */
START_TEST(a_visit_that_is_not_counted_reads_no_counter)
{
	regions_begin(EVENT, NULL);
	struct ps_region *solve = region("solve"), *step = region("step");

	check_ok(ps_region_set_one_in(solve, UINT64_MAX));
	check_ok(ps_profile_join(regions.profile));
	unsigned before = fake_count(FAKE_READ);
	for (int visit = 0; visit < 50; visit++) {
		check_ok(ps_region_enter(solve));
		check_ok(ps_region_enter(step));
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_region_leave(step));
		check_ok(ps_region_leave(solve));
	}
	ck_assert_uint_eq(fake_count(FAKE_READ), before);
	take_paths();
	ck_assert_uint_eq(visits_of("solve").count, 50);
	ck_assert_uint_eq(visits_of("solve").counted, 0);
	ck_assert_uint_eq(visits_of("solve/step").count, 50);
	ck_assert_int_eq(all("", -1), 50);
	/* Unknown, not 0. */
	ck_assert_uint_eq(visits_of("solve").wall_ns, UINT64_MAX);
	ck_assert_uint_eq(visits_of("solve").on_cpu_ns, UINT64_MAX);
	ck_assert_uint_eq(visits_of("").inside_ns, 0);
	/* What is theirs is in the root path, which is not the root path's alone. */
	struct ps_value value = value_of("", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.value, 50);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_uint_ne(value.flags & PS_VALUE_SAMPLED, 0);
	ck_assert_int_eq(
	    ps_path_value(path_of("solve"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value),
	    PS_ENOEVST);
	regions_end();
}
END_TEST

/* What is not sampled stays a count, also beside a region that is. */
START_TEST(a_region_that_is_not_sampled_stays_exact)
{
	regions_begin(EVENT, NULL);
	struct ps_region *solve = region("solve"), *write = region("write");

	check_ok(ps_profile_set_seed(regions.profile, 3));
	check_ok(ps_region_set_one_in(solve, 3));
	check_ok(ps_region_set_one_in(write, 3));
	check_ok(ps_region_set_one_in(write, 1));
	visit_all(solve);
	long long truth = visit_all(write);
	take_paths();
	struct ps_value value = value_of("write", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ck_assert_uint_eq(value.flags & PS_VALUE_SAMPLED, 0);
	ck_assert_int_eq(value.value, truth);
	ck_assert_uint_eq(visits_of("write").counted, VISITS);
	regions_end();
}
END_TEST

/* Numbers are heard in each visit, also those that tell visits apart; the paths with a number are
 * extrapolated by their own visits. */
START_TEST(numbers_are_heard_in_visits_that_are_not_counted)
{
	regions_begin(EVENT, NULL);
	struct ps_region *smooth = region("smooth"), *rows = region("rows"),
			 *level = region("level");

	check_ok(ps_profile_set_seed(regions.profile, 11));
	check_ok(ps_profile_set_group(regions.profile, "level"));
	check_ok(ps_region_set_one_in(smooth, 5));
	check_ok(ps_profile_join(regions.profile));
	for (int visit = 0; visit < 600; visit++) {
		check_ok(ps_region_enter(smooth));
		check_ok(ps_region_add_value(level, visit % 3));
		fake_advance(PAGE_FAULTS, 10 * (uint64_t)(1 + visit % 3));
		check_ok(ps_region_add_value(rows, 7));
		check_ok(ps_region_leave(smooth));
	}
	take_paths();
	for (int number = 0; number < 3; number++) {
		struct ps_mark_value sum = {.size = sizeof sum};
		char name[32];
		snprintf(name, sizeof name, "smooth[level=%d]", number);
		ck_assert_uint_eq(visits_of(name).count, 200);
		ck_assert_uint_lt(visits_of(name).counted, 100);
		ck_assert_int_le(llabs(own(name, -1) - 2000 * (number + 1)), 1);
		check_ok(ps_path_mark_value(path_of(name), "rows", PS_SHARE_EXCLUSIVE, &sum));
		ck_assert_int_eq(sum.sum, 1400);
		ck_assert_uint_eq(sum.count, 200);
	}
	ck_assert_int_eq(all("", -1), 12000);
	regions_end();
}
END_TEST

static void pass(uint64_t time_ns)
{
	fake_set_clock(ps__os_now_ns() + time_ns, 1000);
}

static void visit_for(struct ps_region *region, int visits, uint64_t work_ns)
{
	for (int visit = 0; visit < visits; visit++) {
		check_ok(ps_region_enter(region));
		pass(work_ns);
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_region_leave(region));
	}
}

/* A region that costs too much is sampled, to less than the budget; one that doesn't is not. Then
 * it is visited less, and counted more again. */
START_TEST(a_budget_limits_what_visits_cost)
{
	fake_set_clock(UINT64_C(1000000000), 1000);
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_budget(regions.profile, 1));
	struct ps_region *rare = region("rare"), *often = region("often");

	visit_for(rare, 300, 10000000);
	visit_for(often, 20000, 1000);
	take_paths();
	ck_assert_uint_eq(visits_of("rare").counted, 300);
	struct ps_visits visits = visits_of("often");
	ck_assert_uint_eq(visits.count, 20000);
	ck_assert_uint_lt(visits.counted, 1000);
	ck_assert_int_le(llabs(own("often", -1) - 20000), 20);
	ck_assert_int_eq(all("", -1), 20300);
	ck_assert_int_eq(value_of("rare", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value_of("often", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_SCALED);
	int later = ps_test_serial_size(200000, 120000);
	visit_for(often, later, 10000000);
	take_paths();
	ck_assert_uint_gt(visits_of("often").counted, visits.counted + (uint64_t)later / 4);
	regions_end();
}
END_TEST

/* 50 regions in turn, each of which costs a fiftieth of the time. */
START_TEST(a_budget_is_of_all_regions_together)
{
	enum {
		REGIONS = 50
	};
	int rounds = ps_test_serial_size(4000, 1500);
	uint64_t counted = 0;
	char name[16];

	fake_set_clock(UINT64_C(1000000000), 1000);
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_budget(regions.profile, 5));
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < REGIONS; i++) {
			snprintf(name, sizeof name, "region %d", i);
			visit_for(region(name), 1, 1000);
		}
	}
	take_paths();
	for (int i = 0; i < REGIONS; i++) {
		snprintf(name, sizeof name, "region %d", i);
		ck_assert_uint_eq(visits_of(name).count, (uint64_t)rounds);
		counted += visits_of(name).counted;
	}
	/* Each by itself would be counted whole. */
	ck_assert_uint_lt(counted, (uint64_t)REGIONS * (uint64_t)rounds / 3);
	ck_assert_int_eq(all("", -1), REGIONS * rounds);
	regions_end();
}
END_TEST

START_TEST(bad_arguments_of_sampling_are_refused)
{
	regions_begin(EVENT, NULL);
	ck_assert_int_eq(ps_region_set_one_in(NULL, 2), PS_EINVAL);
	ck_assert_int_eq(ps_region_set_one_in(region("solve"), 0), PS_EINVAL);
	ck_assert_int_eq(ps_profile_set_seed(NULL, 2), PS_EINVAL);
	ck_assert_int_eq(ps_profile_set_budget(NULL, 2), PS_EINVAL);
	ck_assert_int_eq(ps_profile_set_budget(regions.profile, 0), PS_EINVAL);
	ck_assert_int_eq(ps_profile_set_budget(regions.profile, -1), PS_EINVAL);
	ck_assert_int_eq(ps_profile_set_budget(regions.profile, 101), PS_EINVAL);
	ck_assert_int_eq(ps_profile_set_budget(regions.profile, (double)NAN), PS_EINVAL);
	check_ok(ps_profile_join(regions.profile));
	ck_assert_int_eq(ps_profile_set_budget(regions.profile, 1), PS_ECNFLCT);
	regions_end();
}
END_TEST

/* A visit that isn't counted and goes on: what it counts is in the path around it. */
START_TEST(an_open_visit_that_is_not_counted_makes_the_path_around_it_an_estimate)
{
	struct ps_value value;

	regions_begin(EVENT, NULL);
	check_ok(ps_region_set_one_in(region("s"), UINT64_MAX));
	check_ok(ps_region_enter(region("s")));
	fake_advance(PAGE_FAULTS, 500);
	take_paths();
	value = value_of("", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.value, 500);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(value.flags & PS_VALUE_SAMPLED, PS_VALUE_SAMPLED);
	check_ok(ps_region_leave(region("s")));
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, one_visit_in_10_is_near_the_truth);
	tcase_add_test(tests,
	               an_open_visit_that_is_not_counted_makes_the_path_around_it_an_estimate);
	tcase_add_test(tests, sampled_regions_may_nest);
	tcase_add_test(tests, threads_with_few_visits_are_extrapolated_together);
}

int main(void)
{
	Suite *suite = suite_create("sampling");
	TCase *tests = scene_case(suite, "once");

	tcase_add_test(tests, the_same_seed_chooses_the_same_visits);
	tcase_add_test(tests, a_visit_that_is_not_counted_reads_no_counter);
	tcase_add_test(tests, a_region_that_is_not_sampled_stays_exact);
	tcase_add_test(tests, numbers_are_heard_in_visits_that_are_not_counted);
	tcase_add_test(tests, a_budget_limits_what_visits_cost);
	tcase_add_test(tests, a_budget_is_of_all_regions_together);
	tcase_add_test(tests, bad_arguments_of_sampling_are_refused);
	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_records(suite, "records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The event sets of a profile go from threads that end to threads that come. */
#include "support/regions.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

struct worker {
	int number;
	int visits;
	int cpu;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	char name[16];

	snprintf(name, sizeof name, "part %d", worker->number % 3);
	fake_set_cpu(worker->cpu);
	struct ps_region *outer = region("outer"), *part = region(name);
	check_ok(ps_region_enter(outer));
	for (int visit = 0; visit < worker->visits; visit++) {
		check_ok(ps_region_enter(part));
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_region_leave(part));
	}
	check_ok(ps_region_leave(outer));
	return NULL;
}

static void run_worker(struct worker worker)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, &worker), 0);
	pthread_join(thread, NULL);
}

START_TEST(threads_that_have_ended_are_in_the_paths)
{
	size_t before = 0;

	regions_begin(EVENT, "minor-faults", NULL);
	for (int number = 0; number < 30; number++) {
		run_worker((struct worker){number, 10, number % 4});
		if (number == 11)
			before = fake_allocated_bytes();
	}
	/* Those that came later went on in the readings of the first ones. */
	ck_assert_uint_eq(fake_allocated_bytes(), before);
	take_paths();
	for (int part = 0; part < 3; part++) {
		char name[32];
		snprintf(name, sizeof name, "outer/part %d", part);
		ck_assert_int_eq(own(name, -1), 100);
		ck_assert_uint_eq(visits_of(name).count, 100);
		for (int cpu = 0; cpu < 4; cpu++)
			ck_assert_int_ge(own(name, cpu), 20);
	}
	ck_assert_uint_eq(visits_of("outer").count, 30);
	ck_assert_int_eq(all("", -1), 300);
	ck_assert_int_eq(scene_total(EVENT).value, 300);
	regions_end();
}
END_TEST

/* What has other groups can't go on in the readings of the set; those stay. */
START_TEST(a_set_that_is_grouped_otherwise_keeps_its_readings)
{
	fake_add_core_pmu(4);
	regions_begin(EVENT, "instructions", "cycles", NULL);
	run_worker((struct worker){0, 10, 1});
	size_t before = fake_allocated_bytes();
	run_worker((struct worker){0, 10, 1});
	ck_assert_uint_eq(fake_allocated_bytes(), before);
	fake_add_core_pmu(1);
	run_worker((struct worker){0, 10, 1});
	run_worker((struct worker){0, 10, 1});
	ck_assert_uint_gt(fake_allocated_bytes(), before);
	take_paths();
	ck_assert_int_eq(own("outer/part 0", 1), 40);
	ck_assert_int_eq(scene_total(EVENT).value, 40);
	regions_end();
}
END_TEST

/* A thread that can't start the set of another one is told so, and the readings stay. */
START_TEST(a_set_that_can_not_be_started_again_keeps_its_readings)
{
	regions_begin(EVENT, "minor-faults", NULL);
	run_worker((struct worker){0, 10, 1});
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("outer")), PS_OK);
	ck_assert_uint_eq(faults_of_profile().uncounted, 1);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	run_worker((struct worker){0, 10, 2});
	take_paths();
	ck_assert_int_eq(own("outer/part 0", -1), 20);
	ck_assert_int_eq(scene_total(EVENT).value, 20);
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, threads_that_have_ended_are_in_the_paths);
	tcase_add_test(tests, a_set_that_is_grouped_otherwise_keeps_its_readings);
	tcase_add_test(tests, a_set_that_can_not_be_started_again_keeps_its_readings);
}

int main(void)
{
	Suite *suite = suite_create("spare");

	add_tests(scene_case(suite, "automatic"));
	add_tests(scene_case_instances(suite, "per-CPU"));
	add_tests(scene_case_records(suite, "records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}

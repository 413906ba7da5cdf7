/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of this machine, read in user space where the kernel permits it. Where it doesn't, each test says why, and is
 * skipped: it runs by itself on a machine with a PMU.
 */
#include "support/skip.h"

#include <check.h>
#include <perfsage.h>
#include <stdlib.h>

#define EVENTS 2

static const char *const names[EVENTS] = {"instructions:u", "cycles:u"};

static struct {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
} scene;

static void ok(int result)
{
	ck_assert_msg(result == PS_OK, "%s: %s", ps_strerror(result), ps_error_detail());
}

static void setup(void)
{
	ok(ps_topology_load(&scene.topology, NULL));
	scene.root = ps_topology_root(scene.topology);
	ok(ps_eventset_create(&scene.set));
}

static void teardown(void)
{
	ps_eventset_destroy(scene.set);
	ps_topology_destroy(scene.topology);
}

/* Starts the set. NULL, or why it can't be read in user space here. */
static const char *start_for_user(void)
{
	const char *why;

	for (int event = 0; event < EVENTS; event++) {
		if (ps_eventset_add(scene.set, names[event]) != PS_OK)
			return ps_error_detail();
	}
	ok(ps_start(scene.set));
	return ps_eventset_read_path(scene.set, &why) == PS_READ_PATH_USER ? NULL : why;
}

static void work(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

START_TEST(readings_rise_and_end_in_the_kernels_total)
{
	long long last[EVENTS] = {0}, residual[EVENTS];
	const char *why = start_for_user();

	if (why) {
		ps_test_skip(why);
		return;
	}
	for (int i = 0; i < 1000; i++) {
		work(1000);
		ok(ps_read(scene.set, scene.root, NULL, NULL));
		for (int event = 0; event < EVENTS; event++) {
			struct ps_value value;
			ok(ps_component_total(scene.root, names[event], &value));
			ck_assert_int_ge((long long)value.raw, last[event]);
			ck_assert_uint_ge(value.enabled_ns, value.running_ns);
			ck_assert_int_eq(value.flags & PS_VALUE_WENT_BACK, 0);
			last[event] = (long long)value.raw;
		}
	}
	ck_assert_int_gt(last[0], 1000 * 1000);
	/* The final counts are read by read(2). */
	ok(ps_stop(scene.set, scene.root, NULL, NULL));
	ok(ps_eventset_check(scene.set, residual, EVENTS));
	for (int event = 0; event < EVENTS; event++) {
		struct ps_value value;
		ok(ps_component_total(scene.root, names[event], &value));
		ck_assert_int_ge((long long)value.raw, last[event]);
		ck_assert_int_lt((long long)value.raw, last[event] + 1000000);
		ck_assert_int_eq(residual[event], 0);
	}
}
END_TEST

/* Instructions between two readings, which both paths must count alike. */
static long long count_work(struct ps_eventset *set, long turns)
{
	struct ps_value before, after;

	ok(ps_read(set, scene.root, NULL, NULL));
	ok(ps_component_total(scene.root, names[0], &before));
	work(turns);
	ok(ps_read(set, scene.root, NULL, NULL));
	ok(ps_component_total(scene.root, names[0], &after));
	return (long long)(after.raw - before.raw);
}

START_TEST(the_same_work_counts_the_same_number_of_instructions)
{
	const char *why = start_for_user();

	if (why) {
		ps_test_skip(why);
		return;
	}
	/* Interrupts count some instructions more, and so do other CPUs in an emulator. */
	long long one = count_work(scene.set, 1000000), two = count_work(scene.set, 2000000);
	long long three = count_work(scene.set, 3000000);
	ck_assert_int_gt(one, 1000000);
	ck_assert_int_le(llabs((three - two) - (two - one)), one / 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reading in user space");
	TCase *reads = tcase_create("reads");

	tcase_add_checked_fixture(reads, setup, teardown);
	tcase_add_test(reads, readings_rise_and_end_in_the_kernels_total);
	tcase_add_test(reads, the_same_work_counts_the_same_number_of_instructions);
	suite_add_tcase(suite, reads);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

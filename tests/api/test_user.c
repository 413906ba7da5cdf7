/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of this machine, read in user space where the kernel permits it. Where it doesn't, each
 * test says why, and is skipped: it runs by itself on a machine with a PMU.
 */

#include "here.h"
#include <stdlib.h>

#define EVENTS 2

static const char *const names[EVENTS] = {"instructions:u", "cycles:u"};

static struct ps_eventset *set;

static void setup(void)
{
	here_setup();
	check_ok(ps_eventset_create(&set));
}

static void teardown(void)
{
	ps_eventset_destroy(set);
	here_teardown();
}

/* Starts the set. NULL, or why it can't be read in user space here. */
static const char *start_for_user(void)
{
	const char *why;

	for (int event = 0; event < EVENTS; event++) {
		if (ps_eventset_add(set, names[event]) != PS_OK)
			return ps_error_detail();
	}
	check_ok(ps_start(set));
	return ps_eventset_read_path(set, &why) == PS_READ_PATH_USER ? NULL : why;
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

	if (!ps_test_may_run(why))
		return;
	for (int i = 0; i < 1000; i++) {
		work(1000);
		check_ok(ps_read(set, here.root, NULL, NULL));
		for (int event = 0; event < EVENTS; event++) {
			struct ps_value value;
			check_ok(ps_component_total(here.root, names[event], &value));
			ck_assert_int_ge((long long)value.raw, last[event]);
			ck_assert_uint_ge(value.enabled_ns, value.running_ns);
			ck_assert_int_eq(value.flags & PS_VALUE_WENT_BACK, 0);
			last[event] = (long long)value.raw;
		}
	}
	ck_assert_int_gt(last[0], 1000 * 1000);
	/* The final counts are read by read(2). */
	check_ok(ps_stop(set, here.root, NULL, NULL));
	check_ok(ps_eventset_check(set, residual, EVENTS));
	for (int event = 0; event < EVENTS; event++) {
		struct ps_value value;
		check_ok(ps_component_total(here.root, names[event], &value));
		ck_assert_int_ge((long long)value.raw, last[event]);
		ck_assert_int_lt((long long)value.raw, last[event] + 1000000);
		ck_assert_int_eq(residual[event], 0);
	}
}
END_TEST

/* Instructions between two readings, which both paths must count alike. */
static long long count_work(long turns)
{
	struct ps_value before, after;

	check_ok(ps_read(set, here.root, NULL, NULL));
	check_ok(ps_component_total(here.root, names[0], &before));
	work(turns);
	check_ok(ps_read(set, here.root, NULL, NULL));
	check_ok(ps_component_total(here.root, names[0], &after));
	return (long long)(after.raw - before.raw);
}

START_TEST(the_same_work_counts_the_same_number_of_instructions)
{
	const char *why = start_for_user();

	if (!ps_test_may_run(why))
		return;
	/* Interrupts count some instructions more, and so do other CPUs in an emulator. */
	long long one = count_work(1000000), two = count_work(2000000);
	long long three = count_work(3000000);
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
	return here_run(suite);
}

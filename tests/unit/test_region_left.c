/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that a handler has left by siglongjmp; api/test_region_jump leaves visits at any time. */
#include "region/profile.h"
#include "support/regions.h"

#include <sched.h>

static unsigned long yields;

/* Replaces the C library's: a reader waits by it. */
int sched_yield(void)
{
	yields++;
	return 0;
}

/* A jump during a change leaves the sequence odd. The thread may then work on for long. */
START_TEST(a_reader_does_not_wait_long_for_a_change_that_was_left)
{
	regions_begin(EVENT, NULL);
	visit_counting(region("work"), 3);
	struct ps__node *node = ps__own.member->root;
	ps__node_begin(node);
	yields = 0;
	take_paths();
	ck_assert_uint_gt(yields, 0);
	ck_assert_uint_le(yields, 20000);
	ps__node_end(node);
	ck_assert_int_eq(own("work", -1), 3);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("region_left");
	TCase *tests = scene_case(suite, "region_left");

	tcase_add_test(tests, a_reader_does_not_wait_long_for_a_change_that_was_left);
	return scene_run(suite);
}

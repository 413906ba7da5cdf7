/* SPDX-License-Identifier: BSD-3-Clause */
/* What a CPU's counters missed while it was thought to be offline: it shows in the coverage.
 * test_targets.c has the counts. */
#include "support/scene.h"

#define SECOND UINT64_C(1000000000)

/* _i: it was seen to be offline for a while, when nothing could be missed. */
START_TEST(what_ran_on_a_cpu_before_it_was_seen_to_be_back_shows_in_its_coverage)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	fake_set_clock(SECOND, 1000);
	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 100);
	fake_run(SECOND, SECOND);
	fake_set_clock(2 * SECOND, 1000);
	fake_set_online(3, false);
	if (_i) {
		fake_set_clock(9 * SECOND, 1000);
		check_ok(ps_read(set, scene.root, NULL, NULL));
		ck_assert_int_eq((int)scene_part(3, "page-faults", 0).status, PS_STATUS_COUNTED);
	}
	fake_set_online(3, true);
	fake_set_clock((_i ? 10 : 3) * SECOND, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	struct ps_value part = scene_part(3, "page-faults", 0);
	ck_assert_uint_ne(part.flags & PS_VALUE_INTERRUPTED, 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(part.raw, 100);
	ck_assert_uint_eq(part.running_ns, SECOND);
	ck_assert_uint_ge(part.enabled_ns, 2 * SECOND - 1000000);
	ck_assert_uint_le(part.enabled_ns, 2 * SECOND + 1000000);
	/* From then on it counts again, and no more is missed. */
	fake_advance(PAGE_FAULTS, 50);
	fake_run(SECOND, SECOND);
	fake_set_clock((_i ? 11 : 4) * SECOND, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	struct ps_value last = scene_part(3, "page-faults", 0);
	ck_assert_uint_eq(last.raw, 150);
	ck_assert_uint_eq(last.enabled_ns - part.enabled_ns, SECOND);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recover");
	TCase *tests = scene_case(suite, "recover");

	tcase_add_loop_test(
	    tests, what_ran_on_a_cpu_before_it_was_seen_to_be_back_shows_in_its_coverage, 0, 2);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* On a machine with two kinds of cores: which events can be a group, which kinds are asked, and
 * that no failure leaves anything behind. test_hybrid.c has what they count. */
#include "test_hybrid.h"

#include <errno.h>

START_TEST(a_kind_that_lacks_a_generic_event_is_left_out)
{
	struct ps_eventset *set;

	fake_lack_event(ATOM(STALLED_CYCLES_BACKEND));
	set = scene_started("stalled-cycles-backend", "instructions", NULL);
	work(2, 100);
	work(0, 100);
	fake_advance(CORE(STALLED_CYCLES_BACKEND), 9);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(0, "stalled-cycles-backend", 9, PS_STATUS_COUNTED);
	check_part(2, "stalled-cycles-backend", 0, PS_STATUS_NOT_SUPPORTED);
	check_part(2, "instructions", 100, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
	fake_lack_event(CORE(STALLED_CYCLES_BACKEND));
	check_ok(ps_eventset_create(&set));
	check_fails(ps_eventset_add(set, "stalled-cycles-backend"), PS_ENOSUPP);
	check_detail("stalled-cycles-backend");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_group_fits_on_every_kind)
{
	/* Four fit on a P core, three on an E core. */
	struct ps_eventset *set =
	    scene_started("cycles", "instructions", "cache-misses", "branches", NULL);

	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	ck_assert_int_eq(ps_eventset_event_group(set, 2), 0);
	ck_assert_int_eq(ps_eventset_event_group(set, 3), 1);
	work(0, 10);
	work(2, 20);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(0, "instructions", 10, PS_STATUS_COUNTED);
	check_part(2, "instructions", 20, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_kinds_events_are_groups_of_their_own)
{
	struct ps_eventset *set =
	    scene_started("instructions", ATOM_EVENT, "cpu_core/event=0x22/", "page-faults",
	                  "cycles", "cpu_atom/event=0x23/", NULL);

	ck_assert_int_eq(ps_eventset_event_group(set, 0), ps_eventset_event_group(set, 4));
	ck_assert_int_eq(ps_eventset_event_group(set, 1), ps_eventset_event_group(set, 5));
	ck_assert_uint_eq(ps_eventset_group_count(set), 4);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(raw_codes_and_shared_aliases_are_for_all_kinds)
{
	struct ps_eventset *set;

	fake_file("/sys/bus/event_source/devices/cpu_core/events/mem-loads", "event=0xcd\n");
	fake_file("/sys/bus/event_source/devices/cpu_atom/events/mem-loads", "event=0xd0\n");
	set = scene_started("r1a8", "mem-loads", NULL);
	fake_set_cpu(0);
	fake_advance(FAKE_CPU_CORE, 0x1a8, 4);
	fake_advance(FAKE_CPU_CORE, 0xcd, 5);
	fake_set_cpu(3);
	fake_advance(FAKE_CPU_ATOM, 0x1a8, 6);
	fake_advance(FAKE_CPU_ATOM, 0xd0, 7);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "r1a8", 0), 4);
	ck_assert_int_eq(scene_count(0, "mem-loads", 0), 5);
	ck_assert_int_eq(scene_count(3, "r1a8", 0), 6);
	ck_assert_int_eq(scene_count(3, "mem-loads", 0), 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_clone_and_a_copy_have_their_own_variants)
{
	struct ps_eventset *model = scene_set("instructions", ATOM_EVENT, NULL), *set;

	check_ok(ps_eventset_clone(&set, model));
	ps_eventset_destroy(model);
	check_ok(ps_start(set));
	work(3, 10);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(3, "instructions", 10, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

/* One whole use, in which something fails; all is released whatever it is. */
static int use(void)
{
	struct ps_eventset *set = NULL, *clone = NULL;

	int result = ps_eventset_create(&set);
	if (result == PS_OK)
		result = ps_eventset_set_attribution(set, scene.mode);
	if (result == PS_OK)
		result = ps_eventset_add(set, "instructions");
	if (result == PS_OK)
		result = ps_eventset_add(set, ATOM_EVENT);
	if (result == PS_OK)
		result = ps_eventset_add(set, "page-faults");
	if (result == PS_OK)
		result = ps_eventset_clone(&clone, set);
	if (result == PS_OK)
		result = ps_start(clone);
	if (result == PS_OK)
		result = ps_stop(clone, scene.root, NULL, NULL);
	ps_eventset_destroy(clone);
	ps_eventset_destroy(set);
	return result;
}

static void fail_each(enum fake_call call, int error)
{
	for (unsigned nth = 1;; nth++) {
		fake_fail(call, nth, error);
		int result = use();
		bool happened = fake_fail_happened();
		fake_fail(call, 0, 0);
		ck_assert_uint_eq(fake_open_fds(), 0);
		if (!happened) {
			check_ok(result);
			break;
		}
	}
}

START_TEST(a_failure_leaves_nothing_behind)
{
	fail_each(FAKE_ALLOCATE, ENOMEM);
	fail_each(FAKE_PERF_EVENT_OPEN, EMFILE);
	fail_each(FAKE_IOCTL, EIO);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hybrid_groups");
	TCase *split = tcase_create("split"), *unsplit = tcase_create("unsplit");

	tcase_set_timeout(split, 120);
	tcase_set_timeout(unsplit, 120);
	tcase_add_checked_fixture(split, setup, scene_teardown);
	tcase_add_checked_fixture(unsplit, setup_last_cpu, scene_teardown);
	tcase_add_test(split, a_kind_that_lacks_a_generic_event_is_left_out);
	tcase_add_test(split, a_group_fits_on_every_kind);
	tcase_add_test(split, each_kinds_events_are_groups_of_their_own);
	tcase_add_test(split, raw_codes_and_shared_aliases_are_for_all_kinds);
	tcase_add_test(split, a_clone_and_a_copy_have_their_own_variants);
	tcase_add_test(split, a_failure_leaves_nothing_behind);
	tcase_add_test(unsplit, a_failure_leaves_nothing_behind);
	suite_add_tcase(suite, split);
	suite_add_tcase(suite, unsplit);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When migration records are taken: where the kernel permits them and there are CPUs enough, unless
 * they would miss migrations. test_attribution.c has the choice without them.
 */
#include "support/scene.h"

#include <errno.h>

#define EVENT   "page-faults"
#define PRESENT "/sys/devices/system/cpu/present"

/* By what the set's counts are split: instances are events on one CPU each. */
static bool has_instances(void)
{
	int fds[64];
	size_t count = fake_counter_fds(fds, 64);

	for (size_t i = 0; i < count && i < 64; i++) {
		pid_t tid = 0;
		int cpu = -1;

		fake_target_of_fd(fds[i], &tid, &cpu);
		if (cpu >= 0)
			return true;
	}
	return false;
}

static void check_choice(enum ps_attribution_mode mode, bool instances)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);
	const char *why = NULL;

	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(has_instances(), instances);
	ck_assert_msg(instances ? *why == '\0' : strstr(why, "migration records") != NULL,
	              "why: %s", why);
	/* Two events; the recorder and the watch, or the watch alone. */
	ck_assert_uint_eq(fake_open_fds(), instances ? 2 * 4 + 1 : 2 + 2);
	ps_eventset_destroy(set);
}

START_TEST(auto_takes_records_where_they_are_permitted_and_exact_takes_instances)
{
	check_choice(PS_ATTRIBUTE_AUTO, false);
	check_choice(PS_ATTRIBUTE_EXACT, true);
	fake_set_paranoid(1, false);
	check_choice(PS_ATTRIBUTE_AUTO, false);
	fake_set_paranoid(2, false);
	check_choice(PS_ATTRIBUTE_AUTO, true);
}
END_TEST

START_TEST(few_cpus_are_split_by_instances)
{
	struct ps_eventset *set;

	fake_file(PRESENT, "0-2\n");
	set = scene_started_exact();
	ck_assert(has_instances());
	ps_eventset_destroy(set);
	fake_file(PRESENT, "0-3\n");
	set = scene_started_exact();
	ck_assert(!has_instances());
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(exact_takes_records_when_descriptors_do_not_suffice_for_instances)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	fake_set_nofile(3 + 4);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_ok(ps_start(set));
	ck_assert(!has_instances());
	scene_count_on(1, 5);
	scene_count_on(2, 6);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, 0), 5);
	ck_assert_int_eq((int)scene_part(1, EVENT, 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
	fake_set_nofile(3 + 3);
	set = scene_set(EVENT, "minor-faults", NULL);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_fails(ps_start(set), PS_ECOUNT);
	check_detail("8"); /* what instances need, and what there is */
	check_detail("6");
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(auto_says_that_records_would_need_fewer_descriptors)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);
	const char *why = NULL;

	fake_set_paranoid(2, false);
	fake_set_nofile(14);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_msg(strstr(why, "8 file descriptors") && strstr(why, "perf_event_paranoid <= 1"),
	              "why: %s", why);
	ps_eventset_destroy(set);
}
END_TEST

/* Groups that take turns miss migrations. */
START_TEST(two_hardware_groups_are_split_by_instances)
{
	struct ps_eventset *set;

	fake_add_core_pmu(1);
	set = scene_started("instructions", "cycles", NULL);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	ck_assert(has_instances());
	ps_eventset_destroy(set);
	fake_set_means(FAKE_MEANS_RECORDS);
	set = scene_set("instructions", "cycles", NULL);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(several_kinds_of_cores_are_split_by_instances)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_started("instructions", NULL);
	ck_assert(!has_instances());
	ps_eventset_destroy(set);
	fake_file("/sys/bus/event_source/devices/cpu_atom/type", "10\n");
	fake_file("/sys/bus/event_source/devices/cpu_atom/cpus", "2-3\n");
	set = scene_set("instructions", NULL);
	check_ok(ps_start(set));
	ck_assert(has_instances());
	ps_eventset_destroy(set);
	set = scene_set(EVENT, NULL); /* is everywhere */
	check_ok(ps_start(set));
	ck_assert(!has_instances());
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_ring_that_can_not_be_mapped_means_instances)
{
	for (unsigned nth = 1; nth <= 2; nth++) {
		struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

		fake_fail(FAKE_MMAP, nth, EPERM);
		check_ok(ps_start(set));
		ck_assert(fake_fail_happened());
		ck_assert(has_instances());
		ck_assert_uint_eq(fake_open_fds(), 9);
		ps_eventset_destroy(set);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("attribution, with records");
	TCase *tests = scene_case(suite, "choice");

	tcase_add_test(tests,
	               auto_takes_records_where_they_are_permitted_and_exact_takes_instances);
	tcase_add_test(tests, few_cpus_are_split_by_instances);
	tcase_add_test(tests, exact_takes_records_when_descriptors_do_not_suffice_for_instances);
	tcase_add_test(tests, auto_says_that_records_would_need_fewer_descriptors);
	tcase_add_test(tests, two_hardware_groups_are_split_by_instances);
	tcase_add_test(tests, several_kinds_of_cores_are_split_by_instances);
	tcase_add_test(tests, a_ring_that_can_not_be_mapped_means_instances);
	return scene_run(suite);
}

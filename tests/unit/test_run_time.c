/* SPDX-License-Identifier: BSD-3-Clause */
/* duration_time, user_time and system_time: known names of what no counter counts, which a program
 * may store as values of the whole machine. */
#include "support/scene.h"

static const char *const names[] = {"duration_time", "user_time", "system_time"};
#define NAMES 3

START_TEST(a_time_of_a_run_is_refused_with_what_to_do)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	check_fails(ps_eventset_add(set, names[_i]), PS_ENOSUPP);
	check_detail(names[_i]);
	check_detail("ps_store");
	check_detail("task-clock");
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_time_of_a_run_has_no_modifier)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	check_fails(ps_eventset_add(set, "user_time:u"), PS_EATTR);
	check_detail("no modifiers");
	check_fails(ps_eventset_add_optional(set, "user_time:"), PS_EATTR);
	check_fails(ps_eventset_add(set, "user_times"), PS_ENOEVNT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_is_stored_is_the_machines_alone)
{
	struct ps_eventset *counts = scene_set("page-faults", NULL), *times = scene_set(NULL, NULL);
	const long long stored = 1234567;
	struct ps_value value;

	/* A set that counts names it, too, and has no value of it. */
	check_ok(ps_eventset_add_optional(counts, names[_i]));
	check_ok(ps_eventset_add_optional(times, names[_i]));
	ck_assert_str_eq(ps_eventset_event_unit(times, 0), "ns");
	ck_assert_int_eq((int)ps_eventset_event_scope(times, 0), PS_SCOPE_MACHINE);
	check_ok(ps_start(counts));
	scene_count_on(1, 5);
	check_ok(ps_stop(counts, scene.root, NULL, NULL));
	check_ok(ps_component_total(scene.root, names[_i], &value));
	ck_assert_int_eq((int)value.status, PS_STATUS_NOT_SUPPORTED);
	check_ok(ps_store(times, &stored, 1, scene.root, NULL, NULL));
	value = scene_total(names[_i]);
	ck_assert_int_eq(value.value, stored);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_int_eq(scene_total("page-faults").value, 5);
	check_fails(ps_component_total(ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 0),
	                               names[_i], &value),
	            PS_EINVAL_DOM);
	ps_eventset_destroy(counts);
	ps_eventset_destroy(times);
}
END_TEST

/* A set without an event that can be counted has no group. */
START_TEST(a_process_is_attached_without_a_counter)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_task(4711, "child", 1);
	fake_file("/proc/4711/task/4711", "");
	check_ok(ps_eventset_add_optional(set, names[_i]));
	check_ok(ps_eventset_attach_process(set, 4711));
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_ok(ps_eventset_set_tasks(set, 1));
	check_fails(ps_start(set), PS_ENOSUPP);
	check_detail("no event of the set");
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run time");
	TCase *tests = scene_case(suite, "names");

	tcase_add_loop_test(tests, a_time_of_a_run_is_refused_with_what_to_do, 0, NAMES);
	tcase_add_test(tests, a_time_of_a_run_has_no_modifier);
	tcase_add_loop_test(tests, what_is_stored_is_the_machines_alone, 0, NAMES);
	tcase_add_loop_test(tests, a_process_is_attached_without_a_counter, 0, NAMES);
	return scene_run(suite);
}

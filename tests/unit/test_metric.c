/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived metrics against known counts: over which event sets they are taken, on which component,
 * what they need, and that nothing is computed from what was not counted.
 */
#include "support/scene.h"

#include <math.h>
#include <stdlib.h>

static void check_near(double value, double expected)
{
	ck_assert_msg(fabs(value - expected) <= 1e-12 * fabs(expected), "%.17g is not %.17g", value,
	              expected);
}

START_TEST(a_metric_is_the_ratio_of_the_sums_below_each_component)
{
	struct ps_eventset *set, *other = NULL;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cycles", "task-clock", NULL);
	check_ok(ps_eventset_clone(&other, set));
	scene_store(set, 0, (const long long[]){300, 200, 100});
	scene_store(other, 2, (const long long[]){100, 400, 300});
	check_near(scene_metric(scene_thread(0), "IPC").value, 1.5);
	check_near(scene_metric(scene_thread(2), "IPC").value, 0.25);
	check_near(scene_metric(scene.root, "IPC").value, 400.0 / 600);
	check_near(scene_metric(scene.root, "ipc").value, 400.0 / 600);
	check_near(scene_metric(scene_thread(0), "GHz").value, 2);
	check_near(scene_metric(scene_thread(2), "time-share").value, 75);
	check_near(scene_metric(scene.root, "time-share").value, 100);
	ck_assert_int_eq((int)scene_metric(scene.root, "IPC").status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

START_TEST(rates_are_per_second_of_cpu_time)
{
	struct ps_eventset *set =
	    scene_set("task-clock", "page-faults", "context-switches", "cpu-migrations", NULL);

	scene_store(set, 0, (const long long[]){2000000000, 100, 30, 7});
	check_near(scene_metric(scene.root, "page-fault-rate").value, 50);
	check_near(scene_metric(scene.root, "context-switch-rate").value, 15);
	check_near(scene_metric(scene.root, "cpu-migration-rate").value, 3.5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_a_set_counted_alone_does_not_enter)
{
	struct ps_eventset *both, *alone;

	fake_add_core_pmu(4);
	both = scene_set("instructions", "cycles", NULL);
	alone = scene_set("instructions", NULL);
	scene_store(both, 0, (const long long[]){100, 200});
	scene_store(alone, 0, (const long long[]){1000000});
	check_near(scene_metric(scene.root, "IPC").value, 0.5);
	check_fails(ps_component_metric(scene.root, "GHz", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_detail("task-clock");
	check_fails(ps_component_metric(scene_thread(1), "IPC", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_detail("Thread 1");
	ps_eventset_destroy(both);
	ps_eventset_destroy(alone);
}
END_TEST

START_TEST(events_of_different_modifiers_make_no_metric)
{
	struct ps_eventset *mixed, *user;

	fake_add_core_pmu(4);
	mixed = scene_set("instructions:u", "cycles", NULL);
	scene_store(mixed, 0, (const long long[]){100, 200});
	check_fails(ps_component_metric(scene.root, "IPC", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_fails(ps_component_metric(scene.root, "IPC:u", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_detail("instructions:u and cycles:u");
	user = scene_set("instructions:u", "cycles:u", "task-clock", NULL);
	scene_store(user, 1, (const long long[]){300, 100, 50});
	check_near(scene_metric(scene.root, "IPC:u").value, 3);
	check_near(scene_metric(scene.root, "GHz:u").value, 2);
	ps_eventset_destroy(mixed);
	ps_eventset_destroy(user);
}
END_TEST

START_TEST(a_metric_of_the_callers_sums_is_their_ratio)
{
	const struct ps_value sums[] = {{.value = 300}, {.value = 200}, {.value = 50}};
	const struct ps_value whole[] = {{.value = 900}, {.value = 800}, {.value = 200}};
	struct ps_metric_value value = {0};
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions:u", "cycles:u", "task-clock", NULL);
	check_ok(ps_metric_of_sums(set, "IPC:u", sums, whole, &value));
	check_near(value.value, 1.5);
	check_ok(ps_metric_of_sums(set, "time-share", sums, whole, &value));
	check_near(value.value, 25);
	check_ok(ps_metric_of_sums(set, "time-share", sums, NULL, &value));
	check_near(value.value, 100);
	check_fails(ps_metric_of_sums(set, "IPC", sums, whole, &value), PS_ENOEVNT);
	check_fails(ps_metric_of_sums(set, "nonsense", sums, whole, &value), PS_ENOEVNT);
	check_fails(ps_metric_of_sums(NULL, "IPC:u", sums, whole, &value), PS_EINVAL);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(other_names_of_the_same_event_count_as_well)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cpu-cycles", "branch-instructions", "branch-misses", NULL);
	scene_store(set, 3, (const long long[]){100, 50, 40, 10});
	check_near(scene_metric(scene.root, "IPC").value, 2);
	check_near(scene_metric(scene.root, "branch-miss-ratio").value, 25);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_was_never_scheduled_makes_the_metric_unknown)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cycles", NULL);
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 100);
	fake_advance(CYCLES, 100);
	fake_run(1000, 0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert(isnan(scene_metric(scene.root, "IPC").value));
	ck_assert_int_eq((int)scene_metric(scene.root, "IPC").status, PS_STATUS_NEVER_SCHEDULED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_estimate_makes_an_estimate)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cycles", NULL);
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 300);
	fake_advance(CYCLES, 100);
	fake_run(4000, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	struct ps_metric_value value = scene_metric(scene.root, "IPC");
	check_near(value.value, 3);
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_uint_eq(value.timestamp, scene_part(1, "cycles", 0).timestamp);
	ps_eventset_destroy(set);
}
END_TEST

/* One set can count both, another one only instructions: its count must not be divided by the first
 * one's cycles. */
START_TEST(a_set_where_one_event_is_not_supported_does_not_enter)
{
	struct ps_eventset *whole, *half = NULL;

	fake_add_event(INSTRUCTIONS);
	check_ok(ps_eventset_create(&half));
	check_ok(ps_eventset_add(half, "instructions"));
	check_ok(ps_eventset_add_optional(half, "cycles"));
	ck_assert_int_eq((int)ps_eventset_event_status(half, 1), PS_STATUS_NOT_SUPPORTED);
	fake_add_core_pmu(4);
	whole = scene_set("instructions", "cycles", NULL);
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_start(whole));
	fake_advance(INSTRUCTIONS, 30);
	fake_advance(CYCLES, 20);
	check_ok(ps_stop(whole, scene.root, NULL, NULL));
	check_ok(ps_start(half));
	fake_advance(INSTRUCTIONS, 1000);
	check_ok(ps_stop(half, scene.root, NULL, NULL));
	check_near(scene_metric(scene.root, "IPC").value, 1.5);
	ps_eventset_destroy(whole);
	ps_eventset_destroy(half);
}
END_TEST

START_TEST(a_divisor_of_0_gives_no_number)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	scene_store(set, 0, (const long long[]){5, 0});
	ck_assert(isnan(scene_metric(scene.root, "page-fault-rate").value));
	ck_assert_int_eq((int)scene_metric(scene.root, "page-fault-rate").status,
	                 PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

struct names {
	char text[1024];
	size_t count;
	size_t stop_at;
};

static int note_name(const char *name, void *context)
{
	struct names *names = context;

	strcat(strcat(names->text, name), " ");
	return ++names->count == names->stop_at ? 17 : 0;
}

START_TEST(each_metric_that_there_is_is_visited_once)
{
	struct names names = {.text = ""};
	struct ps_eventset *set, *other = NULL;

	ck_assert_int_eq(ps_metric_for_each(scene.root, note_name, &names), 0);
	ck_assert_uint_eq(names.count, 0);
	fake_add_core_pmu(6);
	set = scene_set("instructions", "cycles", "cpu-cycles", "instructions:u", "cycles:u",
	                "page-faults", NULL);
	check_ok(ps_eventset_clone(&other, set));
	scene_store(set, 0, (const long long[]){1, 2, 3, 4, 5, 6});
	scene_store(other, 2, (const long long[]){1, 2, 3, 4, 5, 6});
	ck_assert_int_eq(ps_metric_for_each(scene.root, note_name, &names), 0);
	ck_assert_str_eq(names.text, "IPC IPC:u ");
	names = (struct names){.text = ""};
	ck_assert_int_eq(ps_metric_for_each(scene_thread(1), note_name, &names), 0);
	ck_assert_str_eq(names.text, "");
	names = (struct names){.text = "", .stop_at = 1};
	ck_assert_int_eq(ps_metric_for_each(scene.root, note_name, &names), 17);
	ck_assert_str_eq(names.text, "IPC ");
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

static int check_description(const char *name, void *context)
{
	(void)context;
	ck_assert_ptr_nonnull(ps_metric_unit(name));
	ck_assert_ptr_nonnull(ps_metric_description(name));
	/* Every metric can be asked for; here nothing was counted. */
	ck_assert_int_eq(ps_component_metric(scene.root, name, &(struct ps_metric_value){0}),
	                 PS_ENOEVNT);
	return 0;
}

START_TEST(every_metric_has_a_unit_and_a_description)
{
	struct names names = {.text = ""};

	ck_assert_int_eq(ps_metric_for_each(NULL, check_description, NULL), 0);
	ck_assert_int_eq(ps_metric_for_each(NULL, note_name, &names), 0);
	ck_assert_uint_ge(names.count, 15);
	ck_assert_str_eq(ps_metric_unit("IPC:u"), "instructions/cycle");
	ck_assert_ptr_null(ps_metric_unit("MIPS"));
	ck_assert_ptr_null(ps_metric_unit("IPC:q"));
	ck_assert_ptr_null(ps_metric_description("IPC:"));
	ck_assert_ptr_null(ps_metric_unit(NULL));
	ck_assert_ptr_null(ps_metric_description(""));
}
END_TEST

START_TEST(wrong_arguments_are_refused_and_leave_out_untouched)
{
	struct ps_metric_value value = {.value = 42};

	check_fails(ps_component_metric(NULL, "IPC", &value), PS_EINVAL);
	check_fails(ps_component_metric(scene.root, NULL, &value), PS_EINVAL);
	check_fails(ps_component_metric(scene.root, "IPC", NULL), PS_EINVAL);
	check_fails(ps_component_metric(scene.root, "MIPS", &value), PS_ENOEVNT);
	check_detail("'MIPS'");
	check_detail("branch-miss-ratio");
	check_fails(ps_component_metric(scene.root, "IPC", &value), PS_ENOEVNT);
	check_fails(ps_metric_for_each(scene.root, NULL, NULL), PS_EINVAL);
	check_near(value.value, 42);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metric");
	TCase *tests = scene_case_last_cpu(suite, "metric");

	tcase_add_test(tests, a_metric_is_the_ratio_of_the_sums_below_each_component);
	tcase_add_test(tests, rates_are_per_second_of_cpu_time);
	tcase_add_test(tests, what_a_set_counted_alone_does_not_enter);
	tcase_add_test(tests, events_of_different_modifiers_make_no_metric);
	tcase_add_test(tests, a_metric_of_the_callers_sums_is_their_ratio);
	tcase_add_test(tests, other_names_of_the_same_event_count_as_well);
	tcase_add_test(tests, what_was_never_scheduled_makes_the_metric_unknown);
	tcase_add_test(tests, an_estimate_makes_an_estimate);
	tcase_add_test(tests, a_set_where_one_event_is_not_supported_does_not_enter);
	tcase_add_test(tests, a_divisor_of_0_gives_no_number);
	tcase_add_test(tests, each_metric_that_there_is_is_visited_once);
	tcase_add_test(tests, every_metric_has_a_unit_and_a_description);
	tcase_add_test(tests, wrong_arguments_are_refused_and_leave_out_untouched);
	return scene_run(suite);
}

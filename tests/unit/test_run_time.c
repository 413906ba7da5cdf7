/* SPDX-License-Identifier: BSD-3-Clause */
/* duration_time, user_time and system_time: known names of what no counter counts, which a program
 * may store as values of the whole machine; metrics with such times. */
#include "support/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Metrics of counts and times: a kernel's formula, the same by names of a file, and one that begins
 * with the time and has another formula where nobody stored it. */
static const char metrics[] = "group mine: rates\n"
			      "event faults = page-faults\n"
			      "event elapsed = duration_time\n"
			      "metric kernel [1/s]: as it is copied\n"
			      " page\\-faults / duration_time\n"
			      "metric own [1/s]: by names\n"
			      " faults / (elapsed / 1e9)\n"
			      "metric each [s]: for a fault\n"
			      " duration_time / page\\-faults\n"
			      "or\n"
			      " -1 * page\\-faults\n"
			      "metric used: two times\n"
			      " page\\-faults * (duration_time > user_time)\n";

static void load_metrics(void)
{
	fake_file("/sys/my.metrics", metrics);
	check_ok(ps_metric_load("/sys/my.metrics"));
}

static void unload_metrics(void)
{
	static const char *const defined[] = {"kernel", "own", "each", "used"};

	for (size_t index = 0; index < sizeof defined / sizeof *defined; index++)
		check_ok(ps_metric_undefine(defined[index]));
}

static int note_name(const char *name, void *context)
{
	strcat(strcat(context, name), " ");
	return 0;
}

/* Counts 5 faults on CPU 1 and 20 on CPU 2, and stores 0.5 s if there is a set for it. */
static void count_and_store(struct ps_eventset *counts, struct ps_eventset *times)
{
	const long long stored[] = {500000000, 100000000};

	check_ok(ps_start(counts));
	scene_count_on(1, 5);
	scene_count_on(2, 20);
	check_ok(ps_stop(counts, scene.root, NULL, NULL));
	if (times)
		check_ok(ps_store(times, stored, 2, scene.root, NULL, NULL));
}

/* _i: whether the set that counts names the times, too, as those of perfsage stat do. */
START_TEST(a_metric_takes_a_time_that_another_set_stored)
{
	const struct ps_component *two = ps_component_find(scene.root, PS_COMPONENT_THREAD, 2);
	struct ps_eventset *counts = scene_set("page-faults", NULL), *times = scene_set(NULL, NULL);
	char visited[200] = "";
	struct ps_metric_value value;

	load_metrics();
	for (int name = 0; name < 2; name++) {
		check_ok(ps_eventset_add_optional(times, names[name]));
		if (_i)
			check_ok(ps_eventset_add_optional(counts, names[name]));
	}
	count_and_store(counts, times);
	value = scene_metric(scene.root, "kernel");
	ck_assert(value.value == 50);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_LAST_CPU);
	ck_assert(scene_metric(scene.root, "own").value == 50);
	ck_assert(scene_metric(scene.root, "each").value == 0.02);
	ck_assert(scene_metric(scene.root, "used").value == 25);
	/* The time is the same everywhere. */
	ck_assert(scene_metric(two, "kernel").value == 40);
	check_fails(ps_component_metric(two, "used", &value), PS_EINVAL_DOM);
	check_ok(ps_metric_for_each(scene.root, note_name, visited));
	ck_assert_str_eq(visited, "kernel own each used ");
	unload_metrics();
	ps_eventset_destroy(counts);
	ps_eventset_destroy(times);
}
END_TEST

START_TEST(tables_have_such_a_metric)
{
	static const char *const shown[] = {"own"};
	struct ps_export_options options = {
	    .size = sizeof options, .metrics = shown, .metric_count = 1};
	struct ps_eventset *counts = scene_set("page-faults", NULL), *times = scene_set(NULL, NULL);
	char *text = NULL;
	size_t bytes;

	load_metrics();
	for (int name = 0; name < 2; name++)
		check_ok(ps_eventset_add_optional(times, names[name]));
	count_and_store(counts, times);
	FILE *stream = open_memstream(&text, &bytes);
	check_ok(ps_export_with(scene.root, PS_FORMAT_CSV, &options, stream));
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(text, "Machine,,own,50,1/s,counted,last-cpu,"));
	ck_assert_ptr_nonnull(strstr(text, ",own,10,1/s,counted,last-cpu,"));
	ck_assert_ptr_nonnull(strstr(text, ",own,40,1/s,counted,last-cpu,"));
	free(text);
	unload_metrics();
	ps_eventset_destroy(counts);
	ps_eventset_destroy(times);
}
END_TEST

START_TEST(without_the_time_there_is_none)
{
	struct ps_eventset *counts = scene_set("page-faults", NULL);
	struct ps_metric_value value;
	char visited[200] = "";

	load_metrics();
	count_and_store(counts, NULL);
	check_fails(ps_component_metric(scene.root, "kernel", &value), PS_ENOEVNT);
	check_detail("duration_time");
	ck_assert(scene_metric(scene.root, "each").value == -25);
	check_ok(ps_metric_for_each(scene.root, note_name, visited));
	ck_assert_str_eq(visited, "each ");
	unload_metrics();
	ps_eventset_destroy(counts);
	/* The name alone is no time. */
	counts = scene_set("page-faults", NULL);
	check_ok(ps_eventset_add_optional(counts, "duration_time"));
	load_metrics();
	count_and_store(counts, NULL);
	value = scene_metric(scene.root, "kernel");
	ck_assert(isnan(value.value));
	ck_assert_int_eq((int)value.status, PS_STATUS_NOT_SUPPORTED);
	unload_metrics();
	ps_eventset_destroy(counts);
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
	tcase_add_loop_test(tests, a_metric_takes_a_time_that_another_set_stored, 0, 2);
	tcase_add_test(tests, tables_have_such_a_metric);
	tcase_add_test(tests, without_the_time_there_is_none);
	return scene_run(suite);
}

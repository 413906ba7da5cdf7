/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics that a program defines by formulas: they are metrics as any other, in each component, and
 * in what is printed and exported. */
#include "support/regions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int count_name(const char *name, void *context)
{
	*(int *)context += strcmp(name, "work") == 0;
	return 0;
}

static char *json_of(const char *const *metrics, size_t count)
{
	struct ps_export_options options = {
	    .size = sizeof options, .metrics = metrics, .metric_count = count};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_export_with(scene.root, PS_FORMAT_JSON, &options, stream));
	fclose(stream);
	return text;
}

START_TEST(it_is_computed_from_each_components_sums)
{
	static const char *const names[] = {"WORK"};
	struct ps_eventset *set, *other, *alone;
	int count = 0;

	fake_add_core_pmu(4);
	check_ok(ps_metric_define("work", "(instructions + 2 * page\\-faults) / cycles", "units"));
	set = scene_set("instructions", "cycles", "page-faults", NULL);
	other = scene_set("cycles", "instructions", "page-faults", NULL);
	alone = scene_set("instructions", NULL);
	scene_store(set, 0, (const long long[]){300, 200, 50});
	scene_store(other, 2, (const long long[]){100, 30, 35});
	scene_store(alone, 1, (const long long[]){1000000});
	ck_assert(scene_metric(scene_thread(0), "work").value == 2);
	ck_assert(scene_metric(scene_thread(2), "Work").value == 1);
	ck_assert(fabs(scene_metric(scene.root, "work").value - 500.0 / 300) < 1e-12);
	ck_assert_int_eq((int)scene_metric(scene.root, "work").status, PS_STATUS_COUNTED);
	ck_assert_uint_ne(scene_metric(scene.root, "work").timestamp, 0);
	check_fails(ps_component_metric(scene_thread(1), "work", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_detail("instructions, page-faults and cycles");
	ck_assert_str_eq(ps_metric_unit("work"), "units");
	ck_assert_str_eq(ps_metric_description("work"),
	                 "(instructions + 2 * page\\-faults) / cycles");
	ps_metric_for_each(scene.root, count_name, &count);
	ps_metric_for_each(NULL, count_name, &count);
	ps_metric_for_each(scene_thread(1), count_name, &count);
	ck_assert_int_eq(count, 2);
	check_fails(ps_component_metric(scene.root, "other", &(struct ps_metric_value){0}),
	            PS_ENOEVNT);
	check_detail("switch-tracing-cost, work");
	char *json = json_of(names, 1);
	ck_assert_ptr_nonnull(strstr(json, "\"metric\": \"work\", \"value\": 1.66666666666666"));
	ck_assert_ptr_nonnull(strstr(json, "\"unit\": \"units\""));
	free(json);
	check_ok(ps_metric_undefine("WORK"));
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
	ps_eventset_destroy(alone);
}
END_TEST

/* The machine's numbers are those of the whole tree, in each component. */
START_TEST(numbers_of_the_machine_are_those_of_the_tree)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_ok(ps_metric_define("each", "page\\-faults / #num_cpus", NULL));
	check_ok(ps_metric_define("asks", "has_event(page\\-faults) + has_event(b) + page\\-faults",
	                          NULL));
	scene_store(set, 3, (const long long[]){12});
	ck_assert(scene_metric(scene.root, "each").value == 3);
	ck_assert(scene_metric(scene_thread(3), "each").value == 3);
	ck_assert(scene_metric(scene.root, "asks").value == 13);
	ck_assert_str_eq(ps_metric_unit("each"), "");
	check_ok(ps_metric_undefine("each"));
	check_ok(ps_metric_undefine("asks"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(sums_of_the_callers_give_it_too)
{
	struct ps_eventset *set = scene_set("task-clock", "page-faults", NULL);
	const struct ps_value sums[2] = {{.value = 2000000}, {.value = 30}};
	struct ps_metric_value value;

	check_ok(ps_metric_define("rate", "page\\-faults / (task\\-clock / 1e6)", "1/ms"));
	check_ok(ps_metric_of_sums(set, "rate", sums, NULL, &value));
	ck_assert(value.value == 15);
	check_ok(ps_metric_undefine("rate"));
	check_fails(ps_metric_of_sums(set, "rate", sums, NULL, &value), PS_ENOEVNT);
	ps_eventset_destroy(set);
}
END_TEST

/* A ratio's unit is known, and percent stands in each cell. */
START_TEST(a_heading_tells_its_unit)
{
	static const char *const names[] = {"rate", "share", "plain"};
	struct ps_print_options options = {
	    .size = sizeof options, .metrics = names, .metric_count = 3};
	struct ps_eventset *set = scene_set("task-clock", "page-faults", NULL);
	char *text = NULL;
	size_t bytes;

	check_ok(ps_metric_define("rate", "page\\-faults / (task\\-clock / 1e6)", "1/ms"));
	check_ok(ps_metric_define("share", "100 * page\\-faults / 60", "%"));
	check_ok(ps_metric_define("plain", "page\\-faults", NULL));
	scene_store(set, 0, (const long long[]){2000000, 30});
	FILE *stream = open_memstream(&text, &bytes);
	check_ok(ps_print_with(scene.root, &options, stream));
	fclose(stream);
	ck_assert_msg(strstr(text, "rate (1/ms)") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "share (%)") == NULL, "%s", text);
	ck_assert_msg(strstr(text, "50.0%") != NULL || strstr(text, "50.00%") != NULL, "%s", text);
	free(text);
	check_ok(ps_metric_undefine("rate"));
	check_ok(ps_metric_undefine("share"));
	check_ok(ps_metric_undefine("plain"));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(paths_have_it)
{
	static const char *const names[] = {"twice"};
	struct ps_paths_options options = {
	    .size = sizeof options, .metrics = names, .metric_count = 1};
	char *text = NULL;
	size_t bytes;

	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_metric_define("twice", "2 * page\\-faults + minor\\-faults", "faults"));
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 21);
	check_ok(ps_region_leave(region("outer")));
	take_paths();
	FILE *stream = open_memstream(&text, &bytes);
	check_ok(ps_paths_export(regions.paths, PS_FORMAT_JSON, &options, stream));
	fclose(stream);
	ck_assert_msg(
	    strstr(text, "\"metric\": \"twice\", \"share\": \"exclusive\", \"value\": 42") != NULL,
	    "%s", text);
	free(text);
	regions_end();
	check_ok(ps_metric_undefine("twice"));
}
END_TEST

START_TEST(what_can_be_no_metric_is_refused)
{
	char *many = malloc(4096), *at = many;

	check_fails(ps_metric_define(NULL, "a", ""), PS_EINVAL);
	check_fails(ps_metric_define("a", NULL, ""), PS_EINVAL);
	check_fails(ps_metric_define("", "a", ""), PS_EINVAL);
	check_fails(ps_metric_define("a:u", "a", ""), PS_EINVAL);
	check_detail("'a:u' is no name");
	check_fails(ps_metric_define("a b", "a", ""), PS_EINVAL);
	check_fails(ps_metric_define("one", "1 + 2", ""), PS_EINVAL);
	check_detail("has no event");
	check_fails(ps_metric_define("odd", "a +", ""), PS_EINVAL);
	check_detail("column 4");
	check_fails(ps_metric_define("ipc", "a / b", ""), PS_ECNFLCT);
	check_detail("'IPC' already");
	check_ok(ps_metric_define("mine", "a / b", ""));
	check_fails(ps_metric_define("MINE", "a / c", ""), PS_ECNFLCT);
	check_ok(ps_metric_undefine("mine"));
	check_fails(ps_metric_undefine("mine"), PS_ENOEVNT);
	check_fails(ps_metric_undefine("IPC"), PS_ENOEVNT);
	check_fails(ps_metric_undefine(NULL), PS_EINVAL);
	for (int event = 0; event < 33; event++)
		at += sprintf(at, "%se%d", event ? " + " : "", event);
	check_fails(ps_metric_define("many", many, ""), PS_ECOUNT);
	free(many);
}
END_TEST

START_TEST(each_lack_of_memory_is_told)
{
	bool happened = true;

	for (unsigned nth = 1; happened && nth < 100; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_metric_define("mine", "a / b + 1", "unit");
		happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
	}
	check_ok(ps_metric_undefine("mine"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metric_define");
	TCase *tests = scene_case(suite, "metric_define");

	tcase_add_test(tests, it_is_computed_from_each_components_sums);
	tcase_add_test(tests, numbers_of_the_machine_are_those_of_the_tree);
	tcase_add_test(tests, sums_of_the_callers_give_it_too);
	tcase_add_test(tests, a_heading_tells_its_unit);
	tcase_add_test(tests, paths_have_it);
	tcase_add_test(tests, what_can_be_no_metric_is_refused);
	tcase_add_test(tests, each_lack_of_memory_is_told);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over intervals and runs in perfsage stat: they follow the rule by which the library adds up
 * parts, and JSON has their coverage. */
#include "test_hybrid.h"
#include "tools/stat.h"

#include <stdio.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)

/* Counts one interval on a CPU, and adds it. */
static void aggregate_interval(struct stat_aggregate *aggregate, struct stat_count *count, int cpu,
                               uint64_t instructions)
{
	fake_set_cpu(cpu);
	check_ok(ps_start(count->sets[0]));
	work(cpu, instructions);
	check_ok(ps_stop(count->sets[0], scene.root, NULL, NULL));
	ck_assert_int_eq(stat_aggregate_add(aggregate, count, false), 0);
}

START_TEST(what_was_counted_stays_counted_beside_what_is_not_supported)
{
	struct stat_options options = {.format = PS_FORMAT_JSON, .interval_ms = 1};
	struct stat_output output = {.options = &options};
	struct ps_eventset *set = scene_set(ATOM_EVENT, NULL);
	struct stat_count count = {.topology = scene.topology,
	                           .root = scene.root,
	                           .model = set,
	                           .sets = &set,
	                           .set_count = 1};
	struct stat_aggregate aggregate;

	ck_assert_int_eq(stat_aggregate_create(&aggregate, &output, &count), 0);
	aggregate_interval(&aggregate, &count, 0, 1000);
	ck_assert_int_eq((int)stat_aggregate_total(&aggregate, 0, 0).status,
	                 PS_STATUS_NOT_SUPPORTED);
	aggregate_interval(&aggregate, &count, 2, 300);
	ck_assert_int_eq((int)stat_aggregate_total(&aggregate, 0, 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(stat_aggregate_total(&aggregate, 0, 0).value, 30);
	aggregate_interval(&aggregate, &count, 1, 1000);
	ck_assert_int_eq((int)stat_aggregate_total(&aggregate, 0, 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(stat_aggregate_total(&aggregate, 0, 0).value, 30);
	stat_aggregate_destroy(&aggregate);
	ps_eventset_destroy(set);
}
END_TEST

/* The first one behind this member. */
static double coverage_behind(const char *text, const char *member)
{
	const char *at = strstr(text, member);

	at = at ? strstr(at, "\"coverage\":") : NULL;
	ck_assert_msg(at != NULL, "no coverage behind %s", member);
	return strtod(strchr(at, ':') + 1, NULL);
}

static void setup_core_pmu(void)
{
	scene_setup();
	fake_add_core_pmu(4);
}

START_TEST(json_tells_the_least_coverage_of_a_run_of_the_total_and_of_means)
{
	struct stat_options options = {.format = PS_FORMAT_JSON, .interval_ms = _i ? 0 : 1};
	struct stat_facts facts = {.elapsed_s = 1.0, .interval_s = 1.0, .has_ended = true};
	struct stat_output output = {.options = &options};
	struct ps_eventset *set = scene_set("instructions", NULL);
	struct stat_count count = {.topology = scene.topology,
	                           .root = scene.root,
	                           .model = set,
	                           .sets = &set,
	                           .set_count = 1};
	struct stat_aggregate aggregate;
	struct stat_runs runs = {.counted = 1};
	char *text = NULL;
	size_t bytes;

	options.repetitions = _i ? 2 : 0;
	options.target.is_whole_machine = true;
	ck_assert_int_eq(stat_aggregate_create(&aggregate, &output, &count), 0);
	fake_set_cpu(1);
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 500);
	fake_run(1000 * MS, 250 * MS);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	output.stream = open_memstream(&text, &bytes);
	ck_assert_int_eq(stat_show(&output, &count, &facts), 0);
	fclose(output.stream);
	ck_assert_double_eq(coverage_behind(text, "\"run\""), 0.25);
	ck_assert_double_eq(coverage_behind(text, "\"values\""), 0.25);
	free(text);
	ck_assert_int_eq(stat_aggregate_add(&aggregate, &count, true), 0);
	output.stream = open_memstream(&text, &bytes);
	if (_i)
		stat_means_show(&aggregate, &runs, &output);
	else
		stat_total_show(&aggregate, &facts, &output);
	fclose(output.stream);
	ck_assert_double_eq(coverage_behind(text, _i ? "\"means\"" : "\"total\""), 0.25);
	ck_assert_double_eq(coverage_behind(text, "\"counts\""), 0.25);
	free(text);
	stat_aggregate_destroy(&aggregate);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_aggregate");
	TCase *hybrid = tcase_create("hybrid");

	tcase_add_checked_fixture(hybrid, setup, scene_teardown);
	tcase_add_test(hybrid, what_was_counted_stays_counted_beside_what_is_not_supported);
	suite_add_tcase(suite, hybrid);
	tcase_add_loop_test(scene_case_of(suite, "coverage", setup_core_pmu, scene_teardown),
	                    json_tells_the_least_coverage_of_a_run_of_the_total_and_of_means, 0, 2);
	return scene_run(suite);
}

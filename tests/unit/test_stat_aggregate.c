/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over intervals and runs in perfsage stat: they follow the rule by which the library adds up
 * parts, and JSON has their coverage. */
#include "test_hybrid.h"
#include "tools/stat_aggregate.h"
#include "tools/stat_show.h"

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

/* The end of the string that begins here. */
static const char *skip_string(const char *at)
{
	for (at++; *at != '"'; at++) {
		if (*at == '\\')
			at++;
	}
	return at;
}

/* The coverage in the object that this member is, or in the first one of its list. That of an
 * object within is another one's. */
static double coverage_of(const char *text, const char *member, bool is_list)
{
	const char *at = strstr(text, member);
	int depth = 0, own = is_list ? 2 : 1;

	ck_assert_msg(at != NULL, "no %s", member);
	for (at += strlen(member); *at; at++) {
		if (depth == own && !strncmp(at, "\"coverage\":", 11))
			return strtod(at + 11, NULL);
		depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
		if (depth == 0 && *at != ':')
			break;
		if (*at == '"')
			at = skip_string(at);
	}
	ck_abort_msg("%s has no coverage", member);
	return 0;
}

/* Counts for a second; the event is on the hardware for a part of it. */
static void count_second(struct stat_count *count, uint64_t running_ms)
{
	check_ok(ps_start(count->sets[0]));
	fake_advance(INSTRUCTIONS, 500);
	fake_run(1000 * MS, running_ms * MS);
	check_ok(ps_stop(count->sets[0], scene.root, NULL, NULL));
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
	count_second(&count, 250);
	output.stream = open_memstream(&text, &bytes);
	ck_assert_int_eq(stat_show(&output, &count, &facts), 0);
	fclose(output.stream);
	ck_assert_double_eq(coverage_of(text, "\"run\":", false), 0.25);
	ck_assert_double_eq(coverage_of(text, "\"values\":", true), 0.25);
	free(text);
	ck_assert_int_eq(stat_aggregate_add(&aggregate, &count, false), 0);
	count_second(&count, 125);
	ck_assert_int_eq(stat_aggregate_add(&aggregate, &count, true), 0);
	output.stream = open_memstream(&text, &bytes);
	if (_i)
		stat_means_show(&aggregate, &runs, &output);
	else
		stat_total_show(&aggregate, &facts, &output);
	fclose(output.stream);
	/* The least of a part of the time, and that of all the time. */
	ck_assert_double_eq(coverage_of(text, _i ? "\"means\":" : "\"total\":", false), 0.125);
	ck_assert_double_eq(coverage_of(text, "\"counts\":", true), 0.1875);
	free(text);
	stat_aggregate_destroy(&aggregate);
	ps_eventset_destroy(set);
}
END_TEST

/* Returns what is shown in this format; the caller frees it. */
static char *shown(struct stat_count *count, enum ps_format format)
{
	struct stat_options options = {.format = format, .target.is_whole_machine = true};
	struct stat_facts facts = {.elapsed_s = 1.0, .has_ended = true};
	struct stat_output output = {.options = &options};
	char *text = NULL;
	size_t bytes;

	output.stream = open_memstream(&text, &bytes);
	ck_assert_int_eq(stat_show(&output, count, &facts), 0);
	fclose(output.stream);
	return text;
}

START_TEST(the_coverage_of_a_counter_that_was_off_for_an_unknown_time_is_unknown)
{
	struct ps_eventset *set = scene_set("instructions", NULL);
	struct stat_count count = {.topology = scene.topology,
	                           .root = scene.root,
	                           .model = set,
	                           .sets = &set,
	                           .set_count = 1};

	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 500);
	fake_run(1000 * MS, 500 * MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(INSTRUCTIONS, true);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	char *text = shown(&count, PS_FORMAT_JSON);
	const char *run = strstr(text, "\"run\":");
	ck_assert_msg(run && strstr(run, "\"coverage\": null"), "%s", text);
	ck_assert_msg(strstr(text, "\"incomplete\""), "%s", text);
	free(text);
	text = shown(&count, PS_FORMAT_TEXT);
	ck_assert_msg(strstr(text, "coverage    unknown: "), "%s", text);
	free(text);
	ps_eventset_destroy(set);
}
END_TEST

/* Counts a run on the CPU of a machine with its own topology. Returns what adding it returned. */
static int add_run_on(struct stat_aggregate *aggregate, const struct ps_eventset *model,
                      const char *machine, int cpu)
{
	struct ps_eventset *set = NULL;
	struct stat_count count = {.model = model, .sets = &set, .set_count = 1};

	check_ok(ps_topology_load_synthetic(&count.topology, machine));
	count.root = ps_topology_root(count.topology);
	fake_set_cpu(cpu);
	check_ok(ps_eventset_clone(&set, model));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_stop(set, count.root, NULL, NULL));
	int added = stat_aggregate_add(aggregate, &count, true);
	stat_aggregate_keep(aggregate, &count);
	ps_eventset_destroy(set);
	ps_topology_destroy(count.topology);
	return added;
}

START_TEST(a_run_on_other_cpus_is_left_out)
{
	struct stat_options options = {.repetitions = 4};
	struct stat_output output = {.options = &options};
	struct ps_eventset *model = scene_set("page-faults", NULL);
	struct stat_count count = {.model = model};
	struct stat_aggregate aggregate;

	ck_assert_int_eq(stat_aggregate_create(&aggregate, &output, &count), 0);
	ck_assert_int_eq(add_run_on(&aggregate, model, "core:2 pu:1", 0), 0);
	ck_assert_int_eq(add_run_on(&aggregate, model, "core:2 pu:1(indexes=2,3)", 2), 1);
	ck_assert_int_eq(add_run_on(&aggregate, model, "core:3 pu:1", 0), 1);
	ck_assert_int_eq(add_run_on(&aggregate, model, "core:2 pu:1", 1), 0);
	ck_assert_int_eq(stat_aggregate_total(&aggregate, 0, 0).value, 200);
	ck_assert_uint_eq(aggregate.spreads[0].samples, 2);
	stat_aggregate_destroy(&aggregate);
	ps_eventset_destroy(model);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_aggregate");
	TCase *hybrid = tcase_create("hybrid");

	tcase_add_checked_fixture(hybrid, setup, scene_teardown);
	tcase_add_test(hybrid, what_was_counted_stays_counted_beside_what_is_not_supported);
	suite_add_tcase(suite, hybrid);
	TCase *coverage = scene_case_of(suite, "coverage", setup_core_pmu, scene_teardown);
	tcase_add_loop_test(coverage,
	                    json_tells_the_least_coverage_of_a_run_of_the_total_and_of_means, 0, 2);
	tcase_add_test(coverage,
	               the_coverage_of_a_counter_that_was_off_for_an_unknown_time_is_unknown);
	tcase_add_test(scene_case(suite, "runs"), a_run_on_other_cpus_is_left_out);
	return scene_run(suite);
}

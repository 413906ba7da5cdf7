/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports by region against golden files (JSON and CSV also pass tests/scripts/check-export): one
 * program with a thread that moves, names that need an escape and every status; what text, JSON
 * and the library's own look-ups say is the same.
 */
#include "test_report.h"
#include "support/golden.h"
#include "support/small.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static void check_report(enum ps_format format, const struct ps_paths_options *options,
                         const char *file)
{
	FILE *stream = golden_open();

	check_ok(ps_paths_export(regions.paths, format, options, stream));
	golden_check_file(stream, file);
}

static char *report_text(enum ps_format format, const struct ps_paths_options *options)
{
	size_t bytes;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_paths_export(regions.paths, format, options, stream));
	fclose(stream);
	return text;
}

START_TEST(a_report_has_every_path)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW);

	run_program();
	check_report(PS_FORMAT_TEXT, NULL, "report_plain.txt");
	check_report(PS_FORMAT_TEXT, &options, "report_metrics.txt");
	options.share = PS_SHARE_INCLUSIVE;
	options.flags = PS_PATHS_UTF8 | PS_PATHS_COLOUR;
	check_report(PS_FORMAT_TEXT, &options, "report_inclusive.txt");
	options = options_with(0);
	options.width = 80;
	check_report(PS_FORMAT_TEXT, &options, "report_80.txt");
	regions_end();
}
END_TEST

START_TEST(a_report_has_columns_by_component)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW);

	run_program();
	options.types = PS_TYPE_BIT(PS_COMPONENT_PACKAGE);
	check_report(PS_FORMAT_TEXT, &options, "report_package.txt");
	options.types = PS_TYPE_BIT(PS_COMPONENT_THREAD);
	options.share = PS_SHARE_INCLUSIVE;
	options.flags = PS_PATHS_NO_LEGEND;
	check_report(PS_FORMAT_TEXT, &options, "report_cpu.txt");
	options = options_with(PS_PATHS_RAW);
	options.types = PS_TYPE_BIT(PS_COMPONENT_PACKAGE) | PS_TYPE_BIT(PS_COMPONENT_THREAD);
	check_report(PS_FORMAT_JSON, &options, "report_parts.json");
	check_report(PS_FORMAT_CSV, &options, "export_report_parts.csv");
	regions_end();
}
END_TEST

START_TEST(a_report_for_programs_has_fields_and_fits_in_a_line)
{
	struct ps_paths_options options = options_with(PS_PATHS_COMPACT | PS_PATHS_NO_HEADER);

	run_program();
	check_report(PS_FORMAT_JSON, NULL, "report_plain.json");
	check_report(PS_FORMAT_CSV, NULL, "export_report.csv");
	options.fields = fields;
	options.field_count = 2;
	check_report(PS_FORMAT_JSON, &options, "report_compact.json");
	char *text = report_text(PS_FORMAT_CSV, &options);
	ck_assert_ptr_null(strstr(text, "path,"));
	ck_assert_ptr_nonnull(strstr(text, ",\"solve \"\"1\"\"\",0.5\r\n"));
	free(text);
	regions_end();
}
END_TEST

/* Caches of one level; a path that was never there has no part. */
START_TEST(caches_are_chosen_by_their_level)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW | PS_PATHS_NO_LEGEND);

	ps_topology_destroy(scene.topology);
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:2 l3:1 l2:2 core:1 pu:1"));
	scene.root = ps_topology_root(scene.topology);
	run_program();
	options.metric_count = 0;
	options.types = PS_TYPE_BIT(PS_COMPONENT_CACHE);
	options.cache_level = PS_CACHE_LAST_LEVEL;
	char *text = report_text(PS_FORMAT_TEXT, &options);
	ck_assert_ptr_nonnull(strstr(text, "L3 1"));
	ck_assert_ptr_null(strstr(text, "L2 "));
	free(text);
	options.cache_level = 2;
	text = report_text(PS_FORMAT_JSON, &options);
	ck_assert_ptr_nonnull(strstr(text, "\"L2 3\""));
	ck_assert_ptr_null(strstr(text, "\"L3 "));
	free(text);
	regions_end();
}
END_TEST

/* The table has the same shape in each run. */
START_TEST(components_without_a_count_are_shown_on_request)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW | PS_PATHS_NO_LEGEND);

	ps_topology_destroy(scene.topology);
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:3 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
	run_program();
	options.metric_count = 0;
	options.types = PS_TYPE_BIT(PS_COMPONENT_PACKAGE);
	char *text = report_text(PS_FORMAT_TEXT, &options);
	ck_assert_ptr_null(strstr(text, "Package 2"));
	free(text);
	text = report_text(PS_FORMAT_CSV, &options);
	ck_assert_ptr_null(strstr(text, "Package 2"));
	free(text);
	options.flags |= PS_PATHS_IDLE;
	check_report(PS_FORMAT_TEXT, &options, "report_idle.txt");
	text = report_text(PS_FORMAT_CSV, &options);
	ck_assert_ptr_nonnull(strstr(text, ",exclusive,Package,2,2,Package 2,page-faults,0,"));
	free(text);
	text = report_text(PS_FORMAT_JSON, &options);
	ck_assert_ptr_nonnull(strstr(text, "\"Package 2\", \"exclusive\": {\"page-faults\": 0, "));
	ck_assert_ptr_null(strstr(strstr(text, "Package 2"), "\"page-faults\": null"));
	free(text);
	regions_end();
}
END_TEST

/* What was counted on a hardware thread that the tree doesn't have is shown, or the columns would
 * not add up. */
START_TEST(an_unknown_cpu_has_its_column)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW | PS_PATHS_NO_LEGEND);

	ps_topology_destroy(scene.topology);
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:1 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
	run_program();
	options.metric_count = 0;
	options.types = PS_TYPE_BIT(PS_COMPONENT_PACKAGE);
	check_report(PS_FORMAT_TEXT, &options, "report_unknown.txt");
	regions_end();
}
END_TEST

/* Scaled, never scheduled and not supported, each beside a plain count. */
static void run_with_statuses(void)
{
	fake_add_core_pmu(4);
	now_ns = 1000000 * US;
	fake_set_clock(now_ns, 0);
	regions_begin("instructions", "cycles", NULL);
	check_ok(ps_eventset_add_optional(regions.model, EVENT ":u"));
	ps_profile_destroy(regions.profile);
	check_ok(ps_profile_create(&regions.profile, regions.model, scene.root));
	check_ok(ps_region_enter(region("half")));
	fake_advance(INSTRUCTIONS, 500);
	fake_advance(CYCLES, 1000);
	fake_run(3000, 1500);
	give("beyond", INT64_MIN);
	give("beyond", -1);
	check_ok(ps_region_leave(region("half")));
	check_ok(ps_region_enter(region("never")));
	fake_run(3000, 0);
	check_ok(ps_region_leave(region("never")));
	take_paths();
}

START_TEST(what_is_unknown_is_no_0_and_an_estimate_says_so)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW);

	run_with_statuses();
	check_report(PS_FORMAT_TEXT, &options, "report_status.txt");
	check_report(PS_FORMAT_JSON, &options, "report_status.json");
	check_report(PS_FORMAT_CSV, &options, "export_report_status.csv");
	regions_end();
}
END_TEST

/* A profile that no thread has joined. */
START_TEST(nothing_counted_is_said)
{
	regions_begin(EVENT, NULL);
	take_paths();
	check_report(PS_FORMAT_TEXT, NULL, "report_none.txt");
	check_report(PS_FORMAT_JSON, NULL, "report_none.json");
	regions_end();
}
END_TEST

static void *enter_and_stay(void *met)
{
	check_ok(ps_region_enter(region("stay")));
	pthread_barrier_wait(met);
	pthread_barrier_wait(met);
	check_ok(ps_region_leave(region("stay")));
	return NULL;
}

START_TEST(what_is_missing_is_said)
{
	pthread_barrier_t met;
	pthread_t thread;

	regions_begin(EVENT, NULL);
	pthread_barrier_init(&met, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, enter_and_stay, &met), 0);
	pthread_barrier_wait(&met);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("solve")), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	/* The other thread's counts can't be read. */
	fake_fail_always(FAKE_READ, EIO);
	take_paths();
	check_report(PS_FORMAT_TEXT, NULL, "report_missing.txt");
	check_report(PS_FORMAT_JSON, NULL, "report_missing.json");
	check_report(PS_FORMAT_CSV, NULL, "export_report_missing.csv");
	fake_fail_always(FAKE_READ, 0);
	pthread_barrier_wait(&met);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&met);
	regions_end();
}
END_TEST

/* A sampled region, and one of which no visit was counted. */
START_TEST(estimates_are_labelled_and_what_is_unknown_is_no_0)
{
	regions_begin(EVENT, NULL);
	struct ps_region *solve = region("solve"), *write = region("write");

	check_ok(ps_profile_set_seed(regions.profile, 5));
	check_ok(ps_region_set_one_in(solve, 3));
	check_ok(ps_region_set_one_in(write, UINT64_MAX));
	check_ok(ps_profile_join(regions.profile));
	for (int visit = 0; visit < 30; visit++) {
		check_ok(ps_region_enter(visit % 3 ? solve : write));
		fake_advance(PAGE_FAULTS, 4);
		check_ok(ps_region_leave(visit % 3 ? solve : write));
	}
	take_paths();
	check_report(PS_FORMAT_TEXT, NULL, "report_sampled.txt");
	check_report(PS_FORMAT_JSON, NULL, "report_sampled.json");
	check_report(PS_FORMAT_CSV, NULL, "export_report_sampled.csv");
	/* A visit that was not counted may have been on the other CPU. */
	struct ps_paths_options options = options_with(PS_PATHS_RAW | PS_PATHS_NO_LEGEND);
	options.flags |= PS_PATHS_IDLE;
	options.metric_count = 0;
	options.types = PS_TYPE_BIT(PS_COMPONENT_THREAD);
	check_report(PS_FORMAT_TEXT, &options, "report_sampled_cpu.txt");
	check_report(PS_FORMAT_JSON, &options, "report_sampled_cpu.json");
	regions_end();
}
END_TEST

/* The number behind a key, from there on; -1 for null. */
static long long number_behind(const char **text, const char *key)
{
	char quoted[64];

	snprintf(quoted, sizeof quoted, "\"%s\": ", key);
	const char *found = strstr(*text, quoted);
	ck_assert_msg(found != NULL, "there is no %s in: %s", key, *text);
	*text = found + strlen(quoted);
	return **text == 'n' ? -1 : strtoll(*text, NULL, 10);
}

static void enter_at_random(unsigned *seed, char first)
{
	char name[2] = {(char)(first + rand_r(seed) % 3), 0};

	check_ok(ps_region_enter(region(name)));
}

/* Each path in the order of the JSON: the library's look-ups and the JSON agree. */
static long long check_path(const struct ps_path *path, const char **json)
{
	struct ps_value value;
	struct ps_visits visits = {.size = sizeof visits};
	long long sum = 0;

	*json = strstr(*json, "\"path\": ");
	ck_assert_ptr_nonnull(*json);
	check_ok(ps_path_visits(path, &visits));
	ck_assert_int_eq(number_behind(json, "visits"), (long long)visits.count);
	ck_assert_int_eq(number_behind(json, "inside_ns"), (long long)visits.inside_ns);
	for (int share = PS_SHARE_EXCLUSIVE; share <= PS_SHARE_INCLUSIVE; share++) {
		long long shown = number_behind(json, EVENT);
		check_ok(ps_path_value(path, scene.root, EVENT, (enum ps_share)share, &value));
		ck_assert_int_eq(shown, value.value);
		sum += share == PS_SHARE_EXCLUSIVE ? shown : 0;
	}
	for (path = ps_path_child(path); path; path = ps_path_next(path))
		sum += check_path(path, json);
	return sum;
}

/* Whatever the program does, the paths are what was counted, and the formats agree. */
START_TEST(the_paths_add_up_to_the_total)
{
	unsigned seed = (unsigned)_i;
	struct ps_paths_options options = options_with(PS_PATHS_RAW);

	fake_set_clock(now_ns = 1000000 * US, 0);
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_join(regions.profile));
	for (int step = 0; step < 400; step++) {
		if (rand_r(&seed) % 2 && ps_region_level(regions.profile) < 12)
			enter_at_random(&seed, 'a');
		else if (ps_region_level(regions.profile))
			check_ok(
			    ps_region_close(regions.profile, ps_region_level(regions.profile) - 1));
		fake_set_cpu(rand_r(&seed) % 4);
		fake_set_clock(now_ns += US, 0);
		fake_advance(PAGE_FAULTS, (uint64_t)(rand_r(&seed) % 10));
	}
	take_paths();
	options.metric_count = 0;
	char *json = report_text(PS_FORMAT_JSON, &options), *text;
	const char *rest = strstr(json, "\"regions\"");
	long long total = all("", -1);
	ck_assert_int_gt(total, 0);
	ck_assert_int_eq(check_path(ps_paths_root(regions.paths), &rest), total);
	ck_assert_ptr_null(strstr(rest, "\"path\""));
	text = report_text(PS_FORMAT_TEXT, &options);
	char *line = strstr(text, "\ntotal");
	ck_assert_ptr_nonnull(line);
	char counts[32];
	snprintf(counts, sizeof counts, "  %lld\n", total);
	ck_assert_msg(strstr(line, counts) != NULL, "%s is not in %s", counts, line);
	free(text);
	free(json);
	regions_end();
}
END_TEST

START_TEST(a_long_name_is_cut_at_the_width_alone)
{
	char name[301] = "";
	struct ps_paths_options options = options_with(PS_PATHS_RAW);

	memset(name, 'n', 300);
	now_ns = 1000000 * US;
	fake_set_clock(now_ns, 0);
	regions_begin(EVENT, NULL);
	visit(name, 0, 1, 1);
	give(name, 1);
	take_paths();
	options.width = 80;
	char *text = report_text(PS_FORMAT_TEXT, &options);
	ck_assert_ptr_nonnull(strstr(text, "\nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn..  "));
	ck_assert_ptr_nonnull(strstr(text, "page-faults, nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn..\n"));
	ck_assert_ptr_null(strstr(text, name));
	free(text);
	options.width = 0;
	for (int is_text = 0; is_text < 2; is_text++) {
		text = report_text(is_text ? PS_FORMAT_TEXT : PS_FORMAT_JSON, &options);
		ck_assert_uint_ge(count_of(text, name), 2); /* of the region, of the number */
		free(text);
	}
	regions_end();
}
END_TEST

/* All names of a very deep path are not written again and again: it has its parent's number. */
static void check_deep_paths(void)
{
	struct ps_paths_options options = options_with(PS_PATHS_COMPACT);
	char *text = report_text(PS_FORMAT_JSON, &options);

	ck_assert_ptr_nonnull(
	    strstr(text, "{\"id\":2,\"parent\":1,\"name\":\"deep\",\"path\":[\"deep\",\"deep\"],"));
	ck_assert_ptr_nonnull(
	    strstr(text, "{\"id\":65,\"parent\":64,\"name\":\"deep\",\"path\":null,"));
	ck_assert_ptr_nonnull(strstr(text, "{\"id\":1000,\"parent\":999,"));
	free(text);
	text = report_text(PS_FORMAT_CSV, NULL);
	ck_assert_ptr_nonnull(strstr(text, ",event,1,0,deep,0,\r\n"));
	ck_assert_ptr_nonnull(strstr(text, ",event,1000,999,deep,0,\r\n"));
	ck_assert_ptr_null(strstr(text, ",event,65,64,deep,0,\r\n\"deep"));
	free(text);
}

/* A deep recursion and as many paths beside each other. */
START_TEST(many_paths_take_no_more_than_their_time)
{
	int paths = ps_test_serial_size(10000, 500);
	char name[32], last[40];

	regions_begin(EVENT, NULL);
	struct ps_region *deep = region("deep");
	for (int i = 0; i < 1000; i++)
		check_ok(ps_region_enter(deep));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_region_close(regions.profile, 0));
	for (int i = 0; i < paths; i++) {
		snprintf(name, sizeof name, "name %d", i);
		visit(name, 0, 1, 1);
	}
	take_paths();
	char *text = report_text(PS_FORMAT_TEXT, NULL);
	ck_assert_ptr_nonnull(strstr(text, "[1000] deep "));
	snprintf(last, sizeof last, "\n%s ", name);
	ck_assert_ptr_nonnull(strstr(text, last));
	free(text);
	text = report_text(PS_FORMAT_JSON, NULL);
	snprintf(last, sizeof last, "[\"%s\"]", name);
	ck_assert_ptr_nonnull(strstr(text, last));
	free(text);
	check_deep_paths();
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tests = scene_case(suite, "report");

	tcase_add_test(tests, a_report_has_every_path);
	tcase_add_test(tests, a_report_has_columns_by_component);
	tcase_add_test(tests, a_report_for_programs_has_fields_and_fits_in_a_line);
	tcase_add_test(tests, caches_are_chosen_by_their_level);
	tcase_add_test(tests, components_without_a_count_are_shown_on_request);
	tcase_add_test(tests, an_unknown_cpu_has_its_column);
	tcase_add_test(tests, what_is_unknown_is_no_0_and_an_estimate_says_so);
	tcase_add_test(tests, nothing_counted_is_said);
	tcase_add_test(tests, what_is_missing_is_said);
	tcase_add_test(tests, estimates_are_labelled_and_what_is_unknown_is_no_0);
	tcase_add_loop_test(tests, the_paths_add_up_to_the_total, 0, 20);
	tcase_add_test(tests, a_long_name_is_cut_at_the_width_alone);
	tcase_add_test(tests, many_paths_take_no_more_than_their_time);
	return scene_run(suite);
}

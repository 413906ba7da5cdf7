/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits in threads whose counters can't be opened: where they may have been, counts are the least
 * that there can be. */
#include "base/os.h"
#include "region/paths_file.h"
#include "support/regions.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *visit_without_counters(void *unused)
{
	(void)unused;
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("outer")), PS_OK);
	ck_assert_int_ne(ps_region_enter(region("inner")), PS_OK);
	ck_assert_int_ne(ps_region_enter(region("inner")), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	return NULL;
}

static void visit_inside(const char *name)
{
	check_ok(ps_region_enter(region(name)));
	check_ok(ps_region_add_value(region("rows"), 1000));
	visit_counting(region("inner"), 3);
	check_ok(ps_region_leave(region(name)));
}

static void check_text_of(const struct ps_paths *paths, enum ps_format format, const char *wanted)
{
	struct ps_paths_options options = {.size = sizeof options, .flags = PS_PATHS_RAW};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_paths_export(paths, format, &options, stream));
	fclose(stream);
	ck_assert_msg(strstr(text, wanted), "'%s' is not in: %s", wanted, text);
	free(text);
}

START_TEST(visits_of_a_thread_that_is_not_counted_leave_lower_bounds)
{
	pthread_t thread;

	regions_begin(EVENT, NULL);
	visit_inside("outer");
	visit_inside("elsewhere");
	ck_assert_int_eq(pthread_create(&thread, NULL, visit_without_counters, NULL), 0);
	pthread_join(thread, NULL);
	take_paths();
	ck_assert_int_eq(value_of("outer", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_INCOMPLETE);
	struct ps_value inner = value_of("outer/inner", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(inner.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(inner.value, 3);
	ck_assert_int_eq(value_of("", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value_of("", -1, PS_SHARE_INCLUSIVE).status, PS_STATUS_INCOMPLETE);
	/* The thread was never in this one. */
	ck_assert_int_eq(value_of("elsewhere", -1, PS_SHARE_INCLUSIVE).status, PS_STATUS_COUNTED);
	ck_assert_uint_eq(faults_of_profile().uncounted, 3);
	check_text_of(regions.paths, PS_FORMAT_CSV,
	              ",rows,1000,sum,incomplete,,,,1,,,,,value,1,0,outer,");
	check_text_of(regions.paths, PS_FORMAT_CSV,
	              ",rows,1000,sum,counted,,,,1,,,,,value,3,0,elsewhere,");
	/* Nor is anything missing of the other thread. */
	ps_paths_destroy(regions.paths);
	check_ok(ps_paths_create_of_thread(&regions.paths, regions.profile, ps__os.gettid()));
	ck_assert_int_eq(value_of("outer", -1, PS_SHARE_INCLUSIVE).status, PS_STATUS_COUNTED);
	regions_end();
}
END_TEST

static void *smooth_without_counters(void *unused)
{
	(void)unused;
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("smooth")), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	return NULL;
}

static void *give_without_counters(void *unused)
{
	(void)unused;
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_add_value(region("rows"), 10), PS_OK);
	ck_assert_int_ne(ps_region_add_value(region("rows"), 20), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	return NULL;
}

/* The thread passes no other mark. */
START_TEST(numbers_of_a_thread_that_is_not_counted_are_missing)
{
	pthread_t thread;

	regions_begin(EVENT, NULL);
	visit_inside("outer");
	ck_assert_int_eq(pthread_create(&thread, NULL, give_without_counters, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(faults_of_profile().uncounted, 2);
	ck_assert_ptr_nonnull(faults_of_profile().uncounted_why);
	take_paths();
	ck_assert_int_eq(value_of("", -1, PS_SHARE_INCLUSIVE).status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value_of("outer", -1, PS_SHARE_INCLUSIVE).status, PS_STATUS_COUNTED);
	check_text_of(regions.paths, PS_FORMAT_CSV, ",rows,1000,sum,incomplete,,,,1,,,,,value,0,");
	check_text_of(regions.paths, PS_FORMAT_TEXT, "uncounted    2 visits and numbers: ");
	/* They may be below 0. */
	check_text_of(regions.paths, PS_FORMAT_TEXT, "        1000?\n");
	check_text_of(regions.paths, PS_FORMAT_TEXT, "\n?            numbers of threads or ");
	check_text_of(regions.paths, PS_FORMAT_JSON, "\"status\": \"incomplete\"");
	regions_end();
}
END_TEST

static const struct ps_path *find(const struct ps_paths *paths, const char *name)
{
	const struct ps_path *path = ps_path_find(ps_paths_root(paths), &name, 1);

	ck_assert_ptr_nonnull(path);
	return path;
}

static char *save(size_t *bytes)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, bytes);

	take_paths();
	check_ok(ps__paths_save(regions.paths, stream));
	fclose(stream);
	return text;
}

/* The counts of this process go to the paths, with another name for the region "saved", which is
 * as long. */
static void load_saved(struct ps_paths *paths, const char *name)
{
	size_t bytes;
	char *text = save(&bytes);
	char *saved = strstr(text, "\nuncounted 1 5:saved 0\n");
	ck_assert_ptr_nonnull(saved);
	memcpy(strstr(saved, "saved"), name, strlen("saved"));
	struct ps__words words = {.at = text, .end = text + bytes};
	check_ok(ps__paths_load(paths, &words));
	free(text);
}

/* The other process has a path of the region: what it counted there are not all visits. */
START_TEST(a_region_that_one_process_could_not_count_is_a_lower_bound)
{
	struct ps_profile *profile;
	struct ps_value value;

	regions_begin(EVENT, NULL);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("saved")), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	check_ok(ps_profile_create(&profile, regions.model, scene.root));
	struct ps_paths *paths = ps__paths_make(profile, 1);
	ck_assert_ptr_nonnull(paths);
	load_saved(paths, "solve");
	check_ok(ps_profile_join(regions.profile));
	visit_counting(region("solve"), 5);
	visit_counting(region("write"), 7);
	load_saved(paths, "saved");
	check_ok(ps__paths_pool(&paths));
	const struct ps_path *solve = find(paths, "solve");
	check_ok(ps_path_value(solve, scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value));
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value.value, 5);
	ck_assert_uint_eq(solve->uncounted, 1);
	check_ok(
	    ps_path_value(find(paths, "write"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value));
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ps_paths_destroy(paths);
	ps_profile_destroy(profile);
	regions_end();
}
END_TEST

static char *save_grouped_visits(bool is_counted, bool is_refused, size_t *bytes)
{
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_group(regions.profile, "level"));
	if (is_counted) {
		check_ok(ps_region_enter(region("smooth")));
		check_ok(ps_region_add_value(region("level"), 3));
		check_ok(ps_region_leave(region("smooth")));
	}
	if (is_refused) {
		pthread_t thread;
		ck_assert_int_eq(pthread_create(&thread, NULL, smooth_without_counters, NULL), 0);
		pthread_join(thread, NULL);
	}
	char *text = save(bytes);
	regions_end();
	return text;
}

/* The refused visit of one process may have had the number that the visits of all have. */
START_TEST(visits_with_a_number_lack_those_of_other_processes)
{
	size_t bytes[3];
	char *texts[3];

	for (int process = 0; process < 3; process++)
		texts[process] = save_grouped_visits(process<2, process> 0, &bytes[process]);
	regions_begin(EVENT, NULL);
	struct ps_paths *paths = ps__paths_make(regions.profile, 1);
	ck_assert_ptr_nonnull(paths);
	for (int process = 0; process < 3; process++) {
		struct ps__words words = {texts[process], texts[process] + bytes[process], false};
		check_ok(ps__paths_load(paths, &words));
		free(texts[process]);
	}
	check_ok(ps__paths_pool(&paths));
	ck_assert_uint_eq(find(paths, "smooth[level=3]")->uncounted, 2);
	ps_paths_destroy(paths);
	regions_end();
}
END_TEST

/* They may have had any of its regions. How many visits there were is not known, which is not 0. */
START_TEST(what_processes_without_a_report_counted_is_missing_everywhere)
{
	struct ps_profile *profile;
	struct ps_value value;

	regions_begin(EVENT, NULL);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("saved")), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	check_ok(ps_profile_join(regions.profile));
	visit_inside("write");
	check_ok(ps_profile_create(&profile, regions.model, scene.root));
	struct ps_paths *paths = ps__paths_make(profile, 1);
	ck_assert_ptr_nonnull(paths);
	paths->lacks_processes = true;
	load_saved(paths, "saved");
	check_ok(ps__paths_pool(&paths));
	const struct ps_path *write = find(paths, "write");
	check_ok(ps_path_value(write, scene.root, EVENT, PS_SHARE_INCLUSIVE, &value));
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value.value, 3);
	check_text_of(paths, PS_FORMAT_TEXT, "  inner                  >=1");
	check_text_of(paths, PS_FORMAT_TEXT, " >=1000 ");
	check_text_of(paths, PS_FORMAT_JSON,
	              "\"rows\": {\"sum\": 1000, \"count\": 1, \"status\": \"incomplete\"");
	check_text_of(paths, PS_FORMAT_CSV, ",rows,1000,sum,incomplete,,,,1,,,,,value,");
	check_text_of(paths, PS_FORMAT_JSON, "\"visits_uncounted\": null");
	check_text_of(paths, PS_FORMAT_CSV, ",1,0,write,,uncounted=1");
	ps_paths_destroy(paths);
	ps_profile_destroy(profile);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("uncounted_visits");
	TCase *tests = scene_case(suite, "uncounted_visits");

	tcase_add_test(tests, visits_of_a_thread_that_is_not_counted_leave_lower_bounds);
	tcase_add_test(tests, numbers_of_a_thread_that_is_not_counted_are_missing);
	tcase_add_test(tests, visits_with_a_number_lack_those_of_other_processes);
	tcase_add_test(tests, a_region_that_one_process_could_not_count_is_a_lower_bound);
	tcase_add_test(tests, what_processes_without_a_report_counted_is_missing_everywhere);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of sampled paths are estimates; the time of all paths together is what was measured. */
#include "test_report.h"

#include "region/paths_file.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_total(const struct ps_paths *paths, unsigned long long time_ns)
{
	struct ps_paths_options options = {.size = sizeof options, .flags = PS_PATHS_RAW};
	unsigned long long wall_ns, on_cpu_ns;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_paths_export(paths, PS_FORMAT_TEXT, &options, stream));
	fclose(stream);
	const char *total = strstr(text, "\ntotal ");
	ck_assert_ptr_nonnull(total);
	ck_assert_int_eq(sscanf(total, " total %llu %llu", &wall_ns, &on_cpu_ns), 2);
	ck_assert_uint_eq(wall_ns, time_ns);
	ck_assert_uint_eq(on_cpu_ns, time_ns);
	free(text);
}

static void check_total_elsewhere(unsigned long long time_ns)
{
	struct ps_profile *profile;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps__paths_save(regions.paths, stream));
	fclose(stream);
	check_ok(ps_profile_create(&profile, regions.model, scene.root));
	struct ps_paths *paths = ps__paths_make(profile, ps_eventset_event_count(regions.model));
	ck_assert_ptr_nonnull(paths);
	check_ok(ps__paths_load(paths, &(struct ps__words){.at = text, .end = text + bytes}));
	check_ok(ps__paths_pool(&paths));
	check_total(paths, time_ns);
	ps_paths_destroy(paths);
	ps_profile_destroy(profile);
	free(text);
}

static void begin_sampled(void)
{
	fake_set_clock(now_ns, 0);
	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_seed(regions.profile, 1));
	check_ok(ps_profile_join(regions.profile));
	check_ok(ps_region_set_one_in(region("solve"), 10));
}

/* A visit that is counted takes longer, so its region's estimate is more than there was. */
START_TEST(times_of_all_paths_are_what_was_measured)
{
	uint64_t began_ns = now_ns = 1000 * US;

	begin_sampled();
	for (int visit = 0; visit < 1000; visit++) {
		unsigned reads = fake_count(FAKE_READ);
		check_ok(ps_region_enter(region("solve")));
		work(0, fake_count(FAKE_READ) == reads ? 1 : 3, 1);
		check_ok(ps_region_leave(region("solve")));
	}
	take_paths();
	ck_assert_uint_eq(visits_of("solve").wall_ns, 3000 * US);
	ck_assert_uint_eq(visits_of("solve").on_cpu_ns, 3000 * US);
	/* Not below 0. */
	ck_assert_uint_eq(visits_of("").wall_ns, 0);
	ck_assert_uint_eq(visits_of("").on_cpu_ns, 0);
	ck_assert_uint_eq(visits_of("").inside_ns, now_ns - began_ns);
	check_total(regions.paths, now_ns - began_ns);
	check_total_elsewhere(now_ns - began_ns);
	regions_end();
}
END_TEST

/* The open visit of a region of which no other one was counted. */
START_TEST(the_time_of_a_visit_that_is_not_over_is_in_the_sum)
{
	uint64_t began_ns = now_ns = 1000 * US;
	unsigned reads = 0;

	begin_sampled();
	for (int visit = 0; visit < 1000; visit++) {
		reads = fake_count(FAKE_READ);
		check_ok(ps_region_enter(region("solve")));
		work(0, 1, 1);
		if (fake_count(FAKE_READ) != reads)
			break;
		check_ok(ps_region_leave(region("solve")));
	}
	ck_assert_uint_ne(fake_count(FAKE_READ), reads);
	check_ok(ps_region_enter(region("inner")));
	check_ok(ps_region_leave(region("inner")));
	take_paths();
	ck_assert_uint_gt(visits_of("solve").count, 0);
	ck_assert_uint_eq(visits_of("solve").counted, 0);
	ck_assert_uint_eq(visits_of("solve").wall_ns, UINT64_MAX);
	check_total(regions.paths, now_ns - began_ns);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampled times");
	TCase *tests = scene_case(suite, "sampled times");

	tcase_add_test(tests, times_of_all_paths_are_what_was_measured);
	tcase_add_test(tests, the_time_of_a_visit_that_is_not_over_is_in_the_sum);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths that one process saves and another one loads: nothing of them is lost, those of several add
 * up, and what is damaged is refused.
 */
#include "test_report.h"

#include "base/os.h"
#include "region/paths_file.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static char *save(size_t *bytes)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, bytes);

	check_ok(ps__paths_save(regions.paths, stream));
	fclose(stream);
	return text;
}

static char *report_of(const struct ps_paths *paths, enum ps_format format)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW);
	size_t bytes;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &bytes);

	options.types = format == PS_FORMAT_TEXT ? 0 : PS_TYPE_BIT(PS_COMPONENT_THREAD);
	check_ok(ps_paths_export(paths, format, &options, stream));
	fclose(stream);
	return text;
}

/* Another process has a profile of its own. */
struct other {
	struct ps_profile *profile;
	struct ps_paths *paths;
};

static void other_begin(struct other *other)
{
	check_ok(ps_profile_create(&other->profile, regions.model, scene.root));
	other->paths = ps__paths_make(other->profile, ps_eventset_event_count(regions.model));
	ck_assert_ptr_nonnull(other->paths);
}

static void other_end(struct other *other)
{
	ps_paths_destroy(other->paths);
	ps_profile_destroy(other->profile);
}

static int load(struct other *other, const char *text, size_t bytes)
{
	struct ps__words words = {.at = text, .end = text + bytes};

	return ps__paths_load(other->paths, &words);
}

static void check_same_report(const struct other *other, enum ps_format format)
{
	char *before = report_of(regions.paths, format), *after = report_of(other->paths, format);

	ck_assert_str_eq(before, after);
	free(before);
	free(after);
}

START_TEST(what_is_loaded_is_what_was_saved)
{
	struct other other;
	size_t bytes;

	run_program();
	char *text = save(&bytes);
	other_begin(&other);
	check_ok(load(&other, text, bytes));
	check_same_report(&other, PS_FORMAT_TEXT);
	check_same_report(&other, PS_FORMAT_JSON);
	check_same_report(&other, PS_FORMAT_CSV);
	other_end(&other);
	free(text);
	regions_end();
}
END_TEST

static const struct ps_path *find(const struct other *other, const char *name)
{
	const struct ps_path *path = ps_path_find(ps_paths_root(other->paths), &name, 1);

	ck_assert_ptr_nonnull(path);
	return path;
}

static long long count_of(const struct other *other, const char *name, struct ps_component *where)
{
	struct ps_value value;

	check_ok(ps_path_value(find(other, name), where, EVENT, PS_SHARE_EXCLUSIVE, &value));
	return value.value;
}

static void count_in(const char *name, int cpu, uint64_t count)
{
	fake_set_cpu(cpu);
	check_ok(ps_region_enter(region(name)));
	fake_advance(PAGE_FAULTS, count);
	check_ok(ps_region_add_value(region("rows"), INT64_MAX));
	check_ok(ps_region_leave(region(name)));
}

START_TEST(paths_of_several_processes_add_up)
{
	struct other other;
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_mark_value sum = {.size = sizeof sum};
	size_t bytes;

	fake_set_affinity("0-3");
	regions_begin(EVENT, NULL);
	count_in("solve", 0, 5);
	take_paths();
	char *first = save(&bytes);
	other_begin(&other);
	check_ok(load(&other, first, bytes));
	free(first);
	count_in("solve", 1, 30);
	count_in("write", 0, 200);
	ck_assert_int_lt(ps_region_leave(region("solve")), 0);
	take_paths();
	char *second = save(&bytes);
	check_ok(load(&other, second, bytes));
	free(second);
	/* The first one's 5 are in both. */
	ck_assert_int_eq(count_of(&other, "solve", scene.root), 40);
	ck_assert_int_eq(
	    count_of(&other, "solve", ps_thread_component(ps_topology_thread(scene.topology, 1))),
	    30);
	ck_assert_int_eq(count_of(&other, "write", scene.root), 200);
	check_ok(ps_path_visits(find(&other, "solve"), &visits));
	ck_assert_uint_eq(visits.count, 3);
	check_ok(ps_path_mark_value(find(&other, "solve"), "rows", PS_SHARE_EXCLUSIVE, &sum));
	ck_assert_uint_eq(sum.count, 3);
	ck_assert_uint_eq(sum.flags, PS_VALUE_SATURATED);
	struct ps_profile_faults faults = {.size = sizeof faults};
	check_ok(ps_profile_faults(other.profile, &faults));
	ck_assert_uint_eq(faults.unmatched, 1);
	other_end(&other);
	regions_end();
}
END_TEST

static long long own_on(const struct ps_path *path, int cpu, struct ps_value *value)
{
	struct ps_component *where = ps_thread_component(ps_topology_thread(scene.topology, cpu));

	check_ok(ps_path_value(path, where, EVENT, PS_SHARE_EXCLUSIVE, value));
	return value->value;
}

/* In one process "solve" has a visit that isn't counted, whose 7 are in the path around it. The
 * other one's visit stands for it, on the hardware thread where the 7 are. */
START_TEST(visits_of_a_process_that_counted_none_are_estimated_from_the_others)
{
	struct other other;
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_value value;
	size_t bytes;

	fake_set_affinity("0-3");
	regions_begin(EVENT, NULL);
	check_ok(ps_region_set_one_in(region("saved"), UINT64_MAX));
	count_in("saved", 1, 7);
	take_paths();
	char *first = save(&bytes);
	other_begin(&other);
	char *name = strstr(first, "5:saved 0: 1 0 ");
	ck_assert_ptr_nonnull(name);
	memcpy(name, "5:solve", strlen("5:solve"));
	check_ok(load(&other, first, bytes));
	count_in("solve", 0, 5);
	take_paths();
	char *second = save(&bytes);
	check_ok(load(&other, second, bytes));
	check_ok(ps__paths_pool(&other.paths));
	check_ok(
	    ps_path_value(find(&other, "solve"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value));
	ck_assert_int_eq(value.value, 10);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(value.flags & PS_VALUE_SAMPLED, PS_VALUE_SAMPLED);
	ck_assert_int_eq(own_on(find(&other, "solve"), 0, &value), 5);
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(own_on(find(&other, "solve"), 1, &value), 5);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(own_on(ps_paths_root(other.paths), 1, &value), 9);
	check_ok(ps_path_visits(find(&other, "solve"), &visits));
	ck_assert_uint_eq(visits.count, 2);
	ck_assert_uint_eq(visits.counted, 1);
	ck_assert_uint_ne(visits.wall_ns, UINT64_MAX);
	/* All together are what was counted: 7 in each file, and 5. */
	check_ok(ps_path_value(ps_paths_root(other.paths), scene.root, EVENT, PS_SHARE_INCLUSIVE,
	                       &value));
	ck_assert_int_eq(value.value, 19);
	other_end(&other);
	free(first);
	free(second);
	regions_end();
}
END_TEST

/* A visit that isn't over yet is the only one that was counted, and stands for those that were not:
 * the process has extrapolated it, and that is not done again. */
START_TEST(a_visit_that_goes_on_is_extrapolated_once)
{
	struct other other;
	struct ps_value before, after;
	size_t bytes;
	int left = 0;

	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_seed(regions.profile, 1));
	check_ok(ps_region_set_one_in(region("solve"), 4));
	for (;; left++) {
		check_ok(ps_region_enter(region("solve")));
		fake_advance(PAGE_FAULTS, 1000);
		take_paths();
		if (ps_path_value(path_of("solve"), scene.root, EVENT, PS_SHARE_EXCLUSIVE,
		                  &before) == PS_OK)
			break;
		check_ok(ps_region_leave(region("solve")));
	}
	ck_assert_int_gt(left, 0);
	ck_assert_int_eq(before.value, 1000 * (1 + left));
	char *text = save(&bytes);
	other_begin(&other);
	check_ok(load(&other, text, bytes));
	check_ok(ps__paths_pool(&other.paths));
	check_ok(
	    ps_path_value(find(&other, "solve"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &after));
	ck_assert_int_eq(after.value, before.value);
	ck_assert_int_eq(after.attribution, before.attribution);
	check_ok(ps_region_leave(region("solve")));
	other_end(&other);
	free(text);
	regions_end();
}
END_TEST

static void add_to_part(struct ps_path *path, int cpu, const struct ps_value *value)
{
	struct ps__part *part = ps__paths_get_part(path, ps_topology_thread(scene.topology, cpu));

	ps__paths_merge(part, 0, value);
	part->threads++;
}

/* The raw count of "outer" holds the visits of "inner" that were not counted, and that are taken
 * off it: it is no lower bound, before and after the paths are saved. */
START_TEST(a_sampled_path_that_lacks_counts_has_no_lower_bound)
{
	struct other other;
	struct ps_value before, after;
	size_t bytes;

	regions_begin(EVENT, NULL);
	check_ok(ps_profile_set_seed(regions.profile, 1));
	check_ok(ps_region_set_one_in(region("inner"), 4));
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 500);
	for (int turn = 0; turn < 40; turn++)
		visit_counting(region("inner"), 1000);
	check_ok(ps_region_enter(region("other")));
	check_ok(ps_region_leave(region("other")));
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(ps_region_leave(region("outer")), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	take_paths();
	check_ok(ps_path_value(path_of("outer"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &before));
	ck_assert_int_eq(before.status, PS_STATUS_SCALED);
	ck_assert_uint_gt(before.raw, 20000);
	ck_assert_int_eq(before.value, 500);
	char *text = save(&bytes);
	other_begin(&other);
	check_ok(load(&other, text, bytes));
	check_ok(ps__paths_pool(&other.paths));
	check_ok(
	    ps_path_value(find(&other, "outer"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &after));
	ck_assert_int_eq(after.status, PS_STATUS_SCALED);
	ck_assert_int_eq(after.value, before.value);
	other_end(&other);
	free(text);
	regions_end();
}
END_TEST

/* What one part says of itself, as a last CPU of another kind does, is of the whole path. */
START_TEST(a_part_that_lacks_counts_leaves_an_estimate)
{
	struct ps_value lacking = {.value = 9500, .raw = 9500, .status = PS_STATUS_INCOMPLETE};
	struct ps_value counted = {.value = 1000, .raw = 1000};
	struct ps_value value;

	regions_begin(EVENT, NULL);
	regions.paths = ps__paths_make(regions.profile, 1);
	ck_assert_ptr_nonnull(regions.paths);
	struct ps_path *outer =
	    ps__paths_get_path(regions.paths, regions.paths->root, region("outer"), NULL);
	struct ps_path *inner = ps__paths_get_path(regions.paths, outer, region("inner"), NULL);
	add_to_part(outer, 0, &lacking);
	add_to_part(outer, 1, &counted);
	add_to_part(inner, 0, &counted);
	inner->visits.count = 10;
	inner->visits.counted = 1;
	inner->unchosen = 9;
	check_ok(ps__paths_pool(&regions.paths));
	check_ok(ps_path_value(path_of("outer"), scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value));
	ck_assert_int_eq(value.value, 1500);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	regions_end();
}
END_TEST

START_TEST(other_events_are_refused)
{
	struct other other;
	size_t bytes;

	regions_begin(EVENT, NULL);
	take_paths();
	char *text = save(&bytes);
	other_begin(&other);
	char *name = strstr(text, EVENT);
	*name = 'q';
	check_fails(load(&other, text, bytes), PS_EINVAL);
	*name = *EVENT;
	check_ok(load(&other, text, bytes));
	other_end(&other);
	free(text);
	regions_end();
}
END_TEST

/* Each end, and each byte changed to what means something: an error, or other numbers; never more.
 */
START_TEST(what_is_damaged_is_refused)
{
	static const char letters[] = "9-: x\n";
	size_t bytes, refused = 0;

	run_program();
	char *text = save(&bytes);
	for (size_t at = 0; at + 1 < bytes; at += (size_t)ps_test_serial_size(1, 7)) {
		struct other other;
		other_begin(&other);
		ck_assert_int_eq(load(&other, text, at), PS_EINVAL);
		other_end(&other);
	}
	for (size_t at = 0; at < bytes; at += (size_t)ps_test_serial_size(1, 7)) {
		struct other other;
		char before = text[at];
		text[at] = letters[at % (sizeof letters - 1)];
		other_begin(&other);
		int result = load(&other, text, bytes);
		ck_assert(result == PS_OK || result == PS_EINVAL);
		refused += result == PS_EINVAL;
		free(report_of(other.paths, PS_FORMAT_JSON));
		other_end(&other);
		text[at] = before;
	}
	ck_assert_uint_gt(refused, bytes / 50);
	free(text);
	regions_end();
}
END_TEST

START_TEST(without_memory_it_says_so)
{
	unsigned nth = 0;
	int result = PS_ENOMEM;
	size_t bytes;

	run_program();
	char *text = save(&bytes);
	while (result != PS_OK) {
		struct other other;
		other_begin(&other);
		fake_fail(FAKE_ALLOCATE, ++nth, ENOMEM);
		result = load(&other, text, bytes);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		other_end(&other);
	}
	ck_assert_uint_gt(nth, 20);
	free(text);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("paths_file");
	TCase *tests = scene_case(suite, "paths_file");

	tcase_add_test(tests, what_is_loaded_is_what_was_saved);
	tcase_add_test(tests, paths_of_several_processes_add_up);
	tcase_add_test(tests, visits_of_a_process_that_counted_none_are_estimated_from_the_others);
	tcase_add_test(tests, a_visit_that_goes_on_is_extrapolated_once);
	tcase_add_test(tests, a_sampled_path_that_lacks_counts_has_no_lower_bound);
	tcase_add_test(tests, a_part_that_lacks_counts_leaves_an_estimate);
	tcase_add_test(tests, other_events_are_refused);
	tcase_add_test(tests, what_is_damaged_is_refused);
	tcase_add_test(tests, without_memory_it_says_so);
	return scene_run(suite);
}

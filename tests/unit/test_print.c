/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ps_print_with: each option against a golden file, lines that keep within the width, and what is
 * refused. Without options it prints what ps_print prints.
 */
#include "support/fixture.h"
#include "support/golden.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <stdlib.h>

/* Counts of all sizes on two packages with caches and NUMA nodes; one set is multiplexed. */
static void count(void)
{
	static const long long counters[][6] = {
	    {12345678901, 9876543210, 3456789, 45678, 123, 4123456789},
	    {3, 7, 0, 0, 0, 999},
	    {2000000000, 1000000000, 999960, 1, 7, 700000000},
	};
	struct ps_eventset *set, *other = NULL;

	fake_add_core_pmu(6);
	scene_use(fixture_synthetic("pack:2 [numa] l3:1 core:2 pu:1"));
	set = scene_set("instructions", "cycles", "branch-instructions", "branch-misses",
	                "page-faults", "task-clock", NULL);
	for (int i = 0; i < 2; i++) {
		check_ok(ps_eventset_clone(&other, set));
		scene_store(other, i ? 3 : 0, counters[2 * i]);
		ps_eventset_destroy(other);
	}
	scene_store(set, 1, counters[1]);
	ps_eventset_destroy(set);
}

static void check_print(const struct ps_print_options *options, const char *file)
{
	FILE *stream = golden_open();

	check_ok(ps_print_with(scene.root, options, stream));
	golden_check_file(stream, file);
}

static const char *const metrics[] = {"ipc", "GHz", "branch-miss-ratio", "page-fault-rate",
                                      "LLC-miss-ratio"};

START_TEST(at_80_and_at_200_columns)
{
	static const size_t widths[] = {80, 200};
	static const char *const files[] = {"print_80.txt", "print_200.txt"};
	struct ps_print_options options = {.size = sizeof options,
	                                   .flags = PS_PRINT_UTF8,
	                                   .width = widths[_i],
	                                   .metrics = metrics,
	                                   .metric_count = 5};

	count();
	check_print(&options, files[_i]);
}
END_TEST

START_TEST(colours_stand_around_the_text_alone)
{
	struct ps_print_options options = {
	    .size = sizeof options, .flags = PS_PRINT_UTF8 | PS_PRINT_COLOUR, .width = 80};

	count();
	check_print(&options, "print_colour.txt");
}
END_TEST

START_TEST(chosen_types_stand_below_each_other)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .flags = PS_PRINT_RAW,
	                                   .types = PS_TYPE_BIT(PS_COMPONENT_CORE) |
	                                            PS_TYPE_BIT(PS_COMPONENT_PACKAGE)};

	count();
	check_print(&options, "print_types.txt");
	options.types = PS_TYPE_BIT(PS_COMPONENT_NUMA);
	options.flags = PS_PRINT_RAW | PS_PRINT_FLAT | PS_PRINT_NO_LEGEND;
	check_print(&options, "print_numa.txt");
}
END_TEST

START_TEST(idle_components_are_shown_on_request)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .flags = PS_PRINT_RAW | PS_PRINT_IDLE | PS_PRINT_UTF8};

	count();
	check_print(&options, "print_idle.txt");
}
END_TEST

START_TEST(a_level_of_caches_is_chosen)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .types = PS_TYPE_BIT(PS_COMPONENT_CACHE),
	                                   .flags = PS_PRINT_IDLE,
	                                   .cache_level = PS_CACHE_LAST_LEVEL};

	scene_use(fixture_synthetic("pack:1 l3:2 l2:2 l1d:1 core:1 pu:1"));
	check_print(&options, "print_last_level.txt");
	options.cache_level = 2;
	check_print(&options, "print_l2.txt");
}
END_TEST

START_TEST(a_bare_tree_has_branches)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .flags = PS_PRINT_UTF8 | PS_PRINT_NO_LEGEND};

	scene_use(fixture_load("hbm.xml"));
	check_print(&options, "print_bare.txt");
}
END_TEST

START_TEST(without_options_it_prints_what_ps_print_prints)
{
	struct ps_print_options options = {.size = sizeof options};
	char *text[3] = {NULL};
	size_t bytes[3];

	count();
	for (int i = 0; i < 3; i++) {
		FILE *stream = open_memstream(&text[i], &bytes[i]);
		check_ok(i == 0   ? ps_print(scene.root, stream)
		         : i == 1 ? ps_print_with(scene.root, NULL, stream)
		                  : ps_print_with(scene.root, &options, stream));
		fclose(stream);
	}
	ck_assert_str_eq(text[1], text[0]);
	ck_assert_str_eq(text[2], text[0]);
	for (int i = 0; i < 3; i++)
		free(text[i]);
}
END_TEST

/* Columns of the screen: bytes that begin a character, outside of escape sequences. */
static size_t columns_of(const char *line, size_t length)
{
	size_t columns = 0;
	bool escape = false;

	for (size_t i = 0; i < length; i++) {
		escape |= line[i] == '\033';
		columns += !escape && ((unsigned char)line[i] & 0xc0) != 0x80;
		escape &= line[i] != 'm';
	}
	return columns;
}

START_TEST(no_line_is_wider_than_it_may_be)
{
	struct ps_print_options options = {
	    .size = sizeof options, .metrics = metrics, .metric_count = 5};
	size_t bytes;
	char *text;

	count();
	for (unsigned flags = 0; flags < 256; flags += (unsigned)ps_test_serial_size(1, 5)) {
		options.flags = flags;
		for (options.width = 50; options.width < 220;
		     options.width += (size_t)ps_test_serial_size(7, 41)) {
			FILE *stream = open_memstream(&text, &bytes);
			check_ok(ps_print_with(scene.root, &options, stream));
			fclose(stream);
			for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
				ck_assert_msg(
				    columns_of(line, strcspn(line, "\n")) <= options.width,
				    "flags 0x%x, width %zu: %s", flags, options.width, line);
			free(text);
		}
	}
}
END_TEST

START_TEST(a_width_that_nothing_fits_in_still_shows_a_number_and_names_the_rest)
{
	struct ps_print_options options = {
	    .size = sizeof options, .flags = PS_PRINT_RAW, .width = 1};
	size_t bytes;
	char *text;

	count();
	FILE *stream = open_memstream(&text, &bytes);
	check_ok(ps_print_with(scene.root, &options, stream));
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(text, "12345678901"));
	ck_assert_ptr_null(strstr(text, "4123456789"));
	ck_assert_ptr_nonnull(strstr(text, "takes"));
	ck_assert_ptr_nonnull(strstr(text, "least."));
	ck_assert_ptr_nonnull(strstr(text, "cycles,"));
	ck_assert_ptr_nonnull(strstr(text, "task-clock"));
	ck_assert_ptr_nonnull(strstr(text, "last-cpu"));
	free(text);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
	struct ps_print_options good = {.size = sizeof good}, bad = good;

	check_fails(ps_print_with(NULL, &good, stdout), PS_EINVAL);
	check_fails(ps_print_with(scene.root, &good, NULL), PS_EINVAL);
	bad.size--;
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.flags = PS_PRINT_RAW << 1;
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.types = PS_TYPE_BIT(PS_COMPONENT_THREAD + 1);
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.cache_level = 6;
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	bad.cache_level = -2;
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.metric_count = 1;
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	bad.metrics = (const char *const[]){NULL};
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_EINVAL);
	check_detail("metrics[0]");
	bad.metrics = (const char *const[]){"IPS"};
	check_fails(ps_print_with(scene.root, &bad, stdout), PS_ENOEVNT);
	check_detail("'IPS'");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("print");
	TCase *tests = scene_case_last_cpu(suite, "print");

	tcase_add_loop_test(tests, at_80_and_at_200_columns, 0, 2);
	tcase_add_test(tests, colours_stand_around_the_text_alone);
	tcase_add_test(tests, chosen_types_stand_below_each_other);
	tcase_add_test(tests, idle_components_are_shown_on_request);
	tcase_add_test(tests, a_level_of_caches_is_chosen);
	tcase_add_test(tests, a_bare_tree_has_branches);
	tcase_add_test(tests, without_options_it_prints_what_ps_print_prints);
	tcase_add_test(tests, no_line_is_wider_than_it_may_be);
	tcase_add_test(tests, a_width_that_nothing_fits_in_still_shows_a_number_and_names_the_rest);
	tcase_add_test(tests, wrong_options_are_refused);
	return scene_run(suite);
}

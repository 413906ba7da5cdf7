/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings that are not the latest, printed and exported by their timestamp; and options of
 * programs that were compiled when they had no timestamp. */
#include "support/scene.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static struct ps_eventset *set, *other;
static uint64_t first, second;

static void setup(void)
{
	scene_setup_instances();
	fake_set_affinity("0-3");
	fake_set_cpu(0);
	set = scene_started("page-faults", "task-clock", NULL);
	other = scene_started("minor-faults", NULL);
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_read(set, scene.root, &first, NULL));
	fake_set_cpu(2);
	fake_advance(PAGE_FAULTS, 7);
	fake_advance(MINOR_FAULTS, 55);
	check_ok(ps_read(set, scene.root, &second, NULL));
	check_ok(ps_stop(other, scene.root, NULL, NULL));
}

static void teardown(void)
{
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
	scene_teardown();
}

/* The rows of the CSV export for an event: component, value. The caller frees it. */
static char *csv_of(uint64_t timestamp)
{
	struct ps_export_options options = {.size = sizeof options,
	                                    .flags = PS_EXPORT_NO_IDLE | PS_EXPORT_NO_HEADER,
	                                    .timestamp = timestamp};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	check_ok(ps_export_with(scene.root, PS_FORMAT_CSV, &options, stream));
	fclose(stream);
	return text;
}

static char *xml_of(uint64_t timestamp)
{
	struct ps_export_options options = {.size = sizeof options, .timestamp = timestamp};
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	check_ok(ps_export_with(scene.root, PS_FORMAT_XML, &options, stream));
	fclose(stream);
	return text;
}

static char *text_of(const struct ps_print_options *options)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	check_ok(ps_print_with(scene.root, options, stream));
	fclose(stream);
	return text;
}

static char *printed(uint64_t timestamp)
{
	struct ps_print_options options = {
	    .size = sizeof options, .flags = PS_PRINT_RAW, .timestamp = timestamp};

	return text_of(&options);
}

/* One line has both. */
static bool has_line(const char *text, const char *one, const char *both)
{
	for (const char *at = text; (at = strstr(at, one)); at++) {
		size_t length = strcspn(at, "\n");
		char line[512];
		snprintf(line, sizeof line, "%.*s", (int)length, at);
		if (strstr(line, both))
			return true;
	}
	return false;
}

START_TEST(an_earlier_reading_is_printed_as_it_was)
{
	uint64_t third = 0;

	fake_advance(PAGE_FAULTS, 1000);
	/* A third one; the second is not restamped. */
	check_ok(ps_read(set, scene.root, &third, NULL));
	char *text = printed(second);
	ck_assert(has_line(text, "CPU 0", " 100 "));
	ck_assert(has_line(text, "CPU 2", " 7 "));
	ck_assert(has_line(text, "Machine", " 107 "));
	ck_assert_ptr_null(strstr(text, "1107"));
	/* Another set's event is not of this reading. */
	ck_assert_ptr_null(strstr(text, "minor-faults"));
	free(text);
	text = printed(0);
	ck_assert(has_line(text, "Machine", " 1107 "));
	ck_assert_ptr_nonnull(strstr(text, "minor-faults"));
	free(text);
}
END_TEST

START_TEST(an_earlier_reading_is_exported_also_of_a_set_that_is_gone_or_changed)
{
	uint64_t third = 0;

	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_stop(set, scene.root, &third, NULL));
	check_ok(ps_eventset_add(set, "major-faults"));
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	ps_eventset_destroy(set);
	set = NULL;
	char *text = csv_of(second);
	ck_assert(has_line(text, "Machine", "page-faults,107,"));
	ck_assert(has_line(text, "Thread", "page-faults,7,"));
	ck_assert_ptr_null(strstr(text, "major-faults"));
	free(text);
	text = csv_of(third);
	ck_assert(has_line(text, "Machine", "page-faults,1107,"));
	free(text);
	text = xml_of(second);
	ck_assert_ptr_nonnull(strstr(text, "\"perfsage:page-faults\" value=\"107 (exact)\""));
	ck_assert_ptr_nonnull(strstr(text, "\"perfsage:page-faults\" value=\"7 (exact)\""));
	ck_assert_ptr_null(strstr(text, "1107"));
	ck_assert_ptr_null(strstr(text, "major-faults"));
	free(text);
}
END_TEST

START_TEST(shares_are_of_the_same_reading)
{
	static const char *const metrics[] = {"time-share"};
	struct ps_print_options options = {
	    .size = sizeof options, .metrics = metrics, .metric_count = 1};
	uint64_t last = 0;

	fake_set_cpu(0);
	fake_advance(TASK_CLOCK, 1000);
	check_ok(ps_read(set, scene.root, &last, NULL));
	options.timestamp = last;
	fake_set_cpu(2);
	fake_advance(TASK_CLOCK, 3000);
	check_ok(ps_read(set, scene.root, &(uint64_t){0}, NULL));
	char *text = text_of(&options);
	ck_assert(has_line(text, "CPU 0", "100"));
	ck_assert(!has_line(text, "CPU 0", "25.0"));
	free(text);
}
END_TEST

START_TEST(a_reading_that_no_set_has_is_an_error)
{
	struct ps_print_options options = {.size = sizeof options, .timestamp = second + 1};
	struct ps_export_options export = {.size = sizeof export, .timestamp = second + 1};

	check_fails(ps_print_with(scene.root, &options, stdout), PS_ENOEVST);
	check_detail("no event set has a reading with timestamp");
	check_fails(ps_export_with(scene.root, PS_FORMAT_JSON, &export, stdout), PS_ENOEVST);
}
END_TEST

/* As it was before the timestamp: what stands behind it must not be read. */
START_TEST(options_of_older_programs_work)
{
	struct ps_print_options print = {.flags = PS_PRINT_RAW, .timestamp = UINT64_MAX};
	struct ps_export_options export = {.timestamp = UINT64_MAX};
	char *text = NULL;
	size_t length;

	print.size = offsetof(struct ps_print_options, metric_count) + sizeof print.metric_count;
	char *older = text_of(&print), *now = printed(0);
	ck_assert_str_eq(older, now);
	export.size = offsetof(struct ps_export_options, field_count) + sizeof export.field_count;
	FILE *stream = open_memstream(&text, &length);
	check_ok(ps_export_with(scene.root, PS_FORMAT_JSON, &export, stream));
	fclose(stream);
	ck_assert_uint_gt(length, 0);
	free(text);
	free(older);
	free(now);
	print.size -= 1;
	check_fails(ps_print_with(scene.root, &print, stdout), PS_EINVAL);
	check_detail("options->size");
	export.size = sizeof export + 8;
	check_fails(ps_export_with(scene.root, PS_FORMAT_JSON, &export, stdout), PS_EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("earlier");
	TCase *tests = scene_case_of(suite, "earlier readings", setup, teardown);

	tcase_add_test(tests, an_earlier_reading_is_printed_as_it_was);
	tcase_add_test(tests, an_earlier_reading_is_exported_also_of_a_set_that_is_gone_or_changed);
	tcase_add_test(tests, shares_are_of_the_same_reading);
	tcase_add_test(tests, a_reading_that_no_set_has_is_an_error);
	tcase_add_test(tests, options_of_older_programs_work);
	return scene_run(suite);
}

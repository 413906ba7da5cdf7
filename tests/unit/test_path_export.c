/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's tree with what was counted in one path, in each format. */
#include "support/golden.h"
#include "test_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ps_export_options export_options(void)
{
	return (struct ps_export_options){.size = sizeof(struct ps_export_options),
	                                  .metrics = metrics,
	                                  .metric_count = 2,
	                                  .fields = fields,
	                                  .field_count = 2};
}

static void check_export(const char *path, enum ps_share share, enum ps_format format,
                         const char *file)
{
	struct ps_export_options options = export_options();
	FILE *stream = golden_open();

	check_ok(ps_path_export(path_of(path), share, format, &options, stream));
	golden_check_file(stream, file);
}

START_TEST(a_path_is_written_as_the_tree_is)
{
	run_program();
	check_export("solve", PS_SHARE_EXCLUSIVE, PS_FORMAT_TEXT, "path_exclusive.txt");
	check_export("solve", PS_SHARE_INCLUSIVE, PS_FORMAT_TEXT, "path_inclusive.txt");
	check_export("solve/assemble", PS_SHARE_INCLUSIVE, PS_FORMAT_JSON, "path_assemble.json");
	check_export("solve/assemble", PS_SHARE_INCLUSIVE, PS_FORMAT_CSV,
	             "export_path_assemble.csv");
	regions_end();
}
END_TEST

/* Each number of the tree is what ps_path_value gives. */
START_TEST(the_tree_has_the_paths_values)
{
	char *text = NULL;
	size_t bytes;
	struct ps_export_options options = {.size = sizeof options};

	run_program();
	for (int share = 0; share < 2; share++) {
		FILE *stream = open_memstream(&text, &bytes);
		check_ok(ps_path_export(path_of("solve"), (enum ps_share)share, PS_FORMAT_CSV,
		                        &options, stream));
		fclose(stream);
		for (int cpu = 0; cpu < 4; cpu++) {
			char row[80];
			const char *at;
			struct ps_value value = value_of("solve", cpu, (enum ps_share)share);
			snprintf(row, sizeof row, "\nThread,%d,%d,Thread %d,", cpu, cpu, cpu);
			at = strstr(text, row);
			ck_assert_ptr_nonnull(at);
			at = strstr(at, EVENT ",");
			ck_assert_ptr_nonnull(at);
			at += strlen(EVENT ",");
			if (value.timestamp)
				ck_assert_int_eq(strtoll(at, NULL, 10), value.value);
			else
				ck_assert_int_eq(*at, ',');
		}
		free(text);
	}
	regions_end();
}
END_TEST

static char *heat_map(const char *path, enum ps_share share, const char *heat_by)
{
	struct ps_export_options options = {.size = sizeof options, .heat_by = heat_by};
	char *xml = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&xml, &bytes);

	check_ok(ps_path_export(path_of(path), share, PS_FORMAT_XML, &options, stream));
	fclose(stream);
	return xml;
}

/* The largest part of assemble, 100 of 107, is on CPU 2; CPU 3 has none. */
START_TEST(a_path_has_a_heat_map_of_its_own)
{
	size_t bytes;

	run_program();
	char *xml = heat_map("solve/assemble", PS_SHARE_EXCLUSIVE, EVENT);
	ck_assert_ptr_nonnull(strstr(xml, "name=\"perfsage:run.path\" value=\"solve/assemble\""));
	ck_assert_ptr_nonnull(strstr(xml, "name=\"perfsage:page-faults\" value=\"107 (exact)\""));
	ck_assert_ptr_nonnull(strstr(xml, "name=\"perfsage:page-faults\" value=\"100 ("));
	ck_assert_ptr_nonnull(strstr(xml, "name=\"perfsage:page-faults\" value=\"7 ("));
	ck_assert_ptr_null(strstr(xml, "name=\"perfsage:page-faults\" value=\"9 ("));
	free(xml);
	const char *const names[] = {"solve", "smooth a/b\\c, \"d\""};
	const struct ps_path *odd = ps_path_find(ps_paths_root(regions.paths), names, 2);
	FILE *stream = open_memstream(&xml, &bytes);
	check_ok(ps_path_export(odd, PS_SHARE_INCLUSIVE, PS_FORMAT_XML, NULL, stream));
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(xml, "solve/smooth a\\/b\\\\c, &quot;d&quot;\""));
	free(xml);
	xml = heat_map("solve", PS_SHARE_INCLUSIVE, "page-fault-rate");
	ck_assert_ptr_nonnull(strstr(xml, "name=\"perfsage:page-fault-rate\""));
	free(xml);
	regions_end();
}
END_TEST

START_TEST(what_can_not_be_written_is_refused)
{
	struct ps_export_options options = {.size = sizeof options};

	run_program();
	const struct ps_path *path = path_of("solve");
	check_fails(ps_path_export(NULL, PS_SHARE_EXCLUSIVE, PS_FORMAT_TEXT, NULL, stdout),
	            PS_EINVAL);
	check_fails(ps_path_export(path, PS_SHARE_EXCLUSIVE, PS_FORMAT_TEXT, NULL, NULL),
	            PS_EINVAL);
	check_fails(ps_path_export(path, (enum ps_share)2, PS_FORMAT_TEXT, NULL, stdout),
	            PS_EINVAL);
	check_fails(ps_path_export(path, PS_SHARE_EXCLUSIVE, (enum ps_format)99, NULL, stdout),
	            PS_EINVAL);
	check_fails(ps_path_export_to_path(path, PS_SHARE_EXCLUSIVE, PS_FORMAT_TEXT, NULL, NULL),
	            PS_EINVAL);
	options.timestamp = 1;
	check_fails(ps_path_export(path, PS_SHARE_EXCLUSIVE, PS_FORMAT_TEXT, &options, stdout),
	            PS_EINVAL);
	options.timestamp = 0;
	options.heat_by = "IPC";
	check_fails(ps_path_export(path, PS_SHARE_EXCLUSIVE, PS_FORMAT_XML, &options, stdout),
	            PS_ENOEVNT);
	options.heat_by = "nonsense";
	check_fails(ps_path_export(path, PS_SHARE_EXCLUSIVE, PS_FORMAT_XML, &options, stdout),
	            PS_ENOEVNT);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	check_fails(ps_path_export_to_fd(path, PS_SHARE_EXCLUSIVE, PS_FORMAT_CSV, NULL, full),
	            PS_ESYS);
	close(full);
	regions_end();
}
END_TEST

START_TEST(without_memory_a_path_is_not_written)
{
	char *text = NULL;
	size_t bytes;
	unsigned nth = 0;
	int result;

	run_program();
	do {
		FILE *stream = open_memstream(&text, &bytes);
		fake_fail(FAKE_ALLOCATE, ++nth, ENOMEM);
		result = ps_path_export(path_of("solve"), PS_SHARE_INCLUSIVE, PS_FORMAT_CSV, NULL,
		                        stream);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		fclose(stream);
		ck_assert(result == PS_OK || (result == PS_ENOMEM && bytes == 0));
		free(text);
	} while (result != PS_OK);
	ck_assert_uint_gt(nth, 5);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("path export");
	TCase *tests = scene_case_instances(suite, "once");

	tcase_add_test(tests, a_path_is_written_as_the_tree_is);
	tcase_add_test(tests, the_tree_has_the_paths_values);
	tcase_add_test(tests, a_path_has_a_heat_map_of_its_own);
	tcase_add_test(tests, what_can_not_be_written_is_refused);
	tcase_add_test(tests, without_memory_a_path_is_not_written);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports by region: files and descriptors, wrong arguments, a full disk, and no memory.
 */
#include "output/report.h"
#include "support/skip.h"
#include "support/small.h"
#include "test_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int export_none(const struct ps_paths_options *options, enum ps_format format)
{
	return ps_paths_export(regions.paths, format, options, stdout);
}

/* True if the format has no paths: it is refused. */
static bool has_no_paths(enum ps_format format)
{
	enum ps_format found;

	if (ps__path_format_find(ps_format_name(format), &found))
		return false;
	check_fails(export_none(NULL, format), PS_ENOSUPP);
	return true;
}

START_TEST(wrong_arguments_are_refused)
{
	struct ps_paths_options options = options_with(0);
	const struct ps_export_field unnamed = {.text = "x"};
	const char *no_metric = "ips", *null = NULL;

	regions_begin(EVENT, NULL);
	take_paths();
	check_fails(ps_paths_export(NULL, PS_FORMAT_JSON, NULL, stdout), PS_EINVAL);
	check_fails(ps_paths_export(regions.paths, PS_FORMAT_JSON, NULL, NULL), PS_EINVAL);
	check_fails(ps_paths_export_to_path(regions.paths, PS_FORMAT_JSON, NULL, NULL), PS_EINVAL);
	check_fails(export_none(NULL, (enum ps_format)9), PS_EINVAL);
	check_fails(export_none(NULL, PS_FORMAT_XML), PS_ENOSUPP);
	check_detail("the format xml has no paths, and these have: text, json, csv; ps_path_export "
	             "writes one path as xml");
	options.size = 3;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	options = options_with(PS_PATHS_IDLE << 1);
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	options = options_with(0);
	options.share = (enum ps_share)2;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	options = options_with(0);
	options.types = PS_TYPE_BIT(PS_COMPONENT_CORE) | PS_TYPE_BIT(PS_COMPONENT_THREAD);
	check_fails(export_none(&options, PS_FORMAT_TEXT), PS_EINVAL);
	options.types = 1u << 20;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	options = options_with(0);
	options.cache_level = 9;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	options = options_with(0);
	options.metrics = &no_metric;
	options.metric_count = 1;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_ENOEVNT);
	check_detail("IPC");
	options.metrics = &null;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	options = options_with(0);
	options.fields = &unnamed;
	options.field_count = 1;
	check_fails(export_none(&options, PS_FORMAT_JSON), PS_EINVAL);
	regions_end();
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	FILE *full = fopen("/dev/full", "w");

	if (!full) {
		ps_test_skip("there is no /dev/full here");
		return;
	}
	enum ps_format format = (enum ps_format)_i;
	run_program();
	if (!has_no_paths(format)) {
		check_fails(ps_paths_export(regions.paths, format, NULL, full), PS_ESYS);
		check_detail(strerror(ENOSPC));
		check_fails(ps_paths_export_to_fd(regions.paths, format, NULL, fileno(full)),
		            PS_ESYS);
		check_fails(ps_paths_export_to_path(regions.paths, format, NULL, "/nowhere/report"),
		            PS_ESYS);
		check_detail("/nowhere/report");
	}
	fclose(full);
	regions_end();
}
END_TEST

START_TEST(a_report_goes_to_a_file)
{
	char path[] = "/tmp/perfsage-report-XXXXXX";
	int fd = mkstemp(path);
	char there[32] = "";

	ck_assert_int_ge(fd, 0);
	run_program();
	check_ok(ps_paths_export_to_path(regions.paths, PS_FORMAT_CSV, NULL, path));
	FILE *file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(there, sizeof there, file));
	fclose(file);
	ck_assert_int_eq(strncmp(there, "path,visits,", 12), 0);
	check_ok(ps_paths_export_to_fd(regions.paths, PS_FORMAT_JSON, NULL, fd));
	ck_assert_int_gt(lseek(fd, 0, SEEK_CUR), 500);
	close(fd);
	unlink(path);
	regions_end();
}
END_TEST

START_TEST(no_memory_at_any_allocation_is_an_error_and_writes_nothing)
{
	struct ps_paths_options options = options_with(0);
	unsigned step = (unsigned)ps_test_size(1, 5), nth = 0;
	int code;

	run_program();
	if (has_no_paths((enum ps_format)_i)) {
		regions_end();
		return;
	}
	options.types = PS_TYPE_BIT(PS_COMPONENT_CORE);
	options.fields = fields;
	options.field_count = 2;
	do {
		char *text = NULL;
		size_t bytes;
		FILE *stream = open_memstream(&text, &bytes);
		fake_fail(FAKE_ALLOCATE, nth += step, ENOMEM);
		code = ps_paths_export(regions.paths, (enum ps_format)_i, &options, stream);
		fclose(stream);
		ck_assert_int_eq(fake_fail_happened(), code != PS_OK);
		ck_assert_int_eq(bytes == 0, code != PS_OK);
		if (code != PS_OK)
			ck_assert_int_eq(code, PS_ENOMEM);
		free(text);
	} while (code != PS_OK);
	ck_assert_uint_gt(nth, 6);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_refused");
	TCase *tests = scene_case(suite, "report_refused");

	tcase_add_test(tests, wrong_arguments_are_refused);
	tcase_add_test(tests, a_report_goes_to_a_file);
	tcase_add_loop_test(tests, a_full_disk_is_told, 0, scene_formats());
	tcase_add_loop_test(tests, no_memory_at_any_allocation_is_an_error_and_writes_nothing, 0,
	                    scene_formats());
	return scene_run(suite);
}

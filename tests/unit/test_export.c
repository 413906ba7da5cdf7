/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON and CSV against golden files (which tests/scripts/check-export holds against the schema),
 * with every status, units, wide scopes and names that need an escape; options; and what happens
 * when something is wrong.
 */
#include "support/fixture.h"
#include "support/golden.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

static void store(struct ps_eventset *set, int cpu, const char *affinity, const long long *counters)
{
	fake_set_affinity(affinity);
	scene_store(set, cpu, counters);
}

static void check_export(enum ps_format format, const struct ps_export_options *options,
                         const char *file)
{
	FILE *stream = golden_open();

	check_ok(ps_export_with(scene.root, format, options, stream));
	golden_check_file(stream, file);
}

static char *export_text(struct ps_component *root, enum ps_format format,
                         const struct ps_export_options *options)
{
	size_t bytes;
	char *text;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_export_with(root, format, options, stream));
	fclose(stream);
	return text;
}

START_TEST(a_tree_without_readings)
{
	scene_use(fixture_load(_i ? "hybrid.xml" : "hbm.xml"));
	check_export(PS_FORMAT_JSON, NULL, _i ? "export_hybrid.json" : "export_bare.json");
	check_export(PS_FORMAT_CSV, NULL, "export_bare.csv");
}
END_TEST

/* Scaled, never scheduled and not supported, each beside a plain count. */
static void count_statuses(void)
{
	struct ps_eventset *set, *other = NULL;

	fake_add_core_pmu(4);
	fake_set_clock(1000000, 0);
	set = scene_set("instructions", "cycles", "page-faults", "task-clock", NULL);
	check_ok(ps_eventset_add_optional(set, "context-switches:u"));
	check_ok(ps_eventset_clone(&other, set));
	fake_set_affinity("0");
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 500);
	fake_advance(CYCLES, 1000);
	fake_advance(PAGE_FAULTS, 7);
	fake_advance(TASK_CLOCK, 2500);
	fake_run(3000, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_set_affinity("3");
	fake_set_cpu(3);
	check_ok(ps_start(other));
	fake_run(1000, 0);
	check_ok(ps_stop(other, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}

static const char *const metrics[] = {"ipc", "GHz", "time-share", "page-fault-rate"};

START_TEST(each_status_is_told_and_what_is_unknown_is_no_0)
{
	struct ps_export_options options = {
	    .size = sizeof options, .metrics = metrics, .metric_count = 4};

	count_statuses();
	check_export(PS_FORMAT_JSON, &options, "export_status.json");
	check_export(PS_FORMAT_CSV, &options, "export_status.csv");
}
END_TEST

static void make_package_pmu(void)
{
	fake_add_package_pmu();
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg.scale",
	          "2.3283064365386962890625e-10\n");
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg.unit", "Joules\n");
	fake_file("/sys/bus/event_source/devices/power/events/reads", "event=0x03\n");
	fake_file("/sys/bus/event_source/devices/power/events/reads.scale", "64\n");
	fake_file("/sys/bus/event_source/devices/power/events/reads.unit", "Bytes\n");
}

/* The reciprocal of the energy's scale is 2^32: the numbers are exact. */
static void count_energy(void)
{
	make_package_pmu();
	fake_set_clock(1000000, 0);
	for (int i = 0; i < 2; i++) {
		struct ps_eventset *set = scene_set("power/energy-pkg/", "power/reads/", NULL);
		check_ok(ps_eventset_attach_cpu(set, 2 * i));
		store(set, 1, "0-3", (const long long[]){(i + 1) * 6442450944ll, 1000 * i});
		ps_eventset_destroy(set);
	}
}

START_TEST(energy_is_told_in_joules_and_as_a_count)
{
	count_energy();
	check_export(PS_FORMAT_JSON, NULL, "export_energy.json");
	check_export(PS_FORMAT_CSV, NULL, "export_energy.csv");
	check_export(PS_FORMAT_TEXT, NULL, "export_energy.txt");
}
END_TEST

START_TEST(names_and_fields_are_escaped)
{
	static const struct ps_export_field fields[] = {
	    {"command", "sh -c \"echo \\ 'a,b'\"\n\t\x01\x7f", 0},
	    {"say \"it\",\n",
	     "gr\xc3\xbc\xc3\x9f"
	     "e \xe2\x82\xac \xf0\x9f\x98\x80",
	     0},
	    {"not UTF-8", "\xff a \xc3 b \xc0\xaf c \xed\xa0\x80 d \xf4\x90\x80\x80 e \xe2\x82", 0},
	    {"elapsed_s", NULL, 0.1},
	    {"whole", NULL, 12},
	    {"unknown", NULL, (double)NAN},
	    {"infinite", NULL, (double)INFINITY},
	};
	struct ps_export_options options = {
	    .size = sizeof options, .fields = fields, .field_count = 7};
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	fake_set_clock(1000000, 0);
	set = scene_set("cpu/event=0xc0,name=\"a\\b\"\xc3\xa9\xff/", NULL);
	store(set, 1, "1", (const long long[]){LLONG_MAX});
	check_export(PS_FORMAT_JSON, &options, "export_escapes.json");
	check_export(PS_FORMAT_CSV, &options, "export_escapes.csv");
	char *xml = export_text(scene.root, PS_FORMAT_XML, &options);
	ck_assert_ptr_nonnull(
	    strstr(xml, "name=\"perfsage:run.command\" value=\"sh -c &quot;echo \\ "));
	ck_assert_ptr_nonnull(strstr(xml, "9223372036854775807 (last-cpu)"));
	free(xml);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(json_escapes_what_a_terminal_must_not_get)
{
	static const struct ps_export_field fields[] = {
	    {"x",
	     "\xc2\x9b"
	     "2J\u202e\u2028\U000e0041\ufeff \u4e16e\u0301",
	     0}};
	struct ps_export_options options = {
	    .size = sizeof options, .fields = fields, .field_count = 1};

	char *json = export_text(scene.root, PS_FORMAT_JSON, &options);
	ck_assert_msg(
	    strstr(json, "\"\\u009b2J\\u202e\\u2028\\udb40\\udc41\\ufeff \u4e16e\u0301\"") != NULL,
	    "%s", json);
	free(json);
}
END_TEST

START_TEST(one_line_without_idle_components_of_chosen_types)
{
	struct ps_export_options options = {.size = sizeof options,
	                                    .flags = PS_EXPORT_COMPACT | PS_EXPORT_NO_IDLE |
	                                             PS_EXPORT_NO_HEADER,
	                                    .types = PS_TYPE_BIT(PS_COMPONENT_CORE)};
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_set_clock(1000000, 0);
	store(set, 1, "1", (const long long[]){42});
	store(set, 77, "0-99", (const long long[]){5});
	check_export(PS_FORMAT_JSON, &options, "export_compact.json");
	check_export(PS_FORMAT_CSV, &options, "export_no_header.csv");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(any_component_can_be_exported)
{
	struct ps_component *component = ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 1);
	struct ps_eventset *set = scene_set("page-faults", NULL);

	store(set, 2, "2", (const long long[]){42});
	char *json = export_text(component, PS_FORMAT_JSON, NULL);
	ck_assert_ptr_nonnull(strstr(json, "\"tree\": {\n  \"type\": \"Package\",\n  \"id\": 1,"));
	ck_assert_ptr_null(strstr(json, "\"Machine\""));
	free(json);
	char *csv =
	    export_text(ps_component_find(scene.root, PS_COMPONENT_THREAD, 2), PS_FORMAT_CSV, NULL);
	ck_assert_ptr_nonnull(
	    strstr(csv, "\r\nThread,2,2,Thread 2,,page-faults,42,count,counted,last-cpu,"));
	free(csv);
	char *text = export_text(scene.root, PS_FORMAT_TEXT, NULL);
	char *printed = scene_text(PS_FORMAT_TEXT);
	ck_assert_str_eq(text, printed);
	free(text);
	free(printed);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(formats_have_names)
{
	ck_assert_str_eq(ps_format_name(PS_FORMAT_TEXT), "text");
	ck_assert_str_eq(ps_format_name(PS_FORMAT_JSON), "json");
	ck_assert_str_eq(ps_format_name(PS_FORMAT_CSV), "csv");
	ck_assert_str_eq(ps_format_name(PS_FORMAT_XML), "xml");
	ck_assert_str_eq(ps_format_name((enum ps_format)scene_formats()), "unknown");
	ck_assert_str_eq(ps_format_name((enum ps_format) - 1), "unknown");
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct ps_export_options good = {.size = sizeof good}, bad = good;

	check_fails(ps_export(NULL, PS_FORMAT_JSON, stdout), PS_EINVAL);
	check_fails(ps_export(scene.root, PS_FORMAT_JSON, NULL), PS_EINVAL);
	check_fails(ps_export(scene.root, (enum ps_format)17, stdout), PS_EINVAL);
	check_detail("17");
	check_fails(ps_export_with(NULL, PS_FORMAT_JSON, &good, stdout), PS_EINVAL);
	check_fails(ps_export_with(scene.root, PS_FORMAT_JSON, &good, NULL), PS_EINVAL);
	check_fails(ps_export_with(scene.root, (enum ps_format) - 1, &good, stdout), PS_EINVAL);
	bad.size = 0;
	check_fails(ps_export_with(scene.root, PS_FORMAT_JSON, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.flags = PS_EXPORT_NO_IDLE << 1;
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.types = PS_TYPE_BIT(PS_COMPONENT_THREAD + 1);
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.cache_level = 9;
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.field_count = 1;
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_EINVAL);
	bad.fields = &(const struct ps_export_field){.name = ""};
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_EINVAL);
	bad = good;
	bad.metric_count = 1;
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_EINVAL);
	bad.metrics = (const char *const[]){NULL};
	check_fails(ps_export_with(scene.root, PS_FORMAT_JSON, &bad, stdout), PS_EINVAL);
	check_detail("metrics[0]");
	bad.metrics = (const char *const[]){"MIPS"};
	check_fails(ps_export_with(scene.root, PS_FORMAT_CSV, &bad, stdout), PS_ENOEVNT);
	bad = good;
	bad.heat_by = "nonsense";
	check_fails(ps_export_with(scene.root, PS_FORMAT_XML, &bad, stdout), PS_ENOEVNT);
	check_detail("'nonsense'");
	bad.heat_by = "IPC";
	check_fails(ps_export_with(scene.root, PS_FORMAT_XML, &bad, stdout), PS_ENOEVNT);
	check_detail("instructions and cycles");
}
END_TEST

/* The metric's events were counted, in another reading. */
START_TEST(no_heat_map_by_a_metric_that_the_reading_does_not_have)
{
	struct ps_export_options options = {.size = sizeof options, .heat_by = "ipc"};
	const long long counters[] = {400, 200};

	fake_add_core_pmu(4);
	struct ps_eventset *faults = scene_set("page-faults", NULL);
	struct ps_eventset *both = scene_set("instructions", "cycles", NULL);
	check_ok(ps_store(faults, counters, 1, scene.root, &options.timestamp, NULL));
	uint64_t timestamp = 0;
	check_ok(ps_store(both, counters, 2, scene.root, &timestamp, NULL));
	check_fails(ps_export_with(scene.root, PS_FORMAT_XML, &options, stdout), PS_ENOEVNT);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "readings with this timestamp"));
	options.timestamp = timestamp;
	char *xml = export_text(scene.root, PS_FORMAT_XML, &options);
	ck_assert_ptr_nonnull(strstr(xml, "value=\"Background=#"));
	free(xml);
	ps_eventset_destroy(faults);
	ps_eventset_destroy(both);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	FILE *full = fopen("/dev/full", "w");

	if (!full) {
		ps_test_skip("there is no /dev/full here");
		return;
	}
	check_fails(ps_export(scene.root, (enum ps_format)_i, full), PS_ESYS);
	check_detail(strerror(ENOSPC));
	fclose(full);
}
END_TEST

START_TEST(a_stream_that_is_not_for_writing_is_told)
{
	FILE *stream = fopen("/dev/null", "r");

	ck_assert_ptr_nonnull(stream);
	check_fails(ps_export(scene.root, PS_FORMAT_JSON, stream), PS_ESYS);
	fclose(stream);
}
END_TEST

START_TEST(no_memory_at_any_allocation_is_an_error_and_writes_nothing)
{
	struct ps_export_options options = {
	    .size = sizeof options,
	    .metrics = metrics,
	    .metric_count = 4,
	    .fields = &(const struct ps_export_field){"command", "true", 0},
	    .field_count = 1};
	unsigned nth = 0;
	int code;

	count_statuses();
	do {
		char *text = NULL;
		size_t bytes;
		FILE *stream = open_memstream(&text, &bytes);
		fake_fail(FAKE_ALLOCATE, ++nth, ENOMEM);
		code = ps_export_with(scene.root, (enum ps_format)_i, &options, stream);
		fclose(stream);
		ck_assert_int_eq(fake_fail_happened(), code != PS_OK);
		ck_assert_int_eq(bytes == 0, code != PS_OK);
		if (code != PS_OK)
			ck_assert_int_eq(code, PS_ENOMEM);
		free(text);
	} while (code != PS_OK);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	ck_assert_uint_gt(nth, 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export");
	TCase *tests = scene_case_last_cpu(suite, "export");

	tcase_add_loop_test(tests, a_tree_without_readings, 0, 2);
	tcase_add_test(tests, each_status_is_told_and_what_is_unknown_is_no_0);
	tcase_add_test(tests, energy_is_told_in_joules_and_as_a_count);
	tcase_add_test(tests, names_and_fields_are_escaped);
	tcase_add_test(tests, json_escapes_what_a_terminal_must_not_get);
	tcase_add_test(tests, one_line_without_idle_components_of_chosen_types);
	tcase_add_test(tests, any_component_can_be_exported);
	tcase_add_test(tests, formats_have_names);
	tcase_add_test(tests, wrong_arguments_are_refused);
	tcase_add_test(tests, no_heat_map_by_a_metric_that_the_reading_does_not_have);
	tcase_add_loop_test(tests, a_full_disk_is_told, 0, scene_formats());
	tcase_add_test(tests, a_stream_that_is_not_for_writing_is_told);
	tcase_add_loop_test(tests, no_memory_at_any_allocation_is_an_error_and_writes_nothing, 0,
	                    scene_formats());
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The scene of most unit tests; see scene.h. */
#include "scene.h"
#include "support/unmarked.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct scene scene;

void scene_setup(void)
{
	scene.mode = PS_ATTRIBUTE_AUTO;
	scene.means = FAKE_MEANS_ALL;
	fake_install();
	fake_file("/sys/devices/system/cpu/possible", "0-3\n");
	fake_file("/sys/devices/system/cpu/present", "0-3\n");
	fake_file("/sys/devices/system/cpu/online", "0-3\n");
	fake_set_affinity("0-3");
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:2 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
}

void scene_setup_last_cpu(void)
{
	scene_setup();
	scene.mode = PS_ATTRIBUTE_LAST_CPU;
}

void scene_setup_instances(void)
{
	scene_setup();
	scene.means = FAKE_MEANS_PER_CPU;
	fake_set_means(scene.means);
}

void scene_setup_records(void)
{
	scene_setup();
	scene.means = FAKE_MEANS_RECORDS;
	fake_set_means(scene.means);
}

void scene_teardown(void)
{
	ps_topology_destroy(scene.topology);
	scene.topology = NULL;
	scene.root = NULL;
	ck_assert_msg(fake_count_resets() == 0, "a kernel counter was reset");
	fake_remove();
}

int scene_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

TCase *scene_case_of(Suite *suite, const char *name, void (*setup)(void), void (*teardown)(void))
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 120);
	suite_add_tcase(suite, tests);
	return tests;
}

TCase *scene_case(Suite *suite, const char *name)
{
	return scene_case_of(suite, name, scene_setup, scene_teardown);
}

TCase *scene_case_last_cpu(Suite *suite, const char *name)
{
	return scene_case_of(suite, name, scene_setup_last_cpu, scene_teardown);
}

TCase *scene_case_instances(Suite *suite, const char *name)
{
	return scene_case_of(suite, name, scene_setup_instances, scene_teardown);
}

TCase *scene_case_records(Suite *suite, const char *name)
{
	return scene_case_of(suite, name, scene_setup_records, scene_teardown);
}

static struct ps_eventset *make_set(const char *event, va_list more)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	if (scene.mode != PS_ATTRIBUTE_AUTO)
		check_ok(ps_eventset_set_attribution(set, scene.mode));
	for (; event; event = va_arg(more, const char *))
		check_ok(ps_eventset_add(set, event));
	return set;
}

struct ps_eventset *scene_set(const char *event, ...)
{
	va_list more;

	va_start(more, event);
	struct ps_eventset *set = make_set(event, more);
	va_end(more);
	return set;
}

struct ps_eventset *scene_started(const char *event, ...)
{
	va_list more;

	va_start(more, event);
	struct ps_eventset *set = make_set(event, more);
	va_end(more);
	check_ok(ps_start(set));
	return set;
}

struct ps_eventset *scene_started_exact(void)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", NULL);

	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	return set;
}

uint64_t scene_accum(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	return timestamp;
}

void scene_store(struct ps_eventset *set, int cpu, const long long *counters)
{
	uint64_t timestamp = 0;

	fake_set_cpu(cpu);
	check_ok(ps_store(set, counters, (int)ps_eventset_event_count(set), scene.root, &timestamp,
	                  NULL));
}

void scene_use(struct ps_topology *topology)
{
	ps_topology_destroy(scene.topology);
	scene.topology = topology;
	scene.root = ps_topology_root(topology);
}

struct ps_component *scene_thread(int cpu)
{
	return ps_component_find(scene.root, PS_COMPONENT_THREAD, cpu);
}

struct ps_metric_value scene_metric(const struct ps_component *component, const char *name)
{
	struct ps_metric_value value;

	check_ok(ps_component_metric(component, name, &value));
	return value;
}

struct ps_value scene_part(int cpu, const char *event, uint64_t timestamp)
{
	struct ps_value value;
	int result =
	    ps_thread_reading(ps_topology_thread(scene.topology, cpu), event, timestamp, &value);

	ck_assert_msg(result == PS_OK, "CPU %d, %s: %d %s", cpu, event, result, ps_error_detail());
	return value;
}

struct ps_value scene_total(const char *event)
{
	struct ps_value value;

	check_ok(ps_component_total(scene.root, event, &value));
	return value;
}

long long scene_count(int cpu, const char *event, uint64_t timestamp)
{
	return scene_part(cpu, event, timestamp).value;
}

long long scene_sum(const char *event, uint64_t timestamp)
{
	long long sum = 0;

	for (int cpu = 0; cpu <= 4; cpu++) { /* 4: the unknown Thread */
		struct ps_value value;

		if (ps_thread_reading(ps_topology_thread(scene.topology, cpu), event, timestamp,
		                      &value) == PS_OK)
			sum += value.value;
	}
	return sum;
}

size_t scene_rows(int cpu, const char *event)
{
	size_t count = 0;
	int result =
	    ps_thread_readings(ps_topology_thread(scene.topology, cpu), event, NULL, 0, &count);

	if (result == PS_ENOEVNT)
		return 0;
	ck_assert_msg(result == PS_OK || result == PS_EBUF, "%s", ps_error_detail());
	return count;
}

void scene_check_part_at(int cpu, const char *event, uint64_t timestamp, long long count,
                         enum ps_attribution attribution)
{
	struct ps_value part = scene_part(cpu, event, timestamp);

	ck_assert_int_eq(part.value, count);
	ck_assert_str_eq(ps_attribution_name(part.attribution), ps_attribution_name(attribution));
}

void scene_check_part(int cpu, const char *event, long long count, enum ps_attribution attribution)
{
	scene_check_part_at(cpu, event, 0, count, attribution);
}

void scene_check_residual(struct ps_eventset *set)
{
	long long residual[64];
	size_t count = ps_eventset_event_count(set);

	ck_assert_uint_le(count, 64);
	check_ok(ps_eventset_check(set, residual, (int)count));
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(residual[i], 0);
}

void scene_count_on(int cpu, uint64_t faults)
{
	fake_set_cpu(cpu);
	fake_advance(PAGE_FAULTS, faults);
}

void scene_pass(uint64_t time_ns)
{
	static uint64_t now_ns = 1000000000u;

	now_ns += time_ns;
	fake_set_clock(now_ns, 0);
	fake_run(time_ns, time_ns);
}

int scene_formats(void)
{
	int count = 0;

	while (strcmp(ps_format_name((enum ps_format)count), "unknown") != 0)
		count++;
	return count;
}

char *scene_text(enum ps_format format)
{
	const struct ps_print_options raw = {.size = sizeof raw, .flags = PS_PRINT_RAW};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(stream);
	if (format == PS_FORMAT_TEXT)
		check_ok(ps_print_with(scene.root, &raw, stream));
	else
		check_ok(ps_export(scene.root, format, stream));
	ck_assert_int_eq(fclose(stream), 0);
	return text;
}

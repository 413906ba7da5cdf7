/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals: the sum over the Threads below a component of every type, and events whose scope is wider
 * than a Thread, which count once.
 */
#include "support/scene.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENT "page-faults"

/* 8 CPUs in place of the scene's tree: 2 packages, each with a NUMA node and 2 L3, 2 cores of 1
 * thread below each. */
static void load_machine(void)
{
	ps_topology_destroy(scene.topology);
	scene.topology = NULL;
	fake_file("/sys/devices/system/cpu/possible", "0-7\n");
	fake_file("/sys/devices/system/cpu/present", "0-7\n");
	fake_file("/sys/devices/system/cpu/online", "0-7\n");
	fake_set_affinity("0-7");
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:2 [numa] l3:2 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
}

/* One reading that has 10^cpu on each CPU. */
static void count_on_all(struct ps_eventset *set)
{
	uint64_t amount = 1;

	check_ok(ps_start(set));
	for (int cpu = 0; cpu < 8; cpu++, amount *= 10) {
		fake_set_cpu(cpu);
		fake_advance(PAGE_FAULTS, amount);
		check_ok(ps_read(set, scene.root, NULL, NULL));
	}
	check_ok(ps_stop(set, scene.root, NULL, NULL));
}

static long long total_of(enum ps_component_type type, int cache_level, int logical_id,
                          const char *event)
{
	struct ps_component *component =
	    ps_component_find_logical(scene.root, type, cache_level, logical_id);
	struct ps_value value;

	ck_assert_msg(component != NULL, "%s %d is not there", ps_component_type_name(type),
	              logical_id);
	check_ok(ps_component_total(component, event, &value));
	return value.value;
}

START_TEST(a_component_of_every_type_sums_up_what_is_below)
{
	struct ps_eventset *set;

	load_machine();
	set = scene_set(EVENT, NULL);
	count_on_all(set);
	ck_assert_int_eq(total_of(PS_COMPONENT_MACHINE, 0, 0, EVENT), 11111111);
	ck_assert_int_eq(total_of(PS_COMPONENT_PACKAGE, 0, 0, EVENT), 1111);
	ck_assert_int_eq(total_of(PS_COMPONENT_PACKAGE, 0, 1, EVENT), 11110000);
	ck_assert_int_eq(total_of(PS_COMPONENT_NUMA, 0, 0, EVENT), 1111);
	ck_assert_int_eq(total_of(PS_COMPONENT_NUMA, 0, 1, EVENT), 11110000);
	ck_assert_int_eq(total_of(PS_COMPONENT_CACHE, 3, 0, EVENT), 11);
	ck_assert_int_eq(total_of(PS_COMPONENT_CACHE, 3, 3, EVENT), 11000000);
	ck_assert_int_eq(total_of(PS_COMPONENT_CORE, 0, 5, EVENT), 100000);
	ck_assert_int_eq(total_of(PS_COMPONENT_THREAD, 0, 2, EVENT), 100);
	ps_eventset_destroy(set);
	ck_assert_int_eq(total_of(PS_COMPONENT_MACHINE, 0, 0, EVENT), 11111111);
}
END_TEST

START_TEST(a_total_is_of_the_latest_reading_and_says_that_it_is_a_sum)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t timestamp = 0;
	struct ps_value value;

	load_machine();
	count_on_all(set);
	value = scene_total(EVENT);
	ck_assert_uint_eq(value.timestamp, scene_part(7, EVENT, 0).timestamp);
	ck_assert_uint_ne(value.flags & PS_VALUE_MERGED, 0);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_EXACT);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	value = scene_total(EVENT);
	ck_assert_int_eq(value.value, 5);
	ck_assert_uint_eq(value.timestamp, timestamp);
	ck_assert_uint_eq(value.flags & PS_VALUE_MERGED, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Another event, or another topology and back: the set's readings are then in another series. */
START_TEST(a_total_mixes_no_two_readings_of_a_set_that_was_changed)
{
	struct ps_eventset *set = scene_set("page-faults", NULL),
			   *other = scene_set("page-faults", NULL);
	struct ps_value total;

	check_ok(ps_start(other));
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_stop(other, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_add(set, "minor-faults"));
	ck_assert_int_eq(scene_total("page-faults").value, 1100);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("page-faults").value, 1010);
	/* What it doesn't count any more was counted last before. */
	check_ok(ps_eventset_remove(set, "page-faults"));
	check_ok(ps_start(set));
	fake_advance(MINOR_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("page-faults").value, 1010);
	ck_assert_int_eq(scene_total("minor-faults").value, 3);
	/* Nor is what sets counted that are gone another reading of a set that lives. */
	ps_eventset_destroy(other);
	ps_eventset_destroy(set);
	check_ok(ps_component_total(scene.root, "page-faults", &total));
	ck_assert_int_eq(total.value, 1010);
}
END_TEST

/* Also in the table that is printed. */
START_TEST(a_printed_total_mixes_no_two_readings_of_a_set_either)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	long long numbers[] = {100, 7};

	check_ok(ps_store(set, numbers, 1, scene.root, NULL, NULL));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_store(set, numbers, 2, scene.root, NULL, NULL));
	char *text = scene_text(PS_FORMAT_CSV);
	ck_assert_msg(strstr(text, "100") != NULL && strstr(text, "200") == NULL, "%s", text);
	free(text);
	ps_eventset_destroy(set);
}
END_TEST

/* A part near the limit on each of two CPUs, and a set for each that is alive or not. */
START_TEST(a_sum_beyond_64_bits_says_so_and_does_not_wrap)
{
	static const long long cases[][3] = {{LLONG_MAX - 5, 6, LLONG_MAX},
	                                     {LLONG_MIN + 5, -6, LLONG_MIN}};
	struct ps_eventset *sets[2];
	struct ps_value total;

	for (int index = 0; index < 2; index++) {
		sets[index] = scene_set(EVENT, NULL);
		fake_set_cpu(index);
		check_ok(ps_store(sets[index], &cases[_i][index], 1, scene.root, NULL, NULL));
	}
	for (int turn = 0; turn < 3; turn++) {
		total = scene_total(EVENT);
		ck_assert_int_eq(total.value, cases[_i][2]);
		ck_assert_uint_eq(total.raw, (uint64_t)cases[_i][2]);
		ck_assert_uint_ne(total.flags & PS_VALUE_SATURATED, 0);
		if (turn < 2)
			ps_eventset_destroy(sets[turn]);
	}
	for (int format = 0; format < 3; format++) {
		static const enum ps_format formats[] = {PS_FORMAT_TEXT, PS_FORMAT_JSON,
		                                         PS_FORMAT_CSV};
		char *text = scene_text(formats[format]);
		ck_assert_msg(strstr(text, "saturated") != NULL, "%s", text);
		free(text);
	}
}
END_TEST

START_TEST(a_stored_count_beyond_64_bits_says_so)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	long long most = LLONG_MAX;
	uint64_t timestamp = 0;
	struct ps_value value;

	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	check_ok(ps_store(set, &most, 1, scene.root, &timestamp, NULL));
	value = scene_total(EVENT);
	ck_assert_int_eq(value.value, LLONG_MAX);
	ck_assert_uint_ne(value.flags & PS_VALUE_SATURATED, 0);
	most = 5;
	check_ok(ps_store(set, &most, 1, scene.root, &timestamp, NULL));
	value = scene_total(EVENT);
	ck_assert_int_eq(value.value, 15);
	ck_assert_uint_eq(value.flags & PS_VALUE_SATURATED, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_weakest_status_of_the_parts_is_shown)
{
	struct ps_eventset *set;
	struct ps_value value;

	fake_add_core_pmu(4);
	set = scene_set("instructions", NULL);
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 100);
	fake_run(1000, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_cpu(1);
	fake_advance(INSTRUCTIONS, 100);
	fake_run(1000, 500);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(0, "instructions", 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)scene_part(1, "instructions", 0).status, PS_STATUS_SCALED);
	value = scene_total("instructions");
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 300);
	ck_assert_uint_eq(value.raw, 200);
	ck_assert_uint_eq(value.enabled_ns, 2000);
	ck_assert_uint_eq(value.running_ns, 1500);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_happened_elsewhere_is_no_zero)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_component *other = ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 1);
	struct ps_value value = {.value = 99};

	check_fails(ps_component_total(scene.root, EVENT, &value), PS_ENOEVNT);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_component_total(scene.root, EVENT, &value));
	ck_assert_int_eq(value.value, 0);
	value.value = 99;
	check_fails(ps_component_total(other, EVENT, &value), PS_ENOEVNT);
	check_detail("no part below Package 1");
	check_fails(ps_component_total(scene.root, "minor-faults", &value), PS_ENOEVNT);
	check_detail("no event set has counted 'minor-faults': the nearest event that one has "
	             "counted is '" EVENT "'");
	check_fails(ps_component_total(NULL, EVENT, &value), PS_EINVAL);
	check_fails(ps_component_total(scene.root, NULL, &value), PS_EINVAL);
	check_fails(ps_component_total(scene.root, EVENT, NULL), PS_EINVAL);
	ck_assert_int_eq(value.value, 99);
	ps_eventset_destroy(set);
}
END_TEST

/* A PMU that counts for a whole package: on CPU 0 for the first, on CPU 2 for the second. */
static struct ps_eventset *package_set(int cpu)
{
	struct ps_eventset *set;

	fake_add_package_pmu();
	for (int i = 0; i < 4; i++) {
		char path[80];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/core_id", i);
		fake_file(path, i % 2 ? "1\n" : "0\n");
		snprintf(path, sizeof(path),
		         "/sys/devices/system/cpu/cpu%d/topology/core_cpus_list", i);
		fake_file(path, (const char *const[]){"0\n", "1\n", "2\n", "3\n"}[i]);
	}
	set = scene_set("power/energy-pkg/", NULL);
	check_ok(ps_eventset_attach_cpu(set, cpu));
	return set;
}

START_TEST(what_is_counted_for_a_package_counts_once_and_not_below_it)
{
	struct ps_eventset *first = package_set(0), *same = package_set(0),
			   *second = package_set(2);
	struct ps_component *package =
	    ps_component_find_logical(scene.root, PS_COMPONENT_PACKAGE, 0, 0);
	struct ps_component *core = ps_component_find_logical(scene.root, PS_COMPONENT_CORE, 0, 0);
	struct ps_value value;

	ck_assert_int_eq((int)ps_eventset_event_scope(first, 0), PS_SCOPE_PACKAGE);
	check_ok(ps_start(first));
	check_ok(ps_start(same));
	check_ok(ps_start(second));
	fake_advance_on(20, 2, -1, 0, 100);
	fake_advance_on(20, 2, -1, 2, 7);
	check_ok(ps_stop(first, scene.root, NULL, NULL));
	check_ok(ps_stop(same, scene.root, NULL, NULL)); /* the same joules, seen twice */
	check_ok(ps_stop(second, scene.root, NULL, NULL));
	check_ok(ps_component_total(package, "power/energy-pkg/", &value));
	ck_assert_int_eq(value.value, 100);
	ck_assert_int_eq(scene_total("power/energy-pkg/").value, 107);
	check_fails(ps_component_total(core, "power/energy-pkg/", &value), PS_EINVAL_DOM);
	/* Nor does it become more when the sets are gone, or another one sees it later. */
	ps_eventset_destroy(first);
	ck_assert_int_eq(scene_total("power/energy-pkg/").value, 107);
	ps_eventset_destroy(second);
	ps_eventset_destroy(same);
	ck_assert_int_eq(scene_total("power/energy-pkg/").value, 107);
	check_ok(ps_component_total(package, "power/energy-pkg/", &value));
	ck_assert_int_eq(value.value, 100);
	check_fails(ps_component_total(core, "power/energy-pkg/", &value), PS_EINVAL_DOM);
	first = package_set(0);
	check_ok(ps_start(first));
	fake_advance_on(20, 2, -1, 0, 50);
	check_ok(ps_stop(first, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("power/energy-pkg/").value, 57);
	ps_eventset_destroy(first);
	ck_assert_int_eq(scene_total("power/energy-pkg/").value, 57);
}
END_TEST

START_TEST(a_packages_count_is_in_a_timestamps_sum_once)
{
	struct ps_eventset *first = package_set(0), *same = package_set(0);
	struct ps_component *core = ps_component_find_logical(scene.root, PS_COMPONENT_CORE, 0, 0);
	uint64_t timestamp = 0, again = 0;
	struct ps_value value;

	check_ok(ps_start(first));
	check_ok(ps_start(same));
	fake_advance_on(20, 2, -1, 0, 100);
	fake_set_clock(UINT64_C(5000000000), 0);
	check_ok(ps_read(first, scene.root, &timestamp, NULL));
	check_ok(ps_read(same, scene.root, &again, NULL));
	ck_assert_uint_eq(timestamp, again);
	fake_set_clock(UINT64_C(6000000000), 1);
	fake_advance_on(20, 2, -1, 0, 50);
	check_ok(ps_stop(first, scene.root, &(uint64_t){0}, NULL));
	check_ok(ps_stop(same, scene.root, &(uint64_t){0}, NULL));
	check_ok(ps_component_reading(scene.root, "power/energy-pkg/", timestamp, &value));
	ck_assert_int_eq(value.value, 100);
	ck_assert_int_eq(scene_total("power/energy-pkg/").value, 150);
	check_fails(ps_component_reading(core, "power/energy-pkg/", timestamp, &value),
	            PS_EINVAL_DOM);
	ps_eventset_destroy(first);
	ps_eventset_destroy(same);
	check_ok(ps_component_reading(scene.root, "power/energy-pkg/", timestamp, &value));
	ck_assert_int_eq(value.value, 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("total");
	TCase *tests = scene_case(suite, "rollup");

	tcase_add_test(tests, a_component_of_every_type_sums_up_what_is_below);
	tcase_add_test(tests, a_total_is_of_the_latest_reading_and_says_that_it_is_a_sum);
	tcase_add_test(tests, a_total_mixes_no_two_readings_of_a_set_that_was_changed);
	tcase_add_test(tests, a_printed_total_mixes_no_two_readings_of_a_set_either);
	tcase_add_loop_test(tests, a_sum_beyond_64_bits_says_so_and_does_not_wrap, 0, 2);
	tcase_add_test(tests, a_stored_count_beyond_64_bits_says_so);
	tcase_add_test(tests, what_happened_elsewhere_is_no_zero);
	tcase_add_test(tests, what_is_counted_for_a_package_counts_once_and_not_below_it);
	tcase_add_test(tests, a_packages_count_is_in_a_timestamps_sum_once);
	tests = scene_case_last_cpu(suite, "last-cpu");
	tcase_add_test(tests, a_component_of_every_type_sums_up_what_is_below);
	tcase_add_test(tests, the_weakest_status_of_the_parts_is_shown);
	return scene_run(suite);
}

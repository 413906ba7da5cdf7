/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of PAPI that count for a package or for the machine: they go to that component, wherever
 * the caller is. On a made-up machine with two packages of two CPUs, whose numbers in sysfs are 0
 * and 1.
 */
#include "backend/papi_set.h"
#include "support/papi_scene.h"

#include <stdio.h>
#include <string.h>

#define PACKAGE_0 "rapl:::PACKAGE_ENERGY:PACKAGE0"
#define PACKAGE_1 "rapl:::PACKAGE_ENERGY:PACKAGE1"

static void setup(void)
{
	papi_scene_setup();
	fake_packages();
}

static struct ps_eventset *wrap(const char *component, int papi)
{
	snprintf(fake_papi.component.name, sizeof fake_papi.component.name, "%s", component);
	return papi_scene_wrap(papi);
}

static struct ps_component *package(int number)
{
	return ps_component_find_logical(scene.root, PS_COMPONENT_PACKAGE, 0, number);
}

static long long total(const struct ps_component *component, const char *event)
{
	struct ps_value value;

	check_ok(ps_component_total(component, event, &value));
	return value.value;
}

START_TEST(energy_of_another_package_goes_there_and_not_to_the_caller)
{
	int papi = fake_papi_create(PACKAGE_1, NULL);
	struct ps_eventset *set = wrap("rapl", papi);
	struct ps_thread *thread;
	struct ps_value value;
	uint64_t timestamp = 0;

	ck_assert_int_eq(ps_eventset_event_scope(set, 0), PS_SCOPE_PACKAGE);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 2);
	ck_assert_int_eq(total(package(1), PACKAGE_1), 1000);
	ck_assert_int_eq(total(scene.root, PACKAGE_1), 1000);
	check_fails(ps_component_total(package(0), PACKAGE_1, &value), PS_ENOEVNT);
	check_fails(ps_component_total(ps_thread_component(thread), PACKAGE_1, &value),
	            PS_EINVAL_DOM);
	ck_assert_int_eq(scene_part(2, PACKAGE_1, timestamp).attribution, PS_ATTRIBUTION_ATTACHED);
}
END_TEST

START_TEST(one_set_with_events_of_two_packages_gives_each_its_own)
{
	int papi = fake_papi_create(PACKAGE_0, PACKAGE_1, NULL);
	struct ps_eventset *set = wrap("rapl", papi);
	long long counters[2] = {0, 0};
	struct ps_thread *thread = NULL;
	struct ps_value value;
	uint64_t timestamp = 0;

	fake_set_cpu(3);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	fake_papi_count(papi, 1, 2000);
	check_ok(ps_accum(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 0); /* of the first package */
	fake_papi_count(papi, 0, 1);
	fake_papi_count(papi, 1, 3);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(total(package(0), PACKAGE_0), 11);
	ck_assert_int_eq(total(package(1), PACKAGE_1), 2003);
	ck_assert_int_eq(total(scene.root, PACKAGE_0), 11);
	ck_assert_int_eq(total(scene.root, PACKAGE_1), 2003);
	/* Not 0: it isn't counted there. */
	check_ok(ps_component_total(package(0), PACKAGE_1, &value));
	ck_assert_int_eq(value.status, PS_STATUS_NOT_SUPPORTED);
	check_ok(ps_component_total(scene.root, PACKAGE_1, &value));
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(scene_part(0, PACKAGE_1, timestamp).status, PS_STATUS_NOT_SUPPORTED);
	scene_check_residual(set);
	check_fails(ps_store(set, counters, 2, scene.root, &timestamp, NULL), PS_ENOSUPP);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	check_ok(ps_start(set));
	fake_papi_count(papi, 1, 5);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(total(scene.root, PACKAGE_1), 5);
	check_ok(ps_print(scene.root, stdout));
}
END_TEST

START_TEST(a_set_with_events_of_two_packages_is_attached_as_its_parts_are)
{
	int papi = fake_papi_create(PACKAGE_0, PACKAGE_1, NULL);
	struct ps_eventset *set = wrap("rapl", papi);
	const char *why = NULL;

	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_ATTACHED);
	ck_assert_str_eq(why, "");
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_part(2, PACKAGE_1, 0).attribution, PS_ATTRIBUTION_ATTACHED);
}
END_TEST

START_TEST(places_survive_the_end_of_their_topology)
{
	int papi = fake_papi_create(PACKAGE_0, PACKAGE_1, NULL);
	struct ps_eventset *set = wrap("rapl", papi);

	check_ok(ps_start(set));
	fake_papi_count(papi, 1, 7);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ps_topology_destroy(scene.topology);
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:2 core:2 pu:1"));
	scene.root = ps_topology_root(scene.topology);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(total(package(1), PACKAGE_1), 7);
	ck_assert_int_eq(total(package(0), PACKAGE_0), 0);
}
END_TEST

START_TEST(no_memory_for_a_place_loses_nothing)
{
	int papi = fake_papi_create(PACKAGE_0, PACKAGE_1, NULL);
	struct ps_eventset *set = wrap("rapl", papi);

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 7);
	fake_papi_count(papi, 1, 8);
	for (unsigned nth = 1;; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, 12);
		int result = ps_read(set, scene.root, NULL, NULL);
		if (result == PS_OK)
			break;
		ck_assert_int_eq(result, PS_ENOMEM);
	}
	fake_fail(FAKE_ALLOCATE, 0, 0);
	ck_assert_int_eq(total(package(0), PACKAGE_0), 7);
	ck_assert_int_eq(total(package(1), PACKAGE_1), 8);
}
END_TEST

START_TEST(a_reset_of_energies_is_flagged)
{
	int papi = fake_papi_create(PACKAGE_0, PACKAGE_1, NULL);
	struct ps_eventset *set = wrap("rapl", papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 1, 100);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	fake_papi_reset(papi);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_ne(scene_part(2, PACKAGE_1, timestamp).flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_int_eq(total(package(1), PACKAGE_1), 100);
}
END_TEST

static const struct {
	const char *component, *event;
	bool of_package;
	enum ps_scope scope;
	int cpu;
} scopes[] = {
    {"perf_event", "PAPI_TOT_INS", false, PS_SCOPE_THREAD, -1},
    {"rapl", "rapl:::PP0_ENERGY:PACKAGE1", false, PS_SCOPE_PACKAGE, 2},
    {"rapl", "rapl:::PACKAGE_ENERGY:PACKAGE9", false, PS_SCOPE_PACKAGE, -1},
    {"powercap", "powercap:::ENERGY_UJ:ZONE1", false, PS_SCOPE_PACKAGE, 2},
    {"powercap", "powercap:::ENERGY_UJ:ZONE0_SUBZONE1", false, PS_SCOPE_PACKAGE, 0},
    {"powercap", "powercap:::ENERGY_UJ:ZONE2", false, PS_SCOPE_MACHINE, -1},
    {"powercap", "powercap:::ENERGY_UJ:ZONE7", false, PS_SCOPE_MACHINE, -1},
    {"perf_event_uncore", "skx_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=2", false, PS_SCOPE_PACKAGE, 2},
    {"perf_event_uncore", "skx_unc_imc0::UNC_M_CAS_COUNT:RD", false, PS_SCOPE_PACKAGE, -1},
    {"perf_event_uncore", "amd64_fam17h_l3::CACHE_MISS:cpu=1", false, PS_SCOPE_CACHE, 1},
    {"perf_event_uncore", "rapl::RAPL_ENERGY_PKG:cpu=0", false, PS_SCOPE_PACKAGE, 0},
    {"net", "net:::eth0:rx:bytes", false, PS_SCOPE_MACHINE, -1},
    {"coretemp", "coretemp:::hwmon0:temp1_input", false, PS_SCOPE_MACHINE, -1},
    {"something_else", "x", false, PS_SCOPE_THREAD, -1},
    {"something_else", "x", true, PS_SCOPE_PACKAGE, -1},
};

START_TEST(a_components_scope_is_known_by_its_name_and_its_events)
{
	fake_file("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
	fake_file("/sys/class/powercap/intel-rapl:1/name", "package-1-die-0\n");
	fake_file("/sys/class/powercap/intel-rapl:2/name", "psys\n");
	fake_file("/sys/bus/event_source/devices/uncore_imc_0/type", "20\n");
	fake_file("/sys/bus/event_source/devices/uncore_imc_0/cpumask", "0,2\n");
	fake_file("/sys/bus/event_source/devices/power/type", "21\n");
	fake_file("/sys/bus/event_source/devices/power/cpumask", "0,2\n");
	fake_file("/sys/bus/event_source/devices/amd_l3/type", "22\n");
	fake_file("/sys/bus/event_source/devices/amd_l3/cpumask", "0,2\n");
	struct ps__papi_scope scope =
	    ps__papi_scope(scopes[_i].component, scopes[_i].event, scopes[_i].of_package);
	ck_assert_msg(scope.scope == scopes[_i].scope && scope.cpu == scopes[_i].cpu,
	              "%s: %s, CPU %d", scopes[_i].event, ps_scope_name(scope.scope), scope.cpu);
}
END_TEST

START_TEST(what_the_whole_machine_shares_is_the_machines)
{
	int papi = fake_papi_create("net:::eth0:rx:bytes", NULL);
	struct ps_eventset *set = wrap("net", papi);
	struct ps_value value;

	ck_assert_str_eq(ps_scope_name(ps_eventset_event_scope(set, 0)), "machine");
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 1500);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(total(scene.root, "net:::eth0:rx:bytes"), 1500);
	check_fails(ps_component_total(package(0), "net:::eth0:rx:bytes", &value), PS_EINVAL_DOM);
	check_ok(ps_print(scene.root, stdout));
}
END_TEST

START_TEST(a_count_of_the_machine_is_not_said_to_be_shared_out)
{
	int papi = fake_papi_create("net:::eth0:rx:bytes", NULL);
	struct ps_eventset *set = wrap("net", papi);
	const char *why = NULL;

	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_null(strstr(why, "they are shared out"));
	ck_assert_ptr_nonnull(strstr(why, "more than one hardware thread"));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_part(0, "net:::eth0:rx:bytes", 0).attribution,
	                 PS_ATTRIBUTION_LAST_CPU);
	fake_set_affinity("0");
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_PINNED);
}
END_TEST

/* The thread was pinned when the set was started, and spends a whole interval on another CPU. */
START_TEST(a_count_of_the_machine_is_never_exact)
{
	int papi = fake_papi_create("net:::eth0:rx:bytes", NULL);
	struct ps_eventset *set = wrap("net", papi);

	fake_set_affinity("0");
	check_ok(ps_start(set));
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_accum(set, scene.root, NULL, NULL));
	fake_papi_count(papi, 0, 7);
	check_ok(ps_accum(set, scene.root, NULL, NULL));
	fake_papi_count(papi, 0, 7);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	struct ps_value value = scene_part(1, "net:::eth0:rx:bytes", 0);
	ck_assert_int_eq(value.value, 7);
	ck_assert_int_eq(value.attribution, PS_ATTRIBUTION_LAST_CPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi places");
	TCase *tests = scene_case_of(suite, "places", setup, papi_scene_teardown);

	tcase_add_test(tests, energy_of_another_package_goes_there_and_not_to_the_caller);
	tcase_add_test(tests, one_set_with_events_of_two_packages_gives_each_its_own);
	tcase_add_test(tests, a_set_with_events_of_two_packages_is_attached_as_its_parts_are);
	tcase_add_test(tests, places_survive_the_end_of_their_topology);
	tcase_add_test(tests, no_memory_for_a_place_loses_nothing);
	tcase_add_test(tests, a_reset_of_energies_is_flagged);
	tcase_add_loop_test(tests, a_components_scope_is_known_by_its_name_and_its_events, 0,
	                    (int)(sizeof scopes / sizeof scopes[0]));
	tcase_add_test(tests, what_the_whole_machine_shares_is_the_machines);
	tcase_add_test(tests, a_count_of_the_machine_is_not_said_to_be_shared_out);
	tcase_add_test(tests, a_count_of_the_machine_is_never_exact);
	return scene_run(suite);
}

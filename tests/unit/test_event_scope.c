/* SPDX-License-Identifier: BSD-3-Clause */
/* What one count of an event covers, from the CPUs that its PMU names and the topology files of
 * sysfs. */
#include "test_event.h"

#include <errno.h>

#define DEVICES "/sys/bus/event_source/devices/"
#define CPU     "/sys/devices/system/cpu/"

static const struct {
	const char *machine, *name;
	enum ps_scope scope;
} scopes[] = {
    {"skx", "instructions", PS_SCOPE_THREAD},
    {"skx", "cpu/event=0xc0/", PS_SCOPE_THREAD},
    {"skx", "msr/tsc/", PS_SCOPE_THREAD},
    {"skx", "page-faults", PS_SCOPE_THREAD},
    {"skx", "intel_pt/tsc/", PS_SCOPE_THREAD},
    {"skx", "power/energy-pkg/", PS_SCOPE_PACKAGE},
    {"skx", "cstate_pkg/c6-residency/", PS_SCOPE_PACKAGE},
    {"skx", "cstate_core/c6-residency/", PS_SCOPE_CORE},
    {"skx", "uncore_imc_0/cas_count_read/", PS_SCOPE_PACKAGE},
    {"zen", "amd_l3/event=0x4/", PS_SCOPE_CACHE},
    {"zen", "amd_df/event=0x7/", PS_SCOPE_PACKAGE},
    {"zen", "amd_umc_0/event=0xa/", PS_SCOPE_PACKAGE},
    {"zen", "power/energy-pkg/", PS_SCOPE_PACKAGE},
    {"zen", "energy-core", PS_SCOPE_CORE},
    {"arm", "inst_retired", PS_SCOPE_THREAD},
    {"arm", "arm_dsu_0/l3d_cache/", PS_SCOPE_CACHE},
    {"arm", "hnf_cache_miss", PS_SCOPE_PACKAGE},
    {"hybrid", "cpu_atom/instructions/", PS_SCOPE_THREAD},
    {"hybrid", "power/energy-pkg/", PS_SCOPE_PACKAGE},
};

START_TEST(an_event_has_the_scope_of_its_pmu)
{
	use_machine(scopes[_i].machine);
	struct ps__event event = parsed(scopes[_i].name);

	ck_assert_msg(event.scope == scopes[_i].scope, "%s: %s instead of %s", scopes[_i].name,
	              ps_scope_name(event.scope), ps_scope_name(scopes[_i].scope));
	ps__event_clear(&event);
}
END_TEST

static void check_mask(const char *mask, enum ps_scope scope)
{
	fake_file(DEVICES "power/cpumask", mask);
	struct ps__event event = parsed("power/energy-pkg/");
	ck_assert_msg(event.scope == scope, "'%s': %s instead of %s", mask ? mask : "none",
	              ps_scope_name(event.scope), ps_scope_name(scope));
	ps__event_clear(&event);
}

START_TEST(the_mask_decides_between_the_kinds_of_parts)
{
	use_machine("zen");
	check_mask("0", PS_SCOPE_PACKAGE);
	check_mask("0,2", PS_SCOPE_CACHE);
	check_mask("1,7", PS_SCOPE_CACHE);
	check_mask("0-3", PS_SCOPE_CORE);
	check_mask("0-1", PS_SCOPE_CORE);
	check_mask("0-7", PS_SCOPE_THREAD);
	check_mask("0,4", PS_SCOPE_THREAD);
	check_mask("", PS_SCOPE_THREAD);
	check_mask(NULL, PS_SCOPE_THREAD);
	use_machine("skx");
	check_mask("0,2", PS_SCOPE_PACKAGE);
	check_mask("3", PS_SCOPE_PACKAGE);
}
END_TEST

START_TEST(one_cpu_for_each_die_is_given_to_the_package)
{
	use_machine("zen");
	for (int cpu = 0; cpu < 8; cpu++) {
		char path[128];
		snprintf(path, sizeof path, CPU "cpu%d/topology/die_cpus_list", cpu);
		fake_file(path, cpu % 4 < 2 ? "0-1,4-5" : "2-3,6-7");
	}
	check_mask("0,2", PS_SCOPE_PACKAGE);
	check_mask("0-3", PS_SCOPE_CORE);
}
END_TEST

START_TEST(older_names_of_the_topology_files_do_as_well)
{
	use_machine("arm");
	fake_file(DEVICES "power/type", "20");
	fake_file(DEVICES "power/format/event", "config:0-7");
	fake_file(DEVICES "power/events/energy-pkg", "event=2");
	check_mask("0", PS_SCOPE_PACKAGE);
	check_mask("0-3", PS_SCOPE_CORE);
	for (int cpu = 0; cpu < 4; cpu++) {
		char path[128];
		snprintf(path, sizeof path, CPU "cpu%d/topology/thread_siblings_list", cpu);
		fake_file(path, cpu < 2 ? "0-1" : "2-3");
	}
	check_mask("0,2", PS_SCOPE_CORE);
	check_mask("0-3", PS_SCOPE_THREAD);
}
END_TEST

START_TEST(without_topology_files_one_cpu_stands_for_a_package)
{
	fake_file(DEVICES "power/type", "20");
	fake_file(DEVICES "power/format/event", "config:0-7");
	fake_file(DEVICES "power/events/energy-pkg", "event=2");
	check_mask("0", PS_SCOPE_PACKAGE);
	check_mask("0-1", PS_SCOPE_THREAD);
	check_mask("not a list", PS_SCOPE_THREAD);
}
END_TEST

START_TEST(topology_that_cannot_be_read_is_an_error_and_no_guess)
{
	use_machine("skx");
	fake_file_error(CPU "cpu0/topology/package_cpus_list", EACCES);
	check_refused("power/energy-pkg/", PS_EPERM, "topology");
	fake_file_error(DEVICES "power/cpumask", EIO);
	check_refused("power/energy-pkg/", PS_ESYS, "power/cpumask");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_scope");
	TCase *tests = scene_case_of(suite, "scopes", fake_install, fake_remove);

	tcase_add_loop_test(tests, an_event_has_the_scope_of_its_pmu, 0,
	                    (int)(sizeof scopes / sizeof *scopes));
	tcase_add_test(tests, the_mask_decides_between_the_kinds_of_parts);
	tcase_add_test(tests, one_cpu_for_each_die_is_given_to_the_package);
	tcase_add_test(tests, older_names_of_the_topology_files_do_as_well);
	tcase_add_test(tests, without_topology_files_one_cpu_stands_for_a_package);
	tcase_add_test(tests, topology_that_cannot_be_read_is_an_error_and_no_guess);
	return run_suite(suite);
}

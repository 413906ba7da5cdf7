/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines of several sizes; see machines.h. */
#include "machines.h"

#include "fixture.h"

#include <stdlib.h>

const struct machine machines[MACHINES] = {
    {"pack:1 l2:2 l1d:1 core:1 pu:1", 2},
    {"pack:1 [numa] l3:2 l2:4 l1d:1 core:1 pu:2", 16},
    {"pack:2 [numa] l3:8 l2:8 l1d:1 core:1 pu:2", 256},
    {"pack:2 [numa] l3:16 l2:8 l1d:1 core:1 pu:2", 512},
};
const size_t machine_widths[WIDTHS] = {60, 80, 100, 200};

static void machine_set_cpus(int cpus)
{
	char list[32];

	snprintf(list, sizeof list, "0-%d\n", cpus - 1);
	fake_file("/sys/devices/system/cpu/possible", list);
	fake_file("/sys/devices/system/cpu/present", list);
	fake_file("/sys/devices/system/cpu/online", list);
	fake_set_affinity(list);
	fake_set_nofile(20000);
	fake_add_core_pmu(6);
}

void machine_load(const char *tree, int cpus)
{
	machine_set_cpus(cpus);
	ps_topology_destroy(scene.topology);
	scene.topology = fixture_synthetic(tree);
	scene.root = ps_topology_root(scene.topology);
}

void machine_believe(int machine)
{
	machine_set_cpus(machines[machine].cpus);
	setenv("HWLOC_SYNTHETIC", machines[machine].tree, 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
}

void machine_forget(void)
{
	unsetenv("HWLOC_SYNTHETIC");
	unsetenv("HWLOC_THISSYSTEM");
}

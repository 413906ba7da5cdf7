/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the machine, as formulas name them: "#num_cpus" and the like, in any case. */
#include "analysis/formula.h"
#include "base/os.h"
#include "event/pmu.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* An Arm core's PMU tells in how many slots a cycle an operation can start. */
static int machine_read_slots(const char *pmu, void *context)
{
	char path[512], text[64];

	snprintf(path, sizeof path, "/sys/bus/event_source/devices/%.255s/caps/slots", pmu);
	if (ps__os_read_file(path, text, sizeof text) <= 0)
		return 0;
	*(long *)context = strtol(text, NULL, 0);
	return 1;
}

/* A formula has it for each component: the files are read once. */
static double machine_slots(void)
{
	enum {
		NOT_READ = -1
	};
	static _Atomic long kept = NOT_READ;
	long slots = atomic_load_explicit(&kept, memory_order_relaxed);

	if (slots == NOT_READ) {
		slots = 0;
		ps__pmu_for_each(machine_read_slots, &slots);
		atomic_store_explicit(&kept, slots, memory_order_relaxed);
	}
	return slots > 0 ? (double)slots : (double)NAN;
}

static double machine_count(const struct ps_component *root, enum ps_component_type type)
{
	size_t count = root ? ps_component_count(root, type) : 0;

	return count > 0 ? (double)count : (double)NAN;
}

/* hwloc has no Die in a package that is one die; perf counts one there, too. */
static double machine_dies(const struct ps_component *root)
{
	double dies = machine_count(root, PS_COMPONENT_DIE);

	return isnan(dies) ? machine_count(root, PS_COMPONENT_PACKAGE) : dies;
}

static double machine_smt_on(const struct ps_component *root)
{
	double cores = machine_count(root, PS_COMPONENT_CORE);

	return isnan(cores) ? cores : machine_count(root, PS_COMPONENT_THREAD) > cores;
}

double ps__formula_machine_number(const struct ps_component *root, const char *name)
{
	static const struct {
		const char *name;
		enum ps_component_type type;
	} counts[] = {{"#num_cpus", PS_COMPONENT_THREAD},
	              {"#num_cpus_online", PS_COMPONENT_THREAD},
	              {"#num_cores", PS_COMPONENT_CORE},
	              {"#num_packages", PS_COMPONENT_PACKAGE}};

	for (size_t index = 0; index < sizeof counts / sizeof counts[0]; index++) {
		if (strcasecmp(name, counts[index].name) == 0)
			return machine_count(root, counts[index].type);
	}
	if (strcasecmp(name, "#num_dies") == 0)
		return machine_dies(root);
	if (strcasecmp(name, "#smt_on") == 0)
		return machine_smt_on(root);
	return strcasecmp(name, "#slots") == 0 ? machine_slots() : (double)NAN;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what one count of a PMU covers. The kernel doesn't say it, but its file cpumask names one
 * CPU for each part of the machine that the PMU counts. The PMU's scope is the largest kind of part
 * that never contains two of these CPUs.
 */
#include "event/pmu.h"

#include "base/list.h"
#include "base/os.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 8192

/* Reads the list of the CPUs that share a part of the machine with cpu. Returns
 * its length, or -errno. */
typedef ssize_t neighbours_function(int cpu, char *list);

struct sharing {
	neighbours_function *neighbours;
	const char *mask;
	int cpu;
	ssize_t length; /* of list, or -errno */
	char list[LIST_BYTES];
};

/* Reads a list of CPUs, which newer and older kernels give under different names. */
static ssize_t scope_read_list(int cpu, const char *newer, const char *older, char *list)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, newer);
	ssize_t length = ps__os_read_file(path, list, LIST_BYTES);
	if (length != -ENOENT)
		return length;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, older);
	return ps__os_read_file(path, list, LIST_BYTES);
}

static ssize_t scope_package_cpus(int cpu, char *list)
{
	return scope_read_list(cpu, "package_cpus_list", "core_siblings_list", list);
}

static ssize_t scope_die_cpus(int cpu, char *list)
{
	return scope_read_list(cpu, "die_cpus_list", "package_cpus_list", list);
}

static ssize_t scope_core_cpus(int cpu, char *list)
{
	return scope_read_list(cpu, "core_cpus_list", "thread_siblings_list", list);
}

static ssize_t scope_l3_cpus(int cpu, char *list)
{
	char path[128];
	long level = 0;

	for (int index = 0; level != 3; index++) {
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level",
		         cpu, index);
		int error = ps__os_read_long(path, &level);
		if (error)
			return error;
		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
	}
	return ps__os_read_file(path, list, LIST_BYTES);
}

static int scope_is_other_in_list(int cpu, void *context)
{
	struct sharing *sharing = context;

	return cpu != sharing->cpu && ps__list_contains(sharing->list, cpu);
}

static int scope_is_shared_by(int cpu, void *context)
{
	struct sharing *sharing = context;

	sharing->cpu = cpu;
	sharing->length = sharing->neighbours(cpu, sharing->list);
	if (sharing->length <= 0)
		return 1;
	return ps__list_for_each(sharing->mask, scope_is_other_in_list, sharing);
}

/* Returns 1 if each part has at most one CPU of the mask; 0 if some part has more, or if sysfs
 * doesn't tell; or -errno. */
static int scope_is_one_each(const char *mask, neighbours_function *neighbours)
{
	struct sharing sharing = {.neighbours = neighbours, .mask = mask};

	int stop = ps__list_for_each(mask, scope_is_shared_by, &sharing);
	if (sharing.length < 0 && sharing.length != -ENOENT)
		return (int)sharing.length;
	return stop == 0;
}

/* Returns 0 or -errno. */
static int scope_of_mask(const char *mask, enum ps_scope *out)
{
	/* A die has no scope of its own: the package is the smallest scope that contains it. */
	static const struct {
		neighbours_function *neighbours;
		enum ps_scope scope;
	} parts[] = {{scope_package_cpus, PS_SCOPE_PACKAGE},
	             {scope_die_cpus, PS_SCOPE_PACKAGE},
	             {scope_l3_cpus, PS_SCOPE_CACHE},
	             {scope_core_cpus, PS_SCOPE_CORE}};
	size_t count = ps__list_count(mask);

	for (size_t i = 0; count && i < sizeof parts / sizeof *parts; i++) {
		int answer = scope_is_one_each(mask, parts[i].neighbours);
		if (answer < 0)
			return answer;
		if (answer) {
			*out = parts[i].scope;
			return 0;
		}
	}
	/* sysfs doesn't tell the parts. If the mask has one CPU, the machine is assumed to have one
	 * package. */
	*out = count == 1 ? PS_SCOPE_PACKAGE : PS_SCOPE_THREAD;
	return 0;
}

/* True for PMUs of a last-level cache. If each package has one such cache, the mask alone would say
 * "package". */
static bool scope_is_of_cache(const char *pmu)
{
	return !strcmp(pmu, "amd_l3") || !strncmp(pmu, "arm_dsu", 7);
}

int ps__pmu_scope(const struct ps__pmu *pmu, const char *event_name, enum ps_scope *out)
{
	char path[NAME_MAX + 64];
	char mask[LIST_BYTES];

	snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/cpumask", pmu->name);
	ssize_t length = ps__os_read_file(path, mask, sizeof mask);
	if (length < 0 && length != -ENOENT)
		return ps__event_fail_file(event_name, path, (int)-length);
	if (scope_is_of_cache(pmu->name)) {
		*out = PS_SCOPE_CACHE;
		return PS_OK;
	}
	int error = scope_of_mask(length < 0 ? "" : mask, out);
	return error ? ps__event_fail_file(event_name, "the topology below /sys/devices/system/cpu",
	                                   -error)
	             : PS_OK;
}

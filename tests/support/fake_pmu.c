/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's PMUs: which events exist, what a group of them may hold, what
 * perf_event_paranoid allows. fake_counters.c asks when an event is opened.
 */
#include "fake_pmu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PMUS   64
#define EVENTS 256

struct pmu {
	uint32_t type;
	unsigned flags;
	unsigned counters;
	char cpus[64]; /* "": all */
};

struct event {
	uint32_t type;
	uint64_t config;
};

static struct pmu pmus[PMUS];
static size_t pmu_count;
static struct event events[EVENTS];
static size_t event_count;
static struct event lacking[EVENTS];
static size_t lacking_count;
static int paranoid;
static bool privileged;
static enum fake_means means;

/* PERF_TYPE_HW_CACHE and PERF_TYPE_RAW are the core PMU's, as PERF_TYPE_HARDWARE. */
static uint32_t pmu_of_type(uint32_t type)
{
	return type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW ? PERF_TYPE_HARDWARE : type;
}

/* The upper half of a generic event's config may say which core PMU is meant. */
static uint32_t type_of(const struct perf_event_attr *attr)
{
	bool is_generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	return pmu_of_type(is_generic && attr->config >> 32 ? (uint32_t)(attr->config >> 32)
	                                                    : attr->type);
}

static struct pmu *pmu_find(uint32_t type)
{
	for (size_t i = 0; i < pmu_count; i++)
		if (pmus[i].type == pmu_of_type(type))
			return &pmus[i];
	return NULL;
}

static struct pmu *pmu_make(uint32_t type)
{
	struct pmu *pmu = pmu_find(type);

	if (pmu)
		return pmu;
	if (pmu_count == PMUS)
		abort();
	pmu = &pmus[pmu_count++];
	*pmu = (struct pmu){.type = pmu_of_type(type)};
	return pmu;
}

void fake__pmus_reset(void)
{
	event_count = 0;
	lacking_count = 0;
	pmu_count = 0;
	means = FAKE_MEANS_ALL;
	pmu_make(PERF_TYPE_SOFTWARE)->flags = FAKE_PMU_SOFTWARE;
	for (uint64_t config = 0; config <= PERF_COUNT_SW_BPF_OUTPUT; config++)
		events[event_count++] = (struct event){PERF_TYPE_SOFTWARE, config};
}

static bool event_exists(const struct perf_event_attr *attr)
{
	const struct pmu *pmu = pmu_find(type_of(attr));

	for (size_t i = 0; i < lacking_count; i++)
		if (lacking[i].type == attr->type && lacking[i].config == attr->config)
			return false;
	for (size_t i = 0; i < event_count; i++)
		if (events[i].type == attr->type && events[i].config == attr->config)
			return true;
	return pmu && pmu->counters;
}

int fake__pmu_check_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	const struct pmu *pmu = pmu_find(type_of(attr));
	unsigned flags = pmu ? pmu->flags : 0;

	/* As Linux: a PMU of other CPUs doesn't have it. */
	if (!event_exists(attr) || (cpu >= 0 && !fake__pmu_is_on(attr, cpu)))
		return ENOENT;
	if ((flags & FAKE_PMU_NO_EXCLUDE) &&
	    (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv || attr->exclude_idle ||
	     attr->exclude_host || attr->exclude_guest))
		return EINVAL;
	if ((flags & FAKE_PMU_CPU_ONLY) && pid != -1)
		return EINVAL;
	return 0;
}

int fake__pmu_check_paranoid(const struct perf_event_attr *attr, pid_t pid)
{
	if (privileged)
		return 0;
	if (paranoid >= 3 || (paranoid >= 2 && !attr->exclude_kernel) ||
	    (paranoid >= 1 && pid == -1))
		return EACCES;
	return 0;
}

int fake__pmu_check_refused(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	bool is_recorder = attr->type == PERF_TYPE_SOFTWARE &&
	                   attr->config == PERF_COUNT_SW_CPU_MIGRATIONS && attr->sample_period == 1;
	bool is_instance =
	    pid >= 0 && cpu >= 0 &&
	    !(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY);

	if (is_recorder && (means == FAKE_MEANS_PER_CPU || means == FAKE_MEANS_NONE))
		return EACCES;
	return is_instance && (means == FAKE_MEANS_RECORDS || means == FAKE_MEANS_NONE) ? EMFILE
	                                                                                : 0;
}

void fake_set_means(enum fake_means possible)
{
	fake__lock();
	means = possible;
	fake__unlock();
}

bool fake__pmu_is_software(uint32_t type)
{
	const struct pmu *pmu = pmu_find(type);

	return type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT ||
	       (pmu && (pmu->flags & FAKE_PMU_SOFTWARE));
}

bool fake__pmu_is_on(const struct perf_event_attr *attr, int cpu)
{
	const struct pmu *pmu = pmu_find(type_of(attr));

	return !pmu || !pmu->cpus[0] || fake__cpu_in_list(pmu->cpus, cpu);
}

int fake__pmu_check_group(const struct perf_event_attr *attr, const struct fake_counter *leader)
{
	const struct pmu *pmu = pmu_find(type_of(attr));
	unsigned same = 1;

	if (fake__pmu_is_software(attr->type))
		return 0;
	for (const struct fake_counter *other = leader ? fake__counters_on(leader->cpu) : NULL;
	     other; other = other->there.next) {
		if (other->leader != leader || fake__pmu_is_software(other->attr.type))
			continue;
		if (type_of(&other->attr) != type_of(attr))
			return EINVAL;
		same++;
	}
	return pmu && pmu->counters && same > pmu->counters ? EINVAL : 0;
}

bool fake__pmu_counts(const struct perf_event_attr *attr)
{
	/* As Linux: these happen in the kernel, and are filtered out when it is excluded. */
	return !(attr->type == PERF_TYPE_SOFTWARE && attr->exclude_kernel &&
	         (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	          attr->config == PERF_COUNT_SW_CPU_MIGRATIONS));
}

void fake_add_event(uint32_t type, uint64_t config)
{
	fake__lock();
	if (event_count == EVENTS)
		abort();
	events[event_count++] = (struct event){type, config};
	fake__unlock();
}

void fake_add_pmu(uint32_t type, unsigned counters)
{
	fake__lock();
	pmu_make(type)->counters = counters;
	fake__unlock();
}

void fake_set_pmu_flags(uint32_t type, unsigned flags)
{
	fake__lock();
	pmu_make(type)->flags = flags;
	fake__unlock();
}

void fake_add_core_pmu(unsigned counters)
{
	fake_add_pmu(PERF_TYPE_HARDWARE, counters);
	fake_file("/sys/bus/event_source/devices/cpu/type", "4\n");
	fake_file("/sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	fake_file("/sys/bus/event_source/devices/cpu/format/umask", "config:8-15\n");
	fake_file("/sys/bus/event_source/devices/cpu/events/instructions", "event=0xc0\n");
	fake_file("/sys/bus/event_source/devices/cpu/events/cpu-cycles", "event=0x76\n");
}

void fake_lack_event(uint32_t type, uint64_t config)
{
	fake__lock();
	if (lacking_count == EVENTS)
		abort();
	lacking[lacking_count++] = (struct event){type, config};
	fake__unlock();
}

static void add_kind(const char *name, uint32_t type, unsigned counters, const char *cpus)
{
	char path[128], text[80];

	fake_add_pmu(type, counters);
	fake__lock();
	snprintf(pmu_find(type)->cpus, sizeof(pmu_find(type)->cpus), "%s", cpus);
	fake__unlock();
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	snprintf(text, sizeof(text), "%u\n", type);
	fake_file(path, text);
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", name);
	snprintf(text, sizeof(text), "%s\n", cpus);
	fake_file(path, text);
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/event", name);
	fake_file(path, "config:0-7\n");
}

void fake_add_hybrid(unsigned core_counters, const char *core_cpus, unsigned atom_counters,
                     const char *atom_cpus)
{
	add_kind("cpu_core", FAKE_CPU_CORE, core_counters, core_cpus);
	add_kind("cpu_atom", FAKE_CPU_ATOM, atom_counters, atom_cpus);
}

void fake_add_msr(void)
{
	fake_add_event(9, 0);
	fake_set_pmu_flags(9, FAKE_PMU_NO_EXCLUDE | FAKE_PMU_SOFTWARE);
	fake_file("/sys/bus/event_source/devices/msr/type", "9\n");
	fake_file("/sys/bus/event_source/devices/msr/format/event", "config:0-63\n");
	fake_file("/sys/bus/event_source/devices/msr/events/tsc", "event=0x00\n");
}

void fake_set_paranoid(int level, bool is_privileged)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", level);
	fake_file("/proc/sys/kernel/perf_event_paranoid", text);
	fake__lock();
	paranoid = level;
	privileged = is_privileged;
	fake__unlock();
}

void fake_packages(void)
{
	char path[96];

	for (int cpu = 0; cpu < 4; cpu++) {
		const char *cpus = cpu < 2 ? "0-1\n" : "2-3\n";
		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		fake_file(path, cpu < 2 ? "0\n" : "1\n");
		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%d/topology/package_cpus_list", cpu);
		fake_file(path, cpus);
		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpu);
		fake_file(path, cpus);
	}
}

void fake_add_package_pmu(void)
{
	fake_add_pmu(20, 4);
	fake_set_pmu_flags(20, FAKE_PMU_CPU_ONLY | FAKE_PMU_NO_EXCLUDE);
	fake_file("/sys/bus/event_source/devices/power/type", "20\n");
	fake_file("/sys/bus/event_source/devices/power/cpumask", "0,2\n");
	fake_file("/sys/bus/event_source/devices/power/format/event", "config:0-7\n");
	fake_file("/sys/bus/event_source/devices/power/events/energy-pkg", "event=0x02\n");
	fake_packages();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI's names for the kernel's software events. PAPI doesn't tell an event's attributes, so the
 * event's name and the set's domain have to tell whether the kernel is counted.
 */
#include "backend/papi_set.h"

#include <string.h>
#include <strings.h>

/* Events that count nanoseconds. They go on in every domain. */
static const char *const clocks[] = {"TASK-CLOCK", "TASK_CLOCK", "CPU-CLOCK", "CPU_CLOCK", NULL};

/* Events that happen in the kernel: in user space alone they are always 0. */
static const char *const kernel_side[] = {"CONTEXT-SWITCHES", "CONTEXT_SWITCHES", "CS",
                                          "CPU-MIGRATIONS",   "CPU_MIGRATIONS",   "MIGRATIONS",
                                          "CGROUP-SWITCHES",  "CGROUP_SWITCHES",  NULL};

/* True if the list has the name, without its PMU and the kernel's prefix. For example,
 * perf::PERF_COUNT_SW_CPU_CLOCK:u=1 then begins with CPU_CLOCK. */
static bool papi_names_has(const char *name, const char *const *list)
{
	const char *pmu_end = strstr(name, "::");
	const char *own = pmu_end ? pmu_end + 2 : name;

	if (strncmp(own, "PERF_COUNT_SW_", strlen("PERF_COUNT_SW_")) == 0)
		own += strlen("PERF_COUNT_SW_");
	size_t length = strcspn(own, ":");
	for (; *list; list++) {
		if (strlen(*list) == length && strncasecmp(own, *list, length) == 0)
			return true;
	}
	return false;
}

bool ps__papi_is_clock(const char *name)
{
	return papi_names_has(name, clocks);
}

bool ps__papi_is_kernel_side(const char *name)
{
	return papi_names_has(name, kernel_side);
}

/* Finds a modifier of libpfm4: ":k", ":k=1" or ":k=0". A unit mask that begins with the same letter
 * isn't one. */
static bool papi_names_find(const char *name, char letter, bool *is_on)
{
	for (const char *at = strchr(name, ':'); at; at = strchr(at + 1, ':')) {
		if (at[1] != letter || !strchr(":=", at[2]))
			continue;
		*is_on = at[2] != '=' || at[3] != '0';
		return true;
	}
	return false;
}

/* With ":u=1" and ":u=0" the domain decides about the kernel; each was tried with PAPI 7.0. */
bool ps__papi_excludes_kernel(const char *name, bool is_domain_of_user)
{
	bool is_on;

	if (papi_names_find(name, 'h', &is_on) && is_on)
		return false;
	return papi_names_find(name, 'k', &is_on) ? !is_on : is_domain_of_user;
}

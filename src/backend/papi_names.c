/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI's names of the kernel's software events. PAPI doesn't tell an event's attributes, so its
 * name and the set's domain say whether the kernel is counted.
 */
#include "backend/papi_set.h"

#include <string.h>
#include <strings.h>

/* They count nanoseconds, and no domain keeps them from going on. */
static const char *const clocks[] = {"TASK-CLOCK", "TASK_CLOCK", "CPU-CLOCK", "CPU_CLOCK", NULL};

/* They happen in the kernel: in user space alone they are 0 for ever. */
static const char *const kernel_side[] = {"CONTEXT-SWITCHES", "CONTEXT_SWITCHES", "CS",
                                          "CPU-MIGRATIONS",   "CPU_MIGRATIONS",   "MIGRATIONS",
                                          "CGROUP-SWITCHES",  "CGROUP_SWITCHES",  NULL};

/* The name without its PMU and the kernel's prefix: perf::PERF_COUNT_SW_CPU_CLOCK:u=1 begins with
 * CPU_CLOCK then. */
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

/* A modifier of libpfm4's: ":k", ":k=1" and ":k=0". A unit mask may begin with its letter. */
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

/* ":u=1" and ":u=0" leave the kernel to the domain: PAPI 7.0 was tried with each. */
bool ps__papi_excludes_kernel(const char *name, bool is_domain_of_user)
{
	bool is_on;

	if (papi_names_find(name, 'h', &is_on) && is_on)
		return false;
	return papi_names_find(name, 'k', &is_on) ? !is_on : is_domain_of_user;
}

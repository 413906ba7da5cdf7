/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds where an event of a PAPI component counts. PAPI doesn't tell this. What is known is the
 * component, and that some names have a package ("PACKAGE1"), a powercap zone ("ZONE0"), or a CPU
 * (":cpu=16").
 */
#include "backend/papi_set.h"
#include "base/list.h"
#include "base/os.h"
#include "event/pmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_BYTES 8192

struct search {
	long package;
	int cpu;
};

static int papi_scope_is_of_package(int cpu, void *context)
{
	struct search *search = context;
	char path[96];
	long package = -1;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
	         cpu);
	if (ps__os_read_long(path, &package) != 0 || package != search->package)
		return 0;
	search->cpu = cpu;
	return 1;
}

/* Returns the first online CPU of the package with this number in sysfs; -1: none. */
static int papi_scope_first_cpu_of(long package)
{
	struct search search = {.package = package, .cpu = -1};
	char list[LIST_BYTES];

	if (ps__os_read_file("/sys/devices/system/cpu/online", list, sizeof list) > 0)
		ps__list_for_each(list, papi_scope_is_of_package, &search);
	return search.cpu;
}

/* Returns the number that follows a word in a name; -1 if there is none. */
static long papi_scope_number_after(const char *name, const char *word)
{
	for (const char *at = strstr(name, word); at; at = strstr(at + 1, word)) {
		char *end;
		long number = strtol(at + strlen(word), &end, 10);
		if (end > at + strlen(word) && number >= 0)
			return number;
	}
	return -1;
}

/* Returns the scope of a powercap zone. Its file names its package ("package-1",
 * "package-1-die-0"); the zone psys is the whole machine. */
static struct ps__papi_scope papi_scope_of_zone(const char *event)
{
	struct ps__papi_scope scope = {.scope = PS_SCOPE_MACHINE, .cpu = -1};
	char path[96], text[128] = "";

	snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%ld/name",
	         papi_scope_number_after(event, "ZONE"));
	if (ps__os_read_file(path, text, sizeof text) <= 0 || strncmp(text, "package-", 8) != 0)
		return scope;
	return (struct ps__papi_scope){.scope = PS_SCOPE_PACKAGE,
	                               .cpu = papi_scope_first_cpu_of(strtol(text + 8, NULL, 10))};
}

static struct ps__papi_scope papi_scope_of_rapl(const char *event)
{
	long package = papi_scope_number_after(event, "PACKAGE");

	return (struct ps__papi_scope){.scope = PS_SCOPE_PACKAGE,
	                               .cpu = package < 0 ? -1 : papi_scope_first_cpu_of(package)};
}

/* Translates a PMU's name from libpfm4's to the kernel's: "skx_unc_imc0::" is uncore_imc_0,
 * "rapl::" is power, "amd64_fam17h_l3::" is amd_l3. False if it can't. */
static bool papi_scope_kernel_name(const char *event, char *out, size_t size_bytes)
{
	const char *end = strstr(event, "::"), *unit = strstr(event, "unc_");
	const char *cache = strstr(event, "_l3");
	int letters;

	if (!end)
		return false;
	if (strncmp(event, "rapl::", 6) == 0)
		snprintf(out, size_bytes, "power");
	else if (strncmp(event, "amd64_", 6) == 0 && cache && cache < end)
		snprintf(out, size_bytes, "amd_l3");
	else if (unit && unit < end) {
		unit += strlen("unc_");
		letters = (int)strcspn(unit, "0123456789:");
		snprintf(out, size_bytes, "uncore_%.*s%s%.*s", letters, unit,
		         unit + letters < end ? "_" : "", (int)(end - unit) - letters,
		         unit + letters);
	} else
		return false;
	return true;
}

/* Returns the scope of an uncore event: what its PMU's cpumask tells, otherwise a package. */
static struct ps__papi_scope papi_scope_of_uncore(const char *event)
{
	struct ps__papi_scope scope = {.scope = PS_SCOPE_PACKAGE,
	                               .cpu = (int)papi_scope_number_after(event, ":cpu=")};
	struct ps__pmu pmu;
	char name[64];

	if (!papi_scope_kernel_name(event, name, sizeof name))
		return scope;
	if (ps__pmu_find(&pmu, name, strlen(name), event) == PS_OK &&
	    (ps__pmu_scope(&pmu, event, &scope.scope) != PS_OK || scope.scope == PS_SCOPE_THREAD))
		scope.scope = PS_SCOPE_PACKAGE;
	return scope;
}

static bool papi_scope_is_of_machine(const char *component)
{
	static const char *const devices[] = {
	    "amd_smi",       "coretemp",    "cray_npwr",       "cuda",      "emon",
	    "host_micpower", "infiniband",  "infiniband_umad", "intel_gpu", "io",
	    "lmsensors",     "lustre",      "micpower",        "mx",        "net",
	    "nvml",          "pcp",         "powercap_ppc",    "rocm",      "rocm_smi",
	    "rocp_sdk",      "sensors_ppc", "sysdetect",       "vmware",
	};

	for (size_t index = 0; index < sizeof devices / sizeof devices[0]; index++) {
		if (strcmp(component, devices[index]) == 0)
			return true;
	}
	return false;
}

struct ps__papi_scope ps__papi_scope(const char *component, const char *event, bool of_package)
{
	if (strcmp(component, "rapl") == 0 || strcmp(component, "libmsr") == 0)
		return papi_scope_of_rapl(event);
	if (strcmp(component, "powercap") == 0)
		return papi_scope_of_zone(event);
	if (strcmp(component, "perf_event_uncore") == 0)
		return papi_scope_of_uncore(event);
	if (papi_scope_is_of_machine(component))
		return (struct ps__papi_scope){.scope = PS_SCOPE_MACHINE, .cpu = -1};
	return (struct ps__papi_scope){.scope = of_package ? PS_SCOPE_PACKAGE : PS_SCOPE_THREAD,
	                               .cpu = -1};
}

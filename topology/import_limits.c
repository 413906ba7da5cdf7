/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks before hwloc is called: how large a synthetic description is, and which environment
 * variables put another tree in this machine's place.
 */
#include "base/error.h"
#include "topology/import.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL                                                                                      \
	4096 /* Threads that hwloc builds in two seconds at worst: all of them below one component \
	      */

/* Counts the Threads of a description: multiplies the numbers of children of all levels. Reads each
 * number with strtoul, like hwloc, so blanks, a sign and 0x are accepted. */
static double limits_count_threads(const char *description)
{
	const char *at = description;
	double threads = 1;
	int nested = 0;

	while (*at) {
		bool starts = at == description || strchr(": \n", at[-1]);
		nested += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
		char *end = NULL;
		unsigned long number = nested == 0 && starts ? strtoul(at, &end, 0) : 0;
		if (number > 0)
			threads *= (double)number;
		at = number > 0 ? end : at + 1;
	}
	return threads;
}

int ps__import_check_synthetic(const char *description)
{
	double threads = limits_count_threads(description);

	if (threads > PS__SYNTHETIC_LIMIT)
		return ps__fail(PS_EINVAL,
		                "the synthetic description \"%s\" has %.0f hardware threads: hwloc "
		                "can build %d in reasonable time",
		                description, threads, PS__SYNTHETIC_LIMIT);
	return PS_OK;
}

/* Attributes can need much memory: (indexes=4294967295) makes bitmaps of half a
 * gigabyte. */
bool ps__import_is_small(const char *description)
{
	for (const char *at = description; *at; at++) {
		if (!isalnum((unsigned char)*at) && !strchr(": []", *at))
			return false;
	}
	return limits_count_threads(description) <= SMALL;
}

static const char *const variables[] = {"HWLOC_XMLFILE",    "HWLOC_SYNTHETIC",  "HWLOC_FSROOT",
                                        "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"};

#define VARIABLES (sizeof variables / sizeof variables[0])

bool ps__import_variables(char *text, size_t size_bytes)
{
	size_t used_bytes = 0;

	for (size_t i = 0; i < VARIABLES && used_bytes < size_bytes; i++) {
		const char *value = getenv(variables[i]);
		if (value)
			used_bytes +=
			    (size_t)snprintf(text + used_bytes, size_bytes - used_bytes, "%s%s=%s",
			                     used_bytes ? " " : "", variables[i], value);
	}
	return used_bytes > 0;
}

static bool limits_is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

bool ps__import_variables_replace(void)
{
	return (limits_is_set("HWLOC_XMLFILE") || limits_is_set("HWLOC_SYNTHETIC")) &&
	       !limits_is_set("HWLOC_THISSYSTEM");
}

void ps__import_unset(char *text, size_t size_bytes)
{
	size_t used_bytes = (size_t)snprintf(text, size_bytes, "unset");

	for (size_t i = 0; i < VARIABLES && used_bytes < size_bytes; i++) {
		if (getenv(variables[i]))
			used_bytes += (size_t)snprintf(text + used_bytes, size_bytes - used_bytes,
			                               " %s", variables[i]);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A time namespace adds an offset to CLOCK_MONOTONIC: it is read here. */
#include "base/time_namespace.h"

#include "base/os.h"

#include <stdio.h>
#include <string.h>

/* "monotonic  SECONDS NANOSECONDS", and as much for boottime. */
#define LONGEST_OFFSETS 256

uint64_t ps__time_namespace_shift_ns(void)
{
	char text[LONGEST_OFFSETS];
	long long seconds, nanoseconds;

	if (ps__os_read_file("/proc/self/timens_offsets", text, sizeof text) <= 0 ||
	    sscanf(text, "monotonic %lld %lld", &seconds, &nanoseconds) != 2)
		return 0;
	return (uint64_t)seconds * 1000000000u + (uint64_t)nanoseconds;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the offset that a time namespace adds to CLOCK_MONOTONIC. */
#include "base/time_namespace.h"

#include "base/os.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* bytes: "monotonic  SECONDS NANOSECONDS", and the same for boottime */
#define LONGEST_OFFSETS 256

/* Returns the namespace's inode number; 0 if it is not known. */
static ino_t namespace_number(const char *path)
{
	struct stat status = {.st_ino = 0};
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (ps__os.wake.fstat(fd, &status) < 0)
		status.st_ino = 0;
	ps__os.close(fd);
	return status.st_ino;
}

uint64_t ps__time_namespace_shift_ns(void)
{
	char text[LONGEST_OFFSETS];
	long long seconds, nanoseconds;

	if (ps__os_read_file("/proc/self/timens_offsets", text, sizeof text) <= 0 ||
	    sscanf(text, "monotonic %lld %lld", &seconds, &nanoseconds) != 2)
		return 0;
	uint64_t shift_ns = (uint64_t)seconds * 1000000000u + (uint64_t)nanoseconds;
	if (shift_ns && namespace_number("/proc/self/ns/time") !=
	                    namespace_number("/proc/self/ns/time_for_children"))
		return 0;
	return shift_ns;
}

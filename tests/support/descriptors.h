/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that need many file descriptors, which may not be allowed. */
#ifndef PS_TESTS_DESCRIPTORS_H
#define PS_TESTS_DESCRIPTORS_H

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Raises the limit of open files as far as allowed. Returns NULL if `wanted` files and a few others
 * may be open; else the reason to skip the test. */
static inline const char *ps_test_lack_of_descriptors(size_t wanted)
{
	static char why[100];
	struct rlimit limit = {0, 0};

	wanted += 64;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	snprintf(why, sizeof why, "it needs %zu file descriptors, and %zu are allowed", wanted,
	         (size_t)limit.rlim_cur);
	return limit.rlim_cur >= wanted ? NULL : why;
}

/* Does the same for one descriptor per task and CPU. */
static inline const char *ps_test_lack_on_all_cpus(size_t tasks)
{
	return ps_test_lack_of_descriptors(tasks * (size_t)sysconf(_SC_NPROCESSORS_CONF));
}

#endif

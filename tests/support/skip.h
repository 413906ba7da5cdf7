/* SPDX-License-Identifier: BSD-3-Clause */
/* How a test says that it can't hold here. The harness counts the lines, so that no skip passes
 * unseen. */
#ifndef PS_TESTS_SKIP_H
#define PS_TESTS_SKIP_H

#include "support/sanitizer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Check names a test's function <test>_fn. */
static inline void ps__test_skip(const char *function, const char *reason)
{
	size_t length = strlen(function);

	if (length > 3 && !strcmp(function + length - 3, "_fn"))
		length -= 3;
	printf("SKIP: %.*s: %s\n", (int)length, function, reason);
	fflush(stdout);
}

/* The caller returns after it. */
#define ps_test_skip(reason) ps__test_skip(__func__, (reason))

/* True if there is no obstacle (NULL). Else says the obstacle as the reason of a skip. */
static inline bool ps__test_may_run(const char *function, const char *obstacle)
{
	if (obstacle)
		ps__test_skip(function, obstacle);
	return !obstacle;
}

#define ps_test_may_run(obstacle) ps__test_may_run(__func__, (obstacle))

/* valgrind and the sanitizers have page faults of their own in the counted threads. */
static inline int ps_test_is_in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

#endif

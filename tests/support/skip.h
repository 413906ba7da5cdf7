/* SPDX-License-Identifier: BSD-3-Clause */
/* Skips a test, with the reason. The harness counts these lines, so that no skip is overlooked. */
#ifndef PS_TESTS_SKIP_H
#define PS_TESTS_SKIP_H

#include "support/sanitizer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Check calls the function of a test <test>_fn. */
static inline void ps__test_skip(const char *function, const char *reason)
{
	size_t length = strlen(function);

	if (length > 3 && !strcmp(function + length - 3, "_fn"))
		length -= 3;
	printf("SKIP: %.*s: %s\n", (int)length, function, reason);
	fflush(stdout);
}

/* The caller must return after it. */
#define ps_test_skip(reason) ps__test_skip(__func__, (reason))

/* True if obstacle is NULL. Else skips the test, with the obstacle as the reason. */
static inline bool ps__test_may_run(const char *function, const char *obstacle)
{
	if (obstacle)
		ps__test_skip(function, obstacle);
	return !obstacle;
}

#define ps_test_may_run(obstacle) ps__test_may_run(__func__, (obstacle))

/* valgrind and the sanitizers cause page faults in the counted threads. */
static inline int ps_test_is_in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

#endif

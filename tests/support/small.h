/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of the longest tests. PS_TEST_SMALL=1 asks for their small form where instructions are slow
 * (under valgrind, in an emulated machine); HACKING says what it leaves out. A plain `make check`
 * runs the full form.
 */
#ifndef PS_TESTS_SMALL_H
#define PS_TESTS_SMALL_H

#include "support/sanitizer.h"

#include <stdlib.h>

static inline int ps_test_size(int full, int small)
{
	const char *wanted = getenv("PS_TEST_SMALL");

	return wanted && *wanted && *wanted != '0' ? small : full;
}

/* For tests with one thread: ThreadSanitizer finds nothing in them, and slows them down. */
static inline int ps_test_serial_size(int full, int small)
{
#if PS_TEST_HAS_THREAD_SANITIZER
	(void)full;
	return small;
#else
	return ps_test_size(full, small);
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines and the screens on which tests look at what is printed: with 2 to 512 hardware
 * threads, and 60 to 200 columns. */
#ifndef PS_TESTS_MACHINES_H
#define PS_TESTS_MACHINES_H

#include "support/small.h"

#include <stddef.h>

#define MACHINES 4
#define WIDTHS   4

extern const struct machine {
	const char *tree;
	int cpus;
} machines[MACHINES];
extern const size_t machine_widths[WIDTHS];

/* The small form of a test leaves out the machines with 256 and 512 hardware threads, and
 * AddressSanitizer that with 512: it takes four times as long as the one with 256, and no array
 * that fits the one is too small for the other. */
static inline int machine_count(void)
{
#if PS_TEST_HAS_ADDRESS_SANITIZER
	int most = MACHINES - 1;
#else
	int most = MACHINES;
#endif

	return ps_test_serial_size(most, 2);
}

/* The fake kernel has so many CPUs, of one kind, and descriptors for all of them. The scene has the
 * tree. */
void machine_load(const char *tree, int cpus);
/* The fake kernel has the machine's CPUs; and a command that loads the tree of this machine gets
 * the machine's, until machine_forget. */
void machine_believe(int machine);
void machine_forget(void);

#endif

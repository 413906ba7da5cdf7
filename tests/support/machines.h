/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines with 2 to 512 hardware threads, and screens with 60 to 200 columns, for tests of printed
 * output. */
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

/* Returns the number of machines to test. The small form of a test leaves out those with 256 and
 * 512 hardware threads. AddressSanitizer leaves out 512: it takes four times as long as 256, and
 * finds the same errors. */
static inline int machine_count(void)
{
#if PS_TEST_HAS_ADDRESS_SANITIZER
	int most = MACHINES - 1;
#else
	int most = MACHINES;
#endif

	return ps_test_serial_size(most, 2);
}

/* Gives the fake kernel so many CPUs of one kind, and descriptors for all of them; gives the scene
 * the tree. */
void machine_load(const char *tree, int cpus);
/* Gives the fake kernel the machine's CPUs. Until machine_forget, commands that load this machine's
 * tree get the machine's. */
void machine_believe(int machine);
void machine_forget(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out who else got a signal. The kernel doesn't tell whether a signal was sent only to
 * perfsage, or to its whole process group as terminals, shells and batch systems do. In the second
 * case the command already has the signal. So perfsage has a child, the witness, that only stays in
 * the group and is asked which signals it got.
 */
#ifndef PS_TOOLS_WITNESS_H
#define PS_TOOLS_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tool_witness {
	pid_t pid; /* 0: none */
	int socket;
	int last; /* the latest signal that the group got */
	uint64_t last_ns;
};

/* Starts the child. If that fails there is no witness: signals from the kernel are then assumed to
 * be for the group, and others not. */
void tool_witness_create(struct tool_witness *witness);
void tool_witness_destroy(struct tool_witness *witness);

/* True if the whole group got this signal, which just came to the caller. May wait up to 20 ms for
 * the answer. If the group got the same signal within the last 100 ms, this one counts as the
 * group's, too: timeout(1) sends one signal to its child and one to the group. */
bool tool_witness_saw(struct tool_witness *witness, int number, bool is_of_kernel);

#endif

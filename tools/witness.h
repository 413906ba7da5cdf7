/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who else got a signal? The kernel doesn't say whether one was sent to perfsage alone or to its
 * whole process group, as terminals, shells and batch systems do; then the command has it already.
 * A child that does nothing else stays in the group, and is asked what came to it.
 */
#ifndef PS_TOOLS_WITNESS_H
#define PS_TOOLS_WITNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tool_witness {
	pid_t pid; /* 0: none */
	int socket;
	int last; /* signal that the group got, */
	uint64_t last_ns;
};

/* Without a process for it there is none: then the kernel's signals are taken for the group's, and
 * no others. */
void tool_witness_create(struct tool_witness *witness);
void tool_witness_destroy(struct tool_witness *witness);

/* Did the whole group get this signal, which came to the caller just now? Takes up to 20 ms if it
 * did not. A second one within 100 ms is the same, as that of timeout(1), which sends it to its
 * child and to the group. */
bool tool_witness_saw(struct tool_witness *witness, int number, bool is_of_kernel);

#endif

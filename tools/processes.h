/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the machine, and which of them are below others; CPUs that are online. */
#ifndef PS_TOOLS_PROCESSES_H
#define PS_TOOLS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tool_process {
	pid_t pid;
	pid_t parent;
	long threads;
	bool is_first_ending; /* its first thread has ended, or is about to */
	bool is_given;        /* one of those that a user named */
	bool is_below;        /* a descendant of one that is given, and not given itself */
};

struct tool_processes {
	struct tool_process *list;
	size_t count, room;
};

/* Keeps the descriptors that the functions below need, for when counters have taken all others. 0,
 * or -errno. */
int tool_processes_reserve(void);

/* Those of which a thread runs now; what has ended and wasn't waited for is none. What can't
 * be read is left out. */
void tool_processes_create(struct tool_processes *all, const pid_t *given, size_t count);
void tool_processes_clear(struct tool_processes *all);

/* Does a thread of it run, as far as is known? Waits a tenth of a second at most for a process that
 * is ending. */
bool tool_process_runs(pid_t pid);

#endif

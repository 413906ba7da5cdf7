/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the machine and their descendants; perfsage's own children. */
#ifndef PS_TOOLS_PROCESSES_H
#define PS_TOOLS_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tool_process {
	pid_t pid;
	pid_t parent;
	long threads;
	bool is_first_ending; /* its first thread has ended or is ending */
	bool is_given;        /* named by the user */
	bool is_below;        /* a descendant of a given process, not given itself */
};

struct tool_processes {
	struct tool_process *list;
	size_t count, room;
};

/* Reserves descriptors for the functions below, in case counters use up all others. Returns 0 or
 * -errno. */
int tool_processes_reserve(void);

/* Lists the processes that have a running thread. Zombies, processes that can't be read, and
 * perfsage itself are left out. */
void tool_processes_create(struct tool_processes *all, const pid_t *given, size_t count);
bool tool_processes_has(const struct tool_processes *all, pid_t pid);
void tool_processes_clear(struct tool_processes *all);

/* Waits for the end of a child, whatever signals come. Returns its status as waitpid gives it. */
int tool_process_reap(pid_t child);

/* True if the process still has a running thread, as far as is known. Waits up to 0.1 s for a
 * process that is ending. */
bool tool_process_runs(pid_t pid);

#endif

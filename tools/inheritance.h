/* SPDX-License-Identifier: BSD-3-Clause */
/* What perfsage was given by its parent and changes for itself while it counts: a command gets it as it was. */
#ifndef PS_TOOLS_INHERITANCE_H
#define PS_TOOLS_INHERITANCE_H

#include <signal.h>
#include <sys/resource.h>

#define TOOL_CHANGED_ACTIONS 6

struct tool_inheritance {
	sigset_t mask;
	struct sigaction actions[TOOL_CHANGED_ACTIONS];
	struct rlimit descriptors;
};

/*
 * Keeps what is there, and changes it: the signals of `blocked` are blocked; SIGCHLD does nothing, as an ignored one would
 * take the command's status away; a pipe that nobody reads is an error to be said and no reason to leave the command alone;
 * a signal that ends perfsage takes away what it began to write (ending.h), unless it was ignored; and as many descriptors
 * may be opened as the hard limit permits, since an exact split over many CPUs needs many.
 */
void tool_inheritance_take(struct tool_inheritance *inheritance, const sigset_t *blocked);

/* Puts it back: in a child that is to be the command, or at the end. Calls only what is safe after fork. */
void tool_inheritance_give(const struct tool_inheritance *inheritance);

/* The signals that exec would leave ignored though perfsage was not given them so. */
void tool_inheritance_ignored(const struct tool_inheritance *inheritance, sigset_t *out);

#endif

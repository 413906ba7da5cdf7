/* SPDX-License-Identifier: BSD-3-Clause */
/* A command that is to be counted: forked at once, so that events can be opened for it, and let go by an exec. */
#ifndef PS_TOOLS_LAUNCH_H
#define PS_TOOLS_LAUNCH_H

#include "tools/inheritance.h"
#include "tools/watcher.h"

#include <stdbool.h>
#include <sys/types.h>

struct tool_launch {
	pid_t pid;
	int go;      /* a byte in here lets the child go on; closing it ends the child */
	int verdict; /* what the child says if its exec failed: errno */
};

/* Forks a child that waits. argv: the command, NULL-terminated. inheritance: what the command is to get as perfsage got it.
 * Returns -1 after a complaint. */
int tool_launch_create(struct tool_launch *launch, char **argv, const struct tool_inheritance *inheritance);

/* Lets the child run the command, and makes it the watcher's. 0; or, after a complaint, the exit status that says why it
 * can't be run: the child is then gone. */
int tool_launch_go(struct tool_launch *launch, char **argv, struct tool_watcher *watcher);

/* Ends a child that still waits, and takes its status. */
void tool_launch_cancel(struct tool_launch *launch);

/* Is there a file of this name in the folders of PATH that can be accessed so (access(2): F_OK, X_OK)? */
bool tool_launch_finds(const char *name, int mode);

/* The exit status of a command, as shells have it, from what waitpid gave. */
int tool_launch_status(int wait_status);

#endif

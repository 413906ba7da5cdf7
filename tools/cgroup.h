/* SPDX-License-Identifier: BSD-3-Clause */
/* A control group that perfsage makes for the command it counts, or that --cgroup names. */
#ifndef PS_TOOLS_CGROUP_H
#define PS_TOOLS_CGROUP_H

#include "base/file_id.h"

#include <stdbool.h>
#include <sys/types.h>

struct tool_cgroup {
	char *folder; /* NULL: no group */
	char *home;   /* the group that perfsage itself is in */
};

/* Identifies the control group at a path, so that a later group of the same name is not taken for
 * it. */
struct tool_cgroup_named {
	const char *path; /* NULL: unknown */
	struct ps__file_id id;
};

void tool_cgroup_note(struct tool_cgroup_named *named, const char *path);

/* True if the path now leads to another group. False if no group is there. */
bool tool_cgroup_is_renewed(const struct tool_cgroup_named *named);

/*
 * Makes a group below perfsage's own and moves the process there. Limits of the groups above still
 * apply. Also removes empty groups that killed perfsage processes left. On failure returns -1,
 * writes the reason to why, and leaves no group.
 */
int tool_cgroup_create(struct tool_cgroup *cgroup, pid_t pid, char *why, size_t why_bytes);

/* Moves the remaining tasks to perfsage's own group and removes the group. Complains if that
 * fails. */
void tool_cgroup_destroy(struct tool_cgroup *cgroup);

/* Returns the CPU time of all tasks that ran in the group, in seconds; NaN if the kernel doesn't
 * tell it (cgroup version 1). */
double tool_cgroup_cpu_s(const struct tool_cgroup *cgroup);

#endif

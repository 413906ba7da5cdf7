/* SPDX-License-Identifier: BSD-3-Clause */
/* A control group that perfsage makes for the command it counts, or that --cgroup names. */
#ifndef PS_TOOLS_CGROUP_H
#define PS_TOOLS_CGROUP_H

#include "base/file_id.h"

#include <stdbool.h>
#include <sys/types.h>

struct tool_cgroup {
	char *folder; /* NULL: there is none */
	char *home;   /* of the group in which perfsage is */
};

/* The group of a path, to be told from one that is made there later. */
struct tool_cgroup_named {
	const char *path; /* NULL: not known */
	struct ps__file_id id;
};

void tool_cgroup_note(struct tool_cgroup_named *named, const char *path);

/* Does the path lead to another group now? Not if there is none. */
bool tool_cgroup_is_renewed(const struct tool_cgroup_named *named);

/*
 * Makes a group below that in which perfsage is, and moves the process there.
 * Limits of the groups above hold for it, too. Takes away empty groups that
 * killed perfsages left. -1 with the reason in why; there is no group then.
 */
int tool_cgroup_create(struct tool_cgroup *cgroup, pid_t pid, char *why, size_t why_bytes);

/* Takes it away. What still runs in it goes on in the group above. Complains if
 * something prevents it. */
void tool_cgroup_destroy(struct tool_cgroup *cgroup);

/* The CPU time of all that ran in it, in seconds; NaN where the kernel doesn't
 * tell (version 1). */
double tool_cgroup_cpu_s(const struct tool_cgroup *cgroup);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What perfsage changes for itself while it counts. See inheritance.h. */
#include "inheritance.h"

void tool_inheritance_take(struct tool_inheritance *inheritance, const sigset_t *blocked)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	const struct sigaction ignored = {.sa_handler = SIG_IGN};

	sigprocmask(SIG_BLOCK, blocked, &inheritance->mask);
	sigaction(SIGCHLD, &by_default, &inheritance->child_action);
	sigaction(SIGPIPE, &ignored, &inheritance->pipe_action);
	if (getrlimit(RLIMIT_NOFILE, &inheritance->descriptors) == 0) {
		struct rlimit most = {.rlim_cur = inheritance->descriptors.rlim_max,
		                      .rlim_max = inheritance->descriptors.rlim_max};
		setrlimit(RLIMIT_NOFILE, &most);
	}
}

void tool_inheritance_give(const struct tool_inheritance *inheritance)
{
	setrlimit(RLIMIT_NOFILE, &inheritance->descriptors);
	sigaction(SIGPIPE, &inheritance->pipe_action, NULL);
	sigaction(SIGCHLD, &inheritance->child_action, NULL);
	sigprocmask(SIG_SETMASK, &inheritance->mask, NULL);
}

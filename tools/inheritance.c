/* SPDX-License-Identifier: BSD-3-Clause */
/* What perfsage changes for itself while it counts. See inheritance.h. */
#include "tools/inheritance.h"

#include "tools/ending.h"

/* Those of ending.h are behind the first two. */
static const int changed[TOOL_CHANGED_ACTIONS] = {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void take_actions(struct tool_inheritance *inheritance)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct sigaction ignored = {.sa_handler = SIG_IGN};
	struct sigaction ending = {.sa_handler = tool_ending_handle};

	for (size_t index = 0; index < tool_ending_signal_count; index++)
		sigaddset(&ending.sa_mask, tool_ending_signals[index]);
	for (size_t index = 0; index < TOOL_CHANGED_ACTIONS; index++) {
		struct sigaction *present = &inheritance->actions[index];
		sigaction(changed[index], NULL, present);
		if (changed[index] == SIGCHLD)
			sigaction(SIGCHLD, &by_default, NULL);
		else if (changed[index] == SIGPIPE)
			sigaction(SIGPIPE, &ignored, NULL);
		else if (present->sa_handler != SIG_IGN)
			sigaction(changed[index], &ending, NULL);
	}
}

void tool_inheritance_take(struct tool_inheritance *inheritance, const sigset_t *blocked)
{
	sigprocmask(SIG_BLOCK, blocked, &inheritance->mask);
	take_actions(inheritance);
	if (getrlimit(RLIMIT_NOFILE, &inheritance->descriptors) == 0) {
		struct rlimit most = {.rlim_cur = inheritance->descriptors.rlim_max,
		                      .rlim_max = inheritance->descriptors.rlim_max};
		setrlimit(RLIMIT_NOFILE, &most);
	}
}

void tool_inheritance_give(const struct tool_inheritance *inheritance)
{
	setrlimit(RLIMIT_NOFILE, &inheritance->descriptors);
	for (size_t index = 0; index < TOOL_CHANGED_ACTIONS; index++)
		sigaction(changed[index], &inheritance->actions[index], NULL);
	sigprocmask(SIG_SETMASK, &inheritance->mask, NULL);
}

void tool_inheritance_ignored(const struct tool_inheritance *inheritance, sigset_t *out)
{
	sigemptyset(out);
	for (size_t index = 0; index < TOOL_CHANGED_ACTIONS; index++) {
		if (changed[index] == SIGPIPE && inheritance->actions[index].sa_handler != SIG_IGN)
			sigaddset(out, SIGPIPE);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands to be counted. The child of fork waits in a read: nothing that
 * perfsage opens meanwhile gets into the command, as every descriptor is closed
 * by its exec.
 */
#include "tools/watcher.h"

#include "tools/command.h"
#include "tools/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than execvp takes of the stack for a path. */
#define WARM_BYTES 16384

/* A control group has what the child does before its exec: the pages for that are touched now, by
 * calls that do nothing. Returns a byte of the stack, so that it is used. */
static __attribute__((noinline)) char launch_warm_up(int go, char **argv)
{
	volatile char stack[WARM_BYTES];
	char absent[NAME_MAX + 1];

	for (size_t at = 0; at < sizeof stack; at += 256)
		stack[at] = 0;
	/* The search in PATH has code of its own. No file has such a name. */
	memset(absent, '\1', NAME_MAX);
	absent[NAME_MAX] = '\0';
	execvp(strchr(argv[0], '/') ? "/" : absent, argv);
	if (read(go, (char *)stack, 0) < 0)
		return 1;
	return stack[0];
}

/* 0: the child waits from now on; else the errno of its exec. */
static void launch_tell(int parent, int error)
{
	while (write(parent, &error, sizeof error) < 0 && errno == EINTR)
		;
}

/* False: the child has ended. */
static bool launch_hear(int child, int *error)
{
	ssize_t got;

	do {
		got = read(child, error, sizeof *error);
	} while (got < 0 && errno == EINTR);
	return got == sizeof *error;
}

/* The child, until it is the command. Ends quietly when perfsage has ended or
 * has thought better of it. */
static _Noreturn void launch_be_child(int go, int failure, char **argv)
{
	char byte = launch_warm_up(go, argv);
	ssize_t got;

	launch_tell(failure, 0);
	do {
		got = read(go, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(TOOL_FAILED);
	execvp(argv[0], argv);
	launch_tell(failure, errno);
	_exit(TOOL_NOT_FOUND);
}

static void launch_complain_pipe(void)
{
	tool_complain("no pipe to the command: %s%s", strerror(errno),
	              errno == EMFILE ? ": raise the limit with ulimit -n" : "");
}

int tool_launch_create(struct tool_launch *launch, char **argv, struct tool_watcher *watcher)
{
	int go[2];
	int failure[2];

	/* Before the pipes, whose ends it must not have. */
	tool_witness_create(&watcher->witness);
	if (pipe2(go, O_CLOEXEC) < 0)
		return launch_complain_pipe(), -1;
	if (pipe2(failure, O_CLOEXEC) < 0) {
		launch_complain_pipe();
		goto close_go;
	}
	pid_t pid = fork();
	if (pid < 0) {
		tool_complain("no process for '%s': fork: %s", argv[0], strerror(errno));
		goto close_failure;
	}
	if (pid == 0) {
		/* The child closes its copy of the writing end of `go`: only
		 * perfsage has one then, and the child sees when that is closed. */
		close(go[1]);
		tool_state_restore(&watcher->state);
		launch_be_child(go[0], failure[1], argv);
	}
	close(go[0]);
	close(failure[1]);
	*launch = (struct tool_launch){.pid = pid, .go = go[1], .failure = failure[0]};
	/* That it has ended is seen when it is to go. */
	int ready;
	launch_hear(failure[0], &ready);
	return 0;
close_failure:
	close(failure[0]);
	close(failure[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return -1;
}

static int launch_reap(const struct tool_launch *launch)
{
	int wait_status = 0;

	while (waitpid(launch->pid, &wait_status, 0) < 0 && errno == EINTR)
		;
	return wait_status;
}

void tool_launch_cancel(struct tool_launch *launch)
{
	close(launch->go);
	close(launch->failure);
	launch_reap(launch);
}

bool tool_launch_finds(const char *name, int mode)
{
	const char *path = getenv("PATH");

	for (const char *folder = path ? path : ""; *folder;) {
		char file[4096];
		size_t length = strcspn(folder, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)length, folder, name);
		if (access(file, mode) == 0)
			return true;
		folder += length + (folder[length] == ':');
	}
	return false;
}

/* Tells why the exec failed, and the status that shells have for it. */
static int launch_complain_exec(const char *name, int error)
{
	/* One of the folders of PATH that may not be entered is no reason to
	 * say that the command may not be run. */
	if (error == EACCES && !strchr(name, '/') && !tool_launch_finds(name, F_OK))
		error = ENOENT;
	if (error == ENOENT && strchr(name, '/') && access(name, F_OK) == 0) {
		tool_complain("'%s' can't be run: the interpreter in its first line, or its "
		              "loader, does not exist",
		              name);
		return TOOL_NOT_FOUND;
	}
	if (error == ENOENT) {
		tool_complain("there is no command '%s'%s", name,
		              strchr(name, '/') ? "" : " in the folders of PATH");
		return TOOL_NOT_FOUND;
	}
	tool_complain("'%s' can't be run: %s", name, strerror(error));
	return TOOL_NOT_EXECUTABLE;
}

int tool_launch_go(struct tool_launch *launch, char **argv, struct tool_watcher *watcher)
{
	int error = 0;

	if (write(launch->go, "", 1) != 1)
		error = errno;
	close(launch->go);
	/* An exec can take its time, on a file system that is slow to answer:
	 * signals reach the child meanwhile. */
	watcher->command = launch->pid;
	tool_watcher_until(watcher, launch->failure, POLLIN);
	bool has_failed = launch_hear(launch->failure, &error);
	close(launch->failure);
	if (!has_failed && error == 0)
		return 0;
	int wait_status = watcher->command ? launch_reap(launch) : watcher->wait_status;
	watcher->command = 0;
	watcher->has_kept = false;
	if (!has_failed && WIFSIGNALED(wait_status)) {
		tool_complain("'%s' was ended before it began: %s", argv[0],
		              strsignal(WTERMSIG(wait_status)));
		return tool_launch_status(wait_status);
	}
	return launch_complain_exec(argv[0], error);
}

int tool_launch_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return TOOL_BY_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

int tool_watcher_status(const struct tool_watcher *watcher, enum tool_wakeup wakeup)
{
	if (wakeup == TOOL_WAKEUP_COMMAND)
		return tool_launch_status(watcher->wait_status);
	/* Ctrl-C is how counting of what goes on for ever is ended. */
	if (wakeup == TOOL_WAKEUP_SIGNAL && watcher->signal != SIGINT)
		return TOOL_BY_SIGNAL + watcher->signal;
	return TOOL_OK;
}

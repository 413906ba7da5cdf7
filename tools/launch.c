/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts commands that are to be counted. The forked child waits in a read until its events are
 * open. Descriptors that perfsage opens meanwhile don't reach the command, because its exec closes
 * them.
 */
#include "tools/watcher.h"

#include "tools/command.h"
#include "tools/options.h"
#include "tools/processes.h"
#include "tools/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <perfsage.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More stack than execvp uses for a path. */
#define WARM_BYTES 16384

/* Touches the memory pages that the child needs until its exec, by calls without effect. Otherwise
 * a control group would count the page faults of these pages as the command's. Returns a byte of
 * the stack, so that the compiler keeps the array. */
static __attribute__((noinline)) char launch_warm_up(int go, char **argv)
{
	volatile char stack[WARM_BYTES];
	char absent[NAME_MAX + 1];

	for (size_t at = 0; at < sizeof stack; at += 256)
		stack[at] = 0;
	/* execvp's search in PATH is separate code, so it is run, too, with a name that no file
	 * has. */
	memset(absent, '\1', NAME_MAX);
	absent[NAME_MAX] = '\0';
	execvp(strchr(argv[0], '/') ? "/" : absent, argv);
	if (read(go, (char *)stack, 0) < 0)
		return 1;
	return stack[0];
}

/* Sends the parent 0 when the child begins to wait, or the errno if its exec failed. */
static void launch_tell(int parent, int error)
{
	while (write(parent, &error, sizeof error) < 0 && errno == EINTR)
		;
}

/* Receives a message. Returns false if the other process ended without sending one. */
static bool launch_hear(int other, void *out, size_t bytes)
{
	ssize_t got;

	do {
		got = read(other, out, bytes);
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)bytes;
}

/* Runs in the child until it becomes the command. Exits silently if perfsage has ended or cancelled
 * the launch. */
static _Noreturn void launch_be_child(int go, int failure, char **argv)
{
	char byte = launch_warm_up(go, argv);

	launch_tell(failure, 0);
	if (!launch_hear(go, &byte, 1))
		_exit(tool_status_number(TOOL_FAILED));
	execvp(argv[0], argv);
	launch_tell(failure, errno);
	_exit(TOOL_NOT_FOUND);
}

static int launch_complain_pipe(void)
{
	return tool_complain("no pipe to the command: %s%s", strerror(errno),
	                     errno == EMFILE ? ": raise the limit with ulimit -n" : "");
}

int tool_launch_create(struct tool_launch *launch, char **argv, struct tool_watcher *watcher)
{
	int go[2];
	int failure[2];

	tool_watcher_hold(watcher);
	/* Create the witness before the pipes, so that it doesn't inherit their ends. */
	tool_witness_create(&watcher->witness);
	if (pipe2(go, O_CLOEXEC) < 0)
		return launch_complain_pipe();
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
		/* Without this the child would keep `go` open itself, and would not see that
		 * perfsage closed it. */
		close(go[1]);
		tool_state_restore(&watcher->state);
		launch_be_child(go[0], failure[1], argv);
	}
	close(go[0]);
	close(failure[1]);
	*launch = (struct tool_launch){.pid = pid, .go = go[1], .failure = failure[0]};
	/* If the child has already ended, tool_launch_go notices it. */
	int ready;
	launch_hear(failure[0], &ready, sizeof ready);
	return 0;
close_failure:
	close(failure[0]);
	close(failure[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return -1;
}

void tool_launch_cancel(struct tool_launch *launch)
{
	close(launch->go);
	close(launch->failure);
	tool_process_reap(launch->pid);
}

/* True if the word begins as a shell's assignment, as "OMP_NUM_THREADS=4". */
static bool launch_is_assignment(const char *word)
{
	size_t length = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	                             "0123456789");

	return length > 0 && word[length] == '=' && (word[0] < '0' || word[0] > '9');
}

static bool launch_is_event(const char *word)
{
	struct ps_eventset *set;

	if (ps_eventset_create(&set) != PS_OK)
		return false;
	int code = ps_eventset_add(set, word);
	ps_eventset_destroy(set);
	/* PS_ENOSUPP: an event that this machine can't count. */
	return code == PS_OK || code == PS_ENOSUPP;
}

/* True for a line that a shell would take: with an operator, or with a program as its first word.
 * Another name with a blank is that of a file. */
static bool launch_is_line(const char *name)
{
	size_t length = strcspn(name, TOOL_BLANKS);
	char word[PATH_MAX], file[PATH_MAX];

	if (strpbrk(name, "|&;<>"))
		return true;
	if (!name[length] || length >= sizeof word)
		return false;
	snprintf(word, sizeof word, "%.*s", (int)length, name);
	return strchr(word, '/') ? access(word, X_OK) == 0 : tool_program_find(word, X_OK, file);
}

/* Complains that no file has the command's name, and tells what the user may have meant. */
static void launch_complain_missing(const char *name)
{
	const char *where = strchr(name, '/') ? "" : " in the folders of PATH";
	struct stat what;

	if (launch_is_assignment(name))
		tool_complain("there is no command '%s': variables of the command stand before "
		              "perfsage, or behind env, as in env %s COMMAND",
		              name, name);
	else if (launch_is_line(name))
		tool_complain("there is no command '%s': in quotes it is one word. Give each word "
		              "by itself, or a line for the shell as sh -c 'LINE'",
		              name);
	else if (!strchr(name, '/') && stat(name, &what) == 0 && S_ISREG(what.st_mode))
		tool_complain("there is no command '%s'%s: the file of this folder is ./%s", name,
		              where, name);
	else if (launch_is_event(name))
		tool_complain("there is no command '%s'%s: the events of perfsage stat stand "
		              "behind -e, with commas between them",
		              name, where);
	else
		tool_complain("there is no command '%s'%s", name, where);
}

static void launch_complain_refused(const char *name, const char *file, int error)
{
	struct stat what;

	if (error == EACCES && stat(file, &what) == 0 && S_ISDIR(what.st_mode))
		tool_complain("'%s' can't be run: it is a folder", name);
	else if (error == EACCES && stat(file, &what) == 0 && !(what.st_mode & 0111))
		tool_complain("'%s' can't be run: %s. A script needs chmod +x, or its interpreter "
		              "before it",
		              name, strerror(error));
	else
		tool_complain("'%s' can't be run: %s", name, strerror(error));
}

/* Complains that the exec failed. Returns the status that shells use for it. */
static int launch_complain_exec(const char *name, int error)
{
	char file[PATH_MAX];

	/* execvp reports EACCES if a folder of PATH is unreadable, even if no other folder has the
	 * command. */
	if (strchr(name, '/'))
		snprintf(file, sizeof file, "%s", name);
	else if (error == EACCES && !tool_program_find(name, F_OK, file))
		error = ENOENT;
	if (error == ENOENT && strchr(name, '/') && access(name, F_OK) == 0) {
		tool_complain("'%s' can't be run: the interpreter in its first line, or its "
		              "loader, does not exist",
		              name);
		return TOOL_NOT_FOUND;
	}
	if (error == ENOENT) {
		launch_complain_missing(name);
		return TOOL_NOT_FOUND;
	}
	launch_complain_refused(name, file, error);
	return TOOL_NOT_EXECUTABLE;
}

int tool_launch_go(struct tool_launch *launch, char **argv, struct tool_watcher *watcher)
{
	int error = 0;

	if (write(launch->go, "", 1) != 1)
		error = errno;
	close(launch->go);
	/* An exec may take long on a slow file system. Pass on signals to the child meanwhile. */
	watcher->command = launch->pid;
	tool_watcher_until(watcher, launch->failure, POLLIN);
	bool has_failed = launch_hear(launch->failure, &error, sizeof error);
	close(launch->failure);
	if (!has_failed && error == 0)
		return 0;
	int wait_status = watcher->command ? tool_process_reap(launch->pid) : watcher->wait_status;
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
	/* Ctrl-C is the usual way to end counting without a command. */
	if (wakeup == TOOL_WAKEUP_SIGNAL && watcher->signal != SIGINT)
		return TOOL_BY_SIGNAL + watcher->signal;
	return TOOL_OK;
}

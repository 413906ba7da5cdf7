/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with marks that closes descriptors which it has not opened, between two visits of a
 * region with so many pages each. It ends with 0 if all of its own files are what they should be,
 * and with 77 if the system lacks the call. */
#include "touch.h"

#include <errno.h>
#include <fcntl.h>
#include <perfsage/marks.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES   100
#define PIPES   20
#define NUMBERS 9000

/* Older C libraries don't have these. */
int close_range(unsigned first, unsigned last, int flags) __attribute__((weak));
void closefrom(int least) __attribute__((weak));

static int pipes[PIPES][2];

/* Each is closed, or it is said that it isn't open. */
static int close_each(void)
{
	int wrong = 0;

	for (int fd = 3; fd < NUMBERS; fd++)
		wrong |= close(fd) < 0 && errno != EBADF;
	return wrong;
}

static int close_directly(void)
{
	for (int fd = 3; fd < NUMBERS; fd++)
		syscall(SYS_close, fd);
	return 0;
}

/* Another number for one end of a pipe: all numbers from 3 to the last one. */
static int overwrite(int last)
{
	struct stat wanted, found;
	int from = pipes[0][0];

	if (fstat(from, &wanted) < 0)
		return 71;
	for (int fd = 3; fd <= last; fd++) {
		if (fd == pipes[0][0] || fd == pipes[0][1])
			continue;
		int to = fd % 2 ? dup2(from, fd) : dup3(from, fd, O_CLOEXEC);
		if (to != fd || fstat(fd, &found) < 0 || found.st_ino != wanted.st_ino)
			return 72;
	}
	return 0;
}

/* What the program has opened it can close. */
static bool close_copies(int last)
{
	bool are_closed = true;

	for (int fd = 3; fd <= last; fd++)
		are_closed &= close(fd) == 0;
	return are_closed;
}

static int last_number(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : (int)limit.rlim_cur - 1;
}

/* The child has the parent's memory, and closes descriptors of its own. */
static int spawn(void)
{
	int status = 1;
	pid_t child = vfork();

	if (child == 0) {
		for (int fd = 3; fd < NUMBERS; fd++)
			close(fd);
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(1);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5
	           ? 0
	           : 74;
}

static int work_as(const char *how)
{
	if (strcmp(how, "each") == 0)
		return close_each();
	if (strcmp(how, "direct") == 0 || strcmp(how, "inside") == 0)
		return close_directly();
	if (strcmp(how, "vfork") == 0)
		return spawn();
	if (strcmp(how, "range") == 0)
		return !close_range                 ? 77
		       : close_range(3, ~0U, 0) < 0 ? errno == ENOSYS ? 77 : 75
		                                    : 0;
	if (strcmp(how, "from") == 0 && closefrom)
		closefrom(3);
	return strcmp(how, "from") == 0 && !closefrom ? 77 : 0;
}

static int make_pipes(int count)
{
	for (int index = 0; index < count; index++) {
		if (pipe(pipes[index]) < 0 || write(pipes[index][1], "0123456789", 10) != 10)
			return 1;
	}
	return 0;
}

static int find_missing(int count)
{
	char text[32];

	for (int index = 0; index < count; index++) {
		if (read(pipes[index][0], text, sizeof text) != 10)
			return 1;
	}
	return 0;
}

/* closing each|range|from|direct|inside|vfork|dup199|dupall */
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	bool overwrites = strncmp(how, "dup", 3) == 0;
	int count = overwrites ? 1 : PIPES, result = 0;

	PS_REGION("around")
	{
		PS_REGION("r")
		touch(PAGES);
		if (overwrites)
			result = make_pipes(count)
			             ? 76
			             : overwrite(strcmp(how, "dup199") == 0 ? 199 : last_number());
		else if (strcmp(how, "inside") != 0)
			result = work_as(how);
		if (!overwrites && make_pipes(count))
			result = 76;
		PS_REGION("r")
		{
			touch(PAGES);
			if (strcmp(how, "inside") == 0)
				close_directly();
		}
	}
	if (strcmp(how, "inside") != 0 && find_missing(count))
		result = 78;
	if (overwrites && !close_copies(strcmp(how, "dup199") == 0 ? 199 : last_number()))
		result = 79;
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where another task was last seen: the 39th field of its stat file in /proc, read by a kept descriptor. */
#include "base/error.h"
#include "base/os.h"
#include "locate/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* proc(5): the name is the 2nd field, the state the 3rd, "processor" the 39th. */
#define FIELDS_FROM_NAME_TO_CPU 37
#define LARGEST_CPU             (1 << 24)

/* A name of 15 bytes and 50 numbers of at most 20 digits fit. */
#define STAT_BYTES 1152

int ps__task_open(struct ps__task *task, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return ps__fail(PS_ECOUNT, "%s: %s; one descriptor is kept for each attached thread (see ulimit -n)",
		                path, strerror(errno));
	if (fd < 0)
		return ps__fail(PS_ESYS, "there is no thread %d (%s: %s)", (int)tid, path, strerror(errno));
	*task = (struct ps__task){.tid = tid, .fd = fd};
	return PS_OK;
}

void ps__task_close(struct ps__task *task)
{
	if (task->fd >= 0)
		ps__os.close(task->fd);
	task->fd = -1;
}

/* memrchr is no C or POSIX function, and a name may hold parentheses: the last one ends it. */
static const char *end_of_name(const char *stat, size_t length)
{
	for (const char *at = stat + length; at > stat; at--) {
		if (at[-1] == ')')
			return at;
	}
	return NULL;
}

int ps__task_parse_cpu(const char *stat, size_t length)
{
	const char *end = stat + length;
	const char *at = end_of_name(stat, length);
	int cpu = 0;

	if (!at)
		return -1;
	for (int field = 0; field < FIELDS_FROM_NAME_TO_CPU; field++) {
		at = memchr(at, ' ', (size_t)(end - at));
		if (!at)
			return -1;
		at++;
	}
	const char *digits = at;
	for (; at < end && *at >= '0' && *at <= '9' && cpu < LARGEST_CPU; at++)
		cpu = 10 * cpu + (*at - '0');
	return at > digits && cpu < LARGEST_CPU ? cpu : -1;
}

int ps__task_cpu(const struct ps__task *task, bool *ended)
{
	char stat[STAT_BYTES];
	ssize_t length;

	do {
		length = ps__os.pread(task->fd, stat, sizeof stat, 0);
	} while (length < 0 && errno == EINTR);
	if (length < 0 && (errno == ESRCH || errno == ENOENT))
		*ended = true;
	return length > 0 ? ps__task_parse_cpu(stat, (size_t)length) : -1;
}

bool ps__locate_is_alive(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	/* Only a clear "no such file" says that it has ended. */
	if (fd < 0)
		return errno != ENOENT && errno != ESRCH;
	ps__os.close(fd);
	return true;
}

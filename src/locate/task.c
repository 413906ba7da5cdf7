/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds where another task was last seen: the 39th field of its stat file in /proc, read by a kept
 * descriptor. */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "locate/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* proc(5): the name is the 2nd field, the state the 3rd, "num_threads" the 20th, "processor" the
 * 39th. */
#define FIELDS_FROM_NAME_TO_STATE   1
#define FIELDS_FROM_NAME_TO_THREADS 18
#define FIELDS_FROM_NAME_TO_CPU     37
#define LARGEST_NUMBER              (1 << 24)

/* A name of 15 bytes and 50 numbers of at most 20 digits fit. */
#define STAT_BYTES 1152

/* The kernel refuses a mask smaller than its own before it looks for the task. */
#define LARGEST_MASK_CPUS 65536

bool ps__locate_has_proc(void)
{
	int fd = ps__os.open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		ps__os.close(fd);
	/* With other errors, as for lack of descriptors, it is there. */
	return fd >= 0 || errno != ENOENT;
}

/* The kernel tells this of a task without /proc. */
static bool is_known_to_kernel(pid_t tid)
{
	unsigned long mask[LARGEST_MASK_CPUS / (8 * sizeof(unsigned long))];

	return ps__os.sched_getaffinity(tid, sizeof mask, (cpu_set_t *)mask) >= 0 || errno != ESRCH;
}

int ps__task_open(struct ps__task *task, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	int error = errno;
	if (fd < 0 && error == ENOENT && !ps__locate_has_proc() && is_known_to_kernel(tid)) {
		*task = (struct ps__task){.tid = tid, .fd = -1};
		return PS_OK;
	}
	errno = error;
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return ps__fail(PS_ECOUNT,
		                "%s: %s; one descriptor is kept for each attached "
		                "thread: " PS__ADVICE_DESCRIPTORS,
		                path, strerror(errno));
	if (fd < 0)
		return ps__fail(PS_ESYS, "there is no thread %d (%s: %s)", (int)tid, path,
		                strerror(errno));
	*task = (struct ps__task){.tid = tid, .fd = fd};
	return PS_OK;
}

static ssize_t read_stat(int fd, char stat[STAT_BYTES])
{
	ssize_t length;

	do {
		length = ps__os.pread(fd, stat, STAT_BYTES, 0);
	} while (length < 0 && errno == EINTR);
	return length;
}

/* The program may have closed it, and opened something else under the number. */
static bool is_own_file(const struct ps__task *task)
{
	char stat[STAT_BYTES], start[32];
	ssize_t length = read_stat(task->fd, stat);
	int needed = snprintf(start, sizeof start, "%d (", (int)task->tid);

	if (length < 0)
		return errno != EBADF && errno != ESPIPE && errno != EISDIR;
	return length >= needed && memcmp(stat, start, (size_t)needed) == 0;
}

void ps__task_close(struct ps__task *task)
{
	if (task->fd >= 0 && is_own_file(task))
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

static const char *find_field(const char *stat, size_t length, int fields_from_name)
{
	const char *end = stat + length;
	const char *at = end_of_name(stat, length);

	for (int field = 0; at && field < fields_from_name; field++) {
		at = memchr(at, ' ', (size_t)(end - at));
		if (at)
			at++;
	}
	return at;
}

static int parse_number(const char *stat, size_t length, int fields_from_name)
{
	const char *end = stat + length;
	const char *at = find_field(stat, length, fields_from_name);
	const char *digits = at;
	int number = 0;

	for (; at && at < end && *at >= '0' && *at <= '9' && number < LARGEST_NUMBER; at++)
		number = 10 * number + (*at - '0');
	/* A number at the very end may be cut. */
	return at > digits && at < end && number < LARGEST_NUMBER ? number : -1;
}

int ps__task_parse_cpu(const char *stat, size_t length)
{
	return parse_number(stat, length, FIELDS_FROM_NAME_TO_CPU);
}

/* One that has ended keeps its file until its parent has taken notice; X is the moment after
 * that. */
static bool is_zombie(const char *stat, size_t length)
{
	const char *state = find_field(stat, length, FIELDS_FROM_NAME_TO_STATE);

	return state && state < stat + length && (*state == 'Z' || *state == 'X');
}

int ps__task_cpu(const struct ps__task *task, bool *ended)
{
	char stat[STAT_BYTES];

	if (task->fd < 0) {
		*ended = *ended || !is_known_to_kernel(task->tid);
		return -1;
	}
	ssize_t length = read_stat(task->fd, stat);
	if (length < 0 && (errno == ESRCH || errno == ENOENT))
		*ended = true;
	if (length <= 0)
		return -1;
	/* A process whose first thread has ended lives on in the others. */
	if (is_zombie(stat, (size_t)length) &&
	    (!task->is_process ||
	     parse_number(stat, (size_t)length, FIELDS_FROM_NAME_TO_THREADS) <= 1))
		*ended = true;
	return ps__task_parse_cpu(stat, (size_t)length);
}

bool ps__task_is_zombie(const struct ps__task *task)
{
	char stat[STAT_BYTES];
	ssize_t length = task->fd < 0 ? -1 : read_stat(task->fd, stat);

	return length > 0 && is_zombie(stat, (size_t)length);
}

bool ps__locate_is_alive(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	/* Only a clear "no such file" says that it has ended, and only where there are such
	 * files. */
	if (fd < 0)
		return (errno != ENOENT && errno != ESRCH) ||
		       (!ps__locate_has_proc() && is_known_to_kernel(tid));
	bool has_ended = ps__task_is_zombie(&(struct ps__task){.tid = tid, .fd = fd});
	ps__os.close(fd);
	return !has_ended;
}

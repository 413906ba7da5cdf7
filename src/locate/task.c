/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads another task's stat file in /proc through a kept descriptor: its last CPU (the 39th field),
 * times, parent and flags. Also reads the Tgid of its status file. */
#include "base/advice.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/proc_status.h"
#include "locate/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* proc(5): the name is the 2nd field, the state the 3rd, "ppid" the 4th, "flags" the 9th, "utime"
 * the 14th, "stime" the 15th, "num_threads" the 20th, "starttime" the 22nd, "processor" the 39th.
 */
#define FIELDS_FROM_NAME_TO_STATE   1
#define FIELDS_FROM_NAME_TO_PARENT  2
#define FIELDS_FROM_NAME_TO_FLAGS   7
#define FIELDS_FROM_NAME_TO_USER    12
#define FIELDS_FROM_NAME_TO_SYSTEM  13
#define FIELDS_FROM_NAME_TO_THREADS 18
#define FIELDS_FROM_NAME_TO_START   20
#define FIELDS_FROM_NAME_TO_CPU     37
#define LARGEST_NUMBER              (INT64_MAX / 100)
#define MOST_CPUS                   (1 << 24)

/* A bit of "flags": the kernel's PF_EXITING, which has had this value since Linux 2.6. */
#define FLAG_EXITING 0x4

/* Longest wait for the end of an exiting task, and the time between two looks at it. */
#define END_WAIT_US  1000000
#define END_PAUSE_US 50

/* A name of 15 bytes and 50 numbers of at most 20 digits fit. */
#define STAT_BYTES      1152
#define STAT_PATH_BYTES 64

/* The kernel refuses a mask smaller than its own before it looks for the task, so the mask must be
 * large. */
#define LARGEST_MASK_CPUS 65536

/* Tgid is the fourth line of a status file, behind the task's name. The list of groups, which may
 * have any length, comes later. */
#define STATUS_HEAD_BYTES 512

bool ps__locate_has_proc(void)
{
	char stat[STAT_BYTES];
	ssize_t length = ps__os_read_file("/proc/self/stat", stat, sizeof stat);
	long pid = length > 0 ? strtol(stat, NULL, 10) : 0;

	/* Any other error, such as no free descriptor, means that /proc is mounted. */
	return length != -ENOENT && (pid == 0 || pid == getpid());
}

bool ps__task_exists(pid_t tid)
{
	unsigned long mask[LARGEST_MASK_CPUS / (8 * sizeof(unsigned long))];

	return ps__os.sched_getaffinity(tid, sizeof mask, (cpu_set_t *)mask) >= 0 || errno != ESRCH;
}

int ps__task_compare_tids(const void *one, const void *other)
{
	pid_t a = *(const pid_t *)one, b = *(const pid_t *)other;

	return (a > b) - (a < b);
}

/* /proc/TID/stat is not used: each read of it adds up the times of all threads of the process, 30
 * ns for each thread. */
static void name_stat(char path[STAT_PATH_BYTES], pid_t tid)
{
	snprintf(path, STAT_PATH_BYTES, "/proc/%d/task/%d/stat", (int)tid, (int)tid);
}

int ps__task_open(struct ps__task *task, pid_t tid)
{
	char path[STAT_PATH_BYTES];

	if (!ps__locate_has_proc() && ps__task_exists(tid)) {
		*task = (struct ps__task){.tid = tid, .fd = -1};
		return PS_OK;
	}
	name_stat(path, tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		return ps__fail(PS_ECOUNT,
		                "%s: %s; one descriptor is kept for each attached "
		                "thread: " PS__ADVICE_DESCRIPTORS,
		                path, strerror(errno));
	int error = errno;
	if (fd < 0 && error == ENOENT && ps__task_exists(tid))
		return ps__fail(PS_ESYS,
		                "thread %d is hidden from this user (%s: %s; /proc is mounted with "
		                "hidepid): count it as its owner or as root",
		                (int)tid, path, strerror(error));
	if (fd < 0)
		return ps__fail(PS_ESYS, "there is no thread %d (%s: %s)", (int)tid, path,
		                strerror(error));
	*task = (struct ps__task){.tid = tid, .fd = fd};
	return PS_OK;
}

static ssize_t task_read_stat(int fd, char stat[STAT_BYTES])
{
	ssize_t length;

	do {
		length = ps__os.pread(fd, stat, STAT_BYTES, 0);
	} while (length < 0 && errno == EINTR);
	return length;
}

/* True if the descriptor is still the task's. The program may have closed it, and opened another
 * file under its number. */
static bool is_own_file(const struct ps__task *task)
{
	char stat[STAT_BYTES], start[32];
	ssize_t length = task_read_stat(task->fd, stat);
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

/* Returns the end of the task's name, which is in parentheses. The name may contain parentheses
 * itself, so the last one ends it. */
static const char *end_of_name(const char *stat, size_t length)
{
	const char *parenthesis = memrchr(stat, ')', length);

	return parenthesis ? parenthesis + 1 : NULL;
}

static const char *task_find_field(const char *stat, size_t length, int fields_from_name)
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

static int64_t task_parse_number(const char *stat, size_t length, int fields_from_name)
{
	const char *end = stat + length;
	const char *at = task_find_field(stat, length, fields_from_name);
	const char *digits = at;
	int64_t number = 0;

	for (; at && at < end && *at >= '0' && *at <= '9' && number < LARGEST_NUMBER; at++)
		number = 10 * number + (*at - '0');
	/* A number at the very end of the text may be incomplete. */
	return at > digits && at < end && number < LARGEST_NUMBER ? number : -1;
}

static bool is_exiting(const char *stat, size_t length)
{
	int64_t flags = task_parse_number(stat, length, FIELDS_FROM_NAME_TO_FLAGS);

	return flags >= 0 && (flags & FLAG_EXITING);
}

int ps__task_parse_cpu(const char *stat, size_t length)
{
	int64_t cpu = task_parse_number(stat, length, FIELDS_FROM_NAME_TO_CPU);

	return cpu < MOST_CPUS ? (int)cpu : -1;
}

/* True if the task has ended: its state is Z until its parent has waited for it, and X for a moment
 * after that. */
static bool is_zombie(const char *stat, size_t length)
{
	const char *state = task_find_field(stat, length, FIELDS_FROM_NAME_TO_STATE);

	return state && state < stat + length && (*state == 'Z' || *state == 'X');
}

bool ps__task_parse(const char *stat, size_t length, struct ps__task_stat *out)
{
	int64_t user = task_parse_number(stat, length, FIELDS_FROM_NAME_TO_USER);
	int64_t system = task_parse_number(stat, length, FIELDS_FROM_NAME_TO_SYSTEM);

	*out = (struct ps__task_stat){
	    .parent = (pid_t)task_parse_number(stat, length, FIELDS_FROM_NAME_TO_PARENT),
	    .cpu = ps__task_parse_cpu(stat, length),
	    .threads = task_parse_number(stat, length, FIELDS_FROM_NAME_TO_THREADS),
	    .start_ticks = task_parse_number(stat, length, FIELDS_FROM_NAME_TO_START),
	    .ran_ticks = user + system,
	    .is_ending = is_zombie(stat, length) || is_exiting(stat, length),
	};
	return out->cpu >= 0 && out->parent >= 0 && out->start_ticks >= 0 && user >= 0 &&
	       system >= 0;
}

int ps__task_cpu(const struct ps__task *task, bool *ended)
{
	char stat[STAT_BYTES];

	if (task->fd < 0) {
		*ended = *ended || !ps__task_exists(task->tid);
		return -1;
	}
	ssize_t length = task_read_stat(task->fd, stat);
	if (length < 0 && (errno == ESRCH || errno == ENOENT))
		*ended = true;
	if (length <= 0)
		return -1;
	/* A process whose first thread has ended lives on in the others. */
	if (is_zombie(stat, (size_t)length) &&
	    (!task->is_process ||
	     task_parse_number(stat, (size_t)length, FIELDS_FROM_NAME_TO_THREADS) <= 1))
		*ended = true;
	return ps__task_parse_cpu(stat, (size_t)length);
}

bool ps__task_is_zombie(const struct ps__task *task)
{
	char stat[STAT_BYTES];
	ssize_t length = task->fd < 0 ? -1 : task_read_stat(task->fd, stat);

	return length > 0 && is_zombie(stat, (size_t)length);
}

pid_t ps__locate_process(pid_t tid)
{
	char path[64], status[STATUS_HEAD_BYTES];

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	ssize_t length = ps__os_read_head(path, status, sizeof status);
	if (length < 0)
		return (pid_t)length;
	pid_t process = (pid_t)ps__proc_status_number(status, "Tgid", 10, 0);
	return process > 0 ? process : -EINVAL;
}

char ps__task_state(pid_t tid)
{
	char path[STAT_PATH_BYTES], stat[STAT_BYTES];

	name_stat(path, tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '\0';
	ssize_t length = task_read_stat(fd, stat);
	ps__os.close(fd);
	if (length <= 0)
		return '\0';
	const char *state = task_find_field(stat, (size_t)length, FIELDS_FROM_NAME_TO_STATE);
	return state && state < stat + length ? *state : '\0';
}

/* True if the file says that the task has not ended. Sets *exiting if the task no longer runs its
 * program. */
static bool task_runs(int fd, bool *exiting)
{
	char stat[STAT_BYTES];
	ssize_t length = task_read_stat(fd, stat);

	*exiting = length > 0 && is_exiting(stat, (size_t)length);
	if (length < 0)
		return errno != ESRCH && errno != ENOENT;
	return !is_zombie(stat, (size_t)length);
}

bool ps__task_has_ended(pid_t tid)
{
	char path[STAT_PATH_BYTES];
	bool exiting;

	name_stat(path, tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH;
	bool runs = task_runs(fd, &exiting);
	ps__os.close(fd);
	return !runs || exiting;
}

/* Waits for the end of an exiting task, because pthread_join returns before the task's counters
 * have stopped. Returns false for an exiting task, as for one that has ended. */
static bool task_runs_after_its_exit(int fd)
{
	bool exiting;

	for (unsigned waited_us = 0; task_runs(fd, &exiting); waited_us += END_PAUSE_US) {
		if (!exiting)
			return true;
		if (waited_us >= END_WAIT_US)
			break;
		ps__cancel_free_sleep(END_PAUSE_US * 1000);
	}
	return false;
}

bool ps__locate_is_alive(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	int fd = ps__os.open(path, O_RDONLY | O_CLOEXEC);
	/* The thread has ended only if the error is a clear "no such file" and /proc is mounted. */
	if (fd < 0)
		return (errno != ENOENT && errno != ESRCH) ||
		       (!ps__locate_has_proc() && ps__task_exists(tid));
	bool runs = task_runs_after_its_exit(fd);
	ps__os.close(fd);
	return runs;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seam between perfsage and the operating system.
 *
 * Every system call that perfsage makes to count goes through this table, and
 * so does every file that perfsage reads under /proc, /sys and /run. A test
 * replaces entries to script counters, to make calls fail, or to show another
 * machine. Tests of instrumented code therefore need no PMU.
 *
 * A function that is named after a system call does the same as that call, and
 * sets errno on failure. No function may be a cancellation point, as the C
 * library's read(2) is: if pthread_cancel ended a thread there, a call of
 * perfsage would stay half done. The default functions are no
 * cancellation points.
 *
 * Define _GNU_SOURCE before the first include: cpu_set_t needs it. This header
 * is not part of <perfsage.h>.
 */
#ifndef PERFSAGE_HOOKS_H
#define PERFSAGE_HOOKS_H

#include <perfsage/visibility.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perf_event_attr;
union bpf_attr;

struct ps_hooks {
	size_t size; /* sizeof(struct ps_hooks), which grows with later versions */

	int (*perf_event_open)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
	                       unsigned long flags);
	int (*ioctl)(int fd, unsigned long request, unsigned long argument);
	ssize_t (*read)(int fd, void *buffer, size_t size_bytes);
	ssize_t (*pread)(int fd, void *buffer, size_t size_bytes, off_t offset);
	/* Files under /proc, /sys and /run, files of metrics, and directories of control groups;
	 * read-only, except for ps_diagnose, which opens a cgroup.procs for writing */
	int (*open)(const char *path, int flags);
	int (*close)(int fd);
	void *(*mmap)(void *address, size_t length_bytes, int protection, int flags, int fd,
	              off_t offset);
	int (*munmap)(void *address, size_t length_bytes);

	/* Calls visit for each name in a directory but "." and "..", in any order,
	 * until visit returns non-zero. Returns that number, 0 at the end, or -1 with
	 * errno set. */
	int (*list)(const char *path, int (*visit)(const char *name, void *context), void *context);

	int (*getcpu)(void);   /* the calling thread's CPU, or -1 */
	pid_t (*gettid)(void); /* the calling thread */
	int (*sched_getaffinity)(pid_t tid, size_t size_bytes, cpu_set_t *mask);
	int (*clock_gettime)(clockid_t clock, struct timespec *now);
	int (*getrlimit)(int resource, struct rlimit *limit);

	void *(*allocate)(size_t size_bytes); /* zeroed memory, or NULL */
	void (*release)(void *memory);

	int (*getrusage)(int who, struct rusage *usage); /* who: RUSAGE_THREAD */
	int (*poll)(struct pollfd *fds, nfds_t count, int timeout_ms);
	struct {
		int (*pipe)(int ends[2], int flags); /* pipe2 */
		ssize_t (*write)(int fd, const void *buffer, size_t size_bytes);
		/* shows whether a descriptor still belongs to that pipe */
		int (*fstat)(int fd, struct stat *status);
	} wake; /* calls that wake a thread which polls */

	int (*bpf)(int command, union bpf_attr *attr, size_t size_bytes); /* bpf(2) */
};

/**
 * The table with which the library starts: the real system.
 *
 * Returns a constant table, never NULL; it may be copied, and the copy changed.
 */
PS_PUBLIC const struct ps_hooks *ps_hooks_default(void);

/**
 * Replaces the table.
 *
 * Call it while no other thread uses the library, and no event set or topology
 * is alive: an object that was made through one table must be released through the
 * same table.
 *
 * hooks - NULL brings back the default. For entries that are NULL the default
 *     is used. A table of an older version is smaller; for entries that this table
 *     lacks the default is used. A table of a newer version is larger; this table is
 *     accepted if all entries that the library lacks are NULL.
 *
 * Errors:
 *   PS_EINVAL - the size is not the size of any version of the table; or the table
 *       is newer than the library, and replaces functions that the library lacks
 */
PS_PUBLIC int ps_hooks_set(const struct ps_hooks *hooks);

#ifdef __cplusplus
}
#endif
#endif

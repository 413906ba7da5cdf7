/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the hardware threads on which a task is, and on which it may run. The set calls these
 * functions at each reading.
 *
 * The caller's own CPU comes from ps__os.getcpu() (glibc takes it from rseq, without a system
 * call).
 */
#ifndef PS_LOCATE_LOCATE_H
#define PS_LOCATE_LOCATE_H

#include "base/file_id.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the one CPU that a task may run on, or -1 if there are several or if the kernel doesn't
 * tell. tid 0: the caller. */
int ps__locate_only_cpu(pid_t tid);

/* Calls visit for each CPU that a task may run on, lowest first, until visit returns non-zero.
 * Returns visit's non-zero result, 0 at the end, or -errno if the mask can't be read. tid 0: the
 * caller. */
int ps__locate_for_each_allowed(pid_t tid, int (*visit)(int cpu, void *context), void *context);

/* Returns the number of possible CPUs, online or not. ps__locate_possible_end returns the largest
 * possible CPU number plus 1. Both return 0 if the kernel doesn't tell. They read a file, so a
 * reading must not call them. */
size_t ps__locate_count_possible(void);
size_t ps__locate_possible_end(void);
/* True if a CPU of this number is possible. Also true if the kernel doesn't tell; then opening an
 * event will fail if the CPU doesn't exist. */
bool ps__locate_is_possible(int cpu);
/* Also false if the kernel doesn't tell: CPUs without the file can't go offline. */
bool ps__locate_is_offline(int cpu);
/* Writes why nothing can be counted on a CPU: it is offline (with the remedy), or the machine lacks
 * it. Returns false if neither is so. */
#define PS__NO_CPU_BYTES 128
bool ps__locate_explain_no_cpu(int cpu, char out[PS__NO_CPU_BYTES]);

/* A task with a kept descriptor of /proc/<tid>/stat. The descriptor never means another task, even
 * if the number is used again. If no /proc is mounted, there is no descriptor: the task's CPU is
 * then unknown, and the task counts as ended once the kernel knows no task of its number. */
struct ps__task {
	pid_t tid;
	int fd; /* -1: not open */
	/* true if tid is the first thread of a process: the process has ended when all its threads
	 * have */
	bool is_process;
};

/* Returns PS_ESYS if there is no such task (the detail sentence names it), PS_ECOUNT if no
 * descriptor is free. */
int ps__task_open(struct ps__task *task, pid_t tid);
/* Closes the descriptor, unless the program has opened another file under its number. */
void ps__task_close(struct ps__task *task);

/* Returns the CPU on which the task was last seen to run; -1 if /proc doesn't tell. Sets *ended to
 * true if the task has ended, even if its parent has not waited for it. Async-signal-safe. */
int ps__task_cpu(const struct ps__task *task, bool *ended);

/* True if the task has ended and its parent has not waited for it yet. The file of a process's
 * first thread stays until the last thread has ended. */
bool ps__task_is_zombie(const struct ps__task *task);

/* True if a task of any process has ended, or is exiting and no longer runs its program. False if
 * /proc doesn't tell. */
bool ps__task_has_ended(pid_t tid);

/* True if the kernel knows a task of this number, of any process. Needs no /proc. */
bool ps__task_exists(pid_t tid);
/* Compares two tids (pid_t), for qsort and bsearch. */
int ps__task_compare_tids(const void *one, const void *other);

/* Returns the letter of a task's state in /proc/<tid>/stat; '\0' if the file can't be read. */
char ps__task_state(pid_t tid);

/* Returns the CPU in the text of /proc/<tid>/stat, or -1 if the text is malformed. The task's name
 * in the text may have any characters. */
int ps__task_parse_cpu(const char *stat, size_t length);

/* More fields of /proc/<tid>/stat. Times are in ticks of sysconf(_SC_CLK_TCK). ps__task_parse
 * returns false if the text is malformed. */
struct ps__task_stat {
	pid_t parent;
	int cpu;
	int64_t
	    start_ticks; /* since the machine's start: no other task of this number has the same */
	int64_t threads; /* number of threads in its process */
	int64_t ran_ticks; /* user and system time */
	bool is_ending;    /* true if it no longer runs its program */
};
bool ps__task_parse(const char *stat, size_t length, struct ps__task_stat *out);

/* True if /proc is mounted. Without it, little is known about tasks. */
bool ps__locate_has_proc(void);

/* Returns the process that a thread belongs to, or -errno. */
pid_t ps__locate_process(pid_t tid);

/* True if a thread of this process still runs. If the thread is exiting, waits for its end, at most
 * a second, so that its counters have stopped when this returns false. */
bool ps__locate_is_alive(pid_t tid);

/* The folder of a control group. */
struct ps__cgroup {
	int fd;
	struct ps__file_id id;
};
/* Opens a control group by its absolute path, or by its path below the mount point of the hierarchy
 * that perf knows. PS_ESYS: there is no such group. PS_EINVAL: a path too long. PS_ECOUNT,
 * PS_ENOMEM. */
int ps__cgroup_open(const char *path, struct ps__cgroup *out);
/* False if the program has closed the folder, even if it has opened another file under the
 * number. */
bool ps__cgroup_is_open(const struct ps__cgroup *cgroup);
void ps__cgroup_close(const struct ps__cgroup *cgroup);

/* Writes the mount point of the hierarchy that perf knows. PS_ESYS: it is not mounted.
 * PS_ENOMEM. */
int ps__cgroup_root(char *folder, size_t size_bytes);

/* Writes the folder of the calling process's own control group, in the hierarchy that perf knows.
 * PS_ESYS, PS_ENOMEM. */
int ps__cgroup_own(char *folder, size_t size_bytes);

#endif

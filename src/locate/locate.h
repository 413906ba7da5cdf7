/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which hardware thread: where a task is, where it may be, and how sure that is. The set asks at
 * each reading.
 *
 * The caller's own CPU is ps__os.getcpu() (glibc answers it from rseq, without a system call).
 */
#ifndef PS_LOCATE_LOCATE_H
#define PS_LOCATE_LOCATE_H

#include "base/file_id.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The one CPU that a task may run on, or -1 if there are several or it can't be told. tid 0: the
 * caller. */
int ps__locate_only_cpu(pid_t tid);

/* Calls visit for each CPU that a task may run on, lowest first, until it returns non-zero. Returns
 * that number, 0 at the end, or -errno: the mask can't be told. tid 0: the caller. */
int ps__locate_for_each_allowed(pid_t tid, int (*visit)(int cpu, void *context), void *context);

/* The CPUs that there can be, online or not: how many; and the largest number plus 1. 0: the kernel
 * doesn't tell. Not for a reading: a file is read. */
size_t ps__locate_count_possible(void);
size_t ps__locate_possible_end(void);
/* Can there be a CPU of this number? Yes where the kernel doesn't tell: opening the event will. */
bool ps__locate_is_possible(int cpu);
/* No where the kernel doesn't tell: its CPUs can't go offline. */
bool ps__locate_is_offline(int cpu);
/* Why nothing can be counted on a CPU: it is offline, with the remedy, or the machine lacks it.
 * False: there is no such reason. */
#define PS__NO_CPU_BYTES 128
bool ps__locate_explain_no_cpu(int cpu, char out[PS__NO_CPU_BYTES]);

/* A kept descriptor of /proc/<tid>/stat: it never names another task, should the number be used
 * again. Where no /proc is mounted there is none: then the task's CPU isn't known, and it has ended
 * when the kernel knows no task of its number. */
struct ps__task {
	pid_t tid;
	int fd;          /* -1: not open */
	bool is_process; /* of which it is the first thread: it has ended when all have */
};

/* PS_ESYS if there is no such task (the detail names it), PS_ECOUNT without a descriptor left. */
int ps__task_open(struct ps__task *task, pid_t tid);
/* The number may be another file's by now, which is left alone. */
void ps__task_close(struct ps__task *task);

/* The CPU on which the task was last seen to run; -1 if it can't be told. *ended becomes true if it
 * has ended, whether its parent has waited for it or not. Async-signal-safe. */
int ps__task_cpu(const struct ps__task *task, bool *ended);

/* Has it ended, while its file is still there? The first thread of a process stays until the last
 * one has ended. */
bool ps__task_is_zombie(const struct ps__task *task);

/* Has a task of any process ended, or does it run none of its program any more? What can't be told
 * has not. */
bool ps__task_has_ended(pid_t tid);

/* Does the kernel know a task of this number, of any process? No /proc is needed. */
bool ps__task_exists(pid_t tid);

/* The letter of a task's state in /proc/<tid>/stat; '\0' if it can't be told. */
char ps__task_state(pid_t tid);

/* The CPU in the text of /proc/<tid>/stat, or -1 if it is no such text. The name in it may hold
 * anything. */
int ps__task_parse_cpu(const char *stat, size_t length);

/* More of that text. Times are in ticks of sysconf(_SC_CLK_TCK). False if it is no such text. */
struct ps__task_stat {
	pid_t parent;
	int cpu;
	int64_t
	    start_ticks; /* since the machine's start: no other task of this number has the same */
	int64_t threads; /* of its process */
	int64_t ran_ticks; /* user and system time */
	bool is_ending;    /* it runs none of its program any more */
};
bool ps__task_parse(const char *stat, size_t length, struct ps__task_stat *out);

/* Is /proc mounted? What stands there about tasks can't be known else. */
bool ps__locate_has_proc(void);

/* The process that a thread belongs to; -errno if that isn't known. */
pid_t ps__locate_process(pid_t tid);

/* Does a thread of this process still run? One that is ending is waited for, a second at most, so
 * that its counters have stopped when this says no. */
bool ps__locate_is_alive(pid_t tid);

/* The folder of a control group. */
struct ps__cgroup {
	int fd;
	struct ps__file_id id;
};
/* By its absolute path, or below the mount point of the hierarchy that perf knows. PS_ESYS: there
 * is none. PS_EINVAL: a path too long. PS_ECOUNT, PS_ENOMEM. */
int ps__cgroup_open(const char *path, struct ps__cgroup *out);
/* The program may have closed it. Another file under its number is left alone. */
bool ps__cgroup_is_open(const struct ps__cgroup *cgroup);
void ps__cgroup_close(const struct ps__cgroup *cgroup);

/* Where the hierarchy that perf knows is mounted. PS_ESYS: nowhere. PS_ENOMEM. */
int ps__cgroup_root(char *folder, size_t size_bytes);

/* The folder of the calling process's own control group, in the hierarchy that perf knows. PS_ESYS,
 * PS_ENOMEM. */
int ps__cgroup_own(char *folder, size_t size_bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For event sets that are attached to a process: what each software thread (task)
 * of the process has counted, on each hardware thread, however short it lived.
 */
#ifndef PERFSAGE_TASK_H
#define PERFSAGE_TASK_H

#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The counts of one software thread on one hardware thread since ps_start. */
struct ps_task {
	pid_t pid;        /* its process */
	pid_t tid;        /* 0: tasks that can't be told apart, see ps_eventset_for_each_task */
	const char *name; /* as /proc/<tid>/comm had it last; "" if it isn't known */
	int cpu;          /* the CPU number */
	const long long *counts; /* of the set's events, in their order; as counted, never scaled */
	/* Numbers that the set uses only once, even if a pid or tid comes again; 0 if tid is 0: */
	size_t task;    /* of this task, from 1 on in the order in which they began */
	size_t process; /* of its process: the number of the first task that the set knows of it */
	int has_lost;   /* nonzero: records were lost, so tid 0 can also have tasks that ended */
};

/**
 * Keeps the counts of a process's tasks apart.
 *
 * The kernel then writes records into rings when a task begins and when a task
 * ends. All readings of the set and ps_eventset_take_tasks empty the rings. Each
 * CPU has a ring of up to 33 pages for the tasks that begin, and another ring of
 * this size for each group of events of each thread that the process has at
 * ps_start. The rings are smaller if there are many rings, or if the user is not
 * allowed to lock enough memory.
 *
 * Each thread that the process has at ps_start takes these additional file
 * descriptors: one for each CPU, one for each CPU and group, and one for itself.
 *
 * set - attached to a process; otherwise ps_start fails with PS_ECOMBO. If the
 *     rings can't be mapped, ps_start fails with PS_ESYS; ps_error_detail() names
 *     the limit.
 * on - 0, the default: the tasks are counted together; any other number: they are
 *     kept apart. The option takes effect at the next ps_start. With it, each
 *     ps_start opens the events anew.
 *
 * Errors:
 *   PS_EINVAL - set is NULL
 *   PS_EISRUN - the set is running or paused
 */
PS_PUBLIC int ps_eventset_set_tasks(struct ps_eventset *set, int on);

/**
 * Empties the rings, so that no record is lost.
 *
 * The rings of a CPU have room for some 900 tasks that begin and end, or for half
 * as many tasks if each task also begins a program.
 *
 * set - a set that keeps tasks apart
 *
 * Errors:
 *   PS_EINVAL - set is NULL
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 *   PS_ENOSUPP - the set doesn't keep tasks apart
 *
 * No system call; may allocate.
 */
PS_PUBLIC int ps_eventset_take_tasks(struct ps_eventset *set);

/**
 * Calls visit for each task and each CPU on which it counted anything.
 *
 * The order is that in which the tasks began. The numbers of all visits add up to
 * the set's raw counts, as of its last reading. When a task ends that was created
 * after ps_start, the kernel writes records of its counts. A thread that the
 * process had at ps_start has no record. The counts without a record are a rest:
 * for each thread of ps_start together with its descendants, on each CPU, and for
 * each event. If exactly one of these tasks has no record, and no record was lost,
 * this task gets the rest. Otherwise visit is called once for each CPU that has
 * such a rest, and tid, task and process are 0.
 *
 * If the first thread of a process calls execve(2), this thread stays the same
 * task. If another thread calls execve(2), this thread gets the process's pid as
 * its tid, and the first thread ends: visit is called for both, with this tid. In
 * both cases the counts from before the call have the name of the new program.
 *
 * From Linux 5.13 on the kernel writes the records of ending tasks only with a fix
 * of December 2025 (c418d8b4d7a4, "perf/core: Fix missing read event generation on
 * task exit"), which is in 6.19 and in newer stable kernels. Without the fix, a
 * thread is told apart only if the process had this thread at ps_start, and if
 * this thread has created no other thread.
 *
 * set - with ps_eventset_set_tasks
 * visit - returns 0 to go on; any other number ends the walk and is returned.
 *     task is valid during the call only. visit must not call the set.
 * context - handed through to visit
 *
 * Returns 0 after a whole walk.
 *
 * Errors:
 *   PS_EINVAL - set or visit is NULL
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 *   PS_ENOSUPP - ps_eventset_set_tasks was not called before ps_start, or the
 *       set's attribution is not exact; ps_error_detail() says why
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_eventset_for_each_task(struct ps_eventset *set,
                                        int (*visit)(const struct ps_task *task, void *context),
                                        void *context);

/** Programs of a process that the kernel did not count. */
struct ps_uncounted {
	size_t programs; /* how many of them began since the events were opened */
	pid_t pid;       /* of the first; 0: there was none */
	char name[16];   /* its name, as /proc/<pid>/comm has it; "" */
};

/**
 * Tells which programs of the attached process the kernel did not count.
 *
 * These programs of the process and of its descendants are set-user-ID or
 * set-group-ID, have file capabilities, or can't be read by the user. Linux stops
 * counting when such a program begins. From then on neither the program nor its
 * descendants are counted. Exception: PS_ATTRIBUTE_BPF counts all programs.
 *
 * As long as no record is lost, the number contains all of these programs, even
 * programs that run very briefly. With PS_ATTRIBUTE_BPF the number is always 0.
 * The number also contains a program that the kernel kills while it begins. From
 * the first reading after the first of these programs began, all known values of
 * the set are PS_STATUS_INCOMPLETE, until the events are opened anew: the library
 * can't see when the program's last descendant ends.
 *
 * set - attached by ps_eventset_attach_process
 * out - written if PS_OK or PS_PARTIAL is returned
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 *   PS_ENOSUPP - the set is not attached to a process, or is attributed by time
 *       shares, looks or last-cpu
 *   PS_PARTIAL - the number can be too small, because records were lost, no ring
 *       could be mapped, or the set was stopped for a while; ps_error_detail()
 *       gives the reason
 *
 * Readings and this call empty the rings of records. Each ring has room for some
 * 250 programs that begin on a CPU between two of these calls. The call makes no
 * system call, but reads the clock. It can allocate memory.
 */
PS_PUBLIC int ps_eventset_uncounted(struct ps_eventset *set, struct ps_uncounted *out);

#ifdef __cplusplus
}
#endif
#endif

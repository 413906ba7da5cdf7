/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software threads (tasks) of a process told apart: what each has counted, on each hardware thread, however short it
 * lived. For event sets that are attached to a process.
 */
#ifndef PERFSAGE_TASK_H
#define PERFSAGE_TASK_H

#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What one software thread has counted on one hardware thread since ps_start. */
struct ps_task {
	pid_t pid;               /* its process */
	pid_t tid;               /* 0: of those that can't be told apart, see ps_eventset_for_each_task */
	const char *name;        /* as /proc/<tid>/comm had it last; "" if it isn't known */
	int cpu;                 /* the CPU number */
	const long long *counts; /* of the set's events, in their order; as counted, never scaled */
};

/**
 * Keeps the counts of a process's tasks apart. The kernel then writes records when a task comes and when it ends, into rings
 * that all readings of the set and ps_eventset_take_tasks empty: for each CPU 132 KiB for what comes, and as much for the
 * counts of a group of events (less where there are several groups). Each CPU takes two file descriptors more, and one for
 * each group more.
 *
 * on: 0, the default, or another number. It acts at the next ps_start; each ps_start then opens the events anew. PS_EINVAL:
 * NULL. PS_EISRUN: the set is running. ps_start fails with PS_ECOMBO if the set isn't attached to a process, and with
 * PS_ESYS if the rings can't be mapped; the detail names the limit.
 */
PS_PUBLIC int ps_eventset_set_tasks(struct ps_eventset *set, int on);

/**
 * Empties the rings, so that no record is lost: they have room for some 900 tasks that come and end, or
 * for half as many that begin a program each.
 *
 * PS_EINVAL: NULL. PS_ENOTRUN: never started. PS_ENOSUPP: the set doesn't keep tasks apart. No system call; may allocate.
 */
PS_PUBLIC int ps_eventset_take_tasks(struct ps_eventset *set);

/**
 * Calls visit for each task and CPU on which it counted anything, in the order in which the tasks came.
 *
 * The sum over all visits is what the set counted, as of its last reading. A task's share is known when it has ended. What
 * is left is that of those that live: if that is one, it is told as its; else it comes as a task of number 0, one
 * for each CPU, and so it does if records were lost, on the CPUs where one is missing.
 *
 * Linux from 5.13 on leaves such records only with a fix of December 2025 (c418d8b4d7a4, "perf/core: Fix missing read event
 * generation on task exit"), which is in 6.19 and in newer stable kernels. Without it only the threads that the process had at
 * ps_start are told apart, unless they create others.
 *
 * visit: returns 0 to go on; any other number ends the walk and is returned. task: valid during the call only. It must
 * not call the set. context is handed through.
 * Returns 0 after a whole walk. PS_EINVAL: a NULL. PS_ENOTRUN: never started. PS_ENOSUPP: ps_eventset_set_tasks was not
 * called before ps_start, or the set's attribution is not exact; the detail says why. PS_ENOMEM.
 */
PS_PUBLIC int ps_eventset_for_each_task(struct ps_eventset *set,
                                        int (*visit)(const struct ps_task *task, void *context), void *context);

/** Programs of a process that the kernel did not count. */
struct ps_uncounted {
	size_t programs; /* how many of them began since the events were opened */
	pid_t pid;       /* of the first; 0: there was none */
	char name[16];   /* its name, as /proc/<pid>/comm has it; "" */
};

/**
 * Tells which programs of the attached process, and of what it creates, the kernel did not count. When a program begins that is
 * set-user-ID or set-group-ID, that has file capabilities, or that the user may not read, Linux takes the events from it. Neither
 * it nor what it starts is counted from then on.
 *
 * The kernel's records of this are exact: no such program is missed, however short it runs, and no other is taken for one, but
 * for a program that the kernel kills while it begins. From the reading on before which the first one began, all values of the
 * set are PS_STATUS_INCOMPLETE, as nobody sees when its last descendant ends; until the events are opened anew.
 *
 * set: attached by ps_eventset_attach_process. out: written if PS_OK or PS_PARTIAL is returned. Readings and this call
 * empty the rings of records; each has room for some 250 programs that begin on a CPU between two such calls.
 * Errors: PS_EINVAL: a NULL. PS_ENOTRUN: never started. PS_ENOSUPP: the set is not attached to a process, or programs can't be
 * watched, as its counts are not split by hardware thread. PS_PARTIAL: there may be others, because records were lost,
 * no ring could be mapped, or the set was stopped for a while; the detail says which. Makes no system call but for the clock; may
 * allocate.
 */
PS_PUBLIC int ps_eventset_uncounted(struct ps_eventset *set, struct ps_uncounted *out);

#ifdef __cplusplus
}
#endif
#endif

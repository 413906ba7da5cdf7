/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a process, as far as they are known: tasks.c gathers it, shares.c tells it. And
 * those that it has when it is opened: process.c. */
#ifndef PS_EVENTSET_TASKS_H
#define PS_EVENTSET_TASKS_H

#include "eventset/eventset.h"

#define PS__NO_ROOT SIZE_MAX

/* A task's counts of one instance, where they aren't 0. */
struct ps__share {
	struct ps__share *next;
	size_t instance;
	long long counts[];
};

struct ps__known_task {
	pid_t pid;
	pid_t tid;
	char name[16];
	size_t process;    /* the index of its first task that is known */
	size_t root;       /* which root's events it has; PS__NO_ROOT: not known */
	bool is_announced; /* a record told that it came; else others told of it */
	bool is_ended;     /* a record told that its events ended */
	bool is_counted;   /* a record told what it counted, on one CPU or more */
	ptrdiff_t next;    /* of the same bucket, older; -1: none */
	struct ps__share *shares;
};

#define PS__TASK_BUCKETS 4096 /* a power of two */

struct ps__tasks {
	size_t cpus; /* in the instances of a root */
	size_t roots;
	size_t event_count;
	struct ps__known_task *tasks;
	uint64_t *known; /* for each task a bit for each CPU and event: its record came */
	size_t count;
	size_t room;
	ptrdiff_t buckets[PS__TASK_BUCKETS]; /* the newest task of those tids; -1: none */
	bool is_incomplete;                  /* records were lost, or memory was short */
};

/* Each task has so many words of `known`. */
static inline size_t ps__task_known_words(const struct ps__tasks *tasks)
{
	return (tasks->cpus * tasks->event_count + 63) / 64;
}

/* Did a record tell what the task, by its index, counted of an event on a CPU, by its place in the
 * root's instances? */
static inline bool ps__task_is_known(const struct ps__tasks *tasks, size_t task, size_t cpu,
                                     size_t event)
{
	size_t bit = cpu * tasks->event_count + event;

	return tasks->known[task * ps__task_known_words(tasks) + bit / 64] >> bit % 64 & 1;
}

/* tasks.c: PS_OK if the set keeps its tasks apart; else a code and a sentence that names the
 * call. */
int ps__set_check_tasks(const struct ps_eventset *set, const char *call);

/* tasks.c: the tasks of a process told apart; take: what the backend has to tell of them. */
int ps__set_open_tasks(struct ps_eventset *set);
void ps__set_close_tasks(struct ps_eventset *set);
void ps__set_take_tasks(struct ps_eventset *set);
/* Programs that the kernel did not count; NULL: they aren't watched. */
const struct ps__uncounted *ps__set_take_uncounted(struct ps_eventset *set);
/* After a fetch of a process: were there any? */
void ps__set_mark_uncounted(struct ps_eventset *set, struct ps__slot *here);

/* process.c: the threads that an attached process has when it is opened. */
int ps__set_list_roots(struct ps_eventset *set);
bool ps__set_drop_ended_root(struct ps_eventset *set);
/* Have threads come since? Returns 0, or the errno for which they can't be listed. */
int ps__set_find_new_roots(const struct ps_eventset *set, bool *has_new);
int ps__set_fail_list(const struct ps_eventset *set, int error);
void ps__set_forget_roots(struct ps_eventset *set);

#endif

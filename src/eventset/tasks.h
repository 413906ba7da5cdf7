/* SPDX-License-Identifier: BSD-3-Clause */
/* The known tasks of a process: tasks.c gathers them, shares.c reports them, and process.c lists
 * the tasks that the process has when it is opened. */
#ifndef PS_EVENTSET_TASKS_H
#define PS_EVENTSET_TASKS_H

#include "eventset/eventset.h"

#define PS__NO_ROOT SIZE_MAX

/* A task's counts on one instance. There is none if all counts are 0. */
struct ps__share {
	struct ps__share *next;
	size_t instance;
	long long counts[];
};

struct ps__known_task {
	pid_t pid;
	pid_t tid;
	char name[16];
	size_t process; /* the index of the first known task of its process */
	/* index of the root whose events it has copied; PS__NO_ROOT: not known */
	size_t root;
	/* its creation is noted: a later creation with its tid is another task's */
	bool is_announced;
	bool is_ended;   /* a record said that its events ended */
	bool is_counted; /* a record has told its counts on one CPU or more */
	ptrdiff_t next;  /* the next older task in the bucket; -1: none */
	struct ps__share *shares;
};

#define PS__TASK_BUCKETS 4096 /* a power of two */

struct ps__tasks {
	size_t cpus; /* number of a root's instances */
	size_t roots;
	size_t event_count;
	struct ps__known_task *tasks;
	/* for each task a bit for each CPU and event: the count's record has come */
	uint64_t *known;
	size_t count;
	size_t room;
	ptrdiff_t buckets[PS__TASK_BUCKETS]; /* the newest task in each bucket; -1: none */
	bool is_incomplete;                  /* records were lost, or memory was short */
};

/* The number of words of `known` for each task. */
static inline size_t ps__task_known_words(const struct ps__tasks *tasks)
{
	return (tasks->cpus * tasks->event_count + 63) / 64;
}

/* True if a record has told what a task counted of an event on a CPU. task: its index; cpu: the
 * instance's index within its root. */
static inline bool ps__task_is_known(const struct ps__tasks *tasks, size_t task, size_t cpu,
                                     size_t event)
{
	size_t bit = cpu * tasks->event_count + event;

	return tasks->known[task * ps__task_known_words(tasks) + bit / 64] >> bit % 64 & 1;
}

/* tasks.c: the list of the tasks. ps__set_take_tasks reads the backend's records. */
int ps__set_open_tasks(struct ps_eventset *set);
void ps__set_close_tasks(struct ps_eventset *set);
void ps__set_take_tasks(struct ps_eventset *set);
/* Returns the programs that the kernel did not count; NULL: they aren't watched. */
const struct ps__uncounted *ps__set_take_uncounted(struct ps_eventset *set);
/* Marks a process's readings as incomplete if there are uncounted programs, or threads were missed.
 * Called in a fetch, after the counters are read. */
void ps__set_mark_uncounted(struct ps_eventset *set, struct ps__slot *here);

/* process.c: the threads that an attached process has when it is opened. */
int ps__set_list_roots(struct ps_eventset *set);
bool ps__set_drop_ended_root(struct ps_eventset *set);
/* Looks for threads that came since. Returns 0, or the errno for which it can't list them. */
int ps__set_find_new_roots(const struct ps_eventset *set, bool *has_new);
int ps__set_fail_list(const struct ps_eventset *set, int error);
void ps__set_forget_roots(struct ps_eventset *set);

#endif

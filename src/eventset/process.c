/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process as a target. Its events are opened for every thread that it has, and inherited by the
 * tasks that these threads create. A thread that is created during the opening may be counted twice
 * or not at all. So the list of threads is read before and after the opening, and the opening is
 * trusted only if no thread has come.
 */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "eventset/attribution.h"
#include "eventset/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of threads, filled while it is read. */
struct list {
	pid_t *tids;
	size_t count;
	size_t room;
};

static int append_number(pid_t tid, struct list *list)
{
	if (!PS__VECTOR_GROW(&list->tids, list->count, &list->room))
		return -ENOMEM;
	list->tids[list->count++] = tid;
	return 0;
}

static int append_tid(const char *name, void *context)
{
	return append_number((pid_t)strtol(name, NULL, 10), context);
}

/* Drops the first thread if it has ended: the kernel lists it, but it can't be counted. */
static void process_drop_ended(struct list *list, const struct ps__task *first)
{
	size_t kept = 0;

	if (!ps__task_is_zombie(first))
		return;
	for (size_t i = 0; i < list->count; i++) {
		if (list->tids[i] != first->tid)
			list->tids[kept++] = list->tids[i];
	}
	list->count = kept;
}

/* Lists the threads of a set's process in rising order. Returns 0 or -errno. Without /proc only the
 * first thread is known. */
static int process_list_threads(const struct ps_eventset *set, struct list *list)
{
	pid_t pid = set->counters.target.tid;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	int result = set->counters.task.fd < 0 ? append_number(pid, list)
	                                       : ps__os.list(path, append_tid, list);
	if (result != 0) {
		int error = result == -1 ? errno : -result;
		ps__os_free(list->tids);
		*list = (struct list){0};
		return -error;
	}
	process_drop_ended(list, &set->counters.task);
	if (list->count)
		qsort(list->tids, list->count, sizeof list->tids[0], ps__task_compare_tids);
	return 0;
}

void ps__set_forget_roots(struct ps_eventset *set)
{
	ps__os_free(set->counters.roots);
	set->counters.roots = NULL;
	ps__os_free(set->counters.root_cpus);
	set->counters.root_cpus = NULL;
	set->counters.target.roots = NULL;
	set->counters.target.root_count = 0;
}

static int make_root_cpus(struct ps_eventset *set)
{
	size_t count = set->counters.target.root_count;

	set->counters.root_cpus = ps__os_calloc(count, sizeof *set->counters.root_cpus);
	if (!set->counters.root_cpus) {
		ps__set_forget_roots(set);
		return ps__fail_memory("the threads of a process");
	}
	for (size_t root = 0; root < count; root++)
		set->counters.root_cpus[root] = -1;
	return PS_OK;
}

int ps__set_fail_list(const struct ps_eventset *set, int error)
{
	pid_t pid = set->counters.target.tid;

	if (error == ENOMEM)
		return ps__fail_memory("the threads of a process");
	if (error == EMFILE || error == ENFILE)
		return ps__fail(PS_ECOUNT,
		                "no file descriptor is left to list the threads of process %d "
		                "(%s): " PS__ADVICE_DESCRIPTORS,
		                (int)pid, strerror(error));
	return ps__fail(PS_ESYS, "process %d %s (/proc/%d/task: %s)", (int)pid,
	                error == ESRCH || error == ENOENT ? "has ended" : "can't be attached",
	                (int)pid, strerror(error));
}

int ps__set_list_roots(struct ps_eventset *set)
{
	struct list list = {0};

	ps__set_forget_roots(set);
	if (set->counters.target.kind != PS__TARGET_PROCESS || ps__set_demands_bpf(set))
		return PS_OK;
	int result = process_list_threads(set, &list);
	if (result < 0 || list.count == 0) {
		ps__os_free(list.tids);
		return ps__set_fail_list(set, result < 0 ? -result : ESRCH);
	}
	set->counters.roots = list.tids;
	set->counters.target.roots = list.tids;
	set->counters.target.root_count = list.count;
	return make_root_cpus(set);
}

static bool is_listed(const struct list *list, pid_t tid)
{
	return list->count &&
	       bsearch(&tid, list->tids, list->count, sizeof tid, ps__task_compare_tids);
}

/* Drops the root that had ended when it was to be opened. True if others are left. */
bool ps__set_drop_ended_root(struct ps_eventset *set)
{
	struct ps__target *target = &set->counters.target;
	size_t kept = 0, count = target->root_count;

	for (size_t root = 0; set->counters.ended_root && root < count; root++) {
		if (set->counters.roots[root] != set->counters.ended_root)
			set->counters.roots[kept++] = set->counters.roots[root];
	}
	if (kept == 0 || kept == count)
		return false;
	target->root_count = kept;
	return true;
}

int ps__set_find_new_roots(const struct ps_eventset *set, bool *has_new)
{
	struct list roots = {.tids = set->counters.roots, .count = set->counters.target.root_count};
	struct list now = {0};

	*has_new = false;
	if (set->counters.target.kind != PS__TARGET_PROCESS || ps__set_demands_bpf(set))
		return 0;
	int error = -process_list_threads(set, &now);
	for (size_t i = 0; i < now.count && !*has_new; i++)
		*has_new = !is_listed(&roots, now.tids[i]);
	ps__os_free(now.tids);
	return error == EMFILE || error == ENFILE || error == ENOMEM ? error : 0;
}

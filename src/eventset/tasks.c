/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers what records tell about the tasks of a process; shares.c reports it. */
#include "eventset/tasks.h"

#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"

#include <perfsage/task.h>
#include <stdio.h>
#include <string.h>

#define FIRST_TASKS 64

static ptrdiff_t *bucket_of(struct ps__tasks *tasks, pid_t tid)
{
	return &tasks->buckets[(size_t)tid & (PS__TASK_BUCKETS - 1)];
}

/* Returns the newest task with this tid; NULL if there is none. */
static struct ps__known_task *tasks_find(struct ps__tasks *tasks, pid_t tid)
{
	ptrdiff_t index = *bucket_of(tasks, tid);

	while (index >= 0 && tasks->tasks[index].tid != tid)
		index = tasks->tasks[index].next;
	return index >= 0 ? &tasks->tasks[index] : NULL;
}

static int tasks_make_room(struct ps__tasks *tasks)
{
	size_t room = tasks->room ? 2 * tasks->room : FIRST_TASKS;
	size_t words = ps__task_known_words(tasks);

	if (tasks->count < tasks->room)
		return 0;
	struct ps__known_task *grown = ps__os_calloc(room, sizeof *grown);
	uint64_t *known = ps__os_calloc(room * words, sizeof *known);
	if (!grown || !known) {
		ps__os_free(grown);
		ps__os_free(known);
		return -1;
	}
	if (tasks->count) {
		memcpy(grown, tasks->tasks, tasks->count * sizeof *grown);
		memcpy(known, tasks->known, tasks->count * words * sizeof *known);
	}
	ps__os_free(tasks->tasks);
	ps__os_free(tasks->known);
	tasks->tasks = grown;
	tasks->known = known;
	tasks->room = room;
	return 0;
}

/* Returns any task of the newest process with this pid; NULL if none is known. */
static const struct ps__known_task *find_process(struct ps__tasks *tasks, pid_t pid)
{
	const struct ps__known_task *first = tasks_find(tasks, pid);

	if (first && first->pid == pid)
		return first;
	for (size_t index = tasks->count; index-- > 0;) {
		if (tasks->tasks[index].pid == pid)
			return &tasks->tasks[index];
	}
	return NULL;
}

/* Adds a task. A process's first thread begins a new process; other threads belong to the newest
 * process with their pid. */
static struct ps__known_task *tasks_add(struct ps__tasks *tasks, pid_t pid, pid_t tid)
{
	if (tasks_make_room(tasks) < 0) {
		tasks->is_incomplete = true;
		return NULL;
	}
	const struct ps__known_task *fellow = tid == pid ? NULL : find_process(tasks, pid);
	struct ps__known_task *task = &tasks->tasks[tasks->count];
	*task = (struct ps__known_task){.pid = pid,
	                                .tid = tid,
	                                .process = fellow ? fellow->process : tasks->count,
	                                .root = PS__NO_ROOT,
	                                .next = *bucket_of(tasks, tid)};
	*bucket_of(tasks, tid) = (ptrdiff_t)tasks->count++;
	return task;
}

/* Returns the task of a record. Adds the task if no record of its creation has been read. */
static struct ps__known_task *find_or_add(struct ps__tasks *tasks,
                                          const struct ps__task_record *record)
{
	struct ps__known_task *task = tasks_find(tasks, record->tid);

	return task ? task : tasks_add(tasks, record->pid, record->tid);
}

static void tasks_note_created(struct ps__tasks *tasks, const struct ps__task_record *record)
{
	const struct ps__known_task *parent = tasks_find(tasks, record->parent_tid);
	size_t root = parent ? parent->root : PS__NO_ROOT;
	char name[16] = "";

	if (parent)
		memcpy(name, parent->name, sizeof name);
	struct ps__known_task *task = tasks_find(tasks, record->tid);
	if (!task || task->is_announced)
		task = tasks_add(tasks, record->pid, record->tid);
	if (!task)
		return;
	task->is_announced = true;
	if (task->root == PS__NO_ROOT)
		task->root = root;
	if (!*task->name)
		memcpy(task->name, name, sizeof task->name);
}

static void leave_bucket(struct ps__tasks *tasks, const struct ps__known_task *task)
{
	ptrdiff_t *link = bucket_of(tasks, task->tid);

	while (&tasks->tasks[*link] != task)
		link = &tasks->tasks[*link].next;
	*link = task->next;
}

/* Changes a task's tid: records name the task by the new number from now on. */
static void tasks_renumber(struct ps__tasks *tasks, struct ps__known_task *task, pid_t tid)
{
	leave_bucket(tasks, task);
	task->tid = tid;
	task->next = *bucket_of(tasks, tid);
	*bucket_of(tasks, tid) = task - tasks->tasks;
}

/* Adds a task whose creation no record told. Some of its counts may have been noted for another
 * task with this tid, so from now on the rest (shares.c) belongs to no task. */
static struct ps__known_task *add_unseen(struct ps__tasks *tasks,
                                         const struct ps__task_record *record)
{
	const struct ps__known_task *fellow = find_process(tasks, record->pid);
	size_t process = fellow ? fellow->process : tasks->count;
	struct ps__known_task *task = tasks_add(tasks, record->pid, record->tid);

	tasks->is_incomplete = true;
	if (!task)
		return NULL;
	task->process = process;
	task->is_announced = true;
	return task;
}

/* Counts the other threads of the process that live according to the records. *out receives the
 * last one. */
static size_t find_living(const struct ps__tasks *tasks, const struct ps__task_record *record,
                          struct ps__known_task **out)
{
	size_t living = 0;

	for (size_t index = 0; index < tasks->count; index++) {
		struct ps__known_task *task = &tasks->tasks[index];
		if (task->pid != record->pid || task->tid == record->tid || task->is_ended ||
		    task->is_counted)
			continue;
		*out = task;
		living++;
	}
	return living;
}

/*
 * Finds the task that took over its process's number (pid) after the first thread ended.
 *
 * Linux gives the pid to any thread that begins a program (de_thread). Before that, it ends all
 * other threads of the process, and waits for them: their records come first. So the task is the
 * one thread without a record of its end. It keeps its counters: its last record has all that it
 * counted, under the new number.
 */
static struct ps__known_task *tasks_take_over(struct ps__tasks *tasks,
                                              const struct ps__task_record *record)
{
	struct ps__known_task *found;

	if (find_living(tasks, record, &found) != 1)
		return add_unseen(tasks, record);
	tasks_renumber(tasks, found, record->tid);
	return found;
}

/* The kernel ends a task's events once. A second end with the same tid is of a thread that took
 * over its process's number, and was killed before its program began. */
static void tasks_note_ended(struct ps__tasks *tasks, const struct ps__task_record *record)
{
	struct ps__known_task *task = tasks_find(tasks, record->tid);

	if (task && task->is_ended && record->tid == record->pid)
		task = tasks_take_over(tasks, record);
	if (task)
		task->is_ended = true;
}

static void tasks_note_begun(struct ps__tasks *tasks, const struct ps__task_record *record)
{
	struct ps__known_task *task = tasks_find(tasks, record->tid);
	struct ps__known_task *other;

	/* The first thread may have ended before the set was attached to the process. */
	if (task ? task->is_ended || task->is_counted : find_living(tasks, record, &other) > 0)
		task = tasks_take_over(tasks, record);
	else if (!task)
		task = tasks_add(tasks, record->pid, record->tid);
	if (task)
		memcpy(task->name, record->name, sizeof task->name);
}

static void tasks_note_named(struct ps__tasks *tasks, const struct ps__task_record *record)
{
	struct ps__known_task *task = find_or_add(tasks, record);

	if (task)
		memcpy(task->name, record->name, sizeof task->name);
}

static struct ps__share *find_share(struct ps__tasks *tasks, struct ps__known_task *task,
                                    size_t instance)
{
	struct ps__share *share = task->shares;

	while (share && share->instance != instance)
		share = share->next;
	if (share)
		return share;
	share = ps__os_calloc(1, sizeof *share + tasks->event_count * sizeof share->counts[0]);
	if (!share) {
		tasks->is_incomplete = true;
		return NULL;
	}
	share->instance = instance;
	share->next = task->shares;
	task->shares = share;
	return share;
}

/* Notes a task's count of an event on a CPU. Each task reports it once: a second record is of
 * another task with this tid. */
static void tasks_note_counted(struct ps__tasks *tasks, const struct ps__task_record *record)
{
	struct ps__known_task *task = find_or_add(tasks, record);
	size_t cpu = record->instance % tasks->cpus;

	if (task && ps__task_is_known(tasks, (size_t)(task - tasks->tasks), cpu, record->event))
		task = add_unseen(tasks, record);
	if (!task)
		return;
	size_t bit = cpu * tasks->event_count + record->event;
	uint64_t *known =
	    tasks->known + (size_t)(task - tasks->tasks) * ps__task_known_words(tasks);
	known[bit / 64] |= UINT64_C(1) << bit % 64;
	task->is_counted = true;
	task->root = record->instance / tasks->cpus;
	if (record->count == 0)
		return;
	struct ps__share *share = find_share(tasks, task, record->instance);
	if (share)
		share->counts[record->event] = (long long)record->count;
}

static void tasks_note(const struct ps__task_record *record, void *context)
{
	struct ps__tasks *tasks = context;

	switch (record->kind) {
	case PS__TASK_CREATED:
		tasks_note_created(tasks, record);
		return;
	case PS__TASK_NAMED:
		tasks_note_named(tasks, record);
		return;
	case PS__TASK_BEGUN:
		tasks_note_begun(tasks, record);
		return;
	case PS__TASK_ENDED:
		tasks_note_ended(tasks, record);
		return;
	case PS__TASK_COUNTED:
		tasks_note_counted(tasks, record);
		return;
	case PS__TASK_LOST:
		tasks->is_incomplete = true;
		return;
	}
}

/* Reads the name that a thread has at the start. */
static void read_name(struct ps__known_task *task, pid_t pid)
{
	char path[64];
	char text[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)task->tid);
	if (ps__os_read_file(path, text, sizeof text) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(task->name, sizeof task->name, "%.15s", text);
}

/* Adds the threads that the process has when it is opened. */
static int add_roots(struct ps_eventset *set)
{
	for (size_t root = 0; root < set->counters.tasks->roots; root++) {
		struct ps__known_task *task =
		    tasks_add(set->counters.tasks, set->counters.target.tid,
		              set->counters.target.roots[root]);
		if (!task)
			return ps__fail_memory("the tasks of a process");
		task->process = 0;
		task->root = root;
		task->is_announced = true;
		read_name(task, set->counters.target.tid);
	}
	return PS_OK;
}

int ps__set_open_tasks(struct ps_eventset *set)
{
	if (!set->counters.target.tells_tasks)
		return PS_OK;
	struct ps__tasks *tasks = ps__os_calloc(1, sizeof *tasks);
	if (!tasks)
		return ps__fail_memory("the tasks of a process");
	set->counters.tasks = tasks;
	*tasks = (struct ps__tasks){.cpus = set->counters.target.instance_count,
	                            .roots = set->counters.target.root_count,
	                            .event_count = set->events.count};
	for (size_t bucket = 0; bucket < PS__TASK_BUCKETS; bucket++)
		tasks->buckets[bucket] = -1;
	return add_roots(set);
}

static void free_shares(struct ps__share *share)
{
	while (share) {
		struct ps__share *next = share->next;
		ps__os_free(share);
		share = next;
	}
}

void ps__set_close_tasks(struct ps_eventset *set)
{
	struct ps__tasks *tasks = set->counters.tasks;

	if (!tasks)
		return;
	for (size_t index = 0; index < tasks->count; index++)
		free_shares(tasks->tasks[index].shares);
	ps__os_free(tasks->tasks);
	ps__os_free(tasks->known);
	ps__os_free(tasks);
	set->counters.tasks = NULL;
}

void ps__set_take_tasks(struct ps_eventset *set)
{
	if (set->counters.tasks)
		set->counters.backend->ops->take_tasks(set->counters.backend, tasks_note,
		                                       set->counters.tasks);
}

/* Returns NULL if the programs aren't watched. */
const struct ps__uncounted *ps__set_take_uncounted(struct ps_eventset *set)
{
	if (set->counters.target.kind != PS__TARGET_PROCESS || !set->counters.backend ||
	    !set->counters.backend->ops->take_uncounted)
		return NULL;
	/* If tasks are kept apart, their rings also have the records of programs. */
	ps__set_take_tasks(set);
	return set->counters.backend->ops->take_uncounted(set->counters.backend);
}

/* If there are uncounted programs or missed threads, marks all counts from now on as incomplete:
 * these may run on any CPU, and start programs that aren't seen. */
void ps__set_mark_uncounted(struct ps_eventset *set, struct ps__slot *here)
{
	const struct ps__uncounted *found = ps__set_take_uncounted(set);

	bool has_programs = found && found->programs > 0;

	if (!has_programs && !set->attribution.misses_threads && !set->attribution.is_blind)
		return;
	here->counts_mark |= PS__MARK_INCOMPLETE;
	ps__set_mark_incomplete(set);
}

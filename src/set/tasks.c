/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of a process and their shares of the lanes' counts.
 *
 * Linux exchanges the events of two tasks at a context switch if they are copies of the same ones. So it is not always
 * the process's first thread that ends without a record, but one of its threads does: what the records leave of a
 * root's lanes is that one's.
 */
#include "base/error.h"
#include "base/os.h"
#include "set/set.h"

#include <perfsage/task.h>
#include <stdio.h>
#include <string.h>

#define BUCKETS     4096 /* a power of two */
#define NO_ROOT     SIZE_MAX
#define FIRST_TASKS 64

/* What a task counted on one lane. */
struct row {
	struct row *next;
	size_t lane;
	long long counts[];
};

struct entry {
	pid_t pid;
	pid_t tid;
	char name[16];
	size_t root; /* which root's events it has; NO_ROOT: not known */
	bool has_counts;
	ptrdiff_t next; /* of the same bucket, older; -1: none */
	struct row *rows;
};

struct ps__tasks {
	size_t cpus; /* in the lanes of a root */
	size_t roots;
	size_t event_count;
	struct entry *entries;
	size_t count;
	size_t room;
	ptrdiff_t buckets[BUCKETS]; /* the newest entry of those tids; -1: none */
	bool is_incomplete;         /* records were lost, or memory was short */
};

static ptrdiff_t *bucket_of(struct ps__tasks *tasks, pid_t tid)
{
	return &tasks->buckets[(size_t)tid & (BUCKETS - 1)];
}

/* The newest task of that number; NULL if there was none. */
static struct entry *find_task(struct ps__tasks *tasks, pid_t tid)
{
	ptrdiff_t index = *bucket_of(tasks, tid);

	while (index >= 0 && tasks->entries[index].tid != tid)
		index = tasks->entries[index].next;
	return index >= 0 ? &tasks->entries[index] : NULL;
}

static int make_room(struct ps__tasks *tasks)
{
	size_t room = tasks->room ? 2 * tasks->room : FIRST_TASKS;

	if (tasks->count < tasks->room)
		return 0;
	struct entry *grown = ps__os_calloc(room, sizeof *grown);
	if (!grown)
		return -1;
	if (tasks->count)
		memcpy(grown, tasks->entries, tasks->count * sizeof *grown);
	ps__os_free(tasks->entries);
	tasks->entries = grown;
	tasks->room = room;
	return 0;
}

static struct entry *add_task(struct ps__tasks *tasks, pid_t pid, pid_t tid, size_t root)
{
	if (make_room(tasks) < 0) {
		tasks->is_incomplete = true;
		return NULL;
	}
	struct entry *entry = &tasks->entries[tasks->count];
	*entry = (struct entry){.pid = pid, .tid = tid, .root = root, .next = *bucket_of(tasks, tid)};
	*bucket_of(tasks, tid) = (ptrdiff_t)tasks->count++;
	return entry;
}

static void note_created(struct ps__tasks *tasks, const struct ps__task_news *news)
{
	const struct entry *parent = find_task(tasks, news->parent_tid);
	size_t root = parent ? parent->root : NO_ROOT;
	char name[16] = "";

	if (parent)
		memcpy(name, parent->name, sizeof name);
	struct entry *entry = add_task(tasks, news->pid, news->tid, root);
	if (entry)
		memcpy(entry->name, name, sizeof entry->name);
}

static void note_named(struct ps__tasks *tasks, const struct ps__task_news *news)
{
	struct entry *entry = find_task(tasks, news->tid);

	if (!entry)
		entry = add_task(tasks, news->pid, news->tid, NO_ROOT);
	if (entry)
		memcpy(entry->name, news->name, sizeof entry->name);
}

static struct row *find_row(struct ps__tasks *tasks, struct entry *entry, size_t lane)
{
	struct row *row = entry->rows;

	while (row && row->lane != lane)
		row = row->next;
	if (row)
		return row;
	row = ps__os_calloc(1, sizeof *row + tasks->event_count * sizeof row->counts[0]);
	if (!row) {
		tasks->is_incomplete = true;
		return NULL;
	}
	row->lane = lane;
	row->next = entry->rows;
	entry->rows = row;
	return row;
}

static void note_counted(struct ps__tasks *tasks, const struct ps__task_news *news)
{
	struct entry *entry = find_task(tasks, news->tid);

	if (!entry)
		entry = add_task(tasks, news->pid, news->tid, NO_ROOT);
	if (!entry)
		return;
	entry->has_counts = true;
	entry->root = news->lane / tasks->cpus;
	if (news->count == 0)
		return;
	struct row *row = find_row(tasks, entry, news->lane);
	/* Several records may tell of the same count. */
	if (row)
		row->counts[news->event] = (long long)news->count;
}

static void note(const struct ps__task_news *news, void *context)
{
	struct ps__tasks *tasks = context;

	switch (news->kind) {
	case PS__TASK_CREATED:
		note_created(tasks, news);
		return;
	case PS__TASK_NAMED:
		note_named(tasks, news);
		return;
	case PS__TASK_COUNTED:
		note_counted(tasks, news);
		return;
	case PS__TASK_LOST:
		tasks->is_incomplete = true;
		return;
	case PS__TASK_ENDED:
		return;
	}
}

/* The name that a thread has before it takes another one. */
static void read_name(struct entry *entry, pid_t pid)
{
	char path[64];
	char text[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)entry->tid);
	if (ps__os_read_file(path, text, sizeof text) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(entry->name, sizeof entry->name, "%.15s", text);
}

int ps__set_open_tasks(struct ps_eventset *set)
{
	if (!set->target.tells_tasks)
		return PS_OK;
	struct ps__tasks *tasks = ps__os_calloc(1, sizeof *tasks);
	if (!tasks)
		return ps__fail_memory("the tasks of a process");
	set->tasks = tasks;
	*tasks = (struct ps__tasks){
	    .cpus = set->target.lane_count, .roots = set->target.root_count, .event_count = set->event_count};
	for (size_t bucket = 0; bucket < BUCKETS; bucket++)
		tasks->buckets[bucket] = -1;
	for (size_t root = 0; root < tasks->roots; root++) {
		struct entry *entry = add_task(tasks, set->target.tid, set->target.roots[root], root);
		if (!entry)
			return ps__fail_memory("the tasks of a process");
		read_name(entry, set->target.tid);
	}
	return PS_OK;
}

void ps__set_close_tasks(struct ps_eventset *set)
{
	struct ps__tasks *tasks = set->tasks;

	for (size_t index = 0; tasks && index < tasks->count; index++) {
		struct row *row = tasks->entries[index].rows;
		while (row) {
			struct row *next = row->next;
			ps__os_free(row);
			row = next;
		}
	}
	if (tasks)
		ps__os_free(tasks->entries);
	ps__os_free(tasks);
	set->tasks = NULL;
}

void ps__set_take_tasks(struct ps_eventset *set)
{
	if (set->tasks)
		set->backend->ops->take_tasks(set->backend, note, set->tasks);
}

int ps_eventset_set_tasks(struct ps_eventset *set, int on)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_tasks");

	if (result != PS_OK)
		return result;
	set->wants_tasks = on != 0;
	ps__set_leave(set);
	return PS_OK;
}

static int check_tasks(const struct ps_eventset *set, const char *call)
{
	if (!set->was_started)
		return ps__fail(PS_ENOTRUN, "%s: the event set was never started", call);
	if (set->tasks)
		return PS_OK;
	return ps__fail(PS_ENOSUPP, "%s: the set does not keep tasks apart: %s", call,
	                set->wants_tasks && *set->why ? set->why : "call ps_eventset_set_tasks before ps_start");
}

int ps_eventset_take_tasks(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_eventset_take_tasks");

	if (result != PS_OK)
		return result;
	result = check_tasks(set, "ps_eventset_take_tasks");
	if (result == PS_OK)
		ps__set_take_tasks(set);
	ps__set_leave(set);
	return result;
}

/* One walk over the tasks. */
struct walk {
	const struct ps_eventset *set;
	long long *rest;   /* for each lane and event what no record told of */
	long long *counts; /* of the task and CPU being told */
	int (*visit)(const struct ps_task *task, void *context);
	void *context;
};

static long long *rest_of(const struct walk *walk, size_t lane)
{
	return walk->rest + lane * walk->set->event_count;
}

static void find_rest(struct walk *walk)
{
	const struct ps_eventset *set = walk->set;
	const struct ps__tasks *tasks = set->tasks;
	size_t times = 2 * set->series->groups;

	for (size_t lane = 0; lane < set->backend->lanes; lane++) {
		for (size_t event = 0; event < set->event_count; event++) {
			uint64_t origin = lane == 0 && set->backend->origin ? set->backend->origin[times + event] : 0;
			rest_of(walk, lane)[event] = (long long)(ps__set_credited(set, lane)[times + event] - origin);
		}
	}
	for (size_t index = 0; index < tasks->count; index++) {
		for (const struct row *row = tasks->entries[index].rows; row; row = row->next) {
			for (size_t event = 0; event < set->event_count; event++)
				rest_of(walk, row->lane)[event] -= row->counts[event];
		}
	}
}

/* The one task of a root of which no record told; NULL if there are several, or it can't be said. */
static const struct entry *find_keeper(const struct ps__tasks *tasks, size_t root)
{
	const struct entry *keeper = NULL;

	if (tasks->is_incomplete)
		return NULL;
	for (size_t index = 0; index < tasks->count; index++) {
		const struct entry *entry = &tasks->entries[index];
		if (entry->has_counts || (entry->root != root && entry->root != NO_ROOT))
			continue;
		if (keeper)
			return NULL;
		keeper = entry;
	}
	return keeper;
}

static bool is_all_zero(const long long *counts, size_t count)
{
	while (count && counts[count - 1] == 0)
		count--;
	return count == 0;
}

static int tell(struct walk *walk, const struct ps_task *about, size_t lane, const long long *counts)
{
	struct ps_task task = *about;

	if (is_all_zero(counts, walk->set->event_count))
		return 0;
	task.cpu = walk->set->lane_cpus[lane % walk->set->tasks->cpus];
	task.counts = counts;
	return walk->visit(&task, walk->context);
}

static int tell_entry(struct walk *walk, const struct entry *entry)
{
	const struct ps__tasks *tasks = walk->set->tasks;
	struct ps_task about = {.pid = entry->pid, .tid = entry->tid, .name = entry->name};
	bool is_keeper = entry->root != NO_ROOT && find_keeper(tasks, entry->root) == entry;
	int result = 0;

	for (size_t cpu = 0; result == 0 && cpu < tasks->cpus && entry->root != NO_ROOT; cpu++) {
		size_t lane = entry->root * tasks->cpus + cpu;
		const struct row *row = entry->rows;
		while (row && row->lane != lane)
			row = row->next;
		if (row)
			result = tell(walk, &about, lane, row->counts);
		else if (is_keeper)
			result = tell(walk, &about, lane, rest_of(walk, lane));
	}
	return result;
}

/* What belongs to tasks that can't be told apart, for each CPU. */
static int tell_rest(struct walk *walk)
{
	const struct ps_eventset *set = walk->set;
	const struct ps__tasks *tasks = set->tasks;
	struct ps_task about = {.pid = set->target.tid, .tid = 0, .name = ""};
	int result = 0;

	for (size_t cpu = 0; result == 0 && cpu < tasks->cpus; cpu++) {
		memset(walk->counts, 0, set->event_count * sizeof *walk->counts);
		for (size_t root = 0; root < tasks->roots; root++) {
			const struct entry *keeper = find_keeper(tasks, root);
			for (size_t event = 0; event < set->event_count && (!keeper || keeper->root != root); event++)
				walk->counts[event] += rest_of(walk, root * tasks->cpus + cpu)[event];
		}
		result = tell(walk, &about, cpu, walk->counts);
	}
	return result;
}

static int walk_tasks(struct ps_eventset *set, struct walk *walk)
{
	int result = 0;

	ps__set_take_tasks(set);
	walk->rest = ps__os_calloc(set->backend->lanes * set->event_count, sizeof *walk->rest);
	walk->counts = ps__os_calloc(set->event_count, sizeof *walk->counts);
	if (walk->rest && walk->counts)
		find_rest(walk);
	else
		result = ps__fail_memory("the tasks of a process");
	for (size_t index = 0; result == 0 && index < set->tasks->count; index++)
		result = tell_entry(walk, &set->tasks->entries[index]);
	if (result == 0)
		result = tell_rest(walk);
	ps__os_free(walk->rest);
	ps__os_free(walk->counts);
	return result;
}

int ps_eventset_for_each_task(struct ps_eventset *set, int (*visit)(const struct ps_task *task, void *context),
                              void *context)
{
	struct walk walk = {.set = set, .visit = visit, .context = context};
	int result = ps__set_enter(set, "ps_eventset_for_each_task");

	if (result != PS_OK)
		return result;
	result = visit ? check_tasks(set, "ps_eventset_for_each_task")
	               : ps__fail(PS_EINVAL, "ps_eventset_for_each_task: visit is NULL");
	if (result == PS_OK)
		result = walk_tasks(set, &walk);
	ps__set_leave(set);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each task's share of what a process counted: the counts in its own records, and sometimes a rest.
 *
 * Not all tasks have records. A living task has none. A root has none when it ends, because its
 * events aren't copies. The rest is the counts that no record tells. If exactly one task has no
 * record, the rest belongs to it. This is decided for each event on each CPU. If several tasks have
 * no record, for example because a record was lost, the rest belongs to no task.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/tasks.h"

#include <perfsage/task.h>
#include <string.h>

/* Counts of an event on an instance that no record told of. */
struct rest {
	long long count;
	ptrdiff_t owner; /* index of the task to which the rest belongs, or one of these: */
};
#define NOBODY  (-1)
#define SEVERAL (-2)

/* One walk over the tasks. */
struct walk {
	const struct ps_eventset *set;
	struct rest *rests; /* by instance and event */
	long long *counts;  /* for the task and CPU of the current visit */
	int (*visit)(const struct ps_task *task, void *context);
	void *context;
};

static struct rest *rest_of(const struct walk *walk, size_t instance, size_t event)
{
	return &walk->rests[instance * walk->set->events.count + event];
}

static void count_rests(struct walk *walk)
{
	const struct ps_eventset *set = walk->set;
	const struct ps__tasks *tasks = set->counters.tasks;
	size_t times = 2 * set->recorder.recording->groups;

	for (size_t instance = 0; instance < set->counters.backend->instances; instance++) {
		for (size_t event = 0; event < set->events.count; event++) {
			uint64_t origin = instance == 0 && set->counters.backend->origin
			                      ? set->counters.backend->origin[times + event]
			                      : 0;
			uint64_t count = ps__set_assigned(set, instance)[times + event] - origin;
			*rest_of(walk, instance, event) =
			    (struct rest){.count = (long long)count, .owner = NOBODY};
		}
	}
	for (size_t index = 0; index < tasks->count; index++) {
		for (const struct ps__share *share = tasks->tasks[index].shares; share;
		     share = share->next) {
			for (size_t event = 0; event < set->events.count; event++)
				rest_of(walk, share->instance, event)->count -=
				    share->counts[event];
		}
	}
}

/* Notes one more task that has no record of this event on this instance. */
static void rest_claim(struct rest *rest, ptrdiff_t task)
{
	rest->owner = rest->owner == NOBODY ? task : SEVERAL;
}

static void claim_unknown(struct walk *walk, size_t index, size_t root)
{
	const struct ps__tasks *tasks = walk->set->counters.tasks;
	bool is_known = tasks->tasks[index].root == root && !tasks->is_incomplete;

	for (size_t cpu = 0; cpu < tasks->cpus; cpu++) {
		for (size_t event = 0; event < tasks->event_count; event++) {
			if (!ps__task_is_known(tasks, index, cpu, event))
				rest_claim(rest_of(walk, root * tasks->cpus + cpu, event),
				           is_known ? (ptrdiff_t)index : SEVERAL);
		}
	}
}

/* Notes the tasks without records. If a task's root isn't known, it may have any root's events. */
static void find_owners(struct walk *walk)
{
	const struct ps__tasks *tasks = walk->set->counters.tasks;

	for (size_t index = 0; index < tasks->count; index++) {
		size_t own = tasks->tasks[index].root;
		for (size_t root = own == PS__NO_ROOT ? 0 : own; root < tasks->roots; root++) {
			claim_unknown(walk, index, root);
			if (root == own)
				break;
		}
	}
}

static bool is_all_zero(const long long *counts, size_t count)
{
	while (count && counts[count - 1] == 0)
		count--;
	return count == 0;
}

static int walk_tell(struct walk *walk, const struct ps_task *about, size_t cpu)
{
	struct ps_task task = *about;

	if (is_all_zero(walk->counts, walk->set->events.count))
		return 0;
	task.cpu = walk->set->attribution.per_cpu.cpus[cpu];
	task.counts = walk->counts;
	return walk->visit(&task, walk->context);
}

static void walk_gather(struct walk *walk, size_t index, size_t instance)
{
	const struct ps__share *share = walk->set->counters.tasks->tasks[index].shares;
	size_t events = walk->set->events.count;

	while (share && share->instance != instance)
		share = share->next;
	for (size_t event = 0; event < events; event++) {
		const struct rest *rest = rest_of(walk, instance, event);
		walk->counts[event] = share ? share->counts[event] : 0;
		if (rest->owner == (ptrdiff_t)index)
			walk->counts[event] += rest->count;
	}
}

static int tell_task(struct walk *walk, size_t index)
{
	const struct ps__tasks *tasks = walk->set->counters.tasks;
	const struct ps__known_task *task = &tasks->tasks[index];
	struct ps_task about = {.pid = task->pid,
	                        .tid = task->tid,
	                        .name = task->name,
	                        .task = index + 1,
	                        .process = task->process + 1,
	                        .has_lost = tasks->is_incomplete};
	int result = 0;

	for (size_t cpu = 0; result == 0 && cpu < tasks->cpus && task->root != PS__NO_ROOT; cpu++) {
		walk_gather(walk, index, task->root * tasks->cpus + cpu);
		result = walk_tell(walk, &about, cpu);
	}
	return result;
}

/* Visits the counts that belong to no single task, for each CPU. */
static int tell_rests(struct walk *walk)
{
	const struct ps_eventset *set = walk->set;
	const struct ps__tasks *tasks = set->counters.tasks;
	struct ps_task about = {.pid = set->counters.target.tid,
	                        .tid = 0,
	                        .name = "",
	                        .has_lost = tasks->is_incomplete};
	int result = 0;

	for (size_t cpu = 0; result == 0 && cpu < tasks->cpus; cpu++) {
		memset(walk->counts, 0, set->events.count * sizeof *walk->counts);
		for (size_t root = 0; root < tasks->roots; root++) {
			for (size_t event = 0; event < set->events.count; event++) {
				const struct rest *rest =
				    rest_of(walk, root * tasks->cpus + cpu, event);
				walk->counts[event] += rest->owner < 0 ? rest->count : 0;
			}
		}
		result = walk_tell(walk, &about, cpu);
	}
	return result;
}

static int walk_tasks(struct ps_eventset *set, struct walk *walk)
{
	int result = 0;

	ps__set_take_tasks(set);
	walk->rests = ps__os_calloc(set->counters.backend->instances * set->events.count,
	                            sizeof *walk->rests);
	walk->counts = ps__os_calloc(set->events.count, sizeof *walk->counts);
	if (walk->rests && walk->counts) {
		count_rests(walk);
		find_owners(walk);
	} else {
		result = ps__fail_memory("the tasks of a process");
	}
	for (size_t index = 0; result == 0 && index < set->counters.tasks->count; index++)
		result = tell_task(walk, index);
	if (result == 0)
		result = tell_rests(walk);
	ps__os_free(walk->rests);
	ps__os_free(walk->counts);
	return result;
}

/* PS_OK if the set keeps its tasks apart. Otherwise a code; the sentence names `call`. */
static int shares_check_tasks(const struct ps_eventset *set, const char *call)
{
	if (set->state == PS__SET_NEW)
		return ps__set_fail_new(call);
	if (set->counters.tasks)
		return PS_OK;
	return ps__fail(PS_ENOSUPP, "%s: the set does not keep tasks apart: %s", call,
	                set->counters.wants_tasks && *set->attribution.why
	                    ? set->attribution.why
	                    : "call ps_eventset_set_tasks before ps_start");
}

int ps_eventset_for_each_task(struct ps_eventset *set,
                              int (*visit)(const struct ps_task *task, void *context),
                              void *context)
{
	struct walk walk = {.set = set, .visit = visit, .context = context};
	int result = ps__set_enter(set, "ps_eventset_for_each_task");

	if (result != PS_OK)
		return result;
	result = visit ? shares_check_tasks(set, "ps_eventset_for_each_task")
	               : ps__fail(PS_EINVAL, "ps_eventset_for_each_task: visit is NULL");
	if (result == PS_OK)
		result = walk_tasks(set, &walk);
	ps__set_leave(set);
	return result;
}

int ps_eventset_set_tasks(struct ps_eventset *set, int on)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_tasks");

	if (result != PS_OK)
		return result;
	set->counters.wants_tasks = on != 0;
	ps__set_leave(set);
	return PS_OK;
}

int ps_eventset_take_tasks(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_eventset_take_tasks");

	if (result != PS_OK)
		return result;
	result = shares_check_tasks(set, "ps_eventset_take_tasks");
	if (result == PS_OK)
		ps__set_take_tasks(set);
	ps__set_leave(set);
	return result;
}

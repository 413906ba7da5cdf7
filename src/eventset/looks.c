/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the tasks of a process, and of all processes that it creates, in files of /proc that any
 * user may read. A process is new if the look before did not see its pid. A new process belongs to
 * the set if its parent does.
 *
 * Most tasks don't run between two looks. One file has a task's time; if the time is the same as
 * before, no other file of the task is read.
 */
#include "eventset/looks.h"

#include "base/error.h"
#include "base/os.h"
#include "base/stack.h"
#include "eventset/crowd.h"
#include "locate/locate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel updates a task's time at its ticks, and may report it in ticks. */
#define LARGEST_LAG_NS 20000000u

struct ps__looks {
	pid_t pid;
	const pid_t *roots;
	size_t root_count;
	size_t cpus; /* the last one stands for all that are out of range */
	/* visited: the CPUs that have any time, in the order in which they got it. A CPU's index
	 * there is its column in `times`. column: for each CPU its column; valid only if
	 * visited[column] is that CPU */
	size_t *visited, *column;
	size_t visited_count;
	uint64_t *times;   /* a row for each root, and one for tasks whose root isn't known */
	uint64_t *row;     /* one more row, which ps__looks_times fills */
	uint64_t *sums;    /* sum of each row of times */
	bool has_looked;   /* a complete look was taken: a pid that isn't known is new */
	bool is_begun;     /* a complete look was taken since ps__looks_begin */
	bool is_cut_short; /* something could not be read in this look */
	uint64_t whole_ns; /* beginning of the last complete look, CLOCK_BOOTTIME */
	struct ps__crowd crowds[2];
	size_t before; /* index of the last look's crowd */
};

static struct ps__crowd *crowd_before(struct ps__looks *looks)
{
	return &looks->crowds[looks->before];
}

/* The crowd that grows in this look. */
static struct ps__crowd *crowd_now(struct ps__looks *looks)
{
	return &looks->crowds[1 - looks->before];
}

static void look_keep(struct ps__looks *looks, struct ps__seen one)
{
	if (!ps__crowd_add(crowd_now(looks), one))
		looks->is_cut_short = true;
}

struct ps__looks *ps__looks_create(pid_t pid, const pid_t *roots, size_t root_count)
{
	struct ps__looks *looks = ps__os_calloc(1, sizeof *looks);

	if (!looks) {
		ps__fail_memory("looks at a process");
		return NULL;
	}
	looks->pid = pid;
	looks->roots = roots;
	looks->root_count = root_count;
	/* If the kernel doesn't tell the CPUs, all time is on unknown CPUs. */
	looks->cpus = ps__locate_possible_end() + 1;
	looks->times = ps__os_calloc((root_count + 2) * (looks->cpus + 1), sizeof *looks->times);
	looks->visited = ps__os_calloc(2 * looks->cpus, sizeof *looks->visited);
	if (!looks->times || !looks->visited) {
		ps__looks_destroy(looks);
		ps__fail_memory("looks at a process");
		return NULL;
	}
	looks->column = looks->visited + looks->cpus;
	looks->row = looks->times + (root_count + 1) * looks->cpus;
	looks->sums = looks->row + looks->cpus;
	ps__crowd_clear(&looks->crowds[0]);
	ps__crowd_clear(&looks->crowds[1]);
	return looks;
}

void ps__looks_destroy(struct ps__looks *looks)
{
	if (!looks)
		return;
	ps__os_free(looks->crowds[0].seen);
	ps__os_free(looks->crowds[1].seen);
	ps__os_free(looks->visited);
	ps__os_free(looks->times);
	ps__os_free(looks);
}

void ps__looks_begin(struct ps__looks *looks)
{
	looks->is_begun = false;
	ps__looks_forget(looks);
}

static size_t look_column(struct ps__looks *looks, int cpu)
{
	size_t place = cpu >= 0 && (size_t)cpu < looks->cpus - 1 ? (size_t)cpu : looks->cpus - 1;
	size_t column = looks->column[place];

	if (column < looks->visited_count && looks->visited[column] == place)
		return column;
	looks->visited[looks->visited_count] = place;
	looks->column[place] = looks->visited_count;
	return looks->visited_count++;
}

static void look_credit(struct ps__looks *looks, size_t root, int cpu, uint64_t ran_ns)
{
	if (ran_ns == 0)
		return;
	looks->times[root * looks->cpus + look_column(looks, cpu)] += ran_ns;
	looks->sums[root] += ran_ns;
}

/* True if the next look may succeed. A task that has ended or is hidden is no failure. */
static bool look_has_failed(int error)
{
	return error != ENOENT && error != ESRCH && error != EACCES && error != EPERM;
}

/* Returns the length; 0 if the task has ended or is hidden; -1 if its file can't be read now. */
static ssize_t look_read(struct ps__looks *looks, const char *path, char *text, size_t size_bytes)
{
	ssize_t length = ps__os_read_file(path, text, size_bytes);

	if (length >= 0 || !look_has_failed((int)-length))
		return length > 0 ? length : 0;
	looks->is_cut_short = true;
	return -1;
}

/* Reads the task's time on CPUs, in ns: the first number of schedstat. 0 if the kernel doesn't keep
 * it. False if the file can't be read now. */
static bool look_read_ran(struct ps__looks *looks, struct ps__seen *task)
{
	char path[80], text[128];

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)task->pid, (int)task->tid);
	ssize_t length = look_read(looks, path, text, sizeof text);
	task->ran_ns = length > 0 ? strtoull(text, NULL, 10) : 0;
	return length >= 0;
}

static bool look_read_stat(struct ps__looks *looks, const struct ps__seen *task,
                           struct ps__task_stat *stat)
{
	char path[80], text[1152];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)task->pid, (int)task->tid);
	ssize_t length = look_read(looks, path, text, sizeof text);
	return length > 0 && ps__task_parse(text, (size_t)length, stat);
}

static uint64_t tick_ns(void)
{
	return UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
}

static size_t find_root(const struct ps__looks *looks, pid_t tid)
{
	const pid_t *root = NULL;

	if (looks->root_count == 1)
		return 0;
	if (!looks->has_looked)
		root = bsearch(&tid, looks->roots, looks->root_count, sizeof tid,
		               ps__task_compare_tids);
	return root ? (size_t)(root - looks->roots) : looks->root_count;
}

static bool is_counted(const struct ps__seen *task)
{
	return task && task->root != PS__NOT_COUNTED;
}

static bool is_below(struct ps__looks *looks, pid_t parent)
{
	return is_counted(ps__crowd_find(crowd_now(looks), parent)) ||
	       is_counted(ps__crowd_find(crowd_before(looks), parent));
}

/* Finds the root of a new task. Its tid may have belonged to another task before. If it is the
 * first task of a process, that process may not belong to the set. */
static void look_at_new(struct ps__looks *looks, struct ps__seen *task,
                        const struct ps__task_stat *stat)
{
	bool is_first = task->tid == task->pid;

	task->root = is_first && looks->has_looked && !is_below(looks, stat->parent)
	                 ? PS__NOT_COUNTED
	                 : find_root(looks, task->tid);
}

/* True if a thread other than the first one executed a program (execve). That thread then has the
 * first thread's tid, but its own running time. */
static bool was_other_thread(const struct ps__looks *looks, const struct ps__seen *task,
                             const struct ps__task_stat *stat, uint64_t ran_ns)
{
	return task->tid == task->pid && stat->threads == 1 &&
	       ran_ns > ps__os_clock_ns(CLOCK_BOOTTIME) - looks->whole_ns + LARGEST_LAG_NS;
}

/* Returns the longest running time that the last look saw for a thread of the task's process, of
 * those that aren't longer than the task's time. */
static uint64_t find_known(struct ps__looks *looks, const struct ps__seen *task)
{
	const struct ps__crowd *before = crowd_before(looks);
	uint64_t known_ns = 0;

	for (size_t index = 0; index < before->count; index++) {
		const struct ps__seen *one = &before->seen[index];
		if (one->pid == task->pid && one->ran_ns <= task->ran_ns && one->ran_ns > known_ns)
			known_ns = one->ran_ns;
	}
	return known_ns;
}

/* Returns the task's time since the last look. before: what the last look saw of the task; NULL:
 * nothing. If a task that was not seen is older than the last look, its time since then isn't
 * known, and 0 is returned. */
static uint64_t look_time_since(struct ps__looks *looks, const struct ps__seen *task,
                                const struct ps__task_stat *stat, const struct ps__seen *before)
{
	uint64_t known_ns = before ? before->ran_ns : 0;

	if (!looks->is_begun || task->ran_ns <= known_ns ||
	    (!before && task->start_ticks < (int64_t)(looks->whole_ns / tick_ns())))
		return 0;
	if (before && was_other_thread(looks, task, stat, task->ran_ns - known_ns))
		known_ns = find_known(looks, task);
	return task->ran_ns - known_ns;
}

static void look_at_task(struct ps__looks *looks, pid_t pid, pid_t tid)
{
	struct ps__seen task = {.pid = pid, .tid = tid};
	const struct ps__seen *before = ps__crowd_find(crowd_before(looks), tid);
	const struct ps__seen *first = ps__crowd_find(crowd_now(looks), pid);
	struct ps__task_stat stat;

	if (first && !is_counted(first))
		return;
	if (!look_read_ran(looks, &task))
		return;
	if (is_counted(before) && task.ran_ns > 0 && before->ran_ns == task.ran_ns) {
		look_keep(looks, *before);
		return;
	}
	if (!look_read_stat(looks, &task, &stat))
		return;
	if (task.ran_ns == 0)
		task.ran_ns = (uint64_t)stat.ran_ticks * tick_ns();
	task.start_ticks = stat.start_ticks;
	if (is_counted(before) && before->start_ticks != task.start_ticks)
		before = NULL;
	if (is_counted(before))
		task.root = before->root;
	else
		look_at_new(looks, &task, &stat);
	if (is_counted(&task))
		look_credit(
		    looks, task.root, stat.cpu,
		    look_time_since(looks, &task, &stat, is_counted(before) ? before : NULL));
	look_keep(looks, task);
}

struct folder {
	struct ps__looks *looks;
	pid_t pid;
};

static int visit_task(const char *name, void *context)
{
	const struct folder *folder = context;
	pid_t tid = (pid_t)strtol(name, NULL, 10);

	if (tid != folder->pid)
		look_at_task(folder->looks, folder->pid, tid);
	return 0;
}

static void look_list(struct ps__looks *looks, const char *path,
                      int (*visit)(const char *name, void *context), void *context)
{
	errno = 0;
	if (ps__os.list(path, visit, context) != 0 && look_has_failed(errno))
		looks->is_cut_short = true;
}

static void look_at_process(struct ps__looks *looks, pid_t pid)
{
	struct folder folder = {.looks = looks, .pid = pid};
	char path[64];

	/* The first task tells whether it is still the same process. */
	look_at_task(looks, pid, pid);
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	look_list(looks, path, visit_task, &folder);
}

/* Looks at a process that the last look did not see, if it is the set's. Children mostly follow
 * their parents in /proc. If a parent has ended already, its child is taken for a foreign one. */
static void look_at_new_process(struct ps__looks *looks, pid_t pid)
{
	const struct ps__seen process = {.pid = pid, .tid = pid, .root = PS__NOT_COUNTED};
	bool was_cut_short = looks->is_cut_short;
	struct ps__task_stat stat = {0};

	/* Failures to read other processes don't matter for this one. */
	looks->is_cut_short = false;
	if (!looks->has_looked
	        ? pid == looks->pid
	        : look_read_stat(looks, &process, &stat) && is_below(looks, stat.parent))
		look_at_process(looks, pid);
	else if (!looks->is_cut_short)
		look_keep(looks, process);
	looks->is_cut_short |= was_cut_short;
}

static int visit_process(const char *name, void *context)
{
	struct ps__looks *looks = context;
	pid_t pid = (pid_t)strtol(name, NULL, 10);

	if (pid <= 0)
		return 0;
	const struct ps__seen *before = ps__crowd_find(crowd_before(looks), pid);
	if (!before)
		look_at_new_process(looks, pid);
	else if (is_counted(before))
		look_at_process(looks, pid);
	else
		look_keep(looks, *before);
	return 0;
}

/* Keeps the tasks that could not be read now: otherwise the next look would take them for new ones,
 * with all their time. */
static void keep_the_rest(struct ps__looks *looks)
{
	struct ps__crowd *before = crowd_before(looks);

	for (size_t index = 0; index < before->count; index++) {
		if (!ps__crowd_find(crowd_now(looks), before->seen[index].tid))
			look_keep(looks, before->seen[index]);
	}
}

static void look_at_all(struct ps__looks *looks)
{
	uint64_t now_ns = ps__os_clock_ns(CLOCK_BOOTTIME);

	ps__crowd_clear(crowd_now(looks));
	looks->is_cut_short = false;
	look_list(looks, "/proc", visit_process, looks);
	if (looks->is_cut_short)
		keep_the_rest(looks);
	looks->before = 1 - looks->before;
	/* If the first look was cut short, the next one would take old tasks for new ones. */
	if (looks->is_cut_short)
		return;
	looks->has_looked = true;
	looks->is_begun = true;
	looks->whole_ns = now_ns;
}

/* Signals are held: a look allocates, and if a jump out of a handler left it, its first half would
 * be added twice. */
void ps__looks_take(struct ps__looks *looks)
{
	struct ps__held held;

	ps__signals_hold(&held);
	look_at_all(looks);
	ps__signals_release(&held);
}

const uint64_t *ps__looks_times(struct ps__looks *looks, size_t root, uint64_t spent_ns,
                                uint64_t *total_ns)
{
	const uint64_t *own = looks->times + root * looks->cpus;
	const uint64_t *others = looks->times + looks->root_count * looks->cpus;
	uint64_t own_ns = looks->sums[root], others_ns = looks->sums[looks->root_count];
	uint64_t rest_ns = spent_ns > own_ns && others_ns > 0 ? spent_ns - own_ns : 0;

	*total_ns = 0;
	for (size_t column = 0; column < looks->visited_count; column++) {
		looks->row[column] = own[column];
		if (rest_ns > 0 && others[column] > 0)
			looks->row[column] +=
			    (uint64_t)((unsigned __int128)rest_ns * others[column] / others_ns);
		*total_ns += looks->row[column];
	}
	return looks->row;
}

size_t ps__looks_visited(const struct ps__looks *looks)
{
	return looks->visited_count;
}

int ps__looks_cpu(const struct ps__looks *looks, size_t index)
{
	size_t place = looks->visited[index];

	return place < looks->cpus - 1 ? (int)place : -1;
}

void ps__looks_forget(struct ps__looks *looks)
{
	for (size_t row = 0; row <= looks->root_count; row++) {
		if (looks->sums[row] > 0)
			memset(looks->times + row * looks->cpus, 0,
			       looks->visited_count * sizeof *looks->times);
		looks->sums[row] = 0;
	}
	looks->visited_count = 0;
}

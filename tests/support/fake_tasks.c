/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's tasks: the threads of the test, each with its CPU and affinity, and tasks that
 * exist by name only. Their /proc/<tid>/stat is written here.
 */
#include "fake_internal.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct self {
	unsigned long generation;
	pid_t real_tid;
	struct fake_task *task;
	int rounds; /* of destructors, at the thread's end */
};

static struct fake_task *tasks;
static _Thread_local struct self self;
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

/* Takes the first range off a list as sysfs has them ("0-3,8"), and returns what follows it; NULL:
 * there is none. */
static const char *take_range(const char *list, long *first, long *last)
{
	char *end;

	if (!list)
		return NULL;
	*first = *last = strtol(list, &end, 10);
	if (end == list)
		return NULL;
	if (*end == '-')
		*last = strtol(end + 1, &end, 10);
	return *end == ',' ? end + 1 : "";
}

bool fake__cpu_in_list(const char *list, int cpu)
{
	long first, last;

	while ((list = take_range(list, &first, &last)) != NULL)
		if (cpu >= first && cpu <= last)
			return true;
	return false;
}

int fake__list_last(const char *list)
{
	long first, last, most = -1;

	while ((list = take_range(list, &first, &last)) != NULL)
		if (last > most)
			most = last;
	return most < FAKE_CPUS ? (int)most : FAKE_CPUS - 1;
}

static void set_mask(struct fake_task *task, const char *list)
{
	long first, last;

	memset(task->mask, 0, sizeof(task->mask));
	while ((list = take_range(list, &first, &last)) != NULL)
		for (long cpu = first; cpu <= last && cpu < FAKE_CPUS; cpu++)
			task->mask[cpu / 8] = (unsigned char)(task->mask[cpu / 8] | 1u << cpu % 8);
}

static struct fake_task *task_new(pid_t tid, const char *comm)
{
	struct fake_task *task = calloc(1, sizeof(*task));

	if (!task)
		abort();
	task->tid = tid;
	task->comm = strdup(comm);
	set_mask(task, "0-1");
	task->next = tasks;
	tasks = task;
	return task;
}

struct fake_task *fake__task_find(pid_t tid)
{
	struct fake_task *task = tasks;

	while (task && (task->tid != tid || task->ended))
		task = task->next;
	return task;
}

/* The destructors of what is tested come in the first round, and their order is open: the task
 * lives on. In the last round ThreadSanitizer knows the thread no more. */
static void thread_ends(void *unused)
{
	(void)unused;
	if (++self.rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
		pthread_setspecific(end_key, &self);
		return;
	}
	fake__lock();
	if (self.generation == fake__generation)
		self.task->ended = true;
	fake__unlock();
}

static void make_key(void)
{
	if (pthread_key_create(&end_key, thread_ends))
		abort();
}

struct fake_task *fake__self(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (self.generation == fake__generation && self.real_tid == tid)
		return self.task;
	pthread_once(&end_once, make_key);
	pthread_setspecific(end_key, &self);
	self.generation = fake__generation;
	self.real_tid = tid;
	self.task = fake__task_find(tid);
	if (!self.task)
		self.task = task_new(tid, "test");
	return self.task;
}

char *fake__task_stat(const struct fake_task *task)
{
	char *text = NULL;

	if (asprintf(
		&text,
		"%d (%s) %c 1 %d %d 0 -1 %u 90 0 0 0 1 2 0 0 20 0 %u 0 7777 9999360 300 "
		"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		task->tid, task->comm, task->threads_left ? 'Z' : 'R', task->tid, task->tid,
		4194304U | (task->looks_left ? 4 : 0), task->threads_left ? task->threads_left : 1,
		task->cpu) < 0)
		abort();
	return text;
}

void fake__task_put_status(const char *path)
{
	char status[128];
	int tid, length = 0;

	if (sscanf(path, "/proc/%d/status%n", &tid, &length) != 1 || !length || path[length] ||
	    !fake__task_find(tid))
		return;
	snprintf(status, sizeof(status), "Name:\t%s\nTgid:\t%d\nPid:\t%d\n",
	         fake__task_find(tid)->comm, tid, tid);
	fake__file_put(path, status);
}

void fake__tasks_reset(void)
{
	while (tasks) {
		struct fake_task *task = tasks;

		tasks = task->next;
		free(task->comm);
		free(task->script);
		free(task);
	}
}

void fake__task_move(struct fake_task *task, int cpu)
{
	if (task->cpu == cpu)
		return;
	fake__ring_switch(task, true);
	task->cpu = cpu;
	fake__ring_switch(task, false);
	fake__ring_migrate(task);
}

int fake__getcpu(void)
{
	struct fake_task *task;
	int cpu;

	if (fake__enter(FAKE_GETCPU))
		return -1;
	task = fake__self();
	if (task->script_next < task->script_count)
		fake__task_move(task, task->script[task->script_next++]);
	cpu = task->cpu;
	fake__unlock();
	return cpu;
}

pid_t fake__gettid(void)
{
	pid_t tid;

	if (fake__enter(FAKE_GETTID))
		return -1;
	tid = fake__self()->tid;
	fake__unlock();
	return tid;
}

int fake__getaffinity(pid_t tid, size_t size_bytes, cpu_set_t *mask)
{
	struct fake_task *task;

	if (fake__enter(FAKE_GETAFFINITY))
		return -1;
	task = tid ? fake__task_find(tid) : fake__self();
	if (!task)
		return fake__fail(ESRCH);
	for (size_t byte = size_bytes; byte < sizeof(task->mask); byte++)
		if (task->mask[byte])
			return fake__fail(EINVAL);
	memset(mask, 0, size_bytes);
	memcpy(mask, task->mask, size_bytes < sizeof(task->mask) ? size_bytes : sizeof(task->mask));
	fake__unlock();
	return 0;
}

void fake_set_cpu(int cpu)
{
	fake_script_cpus(NULL, 0);
	fake__lock();
	fake__task_move(fake__self(), cpu);
	fake__unlock();
}

void fake_script_cpus(const int *cpus, size_t count)
{
	struct fake_task *task;

	fake__lock();
	task = fake__self();
	free(task->script);
	task->script = malloc((count ? count : 1) * sizeof(*cpus));
	if (!task->script)
		abort();
	if (count)
		memcpy(task->script, cpus, count * sizeof(*cpus));
	task->script_count = count;
	task->script_next = 0;
	fake__unlock();
}

void fake_switch_task(pid_t tid)
{
	struct fake_task *task;

	fake__lock();
	task = tid ? fake__task_find(tid) : fake__self();
	fake__ring_switch(task, true);
	fake__ring_switch(task, false);
	fake__unlock();
}

void fake_switch_out(pid_t tid)
{
	fake__lock();
	fake__ring_switch(fake__task_find(tid), true);
	fake__unlock();
}

void fake_switch_in(pid_t tid, int cpu)
{
	struct fake_task *task;

	fake__lock();
	task = fake__task_find(tid);
	task->cpu = cpu;
	fake__ring_switch(task, false);
	fake__unlock();
}

void fake_set_affinity(const char *cpu_list)
{
	fake__lock();
	set_mask(fake__self(), cpu_list);
	fake__unlock();
}

void fake_set_tid(pid_t tid)
{
	fake__lock();
	fake__self();
	self.task = fake__task_find(tid);
	if (!self.task)
		self.task = task_new(tid, "test");
	fake__unlock();
}

void fake_task(pid_t tid, const char *comm, int cpu)
{
	struct fake_task *task;

	fake__lock();
	task = fake__task_find(tid);
	if (!task)
		task = task_new(tid, comm);
	free(task->comm);
	task->comm = strdup(comm);
	fake__task_move(task, cpu);
	fake__unlock();
}

void fake_task_end(pid_t tid)
{
	struct fake_task *task;

	fake__lock();
	task = fake__task_find(tid);
	if (task) {
		fake__ring_exit(task);
		task->ended = true;
	} else {
		fake__violation("fake_task_end(%d): no such task", tid);
	}
	fake__unlock();
}

void fake_task_leave(pid_t tid, unsigned looks)
{
	struct fake_task *task;

	fake__lock();
	task = fake__task_find(tid);
	if (task)
		task->looks_left = looks;
	else
		fake__violation("fake_task_leave(%d): no such task", tid);
	fake__unlock();
}

void fake_task_zombie(pid_t tid, unsigned threads_left)
{
	struct fake_task *task;

	fake__lock();
	task = fake__task_find(tid);
	if (task && !task->threads_left)
		fake__ring_exit(task);
	if (task)
		task->threads_left = threads_left;
	else
		fake__violation("fake_task_zombie(%d): no such task", tid);
	fake__unlock();
}

void fake_task_affinity(pid_t tid, const char *cpu_list)
{
	struct fake_task *task;

	fake__lock();
	task = fake__task_find(tid);
	if (task)
		set_mask(task, cpu_list);
	else
		fake__violation("fake_task_affinity(%d): no such task", tid);
	fake__unlock();
}

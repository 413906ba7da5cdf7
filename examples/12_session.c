/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which threads touched how much new memory, and on which hardware threads?
 *
 *     cc -O2 12_session.c -o session $(pkg-config --cflags --libs perfsage) -pthread \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./session [PID]
 *
 * A session observes a process: this one, whose threads fill an array, or another one until it
 * ends. Each page fault is a sample. No thread is known to the session beforehand: those that are
 * created later inherit the event. No privilege is needed.
 */
#define _GNU_SOURCE 1 /* pthread_setname_np */
#include <perfsage.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_TASKS 256
#define THREADS    4
#define PAGES      1000 /* number of pages that each thread touches */

struct task {
	uint32_t tid;
	char name[16];
	unsigned long faults;
};

struct tasks {
	struct task list[MOST_TASKS];
	size_t count;
};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s: %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static struct task *find_task(struct tasks *tasks, uint32_t tid)
{
	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->list[i].tid == tid)
			return &tasks->list[i];
	struct task *task =
	    &tasks->list[tasks->count < MOST_TASKS - 1 ? tasks->count++ : MOST_TASKS - 1];
	task->tid = tid;
	return task;
}

static void hear_sample(void *context, const struct ps_session_record *heard)
{
	find_task(context, heard->record->tid)->faults += heard->period;
}

static void hear_name(void *context, const struct ps_session_record *heard)
{
	struct task *task = find_task(context, heard->record->tid);

	snprintf(task->name, sizeof task->name, "%s", heard->record->text);
}

static void *fill(void *name)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pthread_setname_np(pthread_self(), name);
	if (memory == MAP_FAILED)
		return NULL;
	/* With huge pages one fault would bring hundreds of pages. */
	madvise(memory, PAGES * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * page_bytes] = 1;
	munmap(memory, PAGES * page_bytes);
	return NULL;
}

static void *run(void *session)
{
	check(ps_session_run(session), "ps_session_run");
	return NULL;
}

/* Observes this process: one thread reads the session while others work. */
static void observe_own_threads(struct ps_session *session)
{
	static char names[THREADS][16] = {"north", "east", "south", "west"};
	pthread_t reader, workers[THREADS];

	if (pthread_create(&reader, NULL, run, session) != 0)
		exit(EXIT_FAILURE);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i], NULL, fill, names[i]) != 0)
			exit(EXIT_FAILURE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i], NULL);
	check(ps_session_stop(session), "ps_session_stop");
	pthread_join(reader, NULL);
}

static void print_cpus(struct ps_topology *topology, const struct ps_session *session)
{
	struct ps_component *root = ps_topology_root(topology);
	struct ps_value value;

	for (size_t i = 0; i < ps_component_thread_count(root); i++) {
		struct ps_thread *thread = ps_component_thread_at(root, i);
		if (ps_session_sum(session, 0, ps_thread_component(thread), &value) == PS_OK)
			printf("CPU %d: %lld page faults, by %llu samples\n", ps_thread_cpu(thread),
			       value.value, (unsigned long long)value.raw);
	}
}

int main(int argc, char **argv)
{
	pid_t pid = argc > 1 ? atoi(argv[1]) : 0;
	static struct tasks tasks;
	struct ps_listener listener = {
	    .size = sizeof listener, .context = &tasks, .sample = hear_sample, .comm = hear_name};
	struct ps_session_options options = {.size = sizeof options, .listener = &listener};
	struct ps_session_stats stats = {.size = sizeof stats};
	struct ps_topology *topology = NULL;
	struct ps_session *session = NULL;
	struct ps_attr *attr = NULL;

	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	options.root = ps_topology_root(topology);
	check(ps_attr_create(&attr, "page-faults"), "ps_attr_create");
	check(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1), "ps_attr_set");
	check(ps_session_create(&session, pid, &options), "ps_session_create");
	check(ps_session_add(session, attr), "ps_session_add");
	check(ps_session_start(session), "ps_session_start");
	if (pid)
		check(ps_session_run(session), "ps_session_run");
	else
		observe_own_threads(session);
	for (size_t i = 0; i < tasks.count; i++)
		printf("%-15s %7u  %lu page faults\n", tasks.list[i].name, tasks.list[i].tid,
		       tasks.list[i].faults);
	print_cpus(topology, session);
	check(ps_session_stats(session, &stats), "ps_session_stats");
	printf("%llu records, %llu lost\n", (unsigned long long)stats.records,
	       (unsigned long long)stats.lost);
	ps_attr_destroy(attr);
	ps_session_destroy(session);
	ps_topology_destroy(topology);
	return 0;
}

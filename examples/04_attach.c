/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watch the threads of another process, each by its tid.
 *
 *     cc -O2 -pthread 04_attach.c -o attach $(pkg-config --cflags --libs perfsage) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./attach PID [SECONDS]
 *     ./attach
 *
 * Without arguments it starts a worker of its own: one thread computes, one touches fresh pages.
 * Look at the two tables: the first has a line for each software thread (tid), the second is the
 * tree, with a line for each hardware thread (CPU) that they were seen on. Threads that the process
 * starts later are not watched. The process must be one of this user's, or this program needs
 * CAP_PERFMON.
 */
#define _GNU_SOURCE 1 /* pthread_setname_np */
#include <dirent.h>
#include <perfsage.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 1024
#define INTERVAL_MS  50

struct watched {
	pid_t tid;
	char name[32];
	struct ps_eventset *set;
	uint64_t timestamp;       /* of the one reading that each look updates */
	struct ps_thread *thread; /* where the thread was seen last */
};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static void check_errno(int is_right, const char *call)
{
	if (is_right)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

static void *compute(void *unused)
{
	for (volatile double x = 1.0;;)
		x = x * 0.5 + 1.0;
	return unused;
}

static void *touch_pages(void *unused)
{
	const size_t bytes = (size_t)4 << 20;

	for (;;) {
		char *pages =
		    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		check_errno(pages != MAP_FAILED, "mmap");
		for (size_t i = 0; i < bytes; i += 4096)
			pages[i] = 1;
		munmap(pages, bytes);
	}
	return unused;
}

/* Runs the worker: tells through the socket that its threads run, and works until the other end is
 * closed. */
static _Noreturn void work(int socket)
{
	pthread_t threads[2];
	char byte = 0;

	if (pthread_create(&threads[0], NULL, compute, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, touch_pages, NULL) != 0)
		_exit(EXIT_FAILURE);
	pthread_setname_np(threads[0], "compute");
	pthread_setname_np(threads[1], "touch_pages");
	if (write(socket, &byte, 1) != 1)
		_exit(EXIT_FAILURE);
	_exit(read(socket, &byte, 1) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Forks the worker. Returns its pid. Closing *socket ends it. */
static pid_t start_worker(int *socket)
{
	int ends[2];
	char byte;

	check_errno(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	pid_t pid = fork();
	check_errno(pid >= 0, "fork");
	if (pid == 0) {
		close(ends[0]);
		work(ends[1]);
	}
	close(ends[1]);
	check_errno(read(ends[0], &byte, 1) == 1, "read: the worker didn't start");
	*socket = ends[0];
	return pid;
}

static int end_worker(pid_t pid, int socket)
{
	int status;

	close(socket);
	check_errno(waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static void read_name(struct watched *w, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)w->tid);
	FILE *file = fopen(path, "r");
	if (file == NULL || fgets(w->name, sizeof(w->name), file) == NULL)
		strcpy(w->name, "?");
	w->name[strcspn(w->name, "\n")] = '\0';
	if (file != NULL)
		fclose(file);
}

/* Starts to count one thread. Returns 0 if the thread has ended since it was listed, else 1. */
static int watch(struct watched *w, pid_t pid, pid_t tid, const struct ps_eventset *model)
{
	*w = (struct watched){.tid = tid};
	read_name(w, pid);
	check(ps_eventset_clone(&w->set, model), "ps_eventset_clone");
	int code = ps_eventset_attach_tid(w->set, tid);
	if (code == PS_OK)
		code = ps_start(w->set);
	if (code == PS_OK)
		return 1;
	fprintf(stderr, "thread %d is not watched: %s\n    %s\n", (int)tid, ps_strerror(code),
	        ps_error_detail());
	ps_eventset_destroy(w->set);
	return 0;
}

static size_t watch_all(struct watched *all, pid_t pid, const struct ps_eventset *model)
{
	char path[32];
	size_t count = 0;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *directory = opendir(path);
	check_errno(directory != NULL, path);
	while ((entry = readdir(directory)) != NULL) {
		pid_t tid = (pid_t)atoi(entry->d_name); /* 0 for "." and ".." */

		if (tid > 0 && count == MOST_THREADS)
			fprintf(stderr, "thread %d is not watched: %d others are\n", (int)tid,
			        MOST_THREADS);
		else if (tid > 0)
			count += (size_t)watch(&all[count], pid, tid, model);
	}
	closedir(directory);
	return count;
}

/* Reads every set at intervals, so that the end of a watched thread is noticed. Returns early if
 * all have ended. */
static void look(struct watched *all, size_t count, double seconds, struct ps_component *root)
{
	const struct timespec interval = {.tv_nsec = INTERVAL_MS * 1000000L};
	size_t ended = 0;

	for (double time = 0.0; time < seconds && ended < count; time += INTERVAL_MS / 1000.0) {
		nanosleep(&interval, NULL);
		ended = 0;
		for (size_t i = 0; i < count; i++) {
			check(ps_read(all[i].set, root, &all[i].timestamp, &all[i].thread),
			      "ps_read");
			ended += (size_t)ps_eventset_is_ended(all[i].set);
		}
	}
	for (size_t i = 0; i < count; i++)
		check(ps_stop(all[i].set, root, &all[i].timestamp, &all[i].thread), "ps_stop");
}

/* Returns the Threads of the tree, then the one for CPUs that the tree doesn't know, then NULL. */
static struct ps_thread *thread_at(const struct ps_component *root, size_t index)
{
	size_t count = ps_component_thread_count(root);

	if (index < count)
		return ps_component_thread_at(root, index);
	return index == count ? ps_topology_unknown_thread(ps_component_topology(root)) : NULL;
}

/* Prints an event's count in one reading: the sum over all Threads with a part of it. An unknown
 * count is not 0. */
static void print_reading(const struct ps_component *root, const char *event, uint64_t timestamp)
{
	enum ps_status status = PS_STATUS_COUNTED;
	struct ps_thread *thread;
	struct ps_value part;
	long long total = 0;

	for (size_t i = 0; (thread = thread_at(root, i)) != NULL; i++) {
		if (ps_thread_reading(thread, event, timestamp, &part) != PS_OK)
			continue; /* no part on this Thread */
		total += part.value;
		status = part.status > status ? part.status : status;
	}
	if (status == PS_STATUS_COUNTED || status == PS_STATUS_SCALED)
		printf("  %16lld", total);
	else
		printf("  %16s", ps_status_name(status));
}

static void print_tids(const struct watched *all, size_t count, const struct ps_component *root)
{
	const char *event;

	printf("%-8s %-16s %-6s %4s", "tid", "name", "state", "CPU");
	for (size_t e = 0; (event = ps_eventset_event_name(all[0].set, e)) != NULL; e++)
		printf("  %16s", event);
	printf("\n");
	for (size_t i = 0; i < count; i++) {
		printf("%-8d %-16s %-6s %4d", (int)all[i].tid, all[i].name,
		       ps_eventset_is_ended(all[i].set) ? "ended" : "alive",
		       ps_thread_cpu(all[i].thread));
		for (size_t e = 0; (event = ps_eventset_event_name(all[i].set, e)) != NULL; e++)
			print_reading(root, event, all[i].timestamp);
		printf("\n");
	}
	printf("\n");
}

static int watch_process(pid_t pid, double seconds)
{
	static struct watched all[MOST_THREADS];
	struct ps_topology *topology;
	struct ps_eventset *model;

	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&model), "ps_eventset_create");
	check(ps_eventset_add_default(model), "ps_eventset_add_default");

	size_t count = watch_all(all, pid, model);
	if (count > 0) {
		look(all, count, seconds, ps_topology_root(topology));
		print_tids(all, count, ps_topology_root(topology));
		check(ps_print(ps_topology_root(topology), stdout), "ps_print");
	}
	for (size_t i = 0; i < count; i++)
		check(ps_eventset_destroy(all[i].set), "ps_eventset_destroy");
	check(ps_eventset_destroy(model), "ps_eventset_destroy");
	ps_topology_destroy(topology);
	return count > 0;
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0;
	double seconds = argc > 2 ? atof(argv[2]) : argc > 1 ? 1.0 : 0.3;

	if (argc > 3 || (argc > 1 && pid < 1) || !(seconds > 0.0)) {
		fprintf(stderr, "usage: %s [PID [SECONDS]]\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (argc > 1)
		return watch_process((pid_t)pid, seconds) ? EXIT_SUCCESS : EXIT_FAILURE;

	int socket;
	pid_t worker = start_worker(&socket);
	int watched = watch_process(worker, seconds);
	int ended = end_worker(worker, socket);
	return watched && ended ? EXIT_SUCCESS : EXIT_FAILURE;
}

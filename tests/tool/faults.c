/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose page faults are known, for the tests of perfsage stat: THREADS threads and
 * CHILDREN child processes touch PAGES fresh pages each, one after the other on the CPUs that the
 * program may use.
 *
 *     faults THREADS CHILDREN PAGES [ROUNDS]
 *
 * The threads of a round end all at once. It says on stdout how many pages were touched on each
 * CPU: "CPU PAGES" lines. With PAGES 0 its faults are those of starting up.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORKERS 64

static size_t page_count;
static size_t page_bytes;
static int cpus[CPU_SETSIZE];
static int cpu_count;
static pthread_barrier_t barrier;

static void check(int is_right, const char *call)
{
	if (is_right)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

static void find_cpus(void)
{
	cpu_set_t mask;

	check(sched_getaffinity(0, sizeof mask, &mask) == 0, "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((size_t)cpu, &mask))
			cpus[cpu_count++] = cpu;
	}
}

static int cpu_of(int worker)
{
	return cpus[worker % cpu_count];
}

static void work(int worker)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu_of(worker), &mask);
	check(sched_setaffinity(0, sizeof mask, &mask) == 0, "sched_setaffinity");
	if (page_count == 0)
		return;
	char *pages = mmap(NULL, page_count * page_bytes, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(pages != MAP_FAILED, "mmap");
	madvise(pages, page_count * page_bytes, MADV_NOHUGEPAGE);
	for (size_t page = 0; page < page_count; page++)
		pages[page * page_bytes] = 1;
	munmap(pages, page_count * page_bytes);
}

static void *run_thread(void *worker)
{
	work((int)(long)worker);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void run_threads(int threads)
{
	pthread_t ids[MOST_WORKERS];

	if (threads == 0)
		return;
	check(pthread_barrier_init(&barrier, NULL, (unsigned)threads) == 0, "pthread_barrier_init");
	for (int i = 0; i < threads; i++)
		check(pthread_create(&ids[i], NULL, run_thread, (void *)(long)i) == 0,
		      "pthread_create");
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static void run_children(int threads, int children)
{
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();
		check(pid >= 0, "fork");
		if (pid == 0) {
			work(threads + i);
			_exit(EXIT_SUCCESS);
		}
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	bool is_right = argc == 4 || argc == 5;
	int threads = is_right ? atoi(argv[1]) : -1;
	int children = is_right ? atoi(argv[2]) : -1;
	int rounds = argc == 5 ? atoi(argv[4]) : 1;

	if (threads < 0 || children < 0 || threads > MOST_WORKERS) {
		fprintf(stderr, "usage: faults THREADS CHILDREN PAGES [ROUNDS]\n");
		return EXIT_FAILURE;
	}
	page_count = (size_t)atol(argv[3]);
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	find_cpus();
	for (int round = 0; round < rounds; round++) {
		run_threads(threads);
		run_children(threads, children);
	}
	for (int place = 0; place < cpu_count; place++) {
		size_t workers = 0;
		for (int worker = 0; worker < threads + children; worker++)
			workers += cpu_of(worker) == cpus[place];
		if (workers)
			printf("%d %zu\n", cpus[place], workers * page_count * (size_t)rounds);
	}
	return EXIT_SUCCESS;
}

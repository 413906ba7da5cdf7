/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads whose placement is known: placed CPU... makes a thread for each argument, which binds
 * itself to that CPU, and waits for the others, and computes until all have computed together for
 * ROUND_NS. "later" as the last argument lets each thread bind itself after it has run unbound.
 * Prints the tid of each thread.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 64
#define ROUND_NS     UINT64_C(300000000)

static pthread_barrier_t barrier;
static atomic_bool is_late;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0) {
		perror("sched_setaffinity");
		exit(1);
	}
}

static void *compute(void *argument)
{
	int cpu = *(const int *)argument;

	printf("%d %d\n", (int)syscall(SYS_gettid), cpu);
	/* Longer than perfsage waits before it looks at a mask. */
	if (is_late)
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	bind_to(cpu);
	pthread_barrier_wait(&barrier);
	for (uint64_t end_ns = now_ns() + ROUND_NS; now_ns() < end_ns;)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	int cpus[MOST_THREADS], count = 0;

	for (int i = 1; i < argc && count < MOST_THREADS; i++) {
		if (strcmp(argv[i], "later") == 0)
			is_late = true;
		else
			cpus[count++] = atoi(argv[i]);
	}
	pthread_barrier_init(&barrier, NULL, (unsigned)count);
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, compute, &cpus[i]) != 0)
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 7;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that perfsage timeline is to show: a thread that moves between two CPUs and touches pages
 * there, threads by thousands, switches by thousands, threads and processes that get names, and a
 * process that goes on. */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE     16
#define COMPUTED_NS 1000000

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ms(long ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
		exit(3);
}

static int print_cpus(void)
{
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof cpus, &cpus);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			printf("%zu\n", cpu);
	}
	return 0;
}

static void touch(char *area, size_t pages, size_t page_bytes)
{
	for (size_t page = 0; page < pages; page++)
		((volatile char *)area)[page * page_bytes] = 1;
}

struct round {
	uint64_t begin_ns, end_ns, cpu_ns;
};

/* Touches its pages, and computes for as long as makes a task switch's own cost small. */
static void work(struct round *round, char *area, size_t pages, size_t page_bytes)
{
	uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

	round->begin_ns = now_ns(CLOCK_MONOTONIC);
	touch(area, pages, page_bytes);
	do {
		round->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	} while (round->cpu_ns < COMPUTED_NS);
	round->end_ns = now_ns(CLOCK_MONOTONIC);
}

/* Prints of each round its CPU, when it touched its pages and computed, and its CPU time. */
static int move(int first, int second, size_t count, size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = pages * page_bytes;
	struct round *rounds = calloc(count + 1, sizeof *rounds);
	char *area = mmap(NULL, (count + 1) * bytes, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!rounds || area == MAP_FAILED)
		return 4;
	memset(rounds, 1, (count + 1) * sizeof *rounds);
	madvise(area, (count + 1) * bytes, MADV_NOHUGEPAGE);
	/* The first round is for the pages of the code. */
	for (size_t round = 0; round <= count; round++) {
		pin(round % 2 ? second : first);
		work(&rounds[round], area + round * bytes, pages, page_bytes);
		pause_ms(1);
	}
	printf("{\"rounds\": [");
	for (size_t round = 1; round <= count; round++)
		printf("%s[%d, %ju, %ju, %ju]", round > 1 ? ", " : "", round % 2 ? second : first,
		       (uintmax_t)rounds[round].begin_ns, (uintmax_t)rounds[round].end_ns,
		       (uintmax_t)rounds[round].cpu_ns);
	printf("]}\n");
	free(rounds);
	return 0;
}

static void *end_at_once(void *context)
{
	return context;
}

static int make_threads(size_t count)
{
	pthread_t threads[AT_ONCE];

	for (size_t made = 0; made < count; made += AT_ONCE) {
		for (size_t i = 0; i < AT_ONCE; i++) {
			if (pthread_create(&threads[i], NULL, end_at_once, NULL) != 0)
				return 5;
		}
		for (size_t i = 0; i < AT_ONCE; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}

/* The kernel's clock of a thread: how long it was on since the clock was opened. */
struct clock {
	long tid;
	int fd;
	uint64_t on_ns;
};

static void clock_open(struct clock *clock)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_TASK_CLOCK,
	                               .exclude_kernel = 1};

	clock->tid = syscall(SYS_gettid);
	clock->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static void clock_read(struct clock *clock)
{
	if (read(clock->fd, &clock->on_ns, sizeof clock->on_ns) != sizeof clock->on_ns)
		exit(9);
}

static int there[2], back[2];

static void *answer(void *context)
{
	struct clock *clock = context;
	char byte;

	clock_open(clock);
	while (read(there[0], &byte, 1) == 1) {
		if (write(back[1], &byte, 1) != 1)
			break;
	}
	clock_read(clock);
	return context;
}

/* Two threads on one CPU wait for each other, and one of them computes in between. Prints how long
 * each was on, by its clock, and how long all of it took. */
static int switch_often(size_t rounds, unsigned steps)
{
	uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
	struct clock mine, others;
	pthread_t other;
	char byte = 0;

	clock_open(&mine);
	pin(sched_getcpu());
	if (pipe(there) != 0 || pipe(back) != 0 ||
	    pthread_create(&other, NULL, answer, &others) != 0)
		return 6;
	for (size_t round = 0; round < rounds; round++) {
		for (volatile unsigned step = 0; step < steps; step++)
			continue;
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 7;
	}
	close(there[1]);
	pthread_join(other, NULL);
	clock_read(&mine);
	printf("{\"clocks\": [[%ld, %ju], [%ld, %ju]], \"wall_ns\": %ju}\n", mine.tid,
	       (uintmax_t)mine.on_ns, others.tid, (uintmax_t)others.on_ns,
	       (uintmax_t)(now_ns(CLOCK_MONOTONIC) - begin_ns));
	return 0;
}

static void *sleep_on(void *context)
{
	pause();
	return context;
}

/* One thread waits for ever, the other one again and again. */
static int linger(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, sleep_on, NULL) != 0)
		return 8;
	pause_ms(50);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause_ms(2);
}

static pthread_barrier_t all_are_named;

static void *work_under_name(void *name)
{
	pause_ms(1);
	if (name)
		pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&all_are_named);
	pause_ms(1);
	return NULL;
}

/* A thread that names itself, one that its creator names, one without a name of its own, and a
 * child that executes the program with 0. At the end the first thread changes its name, too. */
static int give_names(char *program)
{
	static char own[] = "own-name";
	pthread_t threads[3];

	pthread_barrier_init(&all_are_named, NULL, 4);
	for (size_t i = 0; i < 3; i++) {
		if (pthread_create(&threads[i], NULL, work_under_name, i == 0 ? own : NULL) != 0)
			return 5;
	}
	pthread_setname_np(threads[1], "given-name");
	pthread_barrier_wait(&all_are_named);
	pid_t child = fork();
	if (child == 0) {
		pause_ms(1);
		execl(program, program, "0", (char *)NULL);
		_exit(10);
	}
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	pause_ms(1);
	pthread_setname_np(pthread_self(), "late-name");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "cpus") == 0)
		return print_cpus();
	if (argc == 6 && strcmp(argv[1], "move") == 0)
		return move(atoi(argv[2]), atoi(argv[3]), (size_t)atoi(argv[4]),
		            (size_t)atoi(argv[5]));
	if (argc == 3 && strcmp(argv[1], "threads") == 0)
		return make_threads((size_t)atoi(argv[2]));
	if ((argc == 3 || argc == 4) && strcmp(argv[1], "switches") == 0)
		return switch_often((size_t)atoi(argv[2]), argc == 4 ? (unsigned)atoi(argv[3]) : 0);
	if (argc == 3 && strcmp(argv[1], "names") == 0)
		return give_names(argv[2]);
	if (argc == 2 && strcmp(argv[1], "linger") == 0)
		return linger();
	return 2;
}

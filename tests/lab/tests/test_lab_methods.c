/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat --method on a big machine: what a thread, a fork and the memory of threads cost
 * with each method, beside a group that is inherited as it is (whole, as perf stat counts). The
 * emulator's time is instructions, so costs repeat and may be compared. All methods have the same
 * totals, and those that split have the same parts.
 *
 * Run as `test_lab_methods cost FILE` or `test_lab_methods work FILE` this program is the command.
 */
#include "lab.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERFSAGE "tools/perfsage"
#define EVENTS   "instructions,cycles,page-faults,task-clock,context-switches"
#define COSTS    "/tmp/lab_methods.cost"
#define COUNTS   "/tmp/lab_methods.csv"

#define ROUNDS     40
#define HELD       64
#define ITERATIONS 1000000ul

/* A control group may take so much of what whole takes. */
#define MOST_TIME   1.3
#define MOST_MEMORY 1.5

static char program[512];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double least(double one, double other)
{
	return one < other ? one : other;
}

/* Memory that the kernel takes for itself: free memory would have the lists of each CPU in it. */
static double kernel_kb(void)
{
	static const char *const names[] = {"Slab: %lf", "KernelStack: %lf", "Percpu: %lf"};
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	double sum = 0, kb;

	while (file && fgets(line, sizeof line, file)) {
		for (size_t name = 0; name < 3; name++) {
			if (sscanf(line, names[name], &kb) == 1)
				sum += kb;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static double cost_of_thread(void)
{
	double start = now_ns();

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, do_nothing, NULL) != 0)
			exit(1);
		pthread_join(thread, NULL);
	}
	return (now_ns() - start) / ROUNDS;
}

static double cost_of_fork(void)
{
	double start = now_ns();

	for (int round = 0; round < ROUNDS; round++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (now_ns() - start) / ROUNDS;
}

static pthread_barrier_t held, enough;

static void *be_held(void *unused)
{
	pthread_barrier_wait(&held);
	pthread_barrier_wait(&enough);
	return unused;
}

static double memory_of_threads(void)
{
	pthread_t threads[HELD];

	pthread_barrier_init(&held, NULL, HELD + 1);
	pthread_barrier_init(&enough, NULL, HELD + 1);
	/* The kernel gives back the memory of ended tasks some time later. */
	usleep(100000);
	double before = kernel_kb();
	for (int index = 0; index < HELD; index++) {
		if (pthread_create(&threads[index], NULL, be_held, NULL) != 0)
			exit(1);
	}
	pthread_barrier_wait(&held);
	double taken = kernel_kb() - before;
	pthread_barrier_wait(&enough);
	for (int index = 0; index < HELD; index++)
		pthread_join(threads[index], NULL);
	return taken;
}

/* The first round of each warms up. */
static int tell_costs(const char *path)
{
	double thread = (cost_of_thread(), cost_of_thread());
	double forked = (cost_of_fork(), cost_of_fork());
	double one = memory_of_threads(), two = memory_of_threads(), three = memory_of_threads();
	double memory = (double)lab_median((long long)one, (long long)two, (long long)three);
	FILE *file = fopen(path, "w");

	if (!file)
		return 1;
	fprintf(file, "%f %f %f\n", thread, forked, memory);
	return fclose(file) != 0;
}

static int go_to(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	return sched_setaffinity(0, sizeof mask, &mask);
}

/* Works on CPU 1 and on CPU 2, there twice. */
static void *wander(void *unused)
{
	for (int loop = 0; loop < 3; loop++) {
		if (go_to(loop == 0 ? 1 : 2) < 0)
			exit(1);
		lab_sleep_after_tick();
		lab_loop(ITERATIONS);
	}
	return unused;
}

static int do_work(void)
{
	for (int index = 0; index < 3; index++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, wander, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

struct costs {
	double thread_ns, fork_ns, memory_kb;
};

/* method: NULL without perfsage. */
static struct costs find_costs(const char *method)
{
	char line[1024];
	struct costs costs = {0};

	if (method)
		snprintf(line, sizeof line,
		         PERFSAGE " stat --method %s -e " EVENTS " -o /dev/null -- %s cost " COSTS
		                  " 2> /dev/null",
		         method, program);
	else
		snprintf(line, sizeof line, "%s cost " COSTS, program);
	ck_assert_msg(system(line) == 0, "failed: %s", line);
	FILE *file = fopen(COSTS, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(
	    fscanf(file, "%lf %lf %lf", &costs.thread_ns, &costs.fork_ns, &costs.memory_kb), 3);
	fclose(file);
	printf("lab: %-8s thread %8.0f ns, fork %8.0f ns, %d threads %8.0f kB\n",
	       method ? method : "plain", costs.thread_ns, costs.fork_ns, HELD, costs.memory_kb);
	return costs;
}

START_TEST(a_control_group_costs_no_more_than_a_group_that_is_inherited)
{
	struct costs plain = find_costs(NULL), whole = find_costs("whole"),
		     cgroup = find_costs("cgroup"), per_cpu = find_costs("per-cpu"),
		     share = find_costs("time-share"), chosen = find_costs("auto");

	ck_assert(cgroup.thread_ns <= MOST_TIME * whole.thread_ns);
	ck_assert(cgroup.fork_ns <= MOST_TIME * whole.fork_ns);
	ck_assert(cgroup.memory_kb <= MOST_MEMORY * whole.memory_kb);
	/* On N CPUs copies of 5 events and N clocks, where per-cpu has 5 N. */
	ck_assert(share.thread_ns - whole.thread_ns <= (per_cpu.thread_ns - whole.thread_ns) / 2);
	ck_assert(share.fork_ns - whole.fork_ns <= (per_cpu.fork_ns - whole.fork_ns) / 2);
	ck_assert(share.memory_kb - whole.memory_kb <= (per_cpu.memory_kb - whole.memory_kb) / 2);
	/* Else this shows nothing. */
	ck_assert(per_cpu.thread_ns > MOST_TIME * whole.thread_ns);
	ck_assert(plain.thread_ns < whole.thread_ns);
	/* 5 events and 64 CPUs are too many for copies. */
	ck_assert(chosen.thread_ns <= MOST_TIME * whole.thread_ns);
}
END_TEST

struct counts {
	double total, parts[2], faults;
};

static struct counts count(const char *method)
{
	char line[1024];

	snprintf(line, sizeof line,
	         PERFSAGE
	         " stat --method %s -e instructions:u,page-faults --csv --by cpu -o " COUNTS
	         " -- %s work - 2> /dev/null",
	         method, program);
	ck_assert_msg(system(line) == 0, "failed: %s", line);
	struct counts counts = {.total = lab_csv_value(COUNTS, "Machine", 0, "instructions:u"),
	                        .parts = {lab_csv_value(COUNTS, "Thread", 1, "instructions:u"),
	                                  lab_csv_value(COUNTS, "Thread", 2, "instructions:u")},
	                        .faults = lab_csv_value(COUNTS, "Machine", 0, "page-faults")};
	printf("lab: %-8s %.0f instructions, %.0f on CPU 1 and %.0f on CPU 2; %.0f page faults\n",
	       method, counts.total, counts.parts[0], counts.parts[1], counts.faults);
	return counts;
}

static struct counts count_thrice(const char *method)
{
	struct counts out = count(method);

	for (int more = 0; more < 2; more++) {
		struct counts counts = count(method);
		out.total = least(out.total, counts.total);
		out.parts[0] = least(out.parts[0], counts.parts[0]);
		out.parts[1] = least(out.parts[1], counts.parts[1]);
		out.faults = least(out.faults, counts.faults);
	}
	return out;
}

static void check_near(double value, double wanted, double part)
{
	ck_assert_msg(value >= wanted * (1 - part) && value <= wanted * (1 + part),
	              "%.0f, not %.0f", value, wanted);
}

/* All of the loops, and some per cent of others' turns. */
static void check_part(double value, double known)
{
	ck_assert_msg(value >= known && value <= known * 1.1, "%.0f, not %.0f", value, known);
}

/* The emulator's counters go on in the turns of other CPUs: the least of three runs has least of
 * that. */
START_TEST(all_methods_have_the_same_totals_and_the_split_ones_the_same_parts)
{
	struct counts per_cpu = count_thrice("per-cpu"), cgroup = count_thrice("cgroup"),
		      whole = count_thrice("whole"), share = count_thrice("time-share");

	check_near(cgroup.total, per_cpu.total, 0.05);
	check_near(whole.total, per_cpu.total, 0.05);
	check_near(share.total, per_cpu.total, 0.05);
	for (int cpu = 0; cpu < 2; cpu++) {
		check_part(per_cpu.parts[cpu], 3 * 2.0 * ITERATIONS * (1 + cpu));
		check_part(cgroup.parts[cpu], 3 * 2.0 * ITERATIONS * (1 + cpu));
	}
	check_near(cgroup.faults, per_cpu.faults, 0.05);
	check_near(whole.faults, per_cpu.faults, 0.05);
	check_near(share.faults, per_cpu.faults, 0.05);
	/* An estimate: the loops have the same rate on both CPUs, and not what is around them. */
	check_near(share.parts[1] / share.parts[0], 2, 0.2);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "cost"))
		return tell_costs(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "work"))
		return do_work();
	snprintf(program, sizeof program, "%s", argv[0]);
	Suite *suite = suite_create("lab: methods");
	TCase *methods = tcase_create("methods");

	tcase_add_test(methods, a_control_group_costs_no_more_than_a_group_that_is_inherited);
	tcase_add_test(methods, all_methods_have_the_same_totals_and_the_split_ones_the_same_parts);
	tcase_set_timeout(methods, 120);
	suite_add_tcase(suite, methods);
	return lab_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat --method on a big machine: what a thread, a fork and the memory of threads cost
 * with each method, beside a group that is inherited as it is (whole, as perf stat counts). The
 * emulator's time is instructions, so costs repeat and may be compared. All methods have the same
 * totals, and those that split have the same parts.
 *
 * Run as `test_lab_methods cost FILE` this program is the command.
 */
#include "lab.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERFSAGE "tools/perfsage"
#define EVENTS   "instructions,cycles,page-faults,task-clock,context-switches"
#define COSTS    "/tmp/lab_methods.cost"

#define ROUNDS     40
#define HELD       64
#define ITERATIONS 1000000ul

/* A control group, BPF and looks may take so much of what whole takes. */
#define MOST_TIME   1.3
#define MOST_MEMORY 1.5

#define TOLERANCE 0.001

static char program[512];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
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
	printf("lab: %-10s thread %8.0f ns, fork %8.0f ns, %d threads %8.0f kB\n",
	       method ? method : "uncounted", costs.thread_ns, costs.fork_ns, HELD,
	       costs.memory_kb);
	return costs;
}

static void check_cheap(struct costs costs, struct costs whole)
{
	ck_assert(costs.thread_ns <= MOST_TIME * whole.thread_ns);
	ck_assert(costs.fork_ns <= MOST_TIME * whole.fork_ns);
	ck_assert(costs.memory_kb <= MOST_MEMORY * whole.memory_kb);
}

START_TEST(control_groups_bpf_and_looks_cost_no_more_than_a_group_that_is_inherited)
{
	struct costs plain = find_costs(NULL), whole = find_costs("whole"),
		     cgroup = find_costs("cgroup"), bpf = find_costs("bpf"),
		     looks = find_costs("looks"), per_cpu = find_costs("per-cpu"),
		     share = find_costs("time-share"), chosen = find_costs("auto");

	check_cheap(cgroup, whole);
	check_cheap(bpf, whole);
	check_cheap(looks, whole);
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

#define GROUP "/sys/fs/cgroup/lab-methods"

/* One set for each method, each with a tree of its own. They count the same run, so what the
 * emulator adds to it they all have. */
struct way {
	const char *name;
	enum ps_attribution_mode mode;
	bool is_cgroup;
	enum ps_attribution kind;
	struct ps_eventset *set;
	struct ps_topology *topology;
};

static struct way ways[] = {
    {.name = "per-cpu", .mode = PS_ATTRIBUTE_EXACT, .kind = PS_ATTRIBUTION_EXACT},
    {.name = "bpf", .mode = PS_ATTRIBUTE_BPF, .kind = PS_ATTRIBUTION_EXACT},
    {.name = "cgroup", .is_cgroup = true, .kind = PS_ATTRIBUTION_EXACT},
    {.name = "time-share", .mode = PS_ATTRIBUTE_TIME_SHARE, .kind = PS_ATTRIBUTION_MIXED},
    {.name = "looks", .mode = PS_ATTRIBUTE_LOOKS, .kind = PS_ATTRIBUTION_MIXED},
    {.name = "whole", .mode = PS_ATTRIBUTE_LAST_CPU, .kind = PS_ATTRIBUTION_LAST_CPU},
};
#define WAYS (sizeof ways / sizeof ways[0])

static void attach(struct way *way, pid_t pid)
{
	way->topology = lab_topology();
	way->set = lab_set(LAB_INSTRUCTIONS, "page-faults", NULL);
	lab_ok(ps_eventset_set_attribution(way->set, way->mode));
	lab_ok(way->is_cgroup ? ps_eventset_attach_cgroup(way->set, GROUP)
	                      : ps_eventset_attach_process(way->set, pid));
	lab_ok(ps_start(way->set));
}

static long long part(const struct way *way, int cpu)
{
	struct ps_value value =
	    lab_reading(ps_topology_thread(way->topology, cpu), LAB_INSTRUCTIONS, 0);

	ck_assert_int_eq((int)value.attribution, (int)way->kind);
	return value.value;
}

/* A process that works once it is told so, in the control group. */
static pid_t begin_work(int *order)
{
	int orders[2], answers[2];
	char text[32], byte = 0;

	ck_assert_int_eq(pipe(orders) + pipe(answers), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(orders[1]);
		if (read(orders[0], &byte, 1) != 1 || do_work() != 0)
			_exit(1);
		if (write(answers[1], &byte, 1) != 1)
			_exit(1);
		/* Lives on until all sets have been read. */
		_exit(read(orders[0], &byte, 1) == 1);
	}
	close(orders[0]);
	close(answers[1]);
	snprintf(text, sizeof text, "%d", (int)pid);
	lab_write(GROUP "/cgroup.procs", text);
	order[0] = orders[1];
	order[1] = answers[0];
	return pid;
}

static void check_near(double value, double wanted)
{
	ck_assert_msg(value >= wanted * (1 - TOLERANCE) && value <= wanted * (1 + TOLERANCE),
	              "%.0f, not %.0f", value, wanted);
}

static void check_way(const struct way *way)
{
	struct ps_component *root = ps_topology_root(way->topology),
			    *first = ps_topology_root(ways[0].topology);
	long long total = lab_total(root, LAB_INSTRUCTIONS).value,
		  faults = lab_total(root, "page-faults").value;

	printf("lab: %-10s %lld instructions, %lld page faults\n", way->name, total, faults);
	check_near((double)total, (double)lab_total(first, LAB_INSTRUCTIONS).value);
	ck_assert_int_eq(faults, lab_total(first, "page-faults").value);
	/* The threads have ended before a look could see them. */
	bool is_split = way->kind != PS_ATTRIBUTION_LAST_CPU && way->mode != PS_ATTRIBUTE_LOOKS;
	for (int cpu = 1; cpu <= 2 && is_split; cpu++) {
		long long one = part(way, cpu);
		printf("lab: %-10s %lld on CPU %d\n", way->name, one, cpu);
		if (way->kind != PS_ATTRIBUTION_EXACT)
			continue;
		ck_assert_int_ge(one, 3ll * 2 * ITERATIONS * cpu);
		check_near((double)one, (double)part(&ways[0], cpu));
	}
}

START_TEST(all_methods_have_the_same_totals_and_the_exact_ones_the_same_parts)
{
	int order[2], status = 1;
	char byte = 0;

	ck_assert_int_eq(mkdir(GROUP, 0755), 0);
	pid_t pid = begin_work(order);
	for (size_t way = 0; way < WAYS; way++)
		attach(&ways[way], pid);
	ck_assert_int_eq(write(order[0], &byte, 1), 1);
	ck_assert_int_eq(read(order[1], &byte, 1), 1);
	for (size_t way = 0; way < WAYS; way++)
		lab_ok(ps_stop(ways[way].set, ps_topology_root(ways[way].topology), NULL, NULL));
	close(order[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	for (size_t way = 0; way < WAYS; way++)
		check_way(&ways[way]);
	for (size_t way = 0; way < WAYS; way++) {
		ps_eventset_destroy(ways[way].set);
		ps_topology_destroy(ways[way].topology);
	}
	ck_assert_int_eq(rmdir(GROUP), 0);
}
END_TEST

#define MANY_THREADS 2000
#define COMPLAINT    "/tmp/lab_methods.complaint"

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static pid_t begin_many(void)
{
	int answers[2];
	char byte = 0;

	ck_assert_int_eq(pipe(answers), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pthread_attr_t small;
		pthread_t thread;
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		for (int index = 1; index < MANY_THREADS; index++) {
			if (pthread_create(&thread, &small, wait_for_ever, NULL) != 0)
				_exit(1);
		}
		if (write(answers[1], &byte, 1) != 1)
			_exit(1);
		pause();
	}
	close(answers[1]);
	ck_assert_int_eq(read(answers[0], &byte, 1), 1);
	close(answers[0]);
	return pid;
}

/* The status of perfsage stat, which may open 1024 descriptors. */
static int attach_to_many(const char *method, pid_t pid)
{
	char line[1024];
	double start = now_ns();

	snprintf(line, sizeof line,
	         "ulimit -n 1024; exec " PERFSAGE " stat --method %s -e " EVENTS
	         " -p %d -o /dev/null -- true 2> " COMPLAINT,
	         method, (int)pid);
	int status = system(line);
	printf("lab: %-10s -p of %d threads: status %d, %.0f ns\n", method, MANY_THREADS,
	       WEXITSTATUS(status), now_ns() - start);
	return WEXITSTATUS(status);
}

/* By BPF there is an event for each CPU, whatever the threads. */
START_TEST(a_process_of_2000_threads_is_counted_with_1024_descriptors)
{
	pid_t pid = begin_many();

	ck_assert_int_eq(attach_to_many("bpf", pid), 0);
	ck_assert_int_ne(attach_to_many("per-cpu", pid), 0);
	ck_assert_int_ne(attach_to_many("auto", pid), 0);
	/* It is told what could. */
	ck_assert_int_eq(system("grep -q 'method bpf takes [0-9]' " COMPLAINT), 0);
	attach_to_many("whole", pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "cost"))
		return tell_costs(argv[2]);
	snprintf(program, sizeof program, "%s", argv[0]);
	Suite *suite = suite_create("lab: methods");
	TCase *methods = tcase_create("methods");

	tcase_add_test(methods,
	               control_groups_bpf_and_looks_cost_no_more_than_a_group_that_is_inherited);
	tcase_add_test(methods, all_methods_have_the_same_totals_and_the_exact_ones_the_same_parts);
	tcase_add_test(methods, a_process_of_2000_threads_is_counted_with_1024_descriptors);
	tcase_set_timeout(methods, 120);
	suite_add_tcase(suite, methods);
	return lab_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact attribution of hardware counters: known loops here and there, of one thread and of eight.
 * Each CPU's instructions and cycles must be those of its loops.
 */
#include "lab.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CYCLES "cycles:u"

/* The library's clock: one that always takes the same instructions. It stands before all times that
 * the kernel records: what was recorded comes after the start. */
static int even_clock(clockid_t clock, struct timespec *now)
{
	static long ticks;

	(void)clock;
	*now = (struct timespec){.tv_nsec = ++ticks};
	return 0;
}

/* One thread that counts itself, and another set of it, in the mode last-cpu, with a tree of its
 * own. */
struct walk {
	struct ps_topology *topology, *beside;
	struct ps_eventset *set, *last;
};

static struct walk open_walk(enum lab_means means)
{
	struct ps_hooks hooks = lab_hooks(means);

	hooks.clock_gettime = even_clock;
	lab_ok(ps_hooks_set(&hooks));
	struct walk walk = {lab_topology(), lab_topology(), lab_set(LAB_INSTRUCTIONS, CYCLES, NULL),
	                    lab_set(LAB_INSTRUCTIONS, CYCLES, NULL)};

	lab_ok(ps_eventset_set_attribution(walk.set, PS_ATTRIBUTE_EXACT));
	lab_ok(ps_eventset_set_attribution(walk.last, PS_ATTRIBUTE_LAST_CPU));
	lab_ok(ps_eventset_reserve(walk.set, 64));
	lab_ok(ps_eventset_reserve(walk.last, 64));
	return walk;
}

static void close_walk(struct walk *walk)
{
	ps_eventset_destroy(walk->set);
	ps_eventset_destroy(walk->last);
	ps_topology_destroy(walk->topology);
	ps_topology_destroy(walk->beside);
	lab_ok(ps_hooks_set(NULL));
}

static void work_on(int cpu, int times, unsigned long iterations)
{
	lab_pin(cpu);
	for (int i = 0; i < times; i++) {
		lab_sleep_after_tick();
		lab_loop(iterations);
	}
}

/* 1 : 3 : 2, on CPU 0, 1 and 0. The other set counts within; asserts are for afterwards. */
static void walk_about(struct walk *walk, unsigned long iterations)
{
	uint64_t timestamp = 0, beside = 0;
	int codes[4];

	lab_pin(0);
	lab_after_tick();
	codes[0] = ps_start(walk->set);
	codes[1] = ps_start(walk->last);
	work_on(0, 1, iterations);
	work_on(1, 3, iterations);
	work_on(0, 2, iterations);
	codes[2] = ps_stop(walk->last, ps_topology_root(walk->beside), &beside, NULL);
	codes[3] = ps_stop(walk->set, ps_topology_root(walk->topology), &timestamp, NULL);
	for (int i = 0; i < 4; i++)
		lab_ok(codes[i]);
}

static long long part(struct ps_topology *topology, int cpu, const char *event)
{
	struct ps_value value = lab_reading(ps_topology_thread(topology, cpu), event, 0);

	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	return value.value;
}

/* A part, less what it was when the loops were as good as empty. */
struct split {
	long long instructions[2], cycles[2];
};

static struct split take_split(const struct walk *walk)
{
	struct split split;

	for (int cpu = 0; cpu < 2; cpu++) {
		split.instructions[cpu] = part(walk->topology, cpu, LAB_INSTRUCTIONS);
		split.cycles[cpu] = part(walk->topology, cpu, CYCLES);
	}
	return split;
}

/* Of three walks: an interrupt on another CPU may be counted in one of them. */
static struct split walk_thrice(struct walk *walk, unsigned long iterations)
{
	struct split splits[3], out;

	for (int i = 0; i < 3; i++) {
		walk_about(walk, iterations);
		splits[i] = take_split(walk);
	}
	for (int cpu = 0; cpu < 2; cpu++) {
		out.instructions[cpu] =
		    lab_median(splits[0].instructions[cpu], splits[1].instructions[cpu],
		               splits[2].instructions[cpu]);
		out.cycles[cpu] =
		    lab_median(splits[0].cycles[cpu], splits[1].cycles[cpu], splits[2].cycles[cpu]);
	}
	return out;
}

static void check_thousandth(const char *what, long long value, long long known)
{
	printf("lab: %s: %lld of %lld\n", what, value, known);
	ck_assert_int_le(llabs(value - known), known / 1000);
}

START_TEST(two_six_and_four_million_instructions_are_split_within_a_thousandth)
{
	struct walk walk = open_walk((enum lab_means)_i);
	long long cycles = 1ll << lab_shift(), residual[2];

	printf("lab: %s:\n", lab_means_names[_i]);
	walk_about(&walk, 1);
	struct split empty = walk_thrice(&walk, 1);
	struct split full = walk_thrice(&walk, 1000001);
	for (int cpu = 0; cpu < 2; cpu++) {
		check_thousandth(cpu == 0 ? "CPU 0, instructions" : "CPU 1, instructions",
		                 full.instructions[cpu] - empty.instructions[cpu], 6000000);
		check_thousandth(cpu == 0 ? "CPU 0, cycles" : "CPU 1, cycles",
		                 full.cycles[cpu] - empty.cycles[cpu], 6000000 * cycles);
	}
	lab_ok(ps_eventset_check(walk.set, residual, 2));
	ck_assert_int_eq(residual[0], 0);
	ck_assert_int_eq(residual[1], 0);
	close_walk(&walk);
}
END_TEST

static long long sums_differ_by(struct walk *walk)
{
	return lab_total(ps_topology_root(walk->topology), LAB_INSTRUCTIONS).value -
	       lab_total(ps_topology_root(walk->beside), LAB_INSTRUCTIONS).value;
}

/* The set begins earlier and ends later than the one beside it: by the same instructions, whatever
 * lies between. */
START_TEST(the_sum_of_the_parts_is_the_unsplit_count_to_the_instruction)
{
	struct walk walk = open_walk((enum lab_means)_i);
	long long around;

	for (int i = 0; i < 8; i++)
		walk_about(&walk, 1);
	around = sums_differ_by(&walk);
	ck_assert_int_gt(around, 0);
	ck_assert_int_lt(around, 20000);
	walk_about(&walk, 200000);
	ck_assert_int_ge(lab_total(ps_topology_root(walk.beside), LAB_INSTRUCTIONS).value,
	                 6 * 2 * 200000);
	ck_assert_int_eq(sums_differ_by(&walk), around);
	close_walk(&walk);
}
END_TEST

#define MOST_ROUNDS 8
#define HANDS       8
#define ITERATIONS  50000ul
/* A moment of the emulator's or of the C library's, seen in all eight runs with the loops and not
 * in all without. */
#define MOMENT 6000

/* Threads that wander over all CPUs, one at a time: the emulator's counters go on in one another's
 * turns. */
struct team {
	struct ps_topology *topology;
	const struct ps_eventset *model;
	pthread_mutex_t turn;
	unsigned long iterations;
	int next;
};

static void *wander(void *argument)
{
	struct team *team = argument;
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;

	pthread_mutex_lock(&team->turn);
	lab_ok(ps_eventset_clone(&set, team->model));
	int first = team->next++;
	lab_sleep_after_tick();
	int started = ps_start(set);
	for (int i = 0; i < HANDS; i++) {
		int cpu = (first + i) % HANDS;
		work_on(cpu, 1, team->iterations * (unsigned long)(1 + cpu));
	}
	int stopped = ps_stop(set, ps_topology_root(team->topology), &timestamp, NULL);
	lab_ok(started);
	lab_ok(stopped);
	ps_eventset_destroy(set);
	pthread_mutex_unlock(&team->turn);
	return NULL;
}

/* What a component has of a team's own sets and of a set of the whole process. */
struct counts {
	long long threads, process;
};

/* By CPU, and on NUMA nodes. */
struct outcome {
	struct counts cpus[HANDS], nodes[2];
};

static void take_counts(struct counts *counts, struct ps_component *own, struct ps_component *whole)
{
	counts->threads = lab_total(own, LAB_INSTRUCTIONS).value;
	counts->process = lab_total(whole, LAB_INSTRUCTIONS).value;
}

static struct outcome take_outcome(struct ps_topology *own, struct ps_topology *whole)
{
	struct outcome outcome;

	for (int cpu = 0; cpu < HANDS; cpu++) {
		struct ps_component *here = ps_thread_component(ps_topology_thread(own, cpu));
		struct ps_component *there = ps_thread_component(ps_topology_thread(whole, cpu));

		take_counts(&outcome.cpus[cpu], here, there);
		take_counts(&outcome.nodes[cpu / 4],
		            ps_component_ancestor(here, PS_COMPONENT_NUMA, 1),
		            ps_component_ancestor(there, PS_COMPONENT_NUMA, 1));
	}
	ck_assert_int_eq((int)lab_total(ps_topology_root(own), LAB_INSTRUCTIONS).attribution,
	                 PS_ATTRIBUTION_EXACT);
	return outcome;
}

/* The process's set is started first: the threads come after it. */
static struct outcome run_team(unsigned long iterations)
{
	struct ps_eventset *model = lab_set(LAB_INSTRUCTIONS, NULL),
			   *process = lab_set(LAB_INSTRUCTIONS, NULL);
	struct team team = {lab_topology(), model, PTHREAD_MUTEX_INITIALIZER, iterations, 0};
	struct ps_topology *whole = lab_topology();
	pthread_t threads[HANDS];
	uint64_t timestamp = 0;

	/* They are bound when they start */
	lab_ok(ps_eventset_set_attribution(model, PS_ATTRIBUTE_EXACT));
	lab_ok(ps_eventset_attach_process(process, getpid()));
	lab_ok(ps_start(process));
	ck_assert_int_eq((int)ps_eventset_attribution(process, NULL), PS_ATTRIBUTION_EXACT);
	for (int i = 0; i < HANDS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, wander, &team), 0);
	for (int i = 0; i < HANDS; i++)
		pthread_join(threads[i], NULL);
	lab_ok(ps_stop(process, ps_topology_root(whole), &timestamp, NULL));
	struct outcome outcome = take_outcome(team.topology, whole);
	ps_eventset_destroy(process);
	ps_eventset_destroy(model);
	ps_topology_destroy(team.topology);
	ps_topology_destroy(whole);
	return outcome;
}

static void keep_less(struct counts *least, struct counts counts)
{
	least->threads = counts.threads < least->threads ? counts.threads : least->threads;
	least->process = counts.process < least->process ? counts.process : least->process;
}

/* Another run. The emulator's counters go on while an interrupt of its host's is served, which only
 * adds: the least of all runs has least of it, and shows what is lost. */
static void run_again(struct outcome *least, unsigned long iterations)
{
	struct outcome outcome = run_team(iterations);

	for (int cpu = 0; cpu < HANDS; cpu++)
		keep_less(&least->cpus[cpu], outcome.cpus[cpu]);
	for (int node = 0; node < 2; node++)
		keep_less(&least->nodes[node], outcome.nodes[node]);
}

/* Of a run with the loops and one without: is what they differ by near what the loops execute? The
 * process's first thread may meet a lazy moment of its own. */
static bool is_near(struct counts full, struct counts empty, long long known)
{
	return llabs(full.threads - empty.threads - known) <= known / 1000 + MOMENT &&
	       llabs(full.process - empty.process - known) <= known / 100;
}

static long long known_of_cpu(int cpu)
{
	return (long long)(2 * ITERATIONS) * HANDS * (1 + cpu);
}

static long long known_of_node(int node)
{
	long long known = 0;

	for (int cpu = 4 * node; cpu < 4 * node + 4; cpu++)
		known += known_of_cpu(cpu);
	return known;
}

static bool are_near(const struct outcome *full, const struct outcome *empty)
{
	bool are = true;

	for (int cpu = 0; cpu < HANDS; cpu++)
		are = are && is_near(full->cpus[cpu], empty->cpus[cpu], known_of_cpu(cpu));
	for (int node = 0; node < 2; node++)
		are = are && is_near(full->nodes[node], empty->nodes[node], known_of_node(node));
	return are;
}

static void check_counts(const char *what, struct counts full, struct counts empty, long long known)
{
	printf("lab: %s: %lld by the threads' sets, %lld by the process's, of %lld\n", what,
	       full.threads - empty.threads, full.process - empty.process, known);
	ck_assert_int_le(llabs(full.threads - empty.threads - known), known / 1000 + MOMENT);
	ck_assert_int_le(llabs(full.process - empty.process - known), known / 100);
}

START_TEST(eight_threads_that_wander_over_two_nodes_are_split_by_their_own_sets_and_as_a_process)
{
	ck_assert_uint_eq(lab_cpus(), HANDS);
	ck_assert_uint_eq(lab_nodes(), 2);
	lab_pin(0);
	run_team(1);
	struct outcome empty = run_team(1), full = run_team(ITERATIONS + 1);
	for (int round = 1; round < MOST_ROUNDS && !are_near(&full, &empty); round++) {
		run_again(&empty, 1);
		run_again(&full, ITERATIONS + 1);
	}
	for (int cpu = 0; cpu < HANDS; cpu++)
		check_counts("a CPU", full.cpus[cpu], empty.cpus[cpu], known_of_cpu(cpu));
	for (int node = 0; node < 2; node++)
		check_counts("a NUMA node", full.nodes[node], empty.nodes[node],
		             known_of_node(node));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: exact attribution");
	TCase *split = tcase_create("split");

	tcase_add_loop_test(split,
	                    two_six_and_four_million_instructions_are_split_within_a_thousandth, 0,
	                    LAB_MEANS);
	tcase_add_loop_test(split, the_sum_of_the_parts_is_the_unsplit_count_to_the_instruction, 0,
	                    LAB_MEANS);
	tcase_add_test(
	    split,
	    eight_threads_that_wander_over_two_nodes_are_split_by_their_own_sets_and_as_a_process);
	suite_add_tcase(suite, split);
	return lab_run(suite);
}

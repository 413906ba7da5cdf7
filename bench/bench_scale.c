/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures costs that must not grow from a small case to a big one: a total after many sets were
 * destroyed, adding an event to a big set, updating one of many readings, and ps_read after another
 * process used the CPU.
 */
#include "counted.h"
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS        4
#define DEAD_SETS     10000u
#define MANY_EVENTS   20000u
#define MANY_READINGS 4096u
#define BUSY_SECONDS  1.0

static struct ps_eventset *make_set(void)
{
	struct ps_eventset *set;

	bench_expect_ok(ps_eventset_create(&set), "ps_eventset_create");
	bench_expect_ok(ps_eventset_add(set, "page-faults"), "ps_eventset_add");
	return set;
}

static struct ps_topology *scale_load(void)
{
	struct ps_topology *topology;

	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	return topology;
}

/* Returns a topology in which so many sets were destroyed. */
static struct ps_topology *scale_bury(unsigned sets)
{
	struct ps_topology *topology = scale_load();
	long long one = 1;

	for (unsigned index = 0; index < sets; index++) {
		struct ps_eventset *set = make_set();
		bench_expect_ok(ps_store(set, &one, 1, ps_topology_root(topology), NULL, NULL),
		                "ps_store");
		bench_expect_ok(ps_eventset_destroy(set), "ps_eventset_destroy");
	}
	return topology;
}

static double run_total(void *context, unsigned calls)
{
	struct ps_component *root = ps_topology_root(context);
	double start = bench_now_ns();
	int failed = 0;

	for (unsigned index = 0; index < calls; index++) {
		struct ps_value value;
		failed |= ps_component_total(root, "page-faults", &value);
		bench_keep(&value);
	}
	double took = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_component_total");
	return took;
}

static void measure_totals(void)
{
	struct ps_topology *one = scale_bury(1), *many = scale_bury(bench_scaled(DEAD_SETS));
	struct bench_case cases[] = {
	    {.name = "total_one_dead", .size = 1, .run = run_total, .context = one},
	    {.name = "total_many_dead",
	     .size = bench_scaled(DEAD_SETS),
	     .run = run_total,
	     .context = many,
	     .versus = {"total_one_dead"}},
	};

	bench_run(
	    &(struct bench_table){.title = "A total over sets that were destroyed (bar: 10 x)",
	                          .size_name = "sets",
	                          .rounds = 300,
	                          .batch = 100,
	                          .cases = cases,
	                          .count = 2});
	ps_topology_destroy(many);
	ps_topology_destroy(one);
}

/* Returns the time for each event of a set, whose events are breakpoints, as there can be one for
 * each address. Each one takes a probe of the kernel, in any set. */
static double add_events(unsigned count)
{
	struct ps_eventset *set;

	bench_expect_ok(ps_eventset_create(&set), "ps_eventset_create");
	double start = bench_now_ns();
	for (unsigned number = 0; number < count; number++) {
		char name[32];
		snprintf(name, sizeof name, "mem:0x%x:w", 0x10000 + 8 * number);
		bench_expect_ok(ps_eventset_add(set, name), "ps_eventset_add");
	}
	double took = bench_now_ns() - start;
	bench_expect_ok(ps_eventset_destroy(set), "ps_eventset_destroy");
	return took;
}

static void measure_adding(void)
{
	unsigned few = bench_scaled(100), many = bench_scaled(MANY_EVENTS);
	struct ps_eventset *probe;

	bench_expect_ok(ps_eventset_create(&probe), "ps_eventset_create");
	int result = ps_eventset_add(probe, "mem:0x10000:w");
	ps_eventset_destroy(probe);
	if (result != PS_OK) {
		fprintf(stderr, "adding events is not measured: %s\n", ps_error_detail());
		return;
	}
	struct bench_figure figures[] = {
	    {.name = "add_to_small", .events = (int)few, .value = add_events(few) / few},
	    {.name = "add_to_large",
	     .events = (int)many,
	     .value = add_events(many) / many,
	     .versus = "add_to_small"},
	};
	bench_print_figures(
	    "Adding an event, all of them in turn (bar: 20,000 in a second, 50,000 ns each)", "ns",
	    figures, 2);
}

/* A set with so many readings: the latest is updated, or each in turn. */
struct readings {
	struct ps_topology *topology;
	struct ps_eventset *set;
	uint64_t *timestamps;
	unsigned count, next;
};

static void make_readings(struct readings *out, unsigned count)
{
	*out = (struct readings){
	    .topology = scale_load(), .set = bench_make_set(EVENTS), .count = count};
	out->timestamps = calloc(count, sizeof *out->timestamps);
	if (!out->timestamps)
		bench_die("no memory for the timestamps");
	bench_expect_ok(ps_start(out->set), "ps_start");
	for (unsigned index = 0; index < count; index++)
		bench_expect_ok(ps_read(out->set, ps_topology_root(out->topology),
		                        &out->timestamps[index], NULL),
		                "ps_read");
}

static double run_update(void *context, unsigned calls)
{
	struct readings *readings = context;
	struct ps_component *root = ps_topology_root(readings->topology);
	double start = bench_now_ns();
	int failed = 0;

	for (unsigned index = 0; index < calls; index++) {
		failed |= ps_read(readings->set, root, &readings->timestamps[readings->next], NULL);
		if (++readings->next == readings->count)
			readings->next = 0;
	}
	double took = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_read");
	return took;
}

static void free_readings(struct readings *readings)
{
	ps_eventset_destroy(readings->set);
	ps_topology_destroy(readings->topology);
	free(readings->timestamps);
}

static void measure_updates(void)
{
	struct readings one, many;
	unsigned count = bench_scaled(MANY_READINGS);

	make_readings(&one, 1);
	make_readings(&many, count);
	struct bench_case cases[] = {
	    {.name = "update_latest",
	     .events = EVENTS,
	     .size = 1,
	     .run = run_update,
	     .context = &one},
	    {.name = "update_each_in_turn",
	     .events = EVENTS,
	     .size = count,
	     .run = run_update,
	     .context = &many,
	     .versus = {"update_latest"}},
	};
	bench_run(&(struct bench_table){.title = "Updating a reading",
	                                .size_name = "readings",
	                                .rounds = 300,
	                                .batch = 1000,
	                                .cases = cases,
	                                .count = 2});
	free_readings(&many);
	free_readings(&one);
}

static pid_t start_busy_process(int cpu)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork failed");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(cpu);
	for (;;)
		continue;
}

static void read_beside(struct readings *readings, int cpu)
{
	pid_t pid = start_busy_process(cpu);
	double end = bench_now_ns() + BUSY_SECONDS * 1e9;

	while (bench_now_ns() < end)
		run_update(readings, 100);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Compares two sets; one was read while a busy process was on its CPU. */
static void measure_after_busy(const struct bench_options *options)
{
	struct readings before, after;

	make_readings(&before, 1);
	make_readings(&after, 1);
	read_beside(&after, options->cpu);
	struct bench_case cases[] = {
	    {.name = "read_before_busy", .events = EVENTS, .run = run_update, .context = &before},
	    {.name = "read_after_busy",
	     .events = EVENTS,
	     .run = run_update,
	     .context = &after,
	     .versus = {"read_before_busy"}},
	};
	bench_run(&(struct bench_table){
	    .title = "ps_read after a second beside a busy process, which has ended (bar: 1.02 x)",
	    .rounds = 400,
	    .batch = 1000,
	    .cases = cases,
	    .count = 2});
	free_readings(&after);
	free_readings(&before);
}

int main(int argc, char **argv)
{
	const struct bench_options *options = bench_begin(argc, argv);

	measure_totals();
	measure_adding();
	measure_updates();
	measure_after_busy(options);
	return 0;
}

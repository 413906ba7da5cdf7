/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A visit of a region: enter and leave, with 4 events; on topologies of 2 and of 4096 hardware
 * threads, with one path and with 10,000. The rivals are twice the least work that any library must
 * do (the floor), and the work of marker APIs that start and stop counters around a region.
 */
#include "counted.h"
#include "harness.h"
#include "papi_rival.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROUNDS     1000
#define BATCH      50
#define EVENTS     4
#define TOPOLOGIES 2
#define MANY_PATHS BENCH_MANY_ROWS
#define FITTINGS   50
/* A batch takes about a tenth of a second, so that the sampling rate is reviewed as often as in a
 * real run. */
#define WORK_ROUNDS 40
#define WORK_BATCH  100000
#define FIT_BATCH   2000
#define BUDGET      1.0 /* percent */

struct visitor {
	struct ps_profile *profile;
	struct ps_region *regions[MANY_PATHS];
	unsigned count;
	unsigned next;
};

static double run_raw(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < 2 * calls; call++)
		bench_raw_read(context);
	return bench_now_ns() - start;
}

static double run_floor(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < 2 * calls; call++)
		bench_read_floor(context);
	return bench_now_ns() - start;
}

static void switch_and_read(const struct bench_raw *raw, unsigned long request)
{
	uint64_t values[3];

	for (int event = 0; event < raw->count; event++) {
		if (ioctl(raw->fds[event], request, 0) < 0 ||
		    read(raw->fds[event], values, sizeof values) <= 0)
			bench_die("an event: %s", strerror(errno));
	}
}

/* Enables and reads each descriptor at the beginning; disables and reads each at the end. */
static double run_each(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		switch_and_read(context, PERF_EVENT_IOC_ENABLE);
		switch_and_read(context, PERF_EVENT_IOC_DISABLE);
	}
	return bench_now_ns() - start;
}

static double run_papi(void *context, unsigned calls)
{
	double start = bench_now_ns();

	(void)context;
	for (unsigned call = 0; call < calls; call++)
		papi_rival_visit();
	return bench_now_ns() - start;
}

static double run_visits(void *context, unsigned calls)
{
	struct visitor *visitor = context;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		struct ps_region *region = visitor->regions[visitor->next];
		failed |= ps_region_enter(region);
		failed |= ps_region_leave(region);
		visitor->next = visitor->next + 1 < visitor->count ? visitor->next + 1 : 0;
	}
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_region_enter");
	return time_ns;
}

static unsigned work_turns = 1000;

static __attribute__((noinline)) void work(void)
{
	for (unsigned turn = 0; turn < work_turns; turn++)
		__asm__ volatile("" : : : "memory");
}

/* Calibrates work to one microsecond. The least of several times is that of an undisturbed loop. */
static void fit_work(void)
{
	double least_ns = INFINITY;

	for (int attempt = 0; attempt < FITTINGS; attempt++) {
		double start = bench_now_ns();
		for (int call = 0; call < FIT_BATCH; call++)
			work();
		least_ns = fmin(least_ns, (bench_now_ns() - start) / FIT_BATCH);
	}
	work_turns = (unsigned)(work_turns * 1000 / least_ns);
}

static double run_work(void *context, unsigned calls)
{
	double start = bench_now_ns();

	(void)context;
	for (unsigned call = 0; call < calls; call++)
		work();
	return bench_now_ns() - start;
}

static double run_visits_with_work(void *context, unsigned calls)
{
	struct visitor *visitor = context;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		failed |= ps_region_enter(visitor->regions[0]);
		work();
		failed |= ps_region_leave(visitor->regions[0]);
	}
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_region_enter");
	return time_ns;
}

static void open_visitor(struct visitor *visitor, struct ps_component *root, unsigned count,
                         double budget)
{
	struct ps_eventset *model = bench_make_set(EVENTS);
	char name[32];

	visitor->count = count;
	bench_expect_ok(ps_profile_create(&visitor->profile, model, root), "ps_profile_create");
	ps_eventset_destroy(model);
	if (budget > 0)
		bench_expect_ok(ps_profile_set_budget(visitor->profile, budget),
		                "ps_profile_set_budget");
	for (unsigned number = 0; number < count; number++) {
		snprintf(name, sizeof name, "region %u", number);
		bench_expect_ok(ps_region_define(&visitor->regions[number], visitor->profile, name),
		                "ps_region_define");
	}
	run_visits(visitor, 2 * count);
}

static void measure(struct ps_topology *const topologies[TOPOLOGIES])
{
	static struct visitor visitors[TOPOLOGIES][2];
	static struct bench_raw raw;
	static struct bench_raw apart;
	static struct bench_floor floor = {.raw = &raw, .rows = BENCH_RING_ROWS};
	static struct bench_floor many = {.raw = &raw, .rows = BENCH_MANY_ROWS};
	struct bench_case cases[5 + 2 * TOPOLOGIES] = {
	    {"raw", NULL, EVENTS, .run = run_raw, .context = &raw},
	    {"floor", NULL, EVENTS, .run = run_floor, .context = &floor, .versus = {"raw"}},
	    {"many_rows", NULL, EVENTS, .run = run_floor, .context = &many, .versus = {"floor"}},
	    {"each_apart", NULL, EVENTS, .run = run_each, .context = &apart, .versus = {"floor"}},
	    {"PAPI_hl", papi_rival_open_regions(EVENTS), EVENTS, .run = run_papi,
	     .versus = {"floor"}}};
	struct bench_table table = {.title = "A visit of a region, 4 events",
	                            .size_name = "paths",
	                            .rounds = ROUNDS,
	                            .batch = BATCH,
	                            .cases = cases,
	                            .count = 5};

	bench_raw_open(&raw, EVENTS, 0, BENCH_FULL_FORMAT);
	bench_raw_open(&apart, EVENTS, 0,
	               PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	for (int index = 0; index < 2 * TOPOLOGIES; index++) {
		struct ps_component *root = ps_topology_root(topologies[index / 2]);
		struct visitor *visitor = &visitors[index / 2][index % 2];
		open_visitor(visitor, root, index % 2 ? MANY_PATHS : 1, 0);
		cases[table.count++] = (struct bench_case){
		    "visit",
		    NULL,
		    EVENTS,
		    (int)ps_component_thread_count(root),
		    (long)visitor->count,
		    .run = run_visits,
		    .context = visitor,
		    .versus = {"raw", "floor", "many_rows", "each_apart", "PAPI_hl"}};
	}
	bench_run(&table);
	for (int index = 0; index < 2 * TOPOLOGIES; index++)
		ps_profile_destroy(visitors[index / 2][index % 2].profile);
	papi_rival_close_regions();
	bench_raw_close(&apart);
	bench_raw_close(&raw);
}

/* A sampled region that is visited a million times per second. */
static void measure_budget(struct ps_topology *topology)
{
	static struct visitor visitor;
	struct bench_case cases[] = {{"work", NULL, .run = run_work},
	                             {"sampled", NULL, EVENTS, .run = run_visits_with_work,
	                              .context = &visitor, .versus = {"work"}}};
	struct bench_table table = {.title = "A microsecond of work in a region, budget 1 %",
	                            .rounds = WORK_ROUNDS,
	                            .batch = WORK_BATCH,
	                            .cases = cases,
	                            .count = sizeof cases / sizeof cases[0]};

	fit_work();
	open_visitor(&visitor, ps_topology_root(topology), 1, BUDGET);
	bench_run(&table);
	ps_profile_destroy(visitor.profile);
}

/* A thread on another CPU, which computes or visits the same region. */
static struct partner {
	pthread_t thread;
	struct visitor visitor;
	_Atomic bool visits;
	_Atomic bool ends;
} partner;

static void *run_partner(void *cpu)
{
	bench_pin(*(const int *)cpu);
	while (!atomic_load(&partner.ends)) {
		if (atomic_load(&partner.visits))
			run_visits(&partner.visitor, BATCH);
		else
			work();
	}
	return NULL;
}

static double run_alone(void *context, unsigned calls)
{
	atomic_store(&partner.visits, false);
	run_visits(context, calls); /* untimed; the partner reads the flag meanwhile */
	return run_visits(context, calls);
}

static double run_beside(void *context, unsigned calls)
{
	atomic_store(&partner.visits, true);
	run_visits(context, calls);
	return run_visits(context, calls);
}

static void measure_two_threads(struct ps_topology *topology)
{
	static struct visitor visitor;
	int cpu = bench_other_cpu();
	struct bench_case cases[] = {{"alone", cpu < 0 ? "there is no second CPU" : NULL, EVENTS,
	                              .run = run_alone, .context = &visitor},
	                             {"beside", cpu < 0 ? "there is no second CPU" : NULL, EVENTS,
	                              .run = run_beside, .context = &visitor, .versus = {"alone"}}};
	struct bench_table table = {.title = "A visit, alone and beside another thread's visits",
	                            .rounds = ROUNDS,
	                            .batch = BATCH,
	                            .cases = cases,
	                            .count = sizeof cases / sizeof cases[0]};

	open_visitor(&visitor, ps_topology_root(topology), 1, 0);
	partner.visitor = visitor;
	if (cpu >= 0 && pthread_create(&partner.thread, NULL, run_partner, &cpu) != 0)
		bench_die("no thread: %s", strerror(errno));
	bench_run(&table);
	atomic_store(&partner.ends, true);
	if (cpu >= 0)
		pthread_join(partner.thread, NULL);
	ps_profile_destroy(visitor.profile);
}

static const char legend[] =
    "\n"
    "raw, floor: two of them, as bench_read has them. many_rows: two floors, each of whose rows "
    "is another than the 9,999 before. each_apart: each event enabled and read, then disabled "
    "and read. PAPI_hl: PAPI_hl_region_begin and PAPI_hl_region_end.\n"
    "visit: ps_region_enter and ps_region_leave. Its thread is pinned.\n"
    "work: a loop of a microsecond; sampled: the same as a visit, by a profile with "
    "ps_profile_set_budget.\n"
    "alone, beside: a visit, while a thread on another CPU computes, or visits the same region.\n";

int main(int argc, char **argv)
{
	const struct bench_options *options = bench_begin(argc, argv);
	struct ps_topology *topologies[TOPOLOGIES];

	bench_expect_ok(ps_topology_load_synthetic(&topologies[0], "pack:1 core:2 pu:1"),
	                "ps_topology_load_synthetic");
	bench_expect_ok(ps_topology_load_synthetic(&topologies[1], "pack:4 core:512 pu:2"),
	                "ps_topology_load_synthetic");
	if (!options->is_json)
		fputs(legend, stdout);
	measure(topologies);
	measure_budget(topologies[0]);
	measure_two_threads(topologies[0]);
	ps_topology_destroy(topologies[1]);
	ps_topology_destroy(topologies[0]);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads 1 to 8 events, on topologies of 2 and of 4096 hardware threads. The rivals are the bare
 * system call, the least work that any library must do (the floor), and PAPI.
 */
#include "counted.h"
#include "harness.h"
#include "papi_rival.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS     2000
#define BATCH      50
#define CALLS      8
#define TOPOLOGIES 2

struct reader {
	struct ps_eventset *set;
	struct ps_component *root;
	uint64_t timestamp;
	struct ps_snapshot *snapshot;
};

static double run_raw(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		bench_raw_read(context);
	return bench_now_ns() - start;
}

static double run_floor(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		bench_read_floor(context);
	return bench_now_ns() - start;
}

static double run_update(void *context, unsigned calls)
{
	struct reader *reader = context;
	struct ps_thread *thread;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= ps_read(reader->set, reader->root, &reader->timestamp, &thread);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_read");
	return time_ns;
}

static double run_new(void *context, unsigned calls)
{
	struct reader *reader = context;
	struct ps_thread *thread;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		uint64_t timestamp = 0;
		failed |= ps_read(reader->set, reader->root, &timestamp, &thread);
	}
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_read");
	return time_ns;
}

static double run_accum(void *context, unsigned calls)
{
	struct reader *reader = context;
	struct ps_thread *thread;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= ps_accum(reader->set, reader->root, &reader->timestamp, &thread);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_accum");
	return time_ns;
}

static double run_snapshot(void *context, unsigned calls)
{
	struct reader *reader = context;
	int failed = ps_snapshot_take(reader->set, &reader->snapshot); /* the first one allocates,
	                                                                * so it isn't timed */
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= ps_snapshot_take(reader->set, &reader->snapshot);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_snapshot_take");
	return time_ns;
}

static double run_papi_read(void *context, unsigned calls)
{
	(void)context;
	papi_rival_read();
	double start = bench_now_ns();
	for (unsigned call = 0; call < calls; call++)
		papi_rival_read();
	return bench_now_ns() - start;
}

/* Restarts the set, untimed: PAPI_accum has reset the same event set meanwhile, and the next
 * reading would get a flag for that. */
static void begin_anew(struct reader *reader)
{
	bench_expect_ok(ps_stop(reader->set, reader->root, NULL, NULL), "ps_stop");
	bench_expect_ok(ps_start(reader->set), "ps_start");
	reader->timestamp = 0;
	bench_expect_ok(ps_read(reader->set, reader->root, &reader->timestamp, NULL), "ps_read");
}

static double run_wrapped_read(void *context, unsigned calls)
{
	begin_anew(context);
	return run_update(context, calls);
}

static double run_wrapped_accum(void *context, unsigned calls)
{
	begin_anew(context);
	return run_accum(context, calls);
}

static double run_papi_accum(void *context, unsigned calls)
{
	double start = bench_now_ns();

	(void)context;
	for (unsigned call = 0; call < calls; call++)
		papi_rival_accum();
	return bench_now_ns() - start;
}

static void open_reader(struct reader *reader, struct ps_eventset *set,
                        enum ps_attribution_mode mode, const struct ps_topology *topology,
                        size_t rows)
{
	reader->set = set;
	reader->root = ps_topology_root(topology);
	reader->timestamp = 0;
	bench_expect_ok(ps_eventset_set_attribution(reader->set, mode),
	                "ps_eventset_set_attribution");
	bench_expect_ok(ps_eventset_reserve(reader->set, rows), "ps_eventset_reserve");
	bench_expect_ok(ps_start(reader->set), "ps_start");
}

/* Each call is measured on each topology, with its own set. */
static const struct call {
	const char *name;
	double (*run)(void *context, unsigned calls);
	enum ps_attribution_mode mode;
	bool appends;
	bool is_papi; /* the set wraps a PAPI event set */
	const char *versus[BENCH_MOST_RIVALS];
} calls[CALLS] = {
    {"ps_read",
     run_update,
     PS_ATTRIBUTE_AUTO,
     false,
     false,
     {"raw", "floor", "PAPI_read", "ps_read"}},
    {"ps_read_new", run_new, PS_ATTRIBUTE_AUTO, true, false, {"raw", "ps_read"}},
    {"ps_accum", run_accum, PS_ATTRIBUTE_AUTO, false, false, {"raw", "ps_read", "PAPI_accum"}},
    {"ps_snapshot", run_snapshot, PS_ATTRIBUTE_AUTO, false, false, {"raw", "ps_read"}},
    {"ps_read_last_cpu", run_update, PS_ATTRIBUTE_LAST_CPU, false, false, {"raw", "ps_read"}},
    {"ps_read_exact", run_update, PS_ATTRIBUTE_EXACT, false, false, {"raw", "ps_read_last_cpu"}},
    {"ps_read_papi", run_wrapped_read, PS_ATTRIBUTE_AUTO, false, true, {"PAPI_read"}},
    {"ps_accum_papi",
     run_wrapped_accum,
     PS_ATTRIBUTE_AUTO,
     false,
     true,
     {"PAPI_accum", "ps_read_papi"}},
};

/* Everything for one number of events; its address must not change, as the cases point into it. */
struct scene {
	struct bench_raw raw, lean;
	struct bench_floor floor;
	struct reader readers[TOPOLOGIES][CALLS];
	struct bench_case cases[3 + TOPOLOGIES * CALLS + 2];
	struct bench_table table;
};

static void read_add_event(struct scene *scene, struct bench_case one)
{
	scene->cases[scene->table.count++] = one;
}

static struct ps_eventset *make_set(int events, bool is_papi)
{
	struct ps_eventset *set = NULL;

	if (!is_papi)
		return bench_make_set(events);
	bench_expect_ok(ps_eventset_from_papi(&set, papi_rival_set()), "ps_eventset_from_papi");
	return set;
}

static void add_ours(struct scene *scene, int events, const struct call *call,
                     struct reader *reader, const struct ps_topology *topology, const char *no_papi)
{
	size_t rows =
	    call->appends || call->is_papi ? (size_t)bench_total_rounds(&scene->table) * BATCH : 64;
	struct bench_case one = {
	    .name = call->name, .events = events, .run = call->run, .context = reader};

	one.pus = (int)ps_component_thread_count(ps_topology_root(topology));
	memcpy(one.versus, call->versus, sizeof one.versus);
	one.missing = call->is_papi ? no_papi : NULL;
	if (!one.missing)
		open_reader(reader, make_set(events, call->is_papi), call->mode, topology, rows);
	read_add_event(scene, one);
}

static void read_measure(int events, struct ps_topology *const topologies[TOPOLOGIES])
{
	static struct scene scene;
	const char *no_papi = papi_rival_open(events);
	char title[80];

	snprintf(title, sizeof title, "A reading of %d event%s", events, events == 1 ? "" : "s");
	scene.table = (struct bench_table){
	    .title = title, .rounds = ROUNDS, .batch = BATCH, .cases = scene.cases};
	scene.floor.raw = &scene.raw;
	scene.floor.rows = BENCH_RING_ROWS;
	bench_raw_open(&scene.raw, events, 0, BENCH_FULL_FORMAT);
	bench_raw_open(&scene.lean, events, 0, PERF_FORMAT_GROUP);
	read_add_event(&scene, (struct bench_case){"raw", NULL, events, .run = run_raw,
	                                           .context = &scene.raw});
	read_add_event(&scene, (struct bench_case){"raw_values_only", NULL, events, .run = run_raw,
	                                           .context = &scene.lean, .versus = {"raw"}});
	read_add_event(&scene, (struct bench_case){"floor", NULL, events, .run = run_floor,
	                                           .context = &scene.floor, .versus = {"raw"}});
	for (size_t index = 0; index < TOPOLOGIES * CALLS; index++)
		add_ours(&scene, events, &calls[index % CALLS],
		         &scene.readers[index / CALLS][index % CALLS], topologies[index / CALLS],
		         no_papi);
	read_add_event(&scene, (struct bench_case){"PAPI_read", no_papi, events,
	                                           .run = run_papi_read, .versus = {"raw"}});
	read_add_event(&scene,
	               (struct bench_case){"PAPI_accum", no_papi, events, .run = run_papi_accum,
	                                   .versus = {"raw", "PAPI_read"}});
	bench_run(&scene.table);
	for (size_t index = 0; index < TOPOLOGIES * CALLS; index++) {
		ps_snapshot_destroy(scene.readers[index / CALLS][index % CALLS].snapshot);
		ps_eventset_destroy(scene.readers[index / CALLS][index % CALLS].set);
		scene.readers[index / CALLS][index % CALLS] = (struct reader){0};
	}
	papi_rival_close();
	bench_raw_close(&scene.lean);
	bench_raw_close(&scene.raw);
}

static const char legend[] =
    "\n"
    "raw: read(2) of a group, with times. raw_values_only: without them, as PAPI reads.\n"
    "floor: sched_getcpu, clock_gettime, raw, one row stored. PAPI_*: neither CPU, nor times, nor "
    "history.\n"
    "ps_read: updates a reading; its thread is pinned. ps_read_new: a new reading each time.\n"
    "ps_*_papi: of the PAPI event set that PAPI_read reads, wrapped by ps_eventset_from_papi.\n";

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
	for (int events = 1; events <= BENCH_MOST_EVENTS; events *= 2)
		read_measure(events, topologies);
	if (!options->is_json && papi_rival_note())
		printf("\nPAPI: %s.\n", papi_rival_note());
	ps_topology_destroy(topologies[1]);
	ps_topology_destroy(topologies[0]);
	return 0;
}

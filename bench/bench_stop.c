/* SPDX-License-Identifier: BSD-3-Clause */
/* Stops and starts a set. ps_stop stores the final counts; its rival reads a raw group between the
 * two system calls. */
#include "counted.h"
#include "harness.h"
#include "papi_rival.h"

#include <stdio.h>
#include <sys/ioctl.h>

struct reader {
	struct ps_eventset *set;
	struct ps_component *root;
	uint64_t timestamp;
};

static double run_raw(void *context, unsigned calls)
{
	struct bench_raw *raw = context;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		ioctl(raw->fds[0], PERF_EVENT_IOC_DISABLE, 0);
		bench_raw_read(raw);
		ioctl(raw->fds[0], PERF_EVENT_IOC_ENABLE, 0);
	}
	return bench_now_ns() - start;
}

static double run_ours(void *context, unsigned calls)
{
	struct reader *reader = context;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		failed |= ps_stop(reader->set, reader->root, &reader->timestamp, NULL);
		failed |= ps_start(reader->set);
	}
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_stop or ps_start");
	return time_ns;
}

static double run_papi(void *context, unsigned calls)
{
	double start = bench_now_ns();

	(void)context;
	for (unsigned call = 0; call < calls; call++)
		papi_rival_stop_start();
	return bench_now_ns() - start;
}

static void open_reader(struct reader *reader, int events, enum ps_attribution_mode mode,
                        const struct ps_topology *topology)
{
	*reader =
	    (struct reader){.set = bench_make_set(events), .root = ps_topology_root(topology)};
	bench_expect_ok(ps_eventset_set_attribution(reader->set, mode),
	                "ps_eventset_set_attribution");
	bench_expect_ok(ps_start(reader->set), "ps_start");
}

static void stop_measure(int events, const struct ps_topology *topology, int pus)
{
	static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_AUTO, PS_ATTRIBUTE_LAST_CPU,
	                                                 PS_ATTRIBUTE_EXACT};
	struct reader readers[3];
	struct bench_raw raw;
	const char *no_papi = papi_rival_open(events);
	const struct bench_case cases[] = {
	    {.name = "raw_stop_start", .events = events, .run = run_raw, .context = &raw},
	    {.name = "ps_stop_start",
	     .events = events,
	     .pus = pus,
	     .run = run_ours,
	     .context = &readers[0],
	     .versus = {"raw_stop_start", "PAPI_stop_start"}},
	    {.name = "ps_stop_start_last_cpu",
	     .events = events,
	     .pus = pus,
	     .run = run_ours,
	     .context = &readers[1],
	     .versus = {"raw_stop_start"}},
	    {.name = "ps_stop_start_exact",
	     .events = events,
	     .pus = pus,
	     .run = run_ours,
	     .context = &readers[2],
	     .versus = {"raw_stop_start", "PAPI_stop_start"}},
	    {.name = "PAPI_stop_start",
	     .missing = no_papi,
	     .events = events,
	     .run = run_papi,
	     .versus = {"raw_stop_start"}},
	};
	char title[80];

	snprintf(title, sizeof title, "Stop, final counts, start: %d event%s", events,
	         events == 1 ? "" : "s");
	bench_raw_open(&raw, events, 0, BENCH_FULL_FORMAT);
	for (size_t index = 0; index < 3; index++)
		open_reader(&readers[index], events, modes[index], topology);
	bench_run(&(struct bench_table){.title = title,
	                                .rounds = 300,
	                                .batch = 20,
	                                .cases = cases,
	                                .count = sizeof cases / sizeof *cases});
	for (size_t index = 0; index < 3; index++)
		ps_eventset_destroy(readers[index].set);
	papi_rival_close();
	bench_raw_close(&raw);
}

int main(int argc, char **argv)
{
	struct ps_topology *topology;

	bench_begin(argc, argv);
	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	int pus = (int)ps_component_thread_count(ps_topology_root(topology));
	stop_measure(1, topology, pus);
	stop_measure(4, topology, pus);
	ps_topology_destroy(topology);
	return 0;
}

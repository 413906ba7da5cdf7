/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counters of two other tasks: one sleeps, one runs on another CPU. For the running one
 * the kernel must ask the other CPU. */
#include "counted.h"
#include "harness.h"
#include "papi_rival.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct reader {
	struct ps_eventset *set;
	struct ps_component *root;
	uint64_t timestamp;
};

/* Starts a process that only sleeps or only computes, until this one ends. cpu: the CPU that it is
 * first bound to. */
static pid_t start_task(int cpu, bool is_busy)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork failed");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(cpu);
	while (!is_busy)
		pause();
	for (volatile unsigned long turns = 0;; turns++)
		continue;
}

static void end_task(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static double run_raw(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		bench_raw_read(context);
	return bench_now_ns() - start;
}

static double run_read(void *context, unsigned calls)
{
	struct reader *reader = context;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= ps_read(reader->set, reader->root, &reader->timestamp, NULL);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_read");
	return time_ns;
}

static double run_papi(void *context, unsigned calls)
{
	double start = bench_now_ns();

	(void)context;
	for (unsigned call = 0; call < calls; call++)
		papi_rival_read();
	return bench_now_ns() - start;
}

static double run_papi_attached(void *context, unsigned calls)
{
	double start = bench_now_ns();

	(void)context;
	for (unsigned call = 0; call < calls; call++)
		papi_rival_read_attached();
	return bench_now_ns() - start;
}

static void open_reader(struct reader *reader, int events, pid_t tid, enum ps_attribution_mode mode,
                        const struct ps_topology *topology)
{
	*reader =
	    (struct reader){.set = bench_make_set(events), .root = ps_topology_root(topology)};
	bench_expect_ok(ps_eventset_attach_tid(reader->set, tid), "ps_eventset_attach_tid");
	bench_expect_ok(ps_eventset_set_attribution(reader->set, mode),
	                "ps_eventset_set_attribution");
	bench_expect_ok(ps_start(reader->set), "ps_start");
}

static void open_wrapped(struct reader *reader, const struct ps_topology *topology)
{
	*reader = (struct reader){.root = ps_topology_root(topology)};
	bench_expect_ok(ps_eventset_from_papi(&reader->set, papi_rival_attached_set()),
	                "ps_eventset_from_papi");
	bench_expect_ok(ps_start(reader->set), "ps_start");
}

static void attached_measure(const char *title, int events, pid_t tid,
                             const struct ps_topology *topology)
{
	struct bench_raw raw;
	struct reader readers[3] = {{.set = NULL}};
	const char *no_papi = papi_rival_open(events);
	const char *not_attached = no_papi ? no_papi : papi_rival_attach(events, tid);
	int pus = (int)ps_component_thread_count(ps_topology_root(topology));
	const struct bench_case cases[] = {
	    {.name = "raw_attached", .events = events, .run = run_raw, .context = &raw},
	    {.name = "ps_read_attached_exact",
	     .events = events,
	     .pus = pus,
	     .run = run_read,
	     .context = &readers[0],
	     .versus = {"raw_attached"}},
	    {.name = "ps_read_attached_last",
	     .events = events,
	     .pus = pus,
	     .run = run_read,
	     .context = &readers[1],
	     .versus = {"raw_attached", "ps_read_attached_exact"}},
	    {.name = "PAPI_read", .missing = no_papi, .events = events, .run = run_papi},
	    {.name = "PAPI_read_attached",
	     .missing = not_attached,
	     .events = events,
	     .run = run_papi_attached},
	    {.name = "ps_read_papi_attached",
	     .missing = not_attached,
	     .events = events,
	     .pus = pus,
	     .run = run_read,
	     .context = &readers[2],
	     .versus = {"PAPI_read", "PAPI_read_attached"}},
	};

	bench_raw_open(&raw, events, tid, BENCH_FULL_FORMAT);
	open_reader(&readers[0], events, tid, PS_ATTRIBUTE_EXACT, topology);
	open_reader(&readers[1], events, tid, PS_ATTRIBUTE_LAST_CPU, topology);
	if (!not_attached)
		open_wrapped(&readers[2], topology);
	bench_run(&(struct bench_table){.title = title,
	                                .rounds = 300,
	                                .batch = 50,
	                                .cases = cases,
	                                .count = sizeof cases / sizeof *cases});
	ps_eventset_destroy(readers[2].set);
	ps_eventset_destroy(readers[1].set);
	ps_eventset_destroy(readers[0].set);
	bench_raw_close(&raw);
	papi_rival_close();
}

int main(int argc, char **argv)
{
	const struct bench_options *options = bench_begin(argc, argv);
	struct ps_topology *topology;

	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	pid_t sleeper = start_task(options->cpu, false);
	attached_measure("A reading of 4 events of another task, which sleeps", 4, sleeper,
	                 topology);
	end_task(sleeper);
	if (bench_other_cpu() >= 0) {
		pid_t runner = start_task(bench_other_cpu(), true);
		attached_measure("A reading of 4 events of another task, which runs on another CPU",
		                 4, runner, topology);
		end_task(runner);
	} else if (!options->is_json) {
		puts("\nA task that runs on another CPU: not measured, there is one CPU only.");
	}
	if (!options->is_json && papi_rival_note())
		printf("\nPAPI: %s.\nPAPI_read: of the measuring thread itself.\n",
		       papi_rival_note());
	ps_topology_destroy(topology);
	return 0;
}

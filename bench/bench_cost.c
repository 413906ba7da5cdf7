/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what each attribution method costs the counted thread: opening, reading, moving, context
 * switches, forks, descriptors. Each method has its own process. The results depend on this
 * machine's number of CPUs. */
#include "harness.h"
#include "subject.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENTS 4

struct topic {
	const char *name;
	const char *title;
	enum subject_job job;
	unsigned rounds;
	unsigned batch;
	bool needs_method; /* needs an attribution method with events */
	bool needs_cpus;   /* needs a second CPU */
};

static const struct topic topics[] = {
    {"open", "Opening and starting 4 events", SUBJECT_OPEN, 200, 2, true, false},
    {"close", "Closing them again", SUBJECT_CLOSE, 200, 2, true, false},
    {"read", "A reading by a thread that has not moved", SUBJECT_READ, 500, 50, true, false},
    {"read_moved", "A reading by a thread that has moved since the last one", SUBJECT_READ_MOVED,
     200, 10, true, true},
    {"move", "Moving to another CPU (sched_setaffinity)", SUBJECT_MOVE, 200, 10, false, true},
    {"switch", "Two threads on one CPU in turn: both are switched out and in", SUBJECT_SWITCH, 500,
     50, false, false},
    {"switch_out", "The same with another process, which is not counted", SUBJECT_SWITCH_OUT, 500,
     50, false, false},
    {"fork_wait", "fork, exit of the child, waitpid", SUBJECT_FORK, 300, 5, false, false},
    {"thread_join", "pthread_create, pthread_join", SUBJECT_THREAD, 200, 10, false, false},
};

struct work {
	const struct subject *subject;
	enum subject_job job;
};

static double run_job(void *context, unsigned calls)
{
	const struct work *work = context;

	return subject_do(work->subject, work->job, calls);
}

static void cost_measure(const struct topic *topic, int cpu, int pus)
{
	struct subject subjects[METHOD_COUNT];
	struct work works[METHOD_COUNT];
	struct bench_case cases[METHOD_COUNT] = {0};
	char names[METHOD_COUNT][64];
	size_t first = topic->needs_method ? 1 : 0;
	char title[128];

	snprintf(title, sizeof title, "%s; %d CPUs", topic->title, pus);
	for (size_t index = first; index < METHOD_COUNT; index++) {
		subject_start(&subjects[index], &bench_methods[index], EVENTS, cpu,
		              bench_other_cpu());
		works[index] = (struct work){&subjects[index], topic->job};
		snprintf(names[index], sizeof names[index], "%s_%s", topic->name,
		         bench_methods[index].name);
		cases[index] = (struct bench_case){.name = names[index],
		                                   .missing = subjects[index].why,
		                                   .events = index ? EVENTS : 0,
		                                   .pus = pus,
		                                   .run = run_job,
		                                   .context = &works[index]};
		if (index > 0 && !topic->needs_method)
			cases[index].versus[0] = names[0];
		if (index > 1)
			cases[index].versus[topic->needs_method ? 0 : 1] = names[1];
	}
	bench_run(&(struct bench_table){.title = title,
	                                .rounds = topic->rounds,
	                                .batch = topic->batch,
	                                .cases = cases + first,
	                                .count = METHOD_COUNT - first});
	for (size_t index = first; index < METHOD_COUNT; index++)
		subject_end(&subjects[index]);
}

static void print_descriptors(int cpu, int pus)
{
	struct bench_figure figures[METHOD_COUNT - 1];
	char names[METHOD_COUNT - 1][64];
	size_t count = 0;

	for (size_t index = 1; index < METHOD_COUNT; index++) {
		struct subject subject;
		subject_start(&subject, &bench_methods[index], EVENTS, cpu, -1);
		if (!subject.why) {
			snprintf(names[count], sizeof names[count], "descriptors_%s",
			         bench_methods[index].name);
			figures[count] = (struct bench_figure){
			    .name = names[count],
			    .events = EVENTS,
			    .pus = pus,
			    .value = subject_do(&subject, SUBJECT_DESCRIPTORS, 1),
			    .versus = count ? names[0] : NULL,
			};
			count++;
		}
		subject_end(&subject);
	}
	bench_print_figures("File descriptors of a set", "descriptors", figures, count);
}

int main(int argc, char **argv)
{
	const struct bench_options *options = bench_begin(argc, argv);
	struct ps_topology *topology;

	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	int pus = (int)ps_component_thread_count(ps_topology_root(topology));
	ps_topology_destroy(topology);
	if (!options->is_json)
		puts("\ngroup: PS_ATTRIBUTE_LAST_CPU. pinned: PS_ATTRIBUTE_AUTO on one CPU. exact: "
		     "PS_ATTRIBUTE_EXACT, by per-CPU groups. records: the same by migration "
		     "records. process: ps_eventset_attach_process of itself. looks: the "
		     "same with PS_ATTRIBUTE_LOOKS. cgroup: "
		     "ps_eventset_attach_cgroup of a group it is in. bpf: PS_ATTRIBUTE_BPF, whose "
		     "program is loaded anew for each batch.");
	for (size_t index = 0; index < sizeof topics / sizeof *topics; index++) {
		if (!topics[index].needs_cpus || bench_other_cpu() >= 0)
			cost_measure(&topics[index], options->cpu, pus);
	}
	print_descriptors(options->cpu, pus);
	return 0;
}

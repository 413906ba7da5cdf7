/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures whether threads that read at the same time slow each other down. First one thread after
 * the other reads, then all at once, with a thread on each CPU, as CPUs may differ in speed. Their
 * sets count the threads themselves; or tasks that sleep on one CPU, so that all parts go to one
 * Thread component. Or the threads write records of one log, each with its own stream.
 */
#include "counted.h"
#include "harness.h"
#include "logged.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS     4
#define READS      1000u
#define RING_BYTES ((uint64_t)64 << 20)
#define MOST_KINDS 4

enum kind {
	KIND_RAW,
	KIND_OWN,
	KIND_SHARED,
	KIND_LOG
};

struct worker {
	_Alignas(128) pthread_t thread;
	int cpu;
	pid_t sleeper;
	struct bench_raw raw;
	struct ps_eventset *sets[MOST_KINDS];
	uint64_t timestamps[MOST_KINDS];
	struct ps_log_stream *stream;
	double time_ns; /* time of the last job */
};

/* The orders for all workers: a kind, which of them take part, and how many reads. */
static struct {
	pthread_barrier_t begin, end;
	enum kind kind;
	size_t first, taking_part;
	unsigned reads;
	bool is_over;
	atomic_size_t at_start;
	struct ps_component *root;
	struct bench_log log;
	struct worker *workers;
	size_t count;
} team;

static void read_many(struct worker *worker, enum kind kind, unsigned reads)
{
	int failed = 0;

	for (unsigned index = 0; index < reads; index++) {
		if (kind == KIND_RAW)
			bench_raw_read(&worker->raw);
		else if (kind == KIND_LOG)
			failed |= bench_log_record(worker->stream, index);
		else
			failed |=
			    ps_read(worker->sets[kind], team.root, &worker->timestamps[kind], NULL);
	}
	bench_expect_ok(failed, "ps_read or ps_log_write");
}

static void open_counters(struct worker *worker)
{
	bench_raw_open(&worker->raw, EVENTS, 0, BENCH_FULL_FORMAT);
	worker->sets[KIND_OWN] = bench_make_set(EVENTS);
	worker->sets[KIND_SHARED] = bench_make_set(EVENTS);
	bench_expect_ok(ps_eventset_attach_tid(worker->sets[KIND_SHARED], worker->sleeper),
	                "ps_eventset_attach_tid");
	bench_expect_ok(ps_eventset_set_attribution(worker->sets[KIND_SHARED], PS_ATTRIBUTE_EXACT),
	                "ps_eventset_set_attribution");
	bench_expect_ok(ps_start(worker->sets[KIND_OWN]), "ps_start");
	bench_expect_ok(ps_start(worker->sets[KIND_SHARED]), "ps_start");
	worker->sets[KIND_LOG] = bench_make_set(EVENTS);
	bench_expect_ok(ps_start(worker->sets[KIND_LOG]), "ps_start");
	worker->stream = bench_log_stream(&team.log, worker->sets[KIND_LOG]);
}

static void take_part(struct worker *worker)
{
	/* All must have left the barrier before the first one starts to measure. */
	atomic_fetch_add(&team.at_start, 1);
	while (atomic_load(&team.at_start) < team.taking_part)
		continue;
	double start = bench_now_ns();
	read_many(worker, team.kind, team.reads);
	worker->time_ns = bench_now_ns() - start;
}

static void *threads_work(void *context)
{
	struct worker *worker = context;

	bench_pin(worker->cpu);
	open_counters(worker);
	for (;;) {
		pthread_barrier_wait(&team.begin);
		if (team.is_over)
			break;
		if ((size_t)(worker - team.workers) - team.first < team.taking_part)
			take_part(worker);
		pthread_barrier_wait(&team.end);
	}
	ps_log_stream_destroy(worker->stream);
	ps_eventset_destroy(worker->sets[KIND_LOG]);
	ps_eventset_destroy(worker->sets[KIND_SHARED]);
	ps_eventset_destroy(worker->sets[KIND_OWN]);
	bench_raw_close(&worker->raw);
	return NULL;
}

struct job {
	enum kind kind;
	bool is_alone;
};

/* Returns the reads per nanosecond: the sum of the threads' rates. */
static double rate_of(size_t first, size_t threads, unsigned calls)
{
	double rate = 0;

	team.first = first;
	team.taking_part = threads;
	team.reads = calls;
	atomic_store(&team.at_start, 0);
	pthread_barrier_wait(&team.begin);
	pthread_barrier_wait(&team.end);
	for (size_t index = first; index < first + threads; index++)
		rate += calls / team.workers[index].time_ns;
	return rate;
}

/* Returns the time that a read takes for the whole team; for single threads, the mean of their
 * rates. */
static double run_job(void *context, unsigned calls)
{
	const struct job *job = context;
	double rate = 0;

	team.kind = job->kind;
	if (!job->is_alone)
		return calls / rate_of(0, team.count, calls);
	for (size_t index = 0; index < team.count; index++)
		rate += rate_of(index, 1, calls);
	return calls / (rate / (double)team.count);
}

static pid_t start_sleeper(int cpu)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork failed");
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(cpu);
	for (;;)
		pause();
}

static void start_team(const struct ps_topology *topology)
{
	const int *cpus;

	team.count = bench_cpus(&cpus);
	team.root = ps_topology_root(topology);
	bench_log_open(&team.log, team.root, RING_BYTES);
	team.workers = aligned_alloc(_Alignof(struct worker), team.count * sizeof *team.workers);
	if (!team.workers)
		bench_die("no memory for %zu workers", team.count);
	pthread_barrier_init(&team.begin, NULL, (unsigned)team.count + 1);
	pthread_barrier_init(&team.end, NULL, (unsigned)team.count + 1);
	/* Fork all processes before the threads are created, so that none inherits a thread's
	 * state. */
	for (size_t index = 0; index < team.count; index++)
		team.workers[index] =
		    (struct worker){.cpu = cpus[index], .sleeper = start_sleeper(cpus[0])};
	for (size_t index = 0; index < team.count; index++) {
		if (pthread_create(&team.workers[index].thread, NULL, threads_work,
		                   &team.workers[index]) != 0)
			bench_die("pthread_create failed");
	}
}

static void end_team(void)
{
	team.is_over = true;
	pthread_barrier_wait(&team.begin);
	for (size_t index = 0; index < team.count; index++) {
		pthread_join(team.workers[index].thread, NULL);
		kill(team.workers[index].sleeper, SIGKILL);
		waitpid(team.workers[index].sleeper, NULL, 0);
	}
	free(team.workers);
	bench_log_close(&team.log);
}

int main(int argc, char **argv)
{
	struct ps_topology *topology;
	static struct job jobs[2 * MOST_KINDS];
	static const char *const names[2 * MOST_KINDS] = {
	    "raw_alone",   "ps_read_alone",   "same_thread_alone",   "log_record_alone",
	    "raw_at_once", "ps_read_at_once", "same_thread_at_once", "log_record_at_once"};
	struct bench_case cases[2 * MOST_KINDS];

	bench_begin(argc, argv);
	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	start_team(topology);
	for (size_t index = 0; index < 2 * MOST_KINDS; index++) {
		bool is_alone = index < MOST_KINDS;
		jobs[index] = (struct job){(enum kind)(index % MOST_KINDS), is_alone};
		cases[index] = (struct bench_case){.name = names[index],
		                                   .events = EVENTS,
		                                   .size = is_alone ? 1 : (long)team.count,
		                                   .run = run_job,
		                                   .context = &jobs[index]};
		if (jobs[index].kind != KIND_RAW)
			cases[index].pus = (int)ps_component_thread_count(team.root);
		if (!is_alone)
			cases[index].versus[0] = names[index - MOST_KINDS];
	}
	bench_run(&(struct bench_table){
	    .title = "Reading on one CPU after the other and on all at once: nanoseconds of all "
		     "threads together (with N CPUs, 1/N is perfect)",
	    .size_name = "threads",
	    .rounds = 400,
	    .batch = READS,
	    .cases = cases,
	    .count = 2 * MOST_KINDS});
	end_team();
	ps_topology_destroy(topology);
	return 0;
}

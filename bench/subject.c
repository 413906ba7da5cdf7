/* SPDX-License-Identifier: BSD-3-Clause */
/* The measured process: reads orders from a pipe and carries them out with its method open. */
#include "subject.h"

#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct order {
	enum subject_job job;
	unsigned calls;
};

struct pipes {
	int to[2], from[2];
};

/* State of the measured process. */
struct counted {
	const struct method *method;
	struct method_state state;
	int cpus[2]; /* home CPU, and another one (-1: none) */
	bool has_partner;
	struct pipes partner;  /* to a thread */
	struct pipes outsider; /* to a process that was forked before the method was opened */
	int descriptors;       /* number that the method uses */
};

static int count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static void open_pipes(struct pipes *pipes)
{
	if (pipe(pipes->to) < 0 || pipe(pipes->from) < 0)
		bench_die("pipe: %s", strerror(errno));
}

static void pass_byte(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		_exit(1);
}

static void *answer_bytes(void *context)
{
	struct pipes *pipes = context;

	for (;;)
		pass_byte(pipes->to[0], pipes->from[1]);
	return NULL;
}

/* Starts a thread on the same CPU. A set of the whole process counts it too, as it is created after
 * the set. */
static void start_partner(struct counted *counted)
{
	pthread_t partner;

	if (counted->has_partner)
		return;
	counted->has_partner = true;
	open_pipes(&counted->partner);
	if (pthread_create(&partner, NULL, answer_bytes, &counted->partner) != 0)
		bench_die("no partner thread");
}

/* Starts a process on the same CPU that is not counted. It ends with this process. */
static void start_outsider(struct counted *counted)
{
	open_pipes(&counted->outsider);
	pid_t pid = fork();
	if (pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	answer_bytes(&counted->outsider);
}

/*
 * Sends each byte to the partner and back: both are switched out and in. Rings are read between
 * batches, as a measured program does.
 */
static double do_switches(struct counted *counted, const struct pipes *pipes, unsigned calls)
{
	char byte = 0;

	counted->method->read(&counted->state);
	double start = bench_now_ns();
	for (unsigned call = 0; call < calls; call++) {
		if (write(pipes->to[1], &byte, 1) != 1 || read(pipes->from[0], &byte, 1) != 1)
			bench_die("the partner is gone");
	}
	return bench_now_ns() - start;
}

static double do_forks(unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			bench_die("fork or waitpid: %s", strerror(errno));
	}
	return bench_now_ns() - start;
}

static void *end_at_once(void *context)
{
	return context;
}

static double do_threads(unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, end_at_once, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			bench_die("pthread_create or pthread_join failed");
	}
	return bench_now_ns() - start;
}

static double do_reads(struct counted *counted, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		counted->method->read(&counted->state);
	return bench_now_ns() - start;
}

/* Measures either the moves or the reads that follow them. */
static double do_moves(struct counted *counted, unsigned calls, bool time_reads)
{
	double moves_ns = 0, reads_ns = 0;

	for (unsigned call = 0; call < calls; call++) {
		double start = bench_now_ns();
		bench_pin(counted->cpus[(call + 1) % 2]);
		double moved = bench_now_ns();
		counted->method->read(&counted->state);
		reads_ns += bench_now_ns() - moved;
		moves_ns += moved - start;
	}
	bench_pin(counted->cpus[0]);
	counted->method->read(&counted->state);
	return time_reads ? reads_ns : moves_ns;
}

static double do_opens(struct counted *counted, unsigned calls, bool time_opens)
{
	double opens_ns = 0, closes_ns = 0;

	for (unsigned call = 0; call < calls; call++) {
		double start = bench_now_ns();
		counted->method->close(&counted->state);
		double closed = bench_now_ns();
		counted->method->open(&counted->state);
		opens_ns += bench_now_ns() - closed;
		closes_ns += closed - start;
	}
	return time_opens ? opens_ns : closes_ns;
}

static double subject_obey(struct counted *counted, struct order order)
{
	switch (order.job) {
	case SUBJECT_OPEN:
	case SUBJECT_CLOSE:
		return do_opens(counted, order.calls, order.job == SUBJECT_OPEN);
	case SUBJECT_READ:
		return do_reads(counted, order.calls);
	case SUBJECT_READ_MOVED:
	case SUBJECT_MOVE:
		return do_moves(counted, order.calls, order.job == SUBJECT_READ_MOVED);
	case SUBJECT_SWITCH:
		start_partner(counted);
		return do_switches(counted, &counted->partner, order.calls);
	case SUBJECT_SWITCH_OUT:
		return do_switches(counted, &counted->outsider, order.calls);
	case SUBJECT_FORK:
		return do_forks(order.calls);
	case SUBJECT_THREAD:
		return do_threads(order.calls);
	case SUBJECT_DESCRIPTORS:
		return counted->descriptors;
	}
	return 0;
}

/* Carries out the order. A method that affects all tasks is open only meanwhile, so that it doesn't
 * disturb the measurement of others. The pause is needed because the kernel frees leftovers of the
 * opening, and of the last closing, some time later. */
static double subject_take_turn(struct counted *counted, struct order order)
{
	const struct timespec settling = {.tv_nsec = 50000000};

	if (!counted->method->acts_on_all)
		return subject_obey(counted, order);
	counted->method->open(&counted->state);
	nanosleep(&settling, NULL);
	double answer = subject_obey(counted, order);
	counted->method->close(&counted->state);
	return answer;
}

_Noreturn static void live(struct counted *counted, int events, int in, int out)
{
	struct order order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(counted->cpus[0]);
	start_outsider(counted);
	counted->method->prepare(&counted->state, events);
	int before = count_descriptors();
	double answer = counted->method->open(&counted->state);
	counted->descriptors = count_descriptors() - before;
	if (counted->method->acts_on_all)
		counted->method->close(&counted->state);
	while (write(out, &answer, sizeof answer) == sizeof answer && answer >= 0 &&
	       read(in, &order, sizeof order) == sizeof order)
		answer = subject_take_turn(counted, order);
	_exit(0);
}

static double subject_hear(const struct subject *subject)
{
	double answer;

	if (read(subject->from, &answer, sizeof answer) != sizeof answer)
		bench_die("a measured process has ended");
	return answer;
}

void subject_start(struct subject *subject, const struct method *method, int events, int cpu,
                   int other_cpu)
{
	static struct counted counted;
	int to[2], from[2];

	fflush(stdout);
	if (pipe(to) < 0 || pipe(from) < 0)
		bench_die("pipe: %s", strerror(errno));
	subject->method = method;
	subject->pid = fork();
	if (subject->pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (subject->pid == 0) {
		close(to[1]);
		close(from[0]);
		counted = (struct counted){.method = method, .cpus = {cpu, other_cpu}};
		live(&counted, events, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	subject->to = to[1];
	subject->from = from[0];
	double answer = subject_hear(subject);
	subject->why = NULL;
	if (answer < 0)
		subject->why = answer == -EACCES
		                   ? "not permitted: needs perf_event_paranoid <= 1 or CAP_PERFMON"
		                   : strerror((int)-answer);
}

double subject_do(const struct subject *subject, enum subject_job job, unsigned calls)
{
	struct order order = {job, calls};

	if (write(subject->to, &order, sizeof order) != sizeof order)
		bench_die("a measured process has ended");
	return subject_hear(subject);
}

void subject_end(struct subject *subject)
{
	close(subject->to);
	close(subject->from);
	kill(subject->pid, SIGKILL);
	waitpid(subject->pid, NULL, 0);
	if (subject->method->cleanup)
		subject->method->cleanup(subject->pid);
}

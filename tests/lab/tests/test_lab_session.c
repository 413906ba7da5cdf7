/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samplers and sessions on hardware counters: their overflows are samples, and samples times period
 * is what was counted. A session goes on when a CPU goes offline and comes back, and attaches to as
 * many threads as there are CPUs.
 */
#include "lab.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The emulator notices an overflow at a tick: a period is longer than the 4,000,000 ns of one, and
 * so is what is left of the work after the last overflow. */
#define PERIOD     5000000
#define ITERATIONS 22250000
#define MOST_FILES 20000
#define CPU        3
#define RING_BYTES (1 << 16)

static struct ps_attr *make_attr(uint64_t period)
{
	struct ps_attr *attr = NULL;

	lab_ok(ps_attr_create(&attr, LAB_INSTRUCTIONS));
	lab_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, period));
	return attr;
}

START_TEST(each_period_of_instructions_is_a_sample)
{
	struct ps_attr *attr = make_attr(PERIOD);
	struct ps_sampler *sampler = NULL;
	struct ps_sampler_count count;
	struct ps_record record;
	uint64_t samples = 0;

	lab_pin(0);
	lab_ok(ps_sampler_create(&sampler, attr, 0, -1, RING_BYTES));
	lab_ok(ps_sampler_start(sampler));
	lab_loop(ITERATIONS);
	lab_ok(ps_sampler_stop(sampler));
	while (ps_sampler_next(sampler, &record) == PS_OK)
		samples += record.type == PS_RECORD_SAMPLE;
	lab_ok(ps_sampler_read(sampler, &count));
	printf("lab: %llu samples of %d instructions each, %llu counted\n",
	       (unsigned long long)samples, PERIOD, (unsigned long long)count.value);
	ck_assert_uint_ge(count.value, 2 * ITERATIONS);
	ck_assert_uint_eq(ps_sampler_lost(sampler), 0);
	ck_assert_uint_le(samples * PERIOD, count.value);
	ck_assert_uint_gt((samples + 1) * PERIOD, count.value);
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
}
END_TEST

/* Samples and switches by CPU. */
struct heard {
	uint64_t samples[LAB_CPUS_MAX];
	uint64_t switches[LAB_CPUS_MAX];
};

static void hear_sample(void *context, const struct ps_session_record *heard)
{
	struct heard *all = context;

	ck_assert_uint_lt(heard->record->cpu, LAB_CPUS_MAX);
	all->samples[heard->record->cpu]++;
}

static void hear_switch(void *context, const struct ps_session_record *heard)
{
	struct heard *all = context;

	ck_assert_uint_lt(heard->record->cpu, LAB_CPUS_MAX);
	all->switches[heard->record->cpu]++;
}

static struct ps_session *start_session(struct heard *heard)
{
	const struct ps_listener listener = {.size = sizeof listener,
	                                     .context = heard,
	                                     .sample = hear_sample,
	                                     .switched = hear_switch};
	const struct ps_session_options options = {
	    .size = sizeof options, .listener = &listener, .flags = PS_SESSION_SWITCHES};
	struct ps_session *session = NULL;
	struct ps_attr *attr = make_attr(PERIOD);

	lab_ok(ps_session_create(&session, 0, &options));
	lab_ok(ps_session_add(session, attr));
	ps_attr_destroy(attr);
	lab_ok(ps_session_start(session));
	return session;
}

static void loop(void *context)
{
	lab_loop(*(const unsigned long *)context);
}

/* A thread's instructions on one CPU, which are a whole number of samples and a rest. */
static void check_work(struct ps_session *session, struct heard *heard, int cpu)
{
	unsigned long iterations = ITERATIONS;
	uint64_t before, least = 2 * ITERATIONS / PERIOD;

	lab_ok(ps_session_poll(session, 0));
	before = heard->samples[cpu];
	lab_on_cpu(cpu, loop, &iterations);
	lab_ok(ps_session_poll(session, 0));
	printf("lab: CPU %d: %llu samples, at least %llu expected\n", cpu,
	       (unsigned long long)(heard->samples[cpu] - before), (unsigned long long)least);
	ck_assert_uint_ge(heard->samples[cpu] - before, least);
}

static void check_sum(struct ps_session *session, const struct heard *heard)
{
	struct ps_session_stats stats = {.size = sizeof stats};
	uint64_t counted, samples = 0;

	for (int cpu = 0; cpu < LAB_CPUS_MAX; cpu++)
		samples += heard->samples[cpu];
	lab_ok(ps_session_stats(session, &stats));
	lab_ok(ps_session_count(session, 0, &counted));
	ck_assert_uint_eq(stats.lost, 0);
	ck_assert_uint_eq(stats.damaged, 0);
	ck_assert_uint_eq(stats.samples, samples);
	ck_assert_uint_le(samples * PERIOD, counted);
}

START_TEST(samples_of_threads_are_on_the_cpus_that_ran_them)
{
	struct heard heard = {0};
	struct ps_session *session = start_session(&heard);

	for (int cpu = 1; cpu < (int)lab_cpus(); cpu += 3)
		check_work(session, &heard, cpu);
	check_sum(session, &heard);
	ps_session_destroy(session);
}
END_TEST

static void bring_back(void)
{
	lab_cpu_online(CPU, true);
}

START_TEST(a_session_goes_on_when_a_cpu_comes_back)
{
	struct heard heard = {0};
	struct ps_session *session = start_session(&heard);
	uint64_t switches;

	check_work(session, &heard, CPU);
	lab_cpu_online(CPU, false);
	check_work(session, &heard, CPU - 1);
	switches = heard.switches[CPU];
	lab_cpu_online(CPU, true);
	check_work(session, &heard, CPU);
	ck_assert_uint_gt(heard.switches[CPU], switches);
	check_sum(session, &heard);
	ps_session_destroy(session);
}
END_TEST

START_TEST(a_cpu_that_is_offline_at_the_start_is_observed_when_it_comes)
{
	struct heard heard = {0};
	struct ps_session *session;

	lab_cpu_online(CPU, false);
	session = start_session(&heard);
	lab_cpu_online(CPU, true);
	check_work(session, &heard, CPU);
	check_sum(session, &heard);
	ps_session_destroy(session);
}
END_TEST

struct sleeper {
	pthread_t thread;
	pthread_barrier_t *end;
	sem_t is_there;
	pid_t tid;
};

static void *wait_for_end(void *context)
{
	struct sleeper *sleeper = context;

	sleeper->tid = gettid();
	sem_post(&sleeper->is_there);
	pthread_barrier_wait(sleeper->end);
	return NULL;
}

static pid_t start_sleeper(struct sleeper *sleeper, pthread_barrier_t *end)
{
	*sleeper = (struct sleeper){.end = end};
	sem_init(&sleeper->is_there, 0, 0);
	ck_assert_int_eq(pthread_create(&sleeper->thread, NULL, wait_for_end, sleeper), 0);
	sem_wait(&sleeper->is_there);
	return sleeper->tid;
}

/* Prints the cost of the start for the calling thread. */
static void tell_cost(struct ps_eventset *set, struct ps_topology *topology, const char *what,
                      size_t descriptors)
{
	struct ps_component *root = ps_topology_root(topology);
	struct ps_thread *thread = NULL;

	lab_ok(ps_stop(set, root, NULL, &thread));
	double user = (double)lab_reading(thread, LAB_INSTRUCTIONS, 0).value;
	double kernel = (double)lab_reading(thread, "instructions:k", 0).value;
	printf("lab: %s, %zu descriptors: %.0f instructions in user space for each, %.0f in the "
	       "kernel\n",
	       what, descriptors, user / (double)descriptors, kernel / (double)descriptors);
}

/* Asks the kernel for what perf record -p does for one event: in each thread's context on each CPU
 * an event, its id, the ring of its CPU, which the first thread's events stand for, and in the end
 * that it counts. */
static size_t attach_as_perf(const pid_t *tids, unsigned count, int *fds)
{
	struct perf_event_attr attr = {.size = sizeof attr,
	                               .type = PERF_TYPE_HARDWARE,
	                               .config = PERF_COUNT_HW_INSTRUCTIONS,
	                               .sample_period = PERIOD,
	                               .inherit = 1,
	                               .disabled = 1,
	                               .exclude_kernel = 1};
	size_t opened = 0, cpus = lab_cpus(), bytes = RING_BYTES + (size_t)sysconf(_SC_PAGESIZE);
	uint64_t id;

	for (unsigned i = 0; i < count; i++) {
		for (unsigned cpu = 0; cpu < cpus; cpu++) {
			int fd = (int)syscall(SYS_perf_event_open, &attr, tids[i], (int)cpu, -1,
			                      PERF_FLAG_FD_CLOEXEC);
			ck_assert_int_ge(fd, 0);
			ck_assert_int_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
			if (opened < cpus)
				ck_assert_ptr_ne(
				    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
				    MAP_FAILED);
			else
				ck_assert_int_eq(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fds[cpu]), 0);
			fds[opened++] = fd;
		}
	}
	for (size_t i = 0; i < opened; i++)
		ck_assert_int_eq(ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0), 0);
	return opened;
}

START_TEST(a_thread_for_each_cpu_is_attached)
{
	struct ps_session_stats stats = {.size = sizeof stats};
	const struct rlimit room = {MOST_FILES, MOST_FILES};
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = lab_set(LAB_INSTRUCTIONS, "instructions:k", NULL);
	static int fds[LAB_CPUS_MAX * LAB_CPUS_MAX];
	struct sleeper sleepers[LAB_CPUS_MAX];
	pid_t tids[LAB_CPUS_MAX];
	unsigned count = lab_cpus();
	pthread_barrier_t end;
	struct heard heard = {0};

	/* Two events for each thread and CPU; the session takes half of the limit. */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &room), 0);
	pthread_barrier_init(&end, NULL, count + 1);
	for (unsigned i = 0; i < count; i++)
		tids[i] = start_sleeper(&sleepers[i], &end);
	lab_pin(0);
	lab_ok(ps_start(set));
	struct ps_session *session = start_session(&heard);
	lab_ok(ps_session_stats(session, &stats));
	tell_cost(set, topology, "ps_session_start", stats.descriptors);
	ck_assert_uint_eq(stats.threads, count + 1);
	ck_assert_uint_eq(ps_session_missed(session, NULL, 0), 0);
	ps_session_destroy(session);
	lab_ok(ps_start(set));
	size_t opened = attach_as_perf(tids, count, fds);
	tell_cost(set, topology, "as perf record", opened);
	for (size_t i = 0; i < opened; i++)
		close(fds[i]);
	pthread_barrier_wait(&end);
	for (unsigned i = 0; i < count; i++)
		pthread_join(sleepers[i].thread, NULL);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	pthread_barrier_destroy(&end);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: samplers and sessions");
	TCase *overflows = tcase_create("overflows");
	TCase *attach = tcase_create("attach");
	TCase *hotplug = tcase_create("hotplug");

	tcase_add_test(overflows, each_period_of_instructions_is_a_sample);
	tcase_add_test(overflows, samples_of_threads_are_on_the_cpus_that_ran_them);
	tcase_add_checked_fixture(hotplug, NULL, bring_back);
	tcase_add_test(hotplug, a_session_goes_on_when_a_cpu_comes_back);
	tcase_add_test(hotplug, a_cpu_that_is_offline_at_the_start_is_observed_when_it_comes);
	suite_add_tcase(suite, overflows);
	suite_add_tcase(suite, hotplug);
	tcase_add_test(attach, a_thread_for_each_cpu_is_attached);
	suite_add_tcase(suite, attach);
	return lab_run(suite);
}

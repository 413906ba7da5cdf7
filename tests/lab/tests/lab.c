/* SPDX-License-Identifier: BSD-3-Clause */
/* What the lab's tests share; see lab.h. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void lab_loop(unsigned long iterations)
{
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(iterations) : : "cc");
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

long long lab_median(long long one, long long two, long long three)
{
	long long low = one < two ? one : two, high = one < two ? two : one;

	return three < low ? low : three > high ? high : three;
}

static uint64_t wait_for_tick(void)
{
	/* The coarse clock moves at ticks only. */
	uint64_t tick = clock_ns(CLOCK_MONOTONIC_COARSE);

	while (clock_ns(CLOCK_MONOTONIC_COARSE) == tick)
		;
	return clock_ns(CLOCK_MONOTONIC);
}

/* Then the ticks of all CPUs are done with. */
#define AFTER_TICK_NS 500000
#define TICK_NS       4000000

void lab_after_tick(void)
{
	uint64_t tick = wait_for_tick();

	while (clock_ns(CLOCK_MONOTONIC) < tick + AFTER_TICK_NS)
		;
}

/* The time of one tick. The coarse clock moves at ticks, but its value is not the tick's time. How
 * much earlier it is differs from boot to boot. */
static uint64_t one_tick;

void lab_sleep_after_tick(void)
{
	uint64_t ticks = (clock_ns(CLOCK_MONOTONIC) - one_tick) / TICK_NS + 2;
	uint64_t until = one_tick + ticks * TICK_NS + AFTER_TICK_NS;
	struct timespec time = {.tv_sec = (time_t)(until / 1000000000),
	                        .tv_nsec = (long)(until % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static const char *shape(const char *name)
{
	const char *value = getenv(name);

	ck_assert_msg(value, "%s is not set: the lab's tests run in the lab alone (tests/lab/lab)",
	              name);
	return value;
}

unsigned lab_shift(void)
{
	return (unsigned)strtoul(shape("PS_LAB_SHIFT"), NULL, 10);
}

unsigned long lab_iterations(void)
{
	return 1000000ul >> lab_shift();
}

unsigned lab_nodes(void)
{
	return (unsigned)strtoul(shape("PS_LAB_NODES"), NULL, 10);
}

unsigned lab_cpus(void)
{
	return (unsigned)strtoul(shape("PS_LAB_SMP"), NULL, 10);
}

unsigned lab_smp(const char *word, unsigned if_left_out)
{
	const char *at = strstr(shape("PS_LAB_SMP"), word);

	return at ? (unsigned)strtoul(at + strlen(word) + 1, NULL, 10) : if_left_out;
}

void lab_pin(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	ck_assert_msg(sched_setaffinity(0, sizeof(mask), &mask) == 0, "CPU %d: %s", cpu,
	              strerror(errno));
}

struct job {
	int cpu;
	void (*work)(void *context);
	void *context;
};

static void *run_job(void *argument)
{
	struct job *job = argument;

	lab_pin(job->cpu);
	job->work(job->context);
	return NULL;
}

void lab_on_cpu(int cpu, void (*work)(void *context), void *context)
{
	struct job job = {cpu, work, context};
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, run_job, &job), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

void lab_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", path,
	              strerror(errno));
	close(fd);
}

void lab_cpu_online(int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	lab_write(path, online ? "1" : "0");
}

void lab_check_ok(int code, const char *call)
{
	ck_assert_msg(code == PS_OK, "%s: %s: %s", call, ps_strerror(code), ps_error_detail());
}

struct ps_topology *lab_topology(void)
{
	struct ps_topology *topology = NULL;

	lab_ok(ps_topology_load(&topology, NULL));
	return topology;
}

struct ps_eventset *lab_set(const char *first, ...)
{
	struct ps_eventset *set = NULL;
	const char *event;
	va_list events;

	lab_ok(ps_eventset_create(&set));
	va_start(events, first);
	for (event = first; event; event = va_arg(events, const char *))
		lab_ok(ps_eventset_add(set, event));
	va_end(events);
	return set;
}

struct ps_value lab_reading(struct ps_thread *thread, const char *event, uint64_t timestamp)
{
	struct ps_value value;

	memset(&value, 0, sizeof(value));
	lab_ok(ps_thread_reading(thread, event, timestamp, &value));
	return value;
}

struct ps_value lab_total(struct ps_component *component, const char *event)
{
	struct ps_value value;

	memset(&value, 0, sizeof(value));
	lab_ok(ps_component_total(component, event, &value));
	return value;
}

const char *const lab_means_names[LAB_MEANS] = {"per-CPU counters", "records"};

static bool is_recorder(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CPU_MIGRATIONS &&
	       attr->sample_period == 1;
}

static int open_no_recorder(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                            unsigned long flags)
{
	if (!is_recorder(attr))
		return ps_hooks_default()->perf_event_open(attr, pid, cpu, group_fd, flags);
	errno = EACCES;
	return -1;
}

static int open_no_instance(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                            unsigned long flags)
{
	if (pid < 0 || cpu < 0)
		return ps_hooks_default()->perf_event_open(attr, pid, cpu, group_fd, flags);
	errno = EMFILE;
	return -1;
}

/* Columns are type, id, os_id, name, parent, event, value. */
double lab_csv_value(const char *path, const char *type, int os_id, const char *event)
{
	FILE *file = fopen(path, "r");
	char line[1024];
	double value = -1;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof line, file)) {
		char *rest = line;
		char *fields[7] = {0};
		for (int field = 0; field < 7 && rest; field++)
			fields[field] = strsep(&rest, ",");
		if (rest && !strcmp(fields[0], type) && atoi(fields[2]) == os_id &&
		    !strcmp(fields[5], event))
			value = atof(fields[6]);
	}
	fclose(file);
	return value;
}

struct ps_hooks lab_hooks(enum lab_means means)
{
	struct ps_hooks hooks = *ps_hooks_default();

	hooks.perf_event_open = means == LAB_PER_CPU ? open_no_recorder : open_no_instance;
	return hooks;
}

int lab_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	one_tick = wait_for_tick();
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

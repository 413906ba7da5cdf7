/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What exact attribution costs, by the number of CPUs of the shape. That a reading's cost does not
 * grow with them is checked; what opening, a context switch and a fork cost is printed, beside a
 * set that is not split.
 */
#include "lab.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SMALL "0-7\n" /* the CPUs of the small shape */

/* All of the shape's CPUs but eight are hidden: as if it were the small shape. */
static int open_small(const char *path, int flags)
{
	int ends[2];

	if (strcmp(path, "/sys/devices/system/cpu/present") != 0)
		return open(path, flags);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	ck_assert_int_eq(write(ends[1], SMALL, strlen(SMALL)), (ssize_t)strlen(SMALL));
	close(ends[1]);
	return ends[0];
}

static void choose(enum lab_means means, bool is_small)
{
	struct ps_hooks hooks = lab_hooks(means);

	if (is_small)
		hooks.open = open_small;
	lab_ok(ps_hooks_set(&hooks));
}

/* Instructions of this thread in user space and in the kernel. */
static int open_counter(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = PERF_COUNT_HW_INSTRUCTIONS};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static uint64_t read_counter(int fd)
{
	uint64_t value = 0;

	ck_assert_int_eq(read(fd, &value, sizeof(value)), sizeof(value));
	return value;
}

static struct ps_eventset *four_events(enum ps_attribution_mode mode)
{
	struct ps_eventset *set =
	    lab_set(LAB_INSTRUCTIONS, "cycles:u", "page-faults:u", "task-clock:u", NULL);

	lab_ok(ps_eventset_set_attribution(set, mode));
	lab_ok(ps_eventset_reserve(set, 256));
	return set;
}

/* Instructions of one ps_read by a thread that stays where it is: the smallest of many, which no
 * interrupt disturbed. */
static uint64_t cost_of_read(enum ps_attribution_mode mode, enum lab_means means, bool is_small)
{
	uint64_t least = UINT64_MAX, nothing = UINT64_MAX;

	choose(means, is_small);
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = four_events(mode);
	int counter = open_counter();
	lab_ok(ps_start(set));
	for (int i = 0; i < 40; i++) {
		uint64_t before = read_counter(counter);
		uint64_t between = read_counter(counter);
		int code = ps_read(set, ps_topology_root(topology), NULL, NULL);
		uint64_t after = read_counter(counter);

		lab_ok(code);
		if (between - before < nothing)
			nothing = between - before;
		if (after - between < least)
			least = after - between;
	}
	close(counter);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	lab_ok(ps_hooks_set(NULL));
	return least - nothing;
}

START_TEST(a_reading_by_a_thread_that_stays_costs_the_same_whatever_the_number_of_cpus)
{
	lab_pin(2);
	enum lab_means means = (enum lab_means)_i;
	uint64_t small = cost_of_read(PS_ATTRIBUTE_EXACT, means, true);
	uint64_t all = cost_of_read(PS_ATTRIBUTE_EXACT, means, false);
	uint64_t last = cost_of_read(PS_ATTRIBUTE_LAST_CPU, means, false);

	printf("lab: ps_read of 4 events: %s over %u CPUs %llu instructions, over 8 CPUs %llu, "
	       "last-cpu %llu\n",
	       lab_means_names[means], lab_cpus(), (unsigned long long)all,
	       (unsigned long long)small, (unsigned long long)last);
	ck_assert_uint_le(all * 100, small * 102);
	ck_assert_uint_le(small * 100, all * 102);
}
END_TEST

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t time_to_open(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = four_events(mode);
	uint64_t before = now_ns();
	int code = ps_start(set);
	uint64_t after = now_ns();

	lab_ok(code);
	ps_eventset_destroy(set);
	return after - before;
}

/* Starting and stopping the groups of many CPUs takes processor time in which some of them don't
 * count: that is no interruption. */
START_TEST(a_measurement_shorter_than_its_start_is_not_called_interrupted)
{
	choose((enum lab_means)_i, false);
	struct ps_topology *topology = lab_topology();

	for (int round = 0; round < 8; round++) {
		struct ps_eventset *set = four_events(PS_ATTRIBUTE_EXACT);
		struct ps_value values[4];
		lab_ok(ps_start(set));
		lab_loop(1000);
		lab_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
		lab_ok(ps_eventset_values(set, 0, values, 4));
		ck_assert_msg(!(values[0].flags & PS_VALUE_INTERRUPTED), "round %d", round);
		ps_eventset_destroy(set);
	}
	ps_topology_destroy(topology);
	lab_ok(ps_hooks_set(NULL));
}
END_TEST

START_TEST(time_to_open_is_told)
{
	lab_pin(2);
	choose((enum lab_means)_i, false);
	printf("lab: ps_start opens 4 events: %s over %u CPUs %llu us, last-cpu %llu us\n",
	       lab_means_names[_i], lab_cpus(),
	       (unsigned long long)time_to_open(PS_ATTRIBUTE_EXACT) / 1000,
	       (unsigned long long)time_to_open(PS_ATTRIBUTE_LAST_CPU) / 1000);
}
END_TEST

#define ROUNDS 200

static void *answer(void *argument)
{
	const int *ends = argument; /* to read from, to write to */
	char byte;

	lab_pin(2);
	while (read(ends[0], &byte, 1) == 1 && byte != 'e') {
		if (write(ends[1], &byte, 1) != 1)
			return NULL;
	}
	return NULL;
}

/* This thread and another one on the same CPU pass the word to each other; set: of this thread, or
 * NULL. */
static uint64_t time_of_switch(struct ps_eventset *set)
{
	int there[2], back[2];
	pthread_t thread;
	char byte = 'x';

	ck_assert_int_eq(pipe2(there, O_CLOEXEC) | pipe2(back, O_CLOEXEC), 0);
	int ends[2] = {there[0], back[1]};
	ck_assert_int_eq(pthread_create(&thread, NULL, answer, ends), 0);
	if (set)
		lab_ok(ps_start(set));
	uint64_t before = 0;
	int failures = 0; /* asserts would be most of the time */
	for (int round = -10; round < ROUNDS; round++) {
		if (round == 0)
			before = now_ns();
		failures += write(there[1], &byte, 1) != 1;
		failures += read(back[0], &byte, 1) != 1;
	}
	uint64_t after = now_ns();
	ck_assert_int_eq(failures, 0);
	byte = 'e';
	ck_assert_int_eq(write(there[1], &byte, 1), 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	ps_eventset_destroy(set);
	return (after - before) / ROUNDS;
}

START_TEST(what_a_context_switch_costs_is_told)
{
	lab_pin(2);
	choose((enum lab_means)_i, false);
	uint64_t none = time_of_switch(NULL);
	uint64_t last = time_of_switch(four_events(PS_ATTRIBUTE_LAST_CPU));
	uint64_t exact = time_of_switch(four_events(PS_ATTRIBUTE_EXACT));

	printf("lab: out and in again, %u CPUs: no events %llu ns, 4 events last-cpu %llu ns, %s "
	       "%llu ns\n",
	       lab_cpus(), (unsigned long long)none, (unsigned long long)last, lab_means_names[_i],
	       (unsigned long long)exact);
}
END_TEST

#define FORKS 20

static uint64_t time_of_fork(struct ps_eventset *set)
{
	if (set) {
		lab_ok(ps_eventset_attach_process(set, getpid()));
		lab_ok(ps_start(set));
	}
	uint64_t before = now_ns();
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	uint64_t after = now_ns();
	ps_eventset_destroy(set);
	return (after - before) / FORKS;
}

START_TEST(what_a_fork_costs_is_told)
{
	lab_pin(2);
	uint64_t none = time_of_fork(NULL);
	uint64_t last = time_of_fork(four_events(PS_ATTRIBUTE_LAST_CPU));
	uint64_t exact = time_of_fork(four_events(PS_ATTRIBUTE_EXACT));

	printf("lab: fork, exit and wait, %u CPUs: no events %llu us, 4 events last-cpu %llu us, "
	       "exact %llu us\n",
	       lab_cpus(), (unsigned long long)none / 1000, (unsigned long long)last / 1000,
	       (unsigned long long)exact / 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: the cost of exact attribution");
	TCase *costs = tcase_create("costs");

	tcase_add_loop_test(
	    costs, a_reading_by_a_thread_that_stays_costs_the_same_whatever_the_number_of_cpus, 0,
	    LAB_MEANS);
	tcase_add_loop_test(costs, a_measurement_shorter_than_its_start_is_not_called_interrupted,
	                    0, LAB_MEANS);
	tcase_add_loop_test(costs, time_to_open_is_told, 0, LAB_MEANS);
	tcase_add_loop_test(costs, what_a_context_switch_costs_is_told, 0, LAB_MEANS);
	tcase_add_test(costs, what_a_fork_costs_is_told);
	suite_add_tcase(suite, costs);
	return lab_run(suite);
}

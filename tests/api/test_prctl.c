/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that switches its own counters off, on the real kernel: what was not counted is told. */
#include "support/small.h"
#include "support/unmarked.h"
#include "wander.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Long beside what starting, stopping and being switched cost. */
#define OFF_NS 50000000

static long long thread_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void spend(long long ns)
{
	for (long long end = thread_time_ns() + ns; thread_time_ns() < end;)
		;
}

static long count_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static long long wall_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The value since the last start. */
static struct ps_value stop_value(struct ps_eventset *set, struct ps_component *root)
{
	struct ps_value total;

	check_ok(ps_stop(set, root, NULL, NULL));
	check_ok(ps_component_total(root, WANDER_EVENT, &total));
	return total;
}

static bool is_flagged(const struct ps_value *value)
{
	return value->flags & PS_VALUE_INTERRUPTED;
}

/* Can what is allowed for (src/eventset/interruption.c) be as long as the gap? 10 ms for switches,
 * and 100 us for each, four times what starting took, a sixteenth of the time; and the time that a
 * hypervisor takes away is enabled time, but no processor time. */
static bool may_hide_the_gap(const struct ps_value *value, long switches, long long start_ns)
{
	long long stolen_ns = (long long)value->enabled_ns - OFF_NS;
	long long allowed_ns =
	    (switches > 0 ? 10000000 : 0) + switches * 100000LL + 4 * start_ns + 2 * OFF_NS / 16;

	return allowed_ns + stolen_ns > OFF_NS * 9 / 10;
}

START_TEST(counters_that_were_switched_off_for_a_while_are_told)
{
	struct ps_topology *topology = NULL;

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *set = wander_set(_i ? PS_ATTRIBUTE_LAST_CPU : PS_ATTRIBUTE_EXACT, 16);
	long switches = count_switches();
	long long start_ns = wall_time_ns();
	check_ok(ps_start(set));
	start_ns = wall_time_ns() - start_ns;
	spend(OFF_NS);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	spend(OFF_NS);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	struct ps_value value = stop_value(set, root);
	if (!is_flagged(&value) && may_hide_the_gap(&value, count_switches() - switches, start_ns))
		ps_test_skip("other work here, or a hypervisor, takes the CPU all the time");
	else
		ck_assert(is_flagged(&value));
	/* And what nobody switched off is not. */
	check_ok(ps_start(set));
	spend(OFF_NS);
	for (int nap = 0; nap < 100; nap++)
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	value = stop_value(set, root);
	ck_assert(!is_flagged(&value));
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

#define RIVALS 4
#define ROUNDS ps_test_size(60, 15)
#define PAGES  1000

static pid_t start_rival(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	return pid;
}

/* Seen there: 20 ms in the midst of a switch or a stop, when the thread's time runs and its
 * counters' doesn't. */
#define EMULATED "the emulator's CPUs take turns, also in the midst of a switch"

static void touch_fresh_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
	    mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(memory != MAP_FAILED);
	for (size_t index = 0; index < PAGES; index++)
		memory[index * page] = 1;
	munmap(memory, PAGES * page);
}

/* A thread that waits for its CPU has been off it, and its counters with it. Each set is new: it
 * knows nothing of the time before. */
START_TEST(a_thread_that_shares_its_cpu_is_not_interrupted)
{
	struct ps_topology *topology = NULL;
	pid_t rivals[RIVALS];

	if (!wander_is_possible())
		return;
	if (getenv("PS_LAB_SHAPE") || getenv("PS_TEST_EMULATED")) {
		ps_test_skip(EMULATED);
		return;
	}
	check_ok(ps_topology_load(&topology, NULL));
	for (int index = 0; index < RIVALS; index++)
		rivals[index] = start_rival();
	for (int round = 0; round < ROUNDS; round++) {
		struct ps_eventset *set = NULL;
		struct ps_value value;
		check_ok(ps_eventset_create(&set));
		check_ok(ps_eventset_add(set, WANDER_EVENT));
		check_ok(ps_start(set));
		touch_fresh_pages();
		check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
		check_ok(ps_eventset_values(set, 0, &value, 1));
		ck_assert_msg(!is_flagged(&value), "round %d", round);
		ps_eventset_destroy(set);
	}
	for (int index = 0; index < RIVALS; index++) {
		kill(rivals[index], SIGKILL);
		waitpid(rivals[index], NULL, 0);
	}
	ps_topology_destroy(topology);
}
END_TEST

#define SHORT_ROUNDS ps_test_size(20000, 2000)

/* Starting and stopping take processor time in which nothing counts. Beside measurements that are
 * shorter than that, it adds up. */
START_TEST(many_short_measurements_are_not_interrupted)
{
	struct ps_topology *topology = NULL;

	if (!wander_is_possible())
		return;
	if (getenv("PS_TEST_EMULATED")) {
		ps_test_skip(EMULATED);
		return;
	}
	check_ok(ps_topology_load(&topology, NULL));
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *set = wander_set(_i ? PS_ATTRIBUTE_LAST_CPU : PS_ATTRIBUTE_EXACT, 16);
	for (int round = 0; round < SHORT_ROUNDS; round++) {
		struct ps_value value;
		check_ok(ps_start(set));
		check_ok(ps_stop(set, root, NULL, NULL));
		check_ok(ps_eventset_values(set, 0, &value, 1));
		ck_assert_msg(!is_flagged(&value), "round %d", round);
	}
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_loop_test(tests, many_short_measurements_are_not_interrupted, 0, 2);
	tcase_add_test(tests, a_thread_that_shares_its_cpu_is_not_interrupted);
	tcase_add_loop_test(tests, counters_that_were_switched_off_for_a_while_are_told, 0, 2);
}

int main(void)
{
	return wander_run("prctl", add, NULL);
}

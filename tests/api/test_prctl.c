/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that switches its own counters off, on the real kernel: what was not counted is told. */
#include "wander.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

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

/* So many switches explain nearly all of OFF_NS. */
#define SWITCHES_THAT_EXPLAIN 400

static long count_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
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

/* What keeps the gap from being seen: each switch is allowed 100 us (src/eventset/interruption.c),
 * and the time that a hypervisor takes away is enabled time, but no processor time. */
static const char *explanation(const struct ps_value *value, long switches)
{
	if (switches > SWITCHES_THAT_EXPLAIN)
		return "other work here preempts this thread all the time";
	if (value->enabled_ns > OFF_NS * 3 / 2)
		return "this CPU is taken away from the machine while its counters go on";
	return NULL;
}

START_TEST(counters_that_were_switched_off_for_a_while_are_told)
{
	struct ps_topology *topology = NULL;

	wander_skip_if_obstructed();
	check_ok(ps_topology_load(&topology, NULL));
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *set = wander_set(_i ? PS_ATTRIBUTE_LAST_CPU : PS_ATTRIBUTE_EXACT, 16);
	long switches = count_switches();
	check_ok(ps_start(set));
	spend(OFF_NS);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	spend(OFF_NS);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	struct ps_value value = stop_value(set, root);
	const char *excuse = explanation(&value, count_switches() - switches);
	if (!is_flagged(&value) && excuse)
		ps_test_skip(excuse);
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

static void add(TCase *tests)
{
	tcase_add_loop_test(tests, counters_that_were_switched_off_for_a_while_are_told, 0, 2);
}

int main(void)
{
	return wander_run("prctl", add, NULL);
}

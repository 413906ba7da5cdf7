/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PAPI event sets count on this machine: each thread of a team its own, an attached thread
 * until after its end, a CPU. Sees the installed headers and the shared libraries alone.
 */
#include "papi_here.h"
#include "support/gone.h"

#include <papi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES 1000

/* A thread of a team, with a set of its own. */
struct member {
	pthread_t thread;
	size_t pages;
	long long count;
	char event[64];
	int result;
};

static void *work(void *context)
{
	struct member *member = context;
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;

	papi_ok(PAPI_register_thread());
	int papi = papi_here_create(PAPI_HERE_FAULTS, NULL);
	here_pin();
	struct ps_eventset *set = papi_here_wrap(papi);
	papi_here_rehearse(set);
	member->result = ps_start(set);
	for (size_t part = 0; part < 4; part++) {
		papi_here_touch(member->pages / 4);
		member->result |= ps_accum(set, here.root, &timestamp, &thread);
	}
	member->result |= ps_stop(set, here.root, &timestamp, NULL);
	strncpy(member->event, ps_eventset_event_name(set, 0), sizeof member->event - 1);
	member->count = papi_here_count(thread, ps_eventset_event_name(set, 0), timestamp);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
	papi_ok(PAPI_unregister_thread());
	return NULL;
}

static void run_team(struct member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		members[i] = (struct member){.pages = 400 * (i + 1)};
		ck_assert_int_eq(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(members[i].thread, NULL);
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(members[i].result, PS_OK);
		papi_here_expect_about(members[i].count, (long long)members[i].pages);
	}
}

START_TEST(each_thread_of_a_team_counts_with_a_papi_set_of_its_own)
{
	struct member members[4];

	if (papi_here_may_count())
		run_team(members, 4);
}
END_TEST

START_TEST(two_threads_on_one_cpu_keep_their_counts_and_both_are_on_its_thread)
{
	struct member members[2];
	struct ps_value sum;

	if (!papi_here_may_count())
		return;
	here_pin(); /* as the threads that it creates do */
	run_team(members, 2);
	check_ok(ps_component_total(
	    ps_thread_component(ps_topology_thread(here.topology, sched_getcpu())),
	    members[0].event, &sum));
	ck_assert_int_eq(sum.value, members[0].count + members[1].count);
}
END_TEST

static void *read_a_strangers_set(void *context)
{
	static int result;

	result = ps_read(context, here.root, NULL, NULL);
	return &result;
}

START_TEST(a_thread_that_is_not_the_sets_is_refused)
{
	pthread_t thread;
	void *result = NULL;

	if (!papi_here_may_count())
		return;
	int papi = papi_here_create(PAPI_HERE_FAULTS, NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	check_ok(ps_start(set));
	ck_assert_int_eq(pthread_create(&thread, NULL, read_a_strangers_set, set), 0);
	pthread_join(thread, &result);
	ck_assert_int_eq(*(int *)result, PS_EINVAL);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

/* A thread that another one counts. */
struct attached {
	pthread_t thread;
	_Atomic pid_t tid;
	_Atomic int order; /* 1: touch, 2: end; 0: done */
};

static void *obey(void *context)
{
	struct attached *attached = context;
	int order;

	attached->tid = (pid_t)syscall(SYS_gettid);
	while ((order = attached->order) != 2) {
		if (order == 1) {
			papi_here_touch(PAGES);
			attached->order = 0;
		}
		usleep(1000);
	}
	return NULL;
}

START_TEST(an_attached_thread_that_has_exited_keeps_its_last_counts)
{
	struct attached attached = {.tid = 0};
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	int papi = PAPI_NULL;

	if (!papi_here_may_count())
		return;
	ck_assert_int_eq(pthread_create(&attached.thread, NULL, obey, &attached), 0);
	while (attached.tid == 0)
		usleep(1000);
	papi_ok(PAPI_create_eventset(&papi));
	papi_ok(PAPI_assign_eventset_component(papi, 0));
	papi_ok(PAPI_attach(papi, (unsigned long)attached.tid));
	papi_ok(PAPI_add_named_event(papi, PAPI_HERE_FAULTS));
	struct ps_eventset *set = papi_here_wrap(papi);
	check_ok(ps_start(set));
	attached.order = 1;
	while (attached.order)
		usleep(1000);
	check_ok(ps_read(set, here.root, &timestamp, &thread));
	ck_assert_int_ge(ps_thread_cpu(thread), 0);
	/* It may have moved: then its counts are shared out. */
	struct ps_value total;
	check_ok(ps_component_total(here.root, ps_eventset_event_name(set, 0), &total));
	ck_assert_int_ge(total.value, PAGES);
	attached.order = 2;
	pthread_join(attached.thread, NULL);
	wait_until_gone(attached.tid);
	long long last[1] = {0};
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	papi_ok(PAPI_read(papi, last));
	ck_assert_int_eq(ps_eventset_is_ended(set), 1);
	check_ok(ps_component_total(here.root, ps_eventset_event_name(set, 0), &total));
	ck_assert_int_eq(total.value, last[0]);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

/* PAPI_GRN_THR or PAPI_GRN_SYS on one CPU. */
static int create_on_cpu(int cpu, int granularity)
{
	PAPI_option_t option;
	int papi = PAPI_NULL;

	papi_ok(PAPI_create_eventset(&papi));
	papi_ok(PAPI_assign_eventset_component(papi, 0));
	memset(&option, 0, sizeof option);
	option.granularity.eventset = papi;
	option.granularity.granularity = granularity;
	papi_ok(PAPI_set_opt(PAPI_GRANUL, &option));
	memset(&option, 0, sizeof option);
	option.cpu.eventset = papi;
	option.cpu.cpu_num = (unsigned)cpu;
	/* PAPI asks the kernel at the one call or at the other. */
	int result = PAPI_set_opt(PAPI_CPU_ATTACH, &option);
	if (result == PAPI_OK)
		result = PAPI_add_named_event(papi, PAPI_HERE_FAULTS);
	if (result == PAPI_EPERM) {
		papi_here_destroy(papi);
		return PAPI_NULL;
	}
	papi_ok(result);
	return papi;
}

static void *touch_pages(void *context)
{
	papi_here_touch(PAGES);
	return context;
}

START_TEST(a_cpu_attached_set_counts_what_it_says_it_counts)
{
	const char *why;
	pthread_t other;

	if (!papi_here_may_count())
		return;
	here_pin();
	int cpu = sched_getcpu();
	for (int kind = 0; kind < 2; kind++) {
		int papi = create_on_cpu(cpu, kind ? PAPI_GRN_SYS : PAPI_GRN_THR);
		if (papi == PAPI_NULL) {
			ps__test_skip("a_cpu_attached_set_counts_what_it_says_it_counts",
			              "this user may not count whole CPUs (perf_event_paranoid)");
			return;
		}
		struct ps_eventset *set = papi_here_wrap(papi);
		struct ps_thread *thread = NULL;
		uint64_t timestamp = 0;

		check_ok(ps_start(set));
		ck_assert_int_eq(ps_eventset_attribution(set, &why), PS_ATTRIBUTION_ATTACHED);
		ck_assert_msg(strstr(why, kind ? "all that happens on CPU" : "one thread alone") !=
		                  NULL,
		              "%s", why);
		/* On the same CPU */
		ck_assert_int_eq(pthread_create(&other, NULL, touch_pages, NULL), 0);
		pthread_join(other, NULL);
		check_ok(ps_stop(set, here.root, &timestamp, &thread));
		ck_assert_int_eq(ps_thread_cpu(thread), cpu);
		if (kind)
			ck_assert_int_ge(
			    papi_here_count(thread, ps_eventset_event_name(set, 0), timestamp),
			    PAGES);
		else
			ck_assert_int_lt(
			    papi_here_count(thread, ps_eventset_event_name(set, 0), timestamp),
			    PAGES);
		ps_eventset_destroy(set);
		papi_here_destroy(papi);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("targets of PAPI on this machine");
	TCase *tests = here_case(suite, "targets");

	tcase_add_test(tests, each_thread_of_a_team_counts_with_a_papi_set_of_its_own);
	tcase_add_test(tests, two_threads_on_one_cpu_keep_their_counts_and_both_are_on_its_thread);
	tcase_add_test(tests, a_thread_that_is_not_the_sets_is_refused);
	tcase_add_test(tests, an_attached_thread_that_has_exited_keeps_its_last_counts);
	tcase_add_test(tests, a_cpu_attached_set_counts_what_it_says_it_counts);
	return here_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of this process with the real kernel: every record is heard or counted as lost, and
 * samples times period is the count. Threads that come and go, and other processes:
 * test_session_threads; descriptors: test_session_descriptors.
 */
#include "session_here.h"

/* _i: are the threads there before the session? */
/* On each CPU: one event of each thread, and one that tells of it. */
#define EVENTS_OF_WORKERS (2 * (THREADS + 1))

START_TEST(each_page_that_any_thread_touches_is_a_sample)
{
	struct ps_session_options options = options_of(0);
	struct ps_value value = {.value = 0};
	const char *why = ps_test_lack_on_all_cpus(_i ? EVENTS_OF_WORKERS : 2);

	if (!ps_test_may_run(why))
		return;
	struct ps_session *session = new_session(&options, 0, 1);
	run_workers(session, _i);
	struct ps_session_stats stats = stats_of(session);
	ck_assert_uint_eq(stats.lost, 0);
	ck_assert_uint_eq(stats.damaged, 0);
	ck_assert_uint_eq(heard.in_pages, THREADS * PAGES);
	ck_assert_uint_eq(stats.samples, heard.samples);
	ck_assert_uint_eq(heard.threads, heard.samples);
	ck_assert_uint_eq(heard.stops, 1);
	ck_assert_uint_ge(stats.threads, _i ? THREADS + 1 : 1);
	if (!PS_TEST_HAS_THREAD_SANITIZER)
		ck_assert_uint_eq(stats.threads, _i ? THREADS + 1 : 1);
	ck_assert_uint_eq(heard.exits >= THREADS, 1);
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.value, (long long)heard.periods);
	ck_assert_uint_eq(value.raw, heard.samples);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	struct ps_value stored;
	check_ok(ps_topology_clear_readings(here.topology));
	check_ok(ps_session_store(session, NULL));
	check_ok(ps_component_total(here.root, "sampled page-faults:u", &stored));
	ck_assert_int_eq(stored.value, value.value);
	/* Where the caller may not observe the kernel, it also says so. */
	ck_assert_uint_eq(value.flags & ~(unsigned)PS_VALUE_USER_ONLY, PS_VALUE_SAMPLED);
	ps_session_destroy(session);
}
END_TEST

START_TEST(samples_times_period_is_the_count_within_a_period_for_each_task_and_cpu)
{
	struct ps_session_options options = options_of(0);
	uint64_t count = 0, cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	const char *why = ps_test_lack_on_all_cpus(EVENTS_OF_WORKERS);

	if (!ps_test_may_run(why))
		return;
	struct ps_session *session = new_session(&options, 0, 7);
	run_workers(session, true);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_count(session, 0, &count));
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(stats_of(session).lost, 0);
	ck_assert_uint_eq(heard.periods, 7 * heard.samples);
	ck_assert_uint_le(heard.periods, count + 7);
	ck_assert_uint_ge(heard.periods + 7 * (THREADS + 2) * cpus, count);
	ps_session_destroy(session);
}
END_TEST

/* The ring is too small for all of it: what is missing is counted. */
START_TEST(what_a_ring_has_no_room_for_is_counted)
{
	struct ps_session_options options = options_of(0);
	options.ring_bytes = 1;
	struct ps_session *session = new_session(&options, 0, 1);
	uint64_t count = 0;
	char *pages = map_pages(1000);

	check_ok(ps_session_start(session));
	touch(pages, 1000);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_count(session, 0, &count));
	check_ok(ps_session_poll(session, 0));
	struct ps_session_stats stats = stats_of(session);
	ck_assert_uint_gt(stats.lost, 800);
	ck_assert_uint_gt(stats.samples, 10);
	ck_assert_uint_ge(stats.samples + stats.lost, count);
	munmap(pages, 1000 * (size_t)sysconf(_SC_PAGESIZE));
	ps_session_destroy(session);
}
END_TEST

START_TEST(tasks_names_and_switches_are_heard_without_any_event)
{
	struct ps_session_options options = options_of(PS_SESSION_SWITCHES | PS_SESSION_MAPPINGS);
	struct ps_session *session = NULL;
	struct worker worker = {.pages = map_pages(PAGES)};
	uint64_t count;

	check_ok(ps_session_create(&session, 0, &options));
	check_ok(ps_session_start(session));
	ck_assert_int_eq(pthread_create(&worker.thread, NULL, worker_run, &worker), 0);
	pthread_setname_np(worker.thread, "session's");
	pthread_join(worker.thread, NULL);
	usleep(1000);
	check_ok(ps_session_poll(session, 1000));
	ck_assert_uint_eq(heard.samples, 0);
	ck_assert_uint_ge(heard.forks, 1);
	ck_assert_uint_le(heard.forks, 1 + PS_TEST_HAS_THREAD_SANITIZER);
	ck_assert_uint_ge(heard.switches, 2);
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ENOEVNT);
	munmap(worker.pages, PAGES * (size_t)sysconf(_SC_PAGESIZE));
	ps_session_destroy(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tests = here_case(suite, "session");

	tcase_add_loop_test(tests, each_page_that_any_thread_touches_is_a_sample, 0, 2);
	tcase_add_test(tests,
	               samples_times_period_is_the_count_within_a_period_for_each_task_and_cpu);
	tcase_add_test(tests, what_a_ring_has_no_room_for_is_counted);
	tcase_add_test(tests, tasks_names_and_switches_are_heard_without_any_event);
	return here_run_if_counted(suite);
}

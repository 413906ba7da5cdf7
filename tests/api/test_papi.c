/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI event sets on this machine, beside a plain PAPI run of the same work. Software events, so
 * that no PMU is needed. Sees the installed headers and the shared libraries alone, as a program
 * with PAPI code does.
 */
#include "papi_here.h"

#include <papi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 1000

/* And what PAPI itself touches first. */
static void rehearse_plainly(struct ps_eventset *set, int papi, struct ps_thread **thread)
{
	long long counts[2];
	uint64_t timestamp = 0;

	papi_ok(PAPI_start(papi));
	papi_ok(PAPI_stop(papi, counts));
	papi_ok(PAPI_start(papi));
	papi_ok(PAPI_read(papi, counts));
	check_ok(ps_read(set, here.root, &timestamp, thread));
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
}

START_TEST(read_accum_stop_count_what_a_plain_papi_run_of_the_same_work_counts)
{
	if (!papi_here_may_count())
		return;
	here_pin();
	int papi = papi_here_create(PAPI_HERE_FAULTS, "perf::MINOR-FAULTS", NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	const char *event = papi_here_name(papi, 0);
	struct ps_thread *thread = NULL;
	long long plain[3][2] = {{0}};
	uint64_t read = 0, accum = 0;
	int results[5];
	papi_here_rehearse(set);

	rehearse_plainly(set, papi, &thread);

	papi_here_watch();
	papi_ok(PAPI_start(papi));
	papi_here_touch(PAGES);
	int plain_read = PAPI_read(papi, plain[0]);
	papi_here_touch(10);
	int plain_stop = PAPI_stop(papi, plain[1]);
	papi_here_end_watch();
	papi_ok(plain_read);
	papi_ok(plain_stop);

	papi_here_watch();
	/* The user's own start; then only the reading calls are replaced */
	papi_ok(PAPI_start(papi));
	papi_here_touch(PAGES);
	results[0] = ps_read(set, here.root, &read, &thread);
	papi_here_touch(10);
	results[1] = ps_stop(set, here.root, &read, NULL);
	papi_here_end_watch();
	check_ok(results[0]);
	check_ok(results[1]);
	papi_here_expect(plain[0][0], PAGES);
	papi_here_expect(plain[1][0], PAGES + 10);
	papi_here_expect_same(papi_here_count(thread, event, read), plain[1][0]);
	papi_here_expect_same(papi_here_count(thread, papi_here_name(papi, 1), read), plain[1][1]);

	papi_here_watch();
	results[2] = ps_start(set);
	for (int loop = 0; loop < 3; loop++) {
		papi_here_touch(PAGES);
		results[3] = ps_accum(set, here.root, &accum, NULL);
	}
	papi_here_touch(7);
	results[4] = ps_stop(set, here.root, &accum, NULL);
	papi_here_end_watch();
	for (int call = 2; call < 5; call++)
		check_ok(results[call]);
	papi_here_expect(papi_here_count(thread, event, accum), 3 * PAGES + 7);
	papi_ok(PAPI_read(papi, plain[2])); /* PAPI has kept the count of the whole run */
	ck_assert_int_eq(plain[2][0], papi_here_count(thread, event, accum));
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

START_TEST(a_reset_and_an_accum_of_papi_behind_the_back_are_flagged)
{
	if (!papi_here_may_count())
		return;
	here_pin();
	int papi = papi_here_create(PAPI_HERE_FAULTS, NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	struct ps_thread *thread = NULL;
	struct ps_value value;
	long long own[1] = {0};
	uint64_t timestamp = 0;
	papi_here_rehearse(set);

	check_ok(ps_start(set));
	papi_here_touch(PAGES);
	check_ok(ps_read(set, here.root, &timestamp, &thread));
	papi_ok(PAPI_reset(papi));
	papi_here_touch(5);
	check_ok(ps_read(set, here.root, &timestamp, NULL));
	check_ok(ps_thread_reading(thread, papi_here_name(papi, 0), timestamp, &value));
	ck_assert_uint_ne(value.flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_int_ge(value.value, PAGES + 5);
	ck_assert_int_lt(value.value, PAGES + 500);
	papi_here_touch(300);
	check_ok(ps_read(set, here.root, &timestamp, NULL));
	papi_ok(PAPI_accum(papi, own));
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	check_ok(ps_thread_reading(thread, papi_here_name(papi, 0), timestamp, &value));
	ck_assert_int_ge(value.value, PAGES + 305);
	ck_assert_int_lt(value.value, PAGES + 1000);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

START_TEST(a_number_that_papi_gave_again_brings_up_no_old_reading)
{
	if (!papi_here_may_count())
		return;
	here_pin();
	int papi = papi_here_create(PAPI_HERE_FAULTS, NULL);
	struct ps_eventset *old = papi_here_wrap(papi);
	struct ps_thread *thread = NULL;
	uint64_t before = 0, timestamp;
	char event[PAPI_HUGE_STR_LEN];

	strcpy(event, papi_here_name(papi, 0));
	check_ok(ps_start(old));
	papi_here_touch(PAGES);
	check_ok(ps_stop(old, here.root, &before, &thread));
	papi_here_destroy(papi);
	ck_assert_int_eq(ps_start(old), PS_ENOEVST);
	int again = papi_here_create("perf::MAJOR-FAULTS", PAPI_HERE_FAULTS, NULL);
	ck_assert_int_eq(again, papi);
	struct ps_eventset *set = papi_here_wrap(again);
	timestamp = before;
	check_ok(ps_start(set));
	check_ok(ps_accum(set, here.root, &timestamp, &thread));
	ck_assert_uint_ne(timestamp, before);
	ck_assert_int_lt(papi_here_count(thread, event, timestamp), PAGES);
	ck_assert_int_ge(papi_here_count(thread, event, before), PAGES);
	ps_eventset_destroy(old);
	ps_eventset_destroy(set);
	papi_here_destroy(again);
}
END_TEST

START_TEST(bad_input_has_a_code_and_a_sentence)
{
	struct ps_eventset *set = NULL;
	int result = PAPI_is_initialized() ? PS_ENOINIT : ps_eventset_from_papi(&set, 0);

	ck_assert_int_eq(result, PS_ENOINIT);
	if (!papi_here_may_count())
		return;
	ck_assert_int_eq(ps_eventset_from_papi(&set, 12345), PS_ENOEVST);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "12345"));
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), PAPI_strerror(PAPI_ENOEVST)));
	ck_assert_int_eq(ps_eventset_from_papi(&set, PAPI_NULL), PS_ENOEVST);
	int papi = papi_here_create(NULL, NULL);
	check_ok(ps_eventset_from_papi(&set, papi));
	/* An empty set; if PAPI has switched a component off, its own reason is in the sentence. */
	int started = ps_start(set);
	ck_assert_msg(started == PS_EINVAL || started == PS_ECMP_DISABLED, "%d", started);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "PAPI_add_event"));
	papi_ok(PAPI_add_named_event(papi, PAPI_HERE_FAULTS));
	check_ok(ps_start(set));
	check_ok(ps_stop(set, here.root, NULL, NULL));
	papi_here_destroy(papi);
	ck_assert_int_eq(ps_start(set), PS_ENOEVST);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(papi_shutdown_under_a_wrapped_set_is_an_error_and_no_crash)
{
	if (!papi_here_may_count())
		return;
	struct ps_eventset *set = papi_here_wrap(papi_here_create(PAPI_HERE_FAULTS, NULL));

	check_ok(ps_start(set));
	PAPI_shutdown();
	ck_assert_int_eq(ps_read(set, here.root, NULL, NULL), PS_ENOINIT);
	ck_assert_int_eq(ps_stop(set, here.root, NULL, NULL), PS_ENOINIT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_multiplexed_set_gives_estimates)
{
	struct ps_thread *thread = NULL;
	struct ps_value value;
	uint64_t timestamp = 0;
	int papi = PAPI_NULL;

	if (!papi_here_may_count())
		return;
	here_pin(); /* or its count has a part on each CPU */
	papi_ok(PAPI_create_eventset(&papi));
	papi_ok(PAPI_assign_eventset_component(papi, 0));
	papi_ok(PAPI_set_multiplex(papi));
	papi_ok(PAPI_add_named_event(papi, PAPI_HERE_FAULTS));
	struct ps_eventset *set = papi_here_wrap(papi);
	check_ok(ps_start(set));
	papi_here_touch(PAGES);
	check_ok(ps_stop(set, here.root, &timestamp, &thread));
	check_ok(ps_thread_reading(thread, ps_eventset_event_name(set, 0), timestamp, &value));
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	ck_assert_int_ge(value.value, PAGES);
	ck_assert_int_lt(value.value, 2 * PAGES);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

START_TEST(a_user_defined_event_has_its_name_and_its_count)
{
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;

	if (!papi_here_may_count())
		return;
	int papi = papi_here_create("TWICE_FAULTS", NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	ck_assert_str_eq(ps_eventset_event_name(set, 0), "TWICE_FAULTS");
	here_pin();
	papi_here_rehearse(set);
	check_ok(ps_start(set));
	papi_here_touch(PAGES);
	int stopped = ps_stop(set, here.root, &timestamp, &thread);
	check_ok(stopped);
	papi_here_expect_about(papi_here_count(thread, "TWICE_FAULTS", timestamp), 2 * PAGES);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

START_TEST(values_of_papis_default_domain_say_that_they_are_of_user_space)
{
	struct ps_thread *thread = NULL;
	struct ps_value value;
	uint64_t timestamp = 0;

	if (!papi_here_may_count())
		return;
	int papi = papi_here_create(PAPI_HERE_FAULTS, NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	ck_assert_int_eq(ps_eventset_event_is_user_only(set, 0), 1);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, here.root, &timestamp, &thread));
	check_ok(ps_thread_reading(thread, ps_eventset_event_name(set, 0), timestamp, &value));
	ck_assert_uint_ne(value.flags & PS_VALUE_USER_ONLY, 0);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

START_TEST(switches_in_papis_default_domain_are_unknown_and_no_0)
{
	struct ps_value values[2];

	if (!papi_here_may_count())
		return;
	int papi = papi_here_create("perf::CONTEXT-SWITCHES", PAPI_HERE_FAULTS, NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	ck_assert_int_eq(ps_eventset_event_status(set, 0), PS_STATUS_NOT_SUPPORTED);
	check_ok(ps_start(set));
	papi_here_touch(PAGES);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	check_ok(ps_eventset_values(set, 0, values, 2));
	ck_assert_int_eq(values[0].status, PS_STATUS_NOT_SUPPORTED);
	ck_assert_int_eq(values[1].status, PS_STATUS_COUNTED);
	papi_here_expect_about(values[1].value, PAGES);
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

/* The names of the PMUs for which it holds are PAPI's: they are asked for in a process of its own,
 * as the file is read when PAPI is initialised. */
static void write_user_events_for_pmus(FILE *file)
{
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return;
	const PAPI_component_info_t *component = PAPI_get_component_info(0);
	for (int pmu = 0; pmu < PAPI_PMU_MAX; pmu++) {
		if (component->pmu_names[pmu])
			fprintf(file, "CPU,%s\n", component->pmu_names[pmu]);
	}
	fputs("EVENT,TWICE_FAULTS,DERIVED_ADD,perf::PAGE-FAULTS,perf::MINOR-FAULTS\n", file);
	fflush(file);
}

/* The name is in path afterwards. */
static void write_user_events(char *path)
{
	FILE *file = fdopen(mkstemp(path), "w");
	pid_t child = file ? fork() : -1;

	if (child < 0)
		abort();
	if (child == 0) {
		write_user_events_for_pmus(file);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	fclose(file);
	setenv("PAPI_USER_EVENTS_FILE", path, 1);
}

int main(void)
{
	char path[] = "/tmp/perfsage-user-events.XXXXXX";
	Suite *suite = suite_create("PAPI on this machine");
	TCase *tests = here_case(suite, "papi");

	/* First, while PAPI isn't initialised even where tests share a process. */
	tcase_add_test(tests, bad_input_has_a_code_and_a_sentence);
	tcase_add_test(tests, read_accum_stop_count_what_a_plain_papi_run_of_the_same_work_counts);
	tcase_add_test(tests, a_reset_and_an_accum_of_papi_behind_the_back_are_flagged);
	tcase_add_test(tests, a_number_that_papi_gave_again_brings_up_no_old_reading);
	tcase_add_test(tests, a_multiplexed_set_gives_estimates);
	tcase_add_test(tests, a_user_defined_event_has_its_name_and_its_count);
	tcase_add_test(tests, values_of_papis_default_domain_say_that_they_are_of_user_space);
	tcase_add_test(tests, switches_in_papis_default_domain_are_unknown_and_no_0);
	/* Last: it ends PAPI for the process. */
	tcase_add_test(tests, papi_shutdown_under_a_wrapped_set_is_an_error_and_no_crash);
	write_user_events(path);
	int status = here_run(suite);
	unlink(path);
	return status;
}

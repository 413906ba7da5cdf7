/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What may go wrong with PAPI: not there, not initialised, another version, no such set, each of
 * its calls failing, no memory. Its codes come through unchanged, with its words, and nothing is
 * left behind.
 */
#include "support/papi_scene.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_library_built_without_papi_says_so)
{
	struct ps_eventset *set = NULL;

	ps__papi_calls = (struct ps__papi_calls){0};
	check_fails(ps_eventset_from_papi(&set, 0), PS_ENOSUPP);
	check_detail("built without PAPI");
	check_fails(ps_eventset_from_papi(NULL, 0), PS_EINVAL);
	ck_assert_ptr_null(set);
}
END_TEST

START_TEST(papi_that_is_not_initialised_is_not_touched)
{
	struct ps_eventset *set = NULL;

	fake_papi.is_initialized = false;
	check_fails(ps_eventset_from_papi(&set, 0), PS_ENOINIT);
	check_detail("PAPI_library_init");
	ck_assert_ptr_null(set);
}
END_TEST

START_TEST(papi_shut_down_under_a_wrapped_set_is_not_touched)
{
	struct ps_eventset *set = papi_scene_wrap(fake_papi_create(EVENT, NULL));
	long long residual[1];

	check_ok(ps_start(set));
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_papi.is_initialized = false;
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ENOINIT);
	check_fails(ps_accum(set, scene.root, NULL, NULL), PS_ENOINIT);
	check_fails(ps_reset(set), PS_ENOINIT);
	check_fails(ps_eventset_check(set, residual, 1), PS_ENOINIT);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_ENOINIT);
	check_fails(ps_start(set), PS_ENOINIT);
}
END_TEST

START_TEST(another_version_than_that_of_the_headers_is_refused_and_both_are_named)
{
	struct ps_eventset *set = NULL;
	int papi = fake_papi_create(EVENT, NULL);

	fake_papi.version = 0x07010000;
	check_fails(ps_eventset_from_papi(&set, papi), PS_EINVAL);
	check_detail("7.0");
	check_detail("7.1");
	fake_papi.version = FAKE_PAPI_VERSION | 0x0100; /* a revision */
	check_ok(ps_eventset_from_papi(&set, papi));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_number_that_is_no_event_set_is_refused_with_papis_words)
{
	static const int numbers[] = {-1, 0, 7, 12345};
	struct ps_eventset *set = NULL;

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		char name[32];
		check_fails(ps_eventset_from_papi(&set, numbers[i]), PS_ENOEVST);
		check_detail("PAPI's words for -11");
		snprintf(name, sizeof name, "set %d:", numbers[i]);
		check_detail(name);
	}
	ck_assert_ptr_null(set);
}
END_TEST

START_TEST(a_component_that_is_switched_off_gives_its_own_reason)
{
	struct ps_eventset *set = NULL;
	int papi = fake_papi_create(EVENT, NULL), empty = fake_papi_create(NULL, NULL);

	fake_papi.component.disabled = PS_ECMP;
	strcpy(fake_papi.component.disabled_reason,
	       "perf_event support disabled by Linux with paranoid=3");
	check_fails(ps_eventset_from_papi(&set, papi), PS_ECMP_DISABLED);
	check_detail("paranoid=3");
	check_detail("perf_event");
	check_detail("ps_eventset_add takes the kernel's names of the same events");
	/* The usual case: the user's PAPI_add_event failed, so the set is empty. */
	check_ok(ps_eventset_from_papi(&set, empty));
	check_fails(ps_start(set), PS_ECMP_DISABLED);
	check_detail("paranoid=3");
	check_detail("'instructions' for PAPI_TOT_INS");
	/* Another one that is off has nothing to do with it. */
	strcpy(fake_papi.component.name, "perf_event_uncore");
	check_fails(ps_start(set), PS_EINVAL);
	strcpy(fake_papi.component.name, "perf_event");
	fake_papi.component.disabled = 0;
	check_fails(ps_start(set), PS_EINVAL);
	check_detail("PAPI_add_event");
	fake_papi_add(empty, EVENT);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_floating_point_event_is_refused_by_name)
{
	struct ps_eventset *set = NULL;

	fake_papi_kind("THERMAL_SPEC")->info.is_floating = true;
	check_fails(ps_eventset_from_papi(&set, fake_papi_create(EVENT, "THERMAL_SPEC", NULL)),
	            PS_ENOSUPP);
	check_detail("THERMAL_SPEC");
	ck_assert_ptr_null(set);
}
END_TEST

START_TEST(a_name_that_papi_cuts_is_asked_for_whole)
{
	char name[300];
	struct ps_eventset *set;

	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	set = papi_scene_wrap(fake_papi_create(name, NULL));
	ck_assert_str_eq(ps_eventset_event_name(set, 0), name);
}
END_TEST

/* Each kind of call, and each of its uses. */
START_TEST(each_failure_of_papi_at_a_wrap_comes_through_unchanged)
{
	int papi = fake_papi_create(EVENT, OTHER, NULL);
	unsigned failures = 0;

	fake_papi.sets[papi].state = PS__PAPI_CPU_ATTACHED;
	for (int call = 0; call < FAKE_PAPI_START; call++) {
		for (unsigned nth = 1;; nth++) {
			struct ps_eventset *set = NULL;
			fake_papi_fail((enum fake_papi_call)call, nth, -23);
			int result = ps_eventset_from_papi(&set, papi);
			if (!fake_papi_fail_happened()) {
				check_ok(result);
				ps_eventset_destroy(set);
				break;
			}
			failures++;
			ck_assert_int_eq(result, -23);
			check_detail("PAPI's words for -23");
			ck_assert_ptr_null(set);
		}
	}
	ck_assert_uint_ge(failures, 13);
}
END_TEST

static int run(int papi, uint64_t *timestamp)
{
	struct ps_eventset *set = NULL;
	int result = ps_eventset_from_papi(&set, papi);

	if (result != PS_OK)
		return result;
	result = ps_start(set);
	if (result == PS_OK)
		fake_papi_count(papi, 0, 10);
	if (result == PS_OK)
		result = ps_read(set, scene.root, timestamp, NULL);
	if (result == PS_OK)
		fake_papi_count(papi, 0, 1);
	if (result == PS_OK)
		result = ps_stop(set, scene.root, timestamp, NULL);
	ps_eventset_destroy(set);
	fake_papi_stop(papi);
	return result;
}

START_TEST(each_failure_of_papi_in_a_run_comes_through_unchanged)
{
	int papi = fake_papi_create(EVENT, NULL);

	for (int call = 0; call < FAKE_PAPI_CALLS; call++) {
		for (unsigned nth = 1;; nth++) {
			uint64_t timestamp = 0;
			fake_papi_fail((enum fake_papi_call)call, nth, PS_EBUG);
			int result = run(papi, &timestamp);
			if (!fake_papi_fail_happened()) {
				check_ok(result);
				ck_assert_int_eq(scene_count(0, EVENT, timestamp), 11);
				break;
			}
			ck_assert_int_eq(result, PS_EBUG);
			check_detail("PAPI's words for -6");
		}
	}
}
END_TEST

START_TEST(a_failed_papi_read_loses_nothing)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	fake_papi_fail(FAKE_PAPI_READ, 1, PS_ESYS);
	check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_ESYS);
	check_detail("PAPI_read");
	ck_assert_uint_eq(timestamp, 0);
	fake_papi_count(papi, 0, 3);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 13);
}
END_TEST

START_TEST(a_failed_papi_start_leaves_what_was_counted)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	fake_papi_fail(FAKE_PAPI_START, 1, PS_ECNFLCT);
	check_fails(ps_start(set), PS_ECNFLCT);
	check_detail("PAPI_start");
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 2);
}
END_TEST

START_TEST(a_failed_papi_stop_can_be_made_good)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = papi_scene_wrap(papi);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	fake_papi_count(papi, 0, 10);
	fake_papi_fail(FAKE_PAPI_STOP, 1, PS_ESYS);
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ESYS);
	check_detail("PAPI_stop");
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	ck_assert(!fake_papi.sets[papi].is_running);
}
END_TEST

START_TEST(each_allocation_may_fail_and_nothing_leaks)
{
	int papi = fake_papi_create(EVENT, OTHER, NULL);
	unsigned failures = 0;

	for (unsigned nth = 1;; nth++) {
		uint64_t timestamp = 0;
		fake_fail(FAKE_ALLOCATE, nth, 12);
		int result = run(papi, &timestamp);
		if (!fake_fail_happened()) {
			check_ok(result);
			break;
		}
		failures++;
		/* A mask of CPUs without memory is no reason to fail: the set is then not
		 * pinned. */
		ck_assert_msg(result == PS_ENOMEM || result == PS_OK, "%d: %s", result,
		              ps_error_detail());
	}
	ck_assert_uint_gt(failures, 10);
}
END_TEST

START_TEST(an_attached_thread_that_is_gone_is_named)
{
	int papi = fake_papi_create(EVENT, NULL);
	struct ps_eventset *set = NULL;

	fake_papi.sets[papi].state = PS__PAPI_ATTACHED;
	fake_papi.sets[papi].options[PS__PAPI_OPTION_TID] = 4711;
	check_fails(ps_eventset_from_papi(&set, papi), PS_ESYS);
	check_detail("4711");
	fake_task(4711, "worker", 2);
	fake_set_nofile(3);
	check_fails(ps_eventset_from_papi(&set, papi), PS_ECOUNT);
	fake_set_nofile(1024);
	ck_assert_ptr_null(set);
}
END_TEST

START_TEST(a_forked_child_touches_no_papi_set)
{
	int papi = fake_papi_create(EVENT, NULL), status;
	struct ps_eventset *set = papi_scene_wrap(papi);

	check_ok(ps_start(set));
	pid_t child = fork();
	if (child == 0) {
		fake_papi.is_initialized = false; /* any call would end the test */
		bool right = ps_read(set, scene.root, NULL, NULL) == PS_ECLOST &&
		             ps_stop(set, scene.root, NULL, NULL) == PS_ECLOST;
		papi_scene_destroy(set);
		_exit(right ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi faults");
	TCase *tests = papi_scene_case(suite, "faults");

	tcase_add_test(tests, a_library_built_without_papi_says_so);
	tcase_add_test(tests, papi_that_is_not_initialised_is_not_touched);
	tcase_add_test(tests, papi_shut_down_under_a_wrapped_set_is_not_touched);
	tcase_add_test(tests,
	               another_version_than_that_of_the_headers_is_refused_and_both_are_named);
	tcase_add_test(tests, a_number_that_is_no_event_set_is_refused_with_papis_words);
	tcase_add_test(tests, a_component_that_is_switched_off_gives_its_own_reason);
	tcase_add_test(tests, a_floating_point_event_is_refused_by_name);
	tcase_add_test(tests, a_name_that_papi_cuts_is_asked_for_whole);
	tcase_add_test(tests, each_failure_of_papi_at_a_wrap_comes_through_unchanged);
	tcase_add_test(tests, each_failure_of_papi_in_a_run_comes_through_unchanged);
	tcase_add_test(tests, a_failed_papi_read_loses_nothing);
	tcase_add_test(tests, a_failed_papi_start_leaves_what_was_counted);
	tcase_add_test(tests, a_failed_papi_stop_can_be_made_good);
	tcase_add_test(tests, each_allocation_may_fail_and_nothing_leaks);
	tcase_add_test(tests, an_attached_thread_that_is_gone_is_named);
	tcase_add_test(tests, a_forked_child_touches_no_papi_set);
	return scene_run(suite);
}

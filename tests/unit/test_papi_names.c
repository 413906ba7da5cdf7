/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a PAPI event and the set's domain say which spaces it counts, and in which unit. */
#include "support/papi_scene.h"

#include <stdlib.h>
#include <string.h>

START_TEST(the_domain_shows_in_user_only_but_for_clocks_and_events_that_name_the_kernel)
{
	int papi = fake_papi_create(EVENT, "perf::PAGE-FAULTS:u=1:k=1", "perf::TASK-CLOCK", NULL);
	struct ps_eventset *set;

	fake_papi.sets[papi].options[PS__PAPI_OPTION_DOMAIN] = PS__PAPI_DOM_USER;
	set = papi_scene_wrap(papi);
	ck_assert_int_eq(ps_eventset_event_is_user_only(set, 0), 1);
	ck_assert_int_eq(ps_eventset_event_is_user_only(set, 1), 0);
	ck_assert_int_eq(ps_eventset_event_is_user_only(set, 2), 0);
}
END_TEST

/* Wraps a set of the event and another one, and counts with it. */
static void check_wrapped(const char *event, int domain, enum ps_status status, int user_only)
{
	int papi = fake_papi_create(event, EVENT, NULL);
	uint64_t timestamp = 0;

	fake_set_affinity("0");
	fake_papi.sets[papi].options[PS__PAPI_OPTION_DOMAIN] = domain;
	struct ps_eventset *set = papi_scene_wrap(papi);
	ck_assert_msg(ps_eventset_event_status(set, 0) == status, "%s", event);
	ck_assert_msg(ps_eventset_event_is_user_only(set, 0) == user_only, "%s", event);
	ck_assert_int_eq(ps_eventset_event_status(set, 1), PS_STATUS_COUNTED);
	check_ok(ps_start(set));
	fake_papi_count(papi, 1, 7);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_msg(scene_part(0, event, timestamp).status == status, "%s", event);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 7);
	papi_scene_destroy(set);
}

static const char *const of_kernel[] = {"perf::CONTEXT-SWITCHES",
                                        "perf::CS",
                                        "CPU-MIGRATIONS",
                                        "perf::PERF_COUNT_SW_CPU_MIGRATIONS",
                                        "perf::MIGRATIONS:u=1",
                                        "perf::PERF_COUNT_SW_CGROUP_SWITCHES",
                                        "perf::CONTEXT-SWITCHES:cpu=0"};

START_TEST(an_event_of_the_kernel_is_not_supported_in_user_space_alone_and_no_0)
{
	check_wrapped(of_kernel[_i], PS__PAPI_DOM_USER, PS_STATUS_NOT_SUPPORTED, 1);
	check_wrapped(of_kernel[_i], PS__PAPI_DOM_USER | PS__PAPI_DOM_KERNEL, PS_STATUS_COUNTED, 0);
}
END_TEST

START_TEST(the_legend_of_a_program_with_papi_names_its_domain)
{
	int papi = fake_papi_create(EVENT, of_kernel[0], NULL);
	char *text;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	fake_papi.sets[papi].options[PS__PAPI_OPTION_DOMAIN] = PS__PAPI_DOM_USER;
	struct ps_eventset *set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_print(scene.root, stream));
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(text, "\nn/s          not supported by this machine, core, "
	                                   "permission or PAPI domain: unknown, not 0\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nu            of user space alone: for lack of "
	                                   "permission, or as a PAPI set's domain has it\n"));
	free(text);
	papi_scene_destroy(set);
}
END_TEST

/* Wraps the event, counts, and asks for the plain count. */
static void check_counts_name_the_remedy(const char *event, int domain)
{
	int papi = fake_papi_create(EVENT, event, NULL);
	long long counts[2] = {4711, 4711};
	struct ps_eventset *set;

	fake_set_affinity("0");
	fake_papi.sets[papi].options[PS__PAPI_OPTION_DOMAIN] = domain;
	set = papi_scene_wrap(papi);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_fails(ps_eventset_counts(set, 0, counts, 2), PS_ENOSUPP);
	check_detail(event);
	check_detail("user space");
	check_detail("PAPI_set_domain(PAPI_DOM_ALL) before PAPI_create_eventset");
	check_detail(":k=1");
	ck_assert_int_eq(counts[0], 4711);
	papi_scene_destroy(set);
}

START_TEST(the_counts_of_a_kernels_event_in_user_space_are_refused_with_the_remedy)
{
	check_counts_name_the_remedy("perf::CONTEXT-SWITCHES", PS__PAPI_DOM_USER);
	check_counts_name_the_remedy("perf::CS:k=0", PS__PAPI_DOM_USER | PS__PAPI_DOM_KERNEL);
}
END_TEST

START_TEST(the_kernels_modifier_in_a_name_outdoes_the_domain)
{
	check_wrapped("perf::CS:k=1", PS__PAPI_DOM_USER, PS_STATUS_COUNTED, 0);
	check_wrapped("perf::CS:u=1:k", PS__PAPI_DOM_USER, PS_STATUS_COUNTED, 0);
	check_wrapped("perf::CS:k=0", PS__PAPI_DOM_USER | PS__PAPI_DOM_KERNEL,
	              PS_STATUS_NOT_SUPPORTED, 1);
	check_wrapped("perf::PAGE-FAULTS:k=0", PS__PAPI_DOM_USER | PS__PAPI_DOM_KERNEL,
	              PS_STATUS_COUNTED, 1);
	check_wrapped("perf::CSTATES", PS__PAPI_DOM_USER, PS_STATUS_COUNTED, 1);
	/* A unit mask, and no modifier. */
	check_wrapped("perf::PAGE-FAULTS:kernel", PS__PAPI_DOM_USER, PS_STATUS_COUNTED, 1);
}
END_TEST

START_TEST(the_clocks_of_the_kernel_count_nanoseconds_though_papi_names_no_unit)
{
	struct ps_eventset *set = papi_scene_wrap(
	    fake_papi_create("perf::TASK-CLOCK:u=0", "perf::PERF_COUNT_SW_CPU_CLOCK", EVENT,
	                     "amd64_k7::CPU_CLOCK_UNHALTED", "perf::TASK-CLOCKS", NULL));

	ck_assert_str_eq(ps_eventset_event_unit(set, 0), "ns");
	ck_assert_str_eq(ps_eventset_event_unit(set, 1), "ns");
	for (size_t plain = 2; plain < 5; plain++)
		ck_assert_str_eq(ps_eventset_event_unit(set, plain), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi names");
	TCase *tests = papi_scene_case(suite, "names");

	tcase_add_test(
	    tests, the_domain_shows_in_user_only_but_for_clocks_and_events_that_name_the_kernel);
	tcase_add_loop_test(tests,
	                    an_event_of_the_kernel_is_not_supported_in_user_space_alone_and_no_0, 0,
	                    sizeof of_kernel / sizeof *of_kernel);
	tcase_add_test(tests, the_legend_of_a_program_with_papi_names_its_domain);
	tcase_add_test(tests,
	               the_counts_of_a_kernels_event_in_user_space_are_refused_with_the_remedy);
	tcase_add_test(tests, the_kernels_modifier_in_a_name_outdoes_the_domain);
	tcase_add_test(tests, the_clocks_of_the_kernel_count_nanoseconds_though_papi_names_no_unit);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The step of the diagnosis about PAPI: built without, not asked, refusing, and with components in
 * each condition. */
#include "test_diagnose.h"

#include "support/fake_papi.h"

static void setup(void)
{
	scene_setup();
	fake_papi_install();
	setup_status("0", NO_CAPABILITY, "0-3");
}

static void teardown(void)
{
	forget();
	fake_papi_remove();
	scene_teardown();
}

static void add_component(const char *name, int disabled, const char *reason)
{
	struct ps__papi_component_info *info = &fake_papi.others[fake_papi.other_count++];

	info->disabled = disabled;
	snprintf(info->name, sizeof info->name, "%s", name);
	snprintf(info->disabled_reason, sizeof info->disabled_reason, "%s", reason);
}

static void diagnose_papi(int asks)
{
	const char *events[] = {"page-faults"};
	struct ps_diagnose_options options = {
	    .size = sizeof options, .events = events, .event_count = 1, .asks_papi = asks};

	forget();
	check_ok(ps_diagnose(&options, keep, NULL));
}

START_TEST(a_build_without_papi_says_so)
{
	ps__papi_calls.built_version = 0;
	diagnose_papi(1);
	check_found("papi", "", PS_FINDING_ABSENT, "built without PAPI", "--with-papi");
}
END_TEST

START_TEST(components_are_told_with_their_reasons)
{
	add_component("cuda", PS_ECMP, "libcuda.so not found");
	add_component("rocm", PS_EDELAY_INIT, "Not initialized");
	add_component("sde", PS_ECMP, "");
	add_component("rapl", 0, "");
	diagnose_papi(0);
	check_found("papi", "", PS_FINDING_GOOD,
	            "PAPI is 7.0.0. Its components that are ready: perf_event, rapl. Looked at "
	            "when they are used: rocm. Switched off by PAPI: cuda (libcuda.so not found), "
	            "sde (no reason given).",
	            NULL);
	fake_papi.component.disabled = PS_ECMP;
	snprintf(fake_papi.component.disabled_reason, sizeof fake_papi.component.disabled_reason,
	         "no PMU");
	diagnose_papi(0);
	check_found("papi", "", PS_FINDING_LIMITED,
	            "Switched off by PAPI: perf_event (no PMU), cuda", NULL);
	check_found("papi", "", PS_FINDING_LIMITED, "'instructions' for PAPI_TOT_INS", NULL);
	ck_assert(fake_papi.is_initialized);
}
END_TEST

START_TEST(papi_is_initialised_only_if_that_is_asked_for_and_only_once)
{
	fake_papi.is_initialized = false;
	diagnose_papi(0);
	check_found("papi", "", PS_FINDING_UNKNOWN, "not initialised in this process", NULL);
	diagnose_papi(1);
	check_found("papi", "", PS_FINDING_GOOD, "ready: perf_event.", NULL);
	ck_assert(fake_papi.is_initialized);
	diagnose_papi(1);
	ck_assert_int_eq(fake_papi.initializations, 1);
	fake_papi.is_initialized = false;
	fake_papi.refuses = PS_ESYS;
	diagnose_papi(1);
	check_found("papi", "", PS_FINDING_BLOCKED, "PAPI can't be initialised: ", NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diagnose: PAPI");
	TCase *tests = scene_case_of(suite, "papi", setup, teardown);

	tcase_add_test(tests, a_build_without_papi_says_so);
	tcase_add_test(tests, components_are_told_with_their_reasons);
	tcase_add_test(tests, papi_is_initialised_only_if_that_is_asked_for_and_only_once);
	return scene_run(suite);
}

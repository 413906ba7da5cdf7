/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without libpfm4 says so of its names, and knows all others. */
#include "test_event.h"

START_TEST(a_name_of_libpfm4_is_refused_with_what_is_missing)
{
	check_refused("perf::PAGE-FAULTS", PS_ENOEVNT, "libpfm4-dev");
	check_refused("amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:u", PS_ENOEVNT, "built without it");
	check_refused("::", PS_ENOEVNT, "unknown event");
	check_refused("INST_RETIRED", PS_ENOEVNT, "unknown event 'INST_RETIRED'");
	check_encoding("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_pfm_none");
	TCase *tests = scene_case_of(suite, "names", fake_install, fake_remove);

	tcase_add_test(tests, a_name_of_libpfm4_is_refused_with_what_is_missing);
	return run_suite(suite);
}

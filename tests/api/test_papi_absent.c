/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that was configured without PAPI: the function is there, and says what to do. */
#include "here.h"
#include <stdlib.h>
#include <string.h>

START_TEST(a_build_without_papi_says_how_to_get_it)
{
	struct ps_eventset *set = NULL;

	ck_assert_int_eq(ps_eventset_from_papi(&set, 0), PS_ENOSUPP);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "libpapi-dev"));
	ck_assert_ptr_null(set);
	ck_assert_int_eq(ps_eventset_from_papi(NULL, 0), PS_EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("PAPI absent");
	TCase *tests = tcase_create("absent");

	tcase_add_test(tests, a_build_without_papi_says_how_to_get_it);
	suite_add_tcase(suite, tests);
	return here_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPUs that there can be, as the kernel tells them. */
#include "locate/locate.h"
#include "support/scene.h"

#define POSSIBLE "/sys/devices/system/cpu/possible"

START_TEST(possible_cpus_are_counted_and_have_an_end)
{
	fake_file(POSSIBLE, "0-3,8,10-11\n");
	ck_assert_uint_eq(ps__locate_count_possible(), 7);
	ck_assert_uint_eq(ps__locate_possible_end(), 12);
	ck_assert(ps__locate_is_possible(8));
	ck_assert(!ps__locate_is_possible(9));
	ck_assert(!ps__locate_is_possible(12));
	ck_assert(!ps__locate_is_possible(-1));
}
END_TEST

START_TEST(where_the_kernel_does_not_tell_any_cpu_is_possible)
{
	fake_file(POSSIBLE, NULL);
	ck_assert_uint_eq(ps__locate_count_possible(), 0);
	ck_assert_uint_eq(ps__locate_possible_end(), 0);
	ck_assert(ps__locate_is_possible(9));
	ck_assert(!ps__locate_is_possible(-1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("affinity");
	TCase *tests = scene_case(suite, "affinity");

	tcase_add_test(tests, possible_cpus_are_counted_and_have_an_end);
	tcase_add_test(tests, where_the_kernel_does_not_tell_any_cpu_is_possible);
	return scene_run(suite);
}

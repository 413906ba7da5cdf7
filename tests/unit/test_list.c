/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs as the kernel writes them: what is in one, and what is none. */
#include "base/list.h"
#include "support/scene.h"

START_TEST(numbers_and_ranges_are_in_the_list)
{
	ck_assert(ps__list_contains("0-3,8,10-11\n", 3));
	ck_assert(ps__list_contains("0-3,8,10-11\n", 8));
	ck_assert(!ps__list_contains("0-3,8,10-11\n", 9));
	ck_assert_uint_eq(ps__list_count("0-3,8,10-11"), 7);
	ck_assert_int_eq(ps__list_max("0-3,8,10-11"), 11);
}
END_TEST

START_TEST(an_empty_text_is_an_empty_list)
{
	ck_assert_uint_eq(ps__list_count("\n"), 0);
	ck_assert(!ps__list_contains("", 0));
	ck_assert_int_eq(ps__list_max(""), -1);
}
END_TEST

START_TEST(what_is_no_list_has_no_largest_number)
{
	static const char *const texts[] = {"3-1", "-1", "1,x", "1-", "99999999999", "1 2"};

	ck_assert_int_eq(ps__list_max(texts[_i]), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("list");
	TCase *tests = scene_case(suite, "list");

	tcase_add_test(tests, numbers_and_ranges_are_in_the_list);
	tcase_add_test(tests, an_empty_text_is_an_empty_list);
	tcase_add_loop_test(tests, what_is_no_list_has_no_largest_number, 0, 6);
	return scene_run(suite);
}

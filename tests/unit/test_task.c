/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU in the text of /proc/TID/stat: what a name may hold, and texts that tell no CPU. */
#include "locate/locate.h"
#include "support/scene.h"

/* The fields between the name and the CPU: state to exit_signal. */
#define FIELDS                                                                                   \
	"S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 " \
	"32 33 34 35"

static int parse(const char *text)
{
	return ps__task_parse_cpu(text, strlen(text));
}

START_TEST(the_cpu_is_the_39th_field)
{
	ck_assert_int_eq(parse("500 (make) " FIELDS " 7 0 0 0\n"), 7);
	ck_assert_int_eq(parse("500 (make) " FIELDS " 511 0 0 0\n"), 511);
}
END_TEST

START_TEST(a_name_may_hold_anything)
{
	ck_assert_int_eq(parse("500 (a) R 1 (b) " FIELDS " 7 0\n"), 7);
	ck_assert_int_eq(parse("500 ()) " FIELDS " 7 0\n"), 7);
	ck_assert_int_eq(parse("500 (a\nb c) " FIELDS " 7 0\n"), 7);
	ck_assert_int_eq(parse("500 () " FIELDS " 7 0\n"), 7);
}
END_TEST

/* Half of a number would be another CPU. */
START_TEST(a_text_that_is_cut_tells_no_cpu)
{
	const char *text = "500 (make) " FIELDS " 123 0\n";
	size_t whole = strlen(text) - strlen(" 0\n");

	ck_assert_int_eq(ps__task_parse_cpu(text, whole + 1), 123);
	for (size_t length = 0; length <= whole; length++)
		ck_assert_msg(ps__task_parse_cpu(text, length) == -1, "of %zu bytes", length);
}
END_TEST

START_TEST(a_text_of_another_form_tells_no_cpu)
{
	ck_assert_int_eq(parse("500 make " FIELDS " 7 0\n"), -1);
	ck_assert_int_eq(parse("500 (make) " FIELDS " -1 0\n"), -1);
	ck_assert_int_eq(parse("500 (make) " FIELDS " x 0\n"), -1);
	ck_assert_int_eq(parse("500 (make) " FIELDS " 99999999999999999999 0\n"), -1);
	ck_assert_int_eq(parse("500 (make)" FIELDS " 7"), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("task");
	TCase *tests = scene_case(suite, "task");

	tcase_add_test(tests, the_cpu_is_the_39th_field);
	tcase_add_test(tests, a_name_may_hold_anything);
	tcase_add_test(tests, a_text_that_is_cut_tells_no_cpu);
	tcase_add_test(tests, a_text_of_another_form_tells_no_cpu);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as people and programs read them, in any locale. */
#include "output/number.h"

#include "support/scene.h"
#include "support/skip.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>

typedef void writer(struct ps__buffer *buffer, double number);

static void check_text(writer *write, double number, const char *expected)
{
	struct ps__buffer buffer = {0};

	write(&buffer, number);
	ck_assert_msg(!strcmp(buffer.text, expected), "%.17g is '%s', not '%s'", number,
	              buffer.text, expected);
	ps_hooks_default()->release(buffer.text);
}

START_TEST(four_digits_and_a_prefix)
{
	static const struct {
		double number;
		const char *text;
	} rows[] = {
	    {0, "0"},
	    {7, "7"},
	    {999, "999"},
	    {-5, "-5"},
	    {1000, "1.000k"},
	    {1234, "1.234k"},
	    {9999.4, "9.999k"},
	    {9999.6, "10.00k"},
	    {12345, "12.35k"},
	    {99994, "99.99k"},
	    {99996, "100.0k"},
	    {999900, "999.9k"},
	    {999960, "1.000M"},
	    {1234567890, "1.235G"},
	    {-1234567890, "-1.235G"},
	    {9.2e18, "9.200E"},
	    {1.5e26, "150.0Y"},
	    {1.5e300, "1.5e+300"},
	    {2.5, "2.500"},
	    {0.25, "0.250"},
	    {0.01234, "0.0123"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(ps__number_add_si, rows[i].number, rows[i].text);
}
END_TEST

START_TEST(durations_are_in_the_units_of_clocks)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {
	    {0, "0.000 s"},       {7.2154, "7.215 s"},      {12.345, "12.35 s"},
	    {62, "1 min 02.0 s"}, {119.96, "2 min 00.0 s"}, {3723, "1 h 02 min 03 s"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(ps__number_add_duration, rows[i].seconds, rows[i].text);
}
END_TEST

START_TEST(a_duration_is_rounded_before_its_unit_is_chosen)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {
	    {9.9994, "9.999 s"},         {9.9996, "10.00 s"},          {10, "10.00 s"},
	    {59.994, "59.99 s"},         {59.996, "1 min 00.0 s"},     {60, "1 min 00.0 s"},
	    {3599.94, "59 min 59.9 s"},  {3599.96, "1 h 00 min 00 s"}, {3600, "1 h 00 min 00 s"},
	    {3659.4, "1 h 00 min 59 s"}, {3659.6, "1 h 01 min 00 s"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(ps__number_add_duration, rows[i].seconds, rows[i].text);
}
END_TEST

START_TEST(times_have_the_unit_that_suits_them)
{
	static const struct {
		double time_ns;
		const char *text;
	} rows[] = {
	    {0, "0 ns"},          {999, "999 ns"},
	    {1000, "1.000 us"},   {14908267, "14.91 ms"},
	    {999960, "1.000 ms"}, {12345678901, "12.35 s"},
	    {7.2e12, "7200.0 s"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(ps__number_add_time, rows[i].time_ns, rows[i].text);
}
END_TEST

START_TEST(a_plain_number_has_no_digits_that_a_double_lacks)
{
	check_text(ps__number_add_plain, 1234.5, "1234.50");
	check_text(ps__number_add_plain, 0.01234, "0.0123");
	check_text(ps__number_add_plain, 999999999999999, "999999999999999.00");
	check_text(ps__number_add_plain, 2.7314e300, "2.731e+300");
	check_text(ps__number_add_plain, -0.0, "0.00");
}
END_TEST

START_TEST(an_exact_number_reads_as_the_same_double)
{
	static const double numbers[] = {0.1,     1.0 / 3, 2.0 / 3, 1e22, 1e-300,
	                                 DBL_MAX, DBL_MIN, 100,     -2.5, 6.103515625e-5};

	check_text(ps__number_add_exact, 0.1, "0.1");
	check_text(ps__number_add_exact, 100, "100");
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct ps__buffer buffer = {0};
		ps__number_add_exact(&buffer, numbers[i]);
		ck_assert_msg(!(strtod(buffer.text, NULL) < numbers[i]) &&
		                  !(strtod(buffer.text, NULL) > numbers[i]),
		              "%.17g is written as %s", numbers[i], buffer.text);
		ps_hooks_default()->release(buffer.text);
	}
}
END_TEST

START_TEST(decimals_have_a_point_in_every_locale)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
	const char *found = NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
		found = setlocale(LC_ALL, names[i]);
	if (!found) {
		ps_test_skip("no locale with another decimal point is installed");
		return;
	}
	check_text(ps__number_add_exact, 0.1, "0.1");
	check_text(ps__number_add_exact, -1.5e-9, "-1.5e-09");
	check_text(ps__number_add_plain, 1234.5, "1234.50");
	check_text(ps__number_add_si, 1234567, "1.235M");
	setlocale(LC_ALL, "C");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("number");
	TCase *tests = tcase_create("number");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, four_digits_and_a_prefix);
	tcase_add_test(tests, durations_are_in_the_units_of_clocks);
	tcase_add_test(tests, a_duration_is_rounded_before_its_unit_is_chosen);
	tcase_add_test(tests, times_have_the_unit_that_suits_them);
	tcase_add_test(tests, a_plain_number_has_no_digits_that_a_double_lacks);
	tcase_add_test(tests, an_exact_number_reads_as_the_same_double);
	tcase_add_test(tests, decimals_have_a_point_in_every_locale);
	return scene_run(suite);
}

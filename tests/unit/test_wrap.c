/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences folded to a width: by columns, not by bytes. */
#include "output/wrap.h"
#include "support/scene.h"

static void check_wrap(const char *text, struct ps__wrap wrap, const char *expected)
{
	struct ps__buffer buffer = {0};

	ps__wrap_add(&buffer, text, &wrap);
	ck_assert_str_eq(ps__buffer_text(&buffer), expected);
	ps__buffer_clear(&buffer);
}

START_TEST(further_lines_are_indented)
{
	check_wrap("one two three", (struct ps__wrap){.indent = 2, .width = 7},
	           "one two\n  three\n");
	check_wrap("one two three", (struct ps__wrap){.start = 4, .indent = 4, .width = 12},
	           "one two\n    three\n");
	check_wrap("one two three", (struct ps__wrap){.indent = 2}, "one two three\n");
	check_wrap("~    an estimate", (struct ps__wrap){.indent = 5, .width = 12},
	           "~    an\n     estimate\n");
}
END_TEST

START_TEST(a_word_that_is_too_long_stays_whole)
{
	check_wrap("a longest b", (struct ps__wrap){.width = 4}, "a\nlongest\nb\n");
	check_wrap("", (struct ps__wrap){.width = 4}, "\n");
	check_wrap("a  ", (struct ps__wrap){.width = 4}, "a\n");
}
END_TEST

START_TEST(columns_count_and_not_bytes)
{
	/* Three bytes and two columns each; without UTF-8 a sign of one column. */
	const char *wide = "\xe6\xa0\xb8\xe6\xa0\xb8 \xe6\xa0\xb8";

	check_wrap(wide, (struct ps__wrap){.width = 7, .charset = PS__CHARSET_UTF8},
	           "\xe6\xa0\xb8\xe6\xa0\xb8 \xe6\xa0\xb8\n");
	check_wrap(wide, (struct ps__wrap){.width = 6, .charset = PS__CHARSET_UTF8},
	           "\xe6\xa0\xb8\xe6\xa0\xb8\n\xe6\xa0\xb8\n");
	check_wrap(wide, (struct ps__wrap){.width = 4}, "?? ?\n");
}
END_TEST

START_TEST(no_escape_sequence_gets_through)
{
	check_wrap("a\033[2Jb", (struct ps__wrap){.charset = PS__CHARSET_UTF8}, "a?[2Jb\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wrap");
	TCase *tests = scene_case(suite, "wrap");

	tcase_add_test(tests, further_lines_are_indented);
	tcase_add_test(tests, a_word_that_is_too_long_stays_whole);
	tcase_add_test(tests, columns_count_and_not_bytes);
	tcase_add_test(tests, no_escape_sequence_gets_through);
	return scene_run(suite);
}

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
	           "~    an\n    estimate\n");
}
END_TEST

START_TEST(a_word_without_room_beside_the_indent_stands_further_left)
{
	check_wrap("at beginning", (struct ps__wrap){.start = 5, .indent = 5, .width = 12},
	           "at\n   beginning\n");
	check_wrap("beginning", (struct ps__wrap){.start = 5, .indent = 5, .width = 12},
	           "   beginning\n");
}
END_TEST

START_TEST(a_quotation_is_one_word_where_it_has_room)
{
	const char *text = "it's 'two words'.";

	check_wrap(text, (struct ps__wrap){.width = 12, .keeps_quotes = true},
	           "it's\n'two words'.\n");
	check_wrap(text, (struct ps__wrap){.width = 11, .keeps_quotes = true},
	           "it's 'two\nwords'.\n");
	check_wrap("it's 'a b", (struct ps__wrap){.width = 8, .keeps_quotes = true},
	           "it's 'a\nb\n");
}
END_TEST

START_TEST(a_command_is_folded_at_any_width)
{
	for (size_t width = 1; width <= 3; width++)
		check_wrap("one two", (struct ps__wrap){.width = width, .is_command = true},
		           "one \\\ntwo\n");
}
END_TEST

START_TEST(pairs_are_kept_where_they_have_room)
{
	check_wrap("a 1  b 2  c 3", (struct ps__wrap){.width = 11, .keeps_pairs = true},
	           "a 1  b 2\nc 3\n");
	check_wrap("a 1  b 2", (struct ps__wrap){.width = 2, .keeps_pairs = true}, "a\n1\nb\n2\n");
}
END_TEST

START_TEST(a_command_goes_on_behind_a_backslash)
{
	const struct ps__wrap wrap = {
	    .indent = 2, .width = 12, .keeps_quotes = true, .is_command = true};

	check_wrap("echo 'a b' | c", wrap, "echo 'a b' \\\n  | c\n");
	check_wrap("echo 'a b' c", wrap, "echo 'a b' c\n");
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
	tcase_add_test(tests, a_word_without_room_beside_the_indent_stands_further_left);
	tcase_add_test(tests, a_quotation_is_one_word_where_it_has_room);
	tcase_add_test(tests, a_command_is_folded_at_any_width);
	tcase_add_test(tests, pairs_are_kept_where_they_have_room);
	tcase_add_test(tests, a_command_goes_on_behind_a_backslash);
	tcase_add_test(tests, a_word_that_is_too_long_stays_whole);
	tcase_add_test(tests, columns_count_and_not_bytes);
	tcase_add_test(tests, no_escape_sequence_gets_through);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between words: the slips of a hand at a keyboard. */
#include "base/distance.h"
#include "support/scene.h"

START_TEST(a_letter_changed_added_left_out_or_swapped_is_one)
{
	static const struct {
		const char *one, *other;
		size_t distance;
	} rows[] = {
	    {"cycles", "cycles", 0},  {"cycles", "CYCLES", 0}, {"cycles", "cyclas", 1},
	    {"cycles", "cyccles", 1}, {"cycles", "cyces", 1},  {"cycles", "cylces", 1},
	    {"ab", "ba", 1},          {"", "list", 4},         {"", "", 0},
	    {"kitten", "sitting", 3}, {"stat", "tats", 2},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ck_assert_uint_eq(ps__distance(rows[i].one, rows[i].other), rows[i].distance);
		ck_assert_uint_eq(ps__distance(rows[i].other, rows[i].one), rows[i].distance);
	}
}
END_TEST

START_TEST(of_long_words_the_beginning_is_compared)
{
	char one[200], other[200];

	memset(one, 'a', sizeof one);
	memset(other, 'a', sizeof other);
	one[sizeof one - 1] = other[150] = '\0';
	ck_assert_uint_eq(ps__distance(one, other), 0);
	other[0] = 'b';
	ck_assert_uint_eq(ps__distance(one, other), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("distance");
	TCase *tests = scene_case(suite, "distance");

	tcase_add_test(tests, a_letter_changed_added_left_out_or_swapped_is_one);
	tcase_add_test(tests, of_long_words_the_beginning_is_compared);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours of heat maps: they tell more from less without their hues, and what is written on
 * them can be read. */
#include "output/colour.h"

#include "support/scene.h"

#include <math.h>

static double linear(unsigned channel)
{
	double part = channel / 255.0;

	return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
}

/* The relative luminance of "...=#rrggbb". */
static double luminance(const char *key, const char *style)
{
	unsigned red, green, blue;
	const char *at = strstr(style, key);

	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(sscanf(at + strlen(key), "=#%2x%2x%2x", &red, &green, &blue), 3);
	return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

START_TEST(colours_grow_lighter_and_their_text_can_be_read)
{
	double before = -1;

	for (int step = 0; step <= 1000; step++) {
		char style[PS__STYLE_BYTES];
		ps__colour_style(style, step / 1000.0);
		double back = luminance("Background", style), text = luminance("Text", style);
		double contrast = (fmax(back, text) + 0.05) / (fmin(back, text) + 0.05);
		ck_assert_msg(back >= before - 0.004, "at %d: %s is darker than before", step,
		              style);
		ck_assert_msg(contrast >= 4.5, "at %d: %s has a contrast of %.2f", step, style,
		              contrast);
		before = back;
	}
}
END_TEST

START_TEST(the_scale_ends_in_its_first_and_last_colour)
{
	char style[PS__STYLE_BYTES];

	ps__colour_style(style, 0);
	ck_assert_str_eq(style, "Background=#440154;Text=#ffffff");
	ps__colour_style(style, -3);
	ck_assert_str_eq(style, "Background=#440154;Text=#ffffff");
	ps__colour_style(style, 1);
	ck_assert_str_eq(style, "Background=#fde725;Text=#000000");
	ps__colour_style(style, 2);
	ck_assert_str_eq(style, "Background=#fde725;Text=#000000");
	ps__colour_style(style, (double)NAN);
	ck_assert_str_eq(style, "Background=#440154;Text=#ffffff");
}
END_TEST

START_TEST(the_middle_lies_between_two_colours_of_the_scale)
{
	char style[PS__STYLE_BYTES];

	ps__colour_style(style, 0.5);
	ck_assert_str_eq(style, "Background=#23908c;Text=#000000");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("colour");
	TCase *tests = tcase_create("colour");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, colours_grow_lighter_and_their_text_can_be_read);
	tcase_add_test(tests, the_scale_ends_in_its_first_and_last_colour);
	tcase_add_test(tests, the_middle_lies_between_two_colours_of_the_scale);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The signs before numbers that are no counts: one value's, and those of several together. */
#include "base/os.h"
#include "output/known.h"
#include "support/scene.h"
#include "tools/log_intervals.h"

static const struct ps__look plain = {.unit = "", .scale = 1};
static const struct ps__look share = {.unit = "", .scale = 1, .is_share = true};

/* Half of the time the counter was elsewhere. */
static const struct ps_value lacking = {.value = 100,
                                        .raw = 100,
                                        .enabled_ns = 2000,
                                        .running_ns = 1000,
                                        .status = PS_STATUS_INCOMPLETE};
static const struct ps_value scaled = {
    .value = 600, .raw = 300, .enabled_ns = 2000, .running_ns = 1000, .status = PS_STATUS_SCALED};

static void expect(const struct ps_value *value, const struct ps__look *look, const char *text)
{
	struct ps__buffer buffer = {0};

	ps__known_add_value(&buffer, value, look);
	ck_assert_str_eq(ps__buffer_text(&buffer), text);
	ps__buffer_clear(&buffer);
}

START_TEST(a_lower_bound_is_what_was_counted)
{
	expect(&lacking, &plain, ">=100");
	expect(&scaled, &plain, "~600");
	expect(&lacking, &share, ">=~100");
	expect(&scaled, &share, "~600");
}
END_TEST

START_TEST(a_mean_of_lower_bounds_and_estimates_is_neither)
{
	struct ps__buffer buffer = {0};

	ps__known_add_mean(&buffer, &lacking, 350, &plain);
	ck_assert_str_eq(ps__buffer_text(&buffer), ">=~350");
	ps__buffer_clear(&buffer);
	ck_assert_str_eq(ps__known_prefix_of_some(&scaled, &plain), "~");
	ck_assert_str_eq(ps__known_prefix_of_some(&lacking, &plain), ">=~");
	struct ps_value whole = lacking;
	whole.running_ns = whole.enabled_ns;
	ck_assert_str_eq(ps__known_prefix_of_some(&whole, &plain), ">=");
}
END_TEST

/* It isn't kept which of the values is which. */
START_TEST(one_of_lower_bounds_and_estimates_may_be_either)
{
	struct ps_value weakest = lacking;
	struct ps__buffer buffer = {0};

	weakest.flags = PS_VALUE_SATURATED;
	ps__known_add_one_of(&buffer, 600, &weakest, &plain);
	ck_assert_str_eq(ps__buffer_text(&buffer), ">=~600");
	ps__buffer_restart(&buffer);
	weakest.running_ns = weakest.enabled_ns;
	ps__known_add_one_of(&buffer, 600, &weakest, &plain);
	ck_assert_str_eq(ps__buffer_text(&buffer), ">=600");
	ps__buffer_restart(&buffer);
	ps__known_add_one_of(&buffer, 300, &scaled, &plain);
	ck_assert_str_eq(ps__buffer_text(&buffer), "~300");
	ps__buffer_clear(&buffer);
}
END_TEST

/* An interval's estimate is no part of a sum that says of itself that it is the least. */
START_TEST(a_sum_of_lower_bounds_and_estimates_is_a_lower_bound)
{
	struct tool_log_sum sum = {.count = 0};
	struct tool_log_statistics statistics;

	ck_assert_int_eq(tool_log_sum_add(&sum, &scaled), 0);
	ck_assert_int_eq(tool_log_sum_add(&sum, &lacking), 0);
	tool_log_sum_up(&sum, &statistics);
	expect(&sum.total, &plain, ">=400");
	ck_assert_double_eq(statistics.mean, 350);
	ps__os_free(sum.numbers);
}
END_TEST

START_TEST(the_largest_interval_is_marked_as_the_mean_is)
{
	struct tool_log log = {.reader = NULL};
	struct tool_log_sum sum = {.count = 0};
	struct interval_output output = {
	    .log = &log,
	    .groups = {.count = 1, .component_count = 1, .event_count = 1},
	    .most_groups = 1,
	    .most_components = 1};
	struct interval_row row = {.event = "x", .look = plain, .sum = &sum};

	ck_assert_int_eq(tool_log_sum_add(&sum, &scaled), 0);
	ck_assert_int_eq(tool_log_sum_add(&sum, &lacking), 0);
	tool_log_sum_up(&sum, &row.statistics);
	ck_assert_int_eq(log_intervals_begin_text(&output), 0);
	log_intervals_put_text(&output, &row);
	log_intervals_end_text(&output);
	const char *text = ps__buffer_text(&output.text);
	ck_assert_msg(strstr(text, " >=400 "), "%s", text);
	ck_assert_msg(strstr(text, " >=~350.00 "), "%s", text);
	ck_assert_msg(strstr(text, " >=~100 "), "%s", text);
	ck_assert_msg(strstr(text, " >=~600 "), "%s", text);
	ps__buffer_clear(&output.text);
	ps__os_free(sum.numbers);
}
END_TEST

START_TEST(a_component_without_events_was_paused_as_the_others_were)
{
	struct ps_value sum = {.value = 7,
	                       .attribution = PS_ATTRIBUTION_EXACT,
	                       .flags = PS_VALUE_PAUSED | PS_VALUE_USER_ONLY | PS_VALUE_MOVED,
	                       .timestamp = 5};

	ck_assert(ps__known_has_place(&sum));
	struct ps_value zero = ps__known_zero(&sum);
	ck_assert_int_eq(zero.value, 0);
	ck_assert_int_eq((int)zero.status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)zero.attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_uint_eq(zero.flags, PS_VALUE_PAUSED | PS_VALUE_USER_ONLY);
	ck_assert_uint_eq(zero.timestamp, 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("known");
	TCase *tests = scene_case(suite, "known");

	tcase_add_test(tests, a_lower_bound_is_what_was_counted);
	tcase_add_test(tests, a_mean_of_lower_bounds_and_estimates_is_neither);
	tcase_add_test(tests, one_of_lower_bounds_and_estimates_may_be_either);
	tcase_add_test(tests, a_sum_of_lower_bounds_and_estimates_is_a_lower_bound);
	tcase_add_test(tests, the_largest_interval_is_marked_as_the_mean_is);
	tcase_add_test(tests, a_component_without_events_was_paused_as_the_others_were);
	return scene_run(suite);
}

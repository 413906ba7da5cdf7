/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit costs of very large and very small costs and work: right, or refused. */
#include "support/scene.h"

#include <float.h>
#include <math.h>

static void check_near(double value, double expected, double tolerance)
{
	ck_assert_msg(fabs(value - expected) <= tolerance * fabs(expected), "%.17g is not %.17g",
	              value, expected);
}

/* The magnitude of the costs decides nothing: the squares of these are beyond the largest double,
 * or below the least one. */
START_TEST(costs_may_be_of_any_magnitude)
{
	static const double magnitudes[] = {1, 0x1p1020, 0x1p-700};
	double magnitude = magnitudes[_i];
	double work[] = {1, 2, 3, 4};
	double cost[] = {1 * magnitude, 2 * magnitude, 3 * magnitude, 5 * magnitude};
	struct ps_unit_cost out[1];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	check_ok(ps_unit_cost_with(work, cost, 4, 1, NULL, out, &fit));
	check_near(out[0].value, 34.0 / 30 * magnitude, 1e-14);
	check_near(fit.residual, sqrt(7.0 / 45) * magnitude, 1e-13);
	check_near(out[0].error, sqrt(7.0 / 45 / 30) * magnitude, 1e-13);
	check_near(out[0].high - out[0].low, 2 * 3.18244630528371 * out[0].error, 1e-9);
}
END_TEST

START_TEST(a_result_beyond_the_largest_number_is_refused)
{
	double work[] = {1e-200, 2e-200, 3e-200}, cost[] = {2e200, 4e200, 6e200};
	double near[] = {1, 1, 1, 1}, uneven[] = {DBL_MAX, 0, -DBL_MAX, 0};
	double weights[] = {1, 1, 1e300};
	const struct ps_unit_cost_options weighted = {.size = sizeof weighted, .weights = weights};
	const struct ps_unit_cost_options constant = {.size = sizeof constant,
	                                              .flags = PS_UNIT_COST_CONSTANT};
	struct ps_unit_cost out[1] = {{.value = 42}};
	struct ps_unit_cost_fit fit = {.size = sizeof fit, .rows = 42};

	check_fails(ps_unit_cost(work, cost, 3, 1, out), PS_EINVAL);
	check_detail("the cost of column 0, or its interval, is not a finite number");
	check_fails(ps_unit_cost(near, uneven, 4, 1, out), PS_EINVAL);
	check_detail("the cost of column 0, or its interval");
	near[0] = 0;
	check_fails(ps_unit_cost_with(near, uneven, 4, 1, &constant, out, &fit), PS_EINVAL);
	cost[2] = 1e200;
	check_fails(ps_unit_cost_with(work, cost, 3, 1, &weighted, out, &fit), PS_EINVAL);
	check_detail("a cost times the root of its weight");
	ck_assert(out[0].value == 42); /* untouched */
	ck_assert_uint_eq(fit.rows, 42);
}
END_TEST

/* As a sign error makes it: their numbers would be more than there is memory. */
START_TEST(more_rows_than_an_array_can_have_are_refused)
{
	double work[2] = {1, 2}, cost[1] = {1};
	struct ps_unit_cost out[2] = {{.value = 42}};

	check_fails(ps_unit_cost(work, cost, SIZE_MAX / 2, 2, out), PS_EINVAL);
	check_detail("are no array");
	ck_assert(out[0].value == 42); /* untouched */
}
END_TEST

/* No cost is below 0 without the condition, so the condition changes nothing. Two columns of work
 * nearly agree, and the last differences between them are small beside the costs. */
START_TEST(small_differences_of_large_work_count_where_no_cost_may_be_negative)
{
	static const double work[] = {3,    1e6, 0,    1, 1e-3, 1, 1e-3, 3, 3,   1e-3,
	                              1e-3, 3,   1e-3, 1, 1,    0, 1e6,  1, 1e6, 1e6};
	static const double cost[] = {2538881, 27, 37, 11, 19459969};
	static const double weights[] = {0.25, 1, 0.25, 1, 10};
	struct ps_unit_cost_options options = {.size = sizeof options, .weights = weights};
	struct ps_unit_cost free[4], held[4];

	check_ok(ps_unit_cost_with(work, cost, 5, 4, &options, free, NULL));
	options.flags = PS_UNIT_COST_NON_NEGATIVE;
	check_ok(ps_unit_cost_with(work, cost, 5, 4, &options, held, NULL));
	for (int column = 0; column < 4; column++) {
		ck_assert(free[column].value > 0);
		ck_assert(fabs(held[column].value - free[column].value) <
		          1e-6 * free[column].value);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unit_cost_sizes");
	TCase *tests = scene_case(suite, "unit_cost_sizes");

	tcase_add_loop_test(tests, costs_may_be_of_any_magnitude, 0, 3);
	tcase_add_test(tests, small_differences_of_large_work_count_where_no_cost_may_be_negative);
	tcase_add_test(tests, a_result_beyond_the_largest_number_is_refused);
	tcase_add_test(tests, more_rows_than_an_array_can_have_are_refused);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit costs: known costs without noise and with it, a reference data set of NIST, columns that
 * can't be told apart, and what isn't a measurement.
 */
#include "support/scene.h"

#include "analysis/student.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const double truth[3] = {3, 5, 7};

/* A generator of its own, so that the numbers are the same everywhere. */
static uint64_t random_state = 1;

static double random_part(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(random_state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Normally distributed, with a standard deviation of 1 (Box and Muller). */
static double random_noise(void)
{
	return sqrt(-2 * log(1 - random_part())) * cos(2 * acos(-1) * random_part());
}

static void make_work(double *work, double *cost, size_t rows, size_t columns, double noise)
{
	for (size_t row = 0; row < rows; row++) {
		cost[row] = noise * random_noise();
		for (size_t column = 0; column < columns; column++) {
			double units = floor(100 * random_part());
			work[row * columns + column] = units;
			cost[row] += truth[column] * units;
		}
	}
}

static void check_near(double value, double expected, double tolerance)
{
	ck_assert_msg(fabs(value - expected) <= tolerance * fabs(expected), "%.17g is not %.17g",
	              value, expected);
}

START_TEST(costs_without_noise_are_exact)
{
	double work[50 * 3], cost[50];
	struct ps_unit_cost out[3];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	make_work(work, cost, 50, 3, 0);
	check_ok(ps_unit_cost(work, cost, 50, 3, out));
	for (size_t column = 0; column < 3; column++) {
		check_near(out[column].value, truth[column], 1e-12);
		ck_assert(out[column].error < 1e-9);
		ck_assert(out[column].low <= out[column].value);
		ck_assert(out[column].high >= out[column].value);
	}
	check_ok(ps_unit_cost_with(work, cost, 50, 3, NULL, out, &fit));
	ck_assert_uint_eq(fit.rows, 50);
	ck_assert_uint_eq(fit.rank, 3);
	ck_assert(fit.residual < 1e-9);
	ck_assert(fit.condition > 1 && fit.condition < 10);
}
END_TEST

/* As many equations as unknowns: nothing tells how sure the costs are. */
START_TEST(an_error_is_not_known_without_a_row_to_spare)
{
	const double work[] = {1, 2, 3, 4}, cost[] = {13, 29};
	struct ps_unit_cost out[2];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	check_ok(ps_unit_cost_with(work, cost, 2, 2, NULL, out, &fit));
	check_near(out[0].value, 3, 1e-12);
	check_near(out[1].value, 5, 1e-12);
	ck_assert(isnan(out[0].error) && isnan(out[0].low) && isnan(out[0].high));
	ck_assert(isnan(fit.residual));
}
END_TEST

START_TEST(the_interval_has_the_truth_in_95_of_100_runs)
{
	enum {
		RUNS = 1000,
		ROWS = 30
	};
	double work[ROWS * 3], cost[ROWS];
	struct ps_unit_cost out[3];
	unsigned hits[3] = {0};

	for (unsigned run = 0; run < RUNS; run++) {
		make_work(work, cost, ROWS, 3, 20);
		check_ok(ps_unit_cost(work, cost, ROWS, 3, out));
		for (size_t column = 0; column < 3; column++)
			hits[column] +=
			    out[column].low <= truth[column] && truth[column] <= out[column].high;
	}
	for (size_t column = 0; column < 3; column++)
		ck_assert_msg(hits[column] >= 930 && hits[column] <= 970, "column %zu: %u of %d",
		              column, hits[column], RUNS);
}
END_TEST

/* Longley's data, of NIST's Statistical Reference Datasets, with the certified values. */
START_TEST(a_hard_reference_problem_has_its_certified_solution)
{
	static const double rows[16][7] = {
	    {60323, 83, 234289, 2356, 1590, 107608, 1947},
	    {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
	    {60171, 88.2, 258054, 3682, 1616, 109773, 1949},
	    {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
	    {63221, 96.2, 328975, 2099, 3099, 112075, 1951},
	    {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
	    {64989, 99, 365385, 1870, 3547, 115094, 1953},
	    {63761, 100, 363112, 3578, 3350, 116219, 1954},
	    {66019, 101.2, 397469, 2904, 3048, 117388, 1955},
	    {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
	    {68169, 108.4, 442769, 2936, 2798, 120445, 1957},
	    {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
	    {68655, 112.6, 482704, 3813, 2552, 123366, 1959},
	    {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
	    {69331, 115.7, 518173, 4806, 2572, 127852, 1961},
	    {70551, 116.9, 554894, 4007, 2827, 130081, 1962},
	};
	static const double value[6] = {15.0618722713733,    -0.358191792925910E-01,
	                                -2.02022980381683,   -1.03322686717359,
	                                -0.0511041056535807, 1829.15146461355};
	static const double error[6] = {84.9149257747669,  0.334910077722432E-01, 0.488399681651699,
	                                0.214274163161675, 0.226073200069370,     455.478499142212};
	const struct ps_unit_cost_options options = {.size = sizeof options,
	                                             .flags = PS_UNIT_COST_CONSTANT};
	double work[16 * 6], cost[16];
	struct ps_unit_cost out[6];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	for (size_t row = 0; row < 16; row++) {
		cost[row] = rows[row][0];
		memcpy(&work[row * 6], &rows[row][1], 6 * sizeof work[0]);
	}
	check_ok(ps_unit_cost_with(work, cost, 16, 6, &options, out, &fit));
	for (size_t column = 0; column < 6; column++) {
		check_near(out[column].value, value[column], 1e-9);
		check_near(out[column].error, error[column], 1e-9);
		check_near(out[column].high - out[column].value, 2.26215716274 * error[column],
		           1e-9);
	}
	check_near(fit.constant.value, -3482258.63459582, 1e-9);
	check_near(fit.constant.error, 890420.383607373, 1e-9);
	check_near(fit.residual, 304.854073561965, 1e-9);
	ck_assert_uint_eq(fit.rank, 7);
}
END_TEST

START_TEST(columns_that_cannot_be_told_apart_are_named_and_the_others_right)
{
	double work[40 * 4], cost[40], three[40 * 3];
	struct ps_unit_cost out[4];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	make_work(three, cost, 40, 3, 0);
	for (size_t row = 0; row < 40; row++) {
		memcpy(&work[row * 4], &three[row * 3], 3 * sizeof work[0]);
		work[row * 4 + 3] = 2.5 * work[row * 4 + 1];
	}
	check_fails(ps_unit_cost_with(work, cost, 40, 4, NULL, out, &fit), PS_PARTIAL);
	check_detail("columns 1, 3 apart");
	ck_assert_uint_eq(fit.rank, 3);
	ck_assert(isnan(out[1].value) && isnan(out[3].value) && isnan(out[3].high));
	check_near(out[0].value, 3, 1e-9);
	check_near(out[2].value, 7, 1e-9);
	for (size_t row = 0; row < 40; row++)
		work[row * 4 + 3] = 0;
	check_fails(ps_unit_cost(work, cost, 40, 4, out), PS_PARTIAL);
	check_detail("column 3 apart");
	check_near(out[1].value, 5, 1e-9);
	/* A column that never changes is the constant's. */
	for (size_t row = 0; row < 40; row++)
		work[row * 4 + 3] = 8;
	check_fails(ps_unit_cost_with(
			work, cost, 40, 4,
			&(struct ps_unit_cost_options){.size = sizeof(struct ps_unit_cost_options),
	                                               .flags = PS_UNIT_COST_CONSTANT},
			out, &fit),
	            PS_PARTIAL);
	check_detail("columns 3, 4 apart");
	ck_assert(isnan(fit.constant.value));
}
END_TEST

/* Units may be bytes beside calls: twelve orders of magnitude are no reason not to tell them apart.
 */
START_TEST(units_may_differ_by_magnitudes)
{
	double work[30 * 3], cost[30];
	struct ps_unit_cost out[3];

	make_work(work, cost, 30, 3, 0);
	for (size_t row = 0; row < 30; row++) {
		work[row * 3] *= 1e12;
		work[row * 3 + 2] *= 1e-6;
	}
	check_ok(ps_unit_cost(work, cost, 30, 3, out));
	check_near(out[0].value, 3e-12, 1e-9);
	check_near(out[1].value, 5, 1e-9);
	check_near(out[2].value, 7e6, 1e-9);
}
END_TEST

START_TEST(a_weight_counts_as_so_many_rows)
{
	double work[20 * 3], cost[20], twice[30 * 3], twice_cost[30], weights[20];
	struct ps_unit_cost out[3], expected[3];

	make_work(work, cost, 20, 3, 5);
	memcpy(twice, work, sizeof work);
	memcpy(twice_cost, cost, sizeof cost);
	memcpy(twice + 60, work, 30 * sizeof work[0]);
	memcpy(twice_cost + 20, cost, 10 * sizeof cost[0]);
	for (size_t row = 0; row < 20; row++)
		weights[row] = row < 10 ? 2 : 1;
	check_ok(
	    ps_unit_cost_with(work, cost, 20, 3,
	                      &(struct ps_unit_cost_options){
				  .size = sizeof(struct ps_unit_cost_options), .weights = weights},
	                      out, NULL));
	check_ok(ps_unit_cost(twice, twice_cost, 30, 3, expected));
	for (size_t column = 0; column < 3; column++)
		check_near(out[column].value, expected[column].value, 1e-12);
}
END_TEST

START_TEST(a_row_with_weight_0_is_left_out)
{
	double work[20 * 3], cost[20], weights[20];
	struct ps_unit_cost out[3];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	make_work(work, cost, 20, 3, 0);
	for (size_t row = 0; row < 20; row++)
		weights[row] = row == 4 ? 0 : 1;
	cost[4] = 1e9;
	check_ok(
	    ps_unit_cost_with(work, cost, 20, 3,
	                      &(struct ps_unit_cost_options){
				  .size = sizeof(struct ps_unit_cost_options), .weights = weights},
	                      out, &fit));
	ck_assert_uint_eq(fit.rows, 19);
	check_near(out[2].value, 7, 1e-9);
}
END_TEST

static double sum_of_squares(const double *work, const double *cost, size_t rows,
                             const struct ps_unit_cost *costs)
{
	double sum = 0;

	for (size_t row = 0; row < rows; row++) {
		double rest = cost[row];
		for (size_t column = 0; column < 3; column++)
			rest -= work[row * 3 + column] * costs[column].value;
		sum += rest * rest;
	}
	return sum;
}

/* The best of all subsets of columns whose own solution has nothing below 0. */
static double find_best(const double *work, const double *cost, size_t rows)
{
	struct ps_unit_cost none[3] = {0};
	double best = sum_of_squares(work, cost, rows, none), part[30 * 3];

	for (unsigned subset = 1; subset < 8; subset++) {
		struct ps_unit_cost solved[3], costs[3] = {0};
		size_t used = 0;
		bool is_possible = true;
		for (size_t column = 0; column < 3; column++)
			used += subset >> column & 1;
		for (size_t row = 0; row < rows; row++) {
			size_t at = 0;
			for (size_t column = 0; column < 3; column++) {
				if (subset >> column & 1)
					part[row * used + at++] = work[row * 3 + column];
			}
		}
		check_ok(ps_unit_cost(part, cost, rows, used, solved));
		for (size_t column = 0, at = 0; column < 3; column++) {
			if (subset >> column & 1)
				costs[column] = solved[at++];
			is_possible &= costs[column].value >= 0;
		}
		if (is_possible)
			best = fmin(best, sum_of_squares(work, cost, rows, costs));
	}
	return best;
}

START_TEST(costs_that_must_not_be_negative_are_the_best_of_those)
{
	const struct ps_unit_cost_options options = {.size = sizeof options,
	                                             .flags = PS_UNIT_COST_NON_NEGATIVE};
	double work[30 * 3], cost[30];
	struct ps_unit_cost out[3];
	unsigned held = 0;

	for (unsigned run = 0; run < 200; run++) {
		make_work(work, cost, 30, 3, 0);
		for (size_t row = 0; row < 30; row++)
			cost[row] += 1000 * random_noise() - 12 * work[row * 3 + run % 3];
		check_ok(ps_unit_cost_with(work, cost, 30, 3, &options, out, NULL));
		for (size_t column = 0; column < 3; column++) {
			ck_assert(out[column].value >= 0);
			if (out[column].value > 0)
				continue;
			held++;
			ck_assert(isnan(out[column].error) && isnan(out[column].low));
		}
		check_near(sum_of_squares(work, cost, 30, out), find_best(work, cost, 30), 1e-9);
	}
	ck_assert_uint_gt(held, 50);
}
END_TEST

START_TEST(a_constant_may_be_negative_where_costs_may_not)
{
	const struct ps_unit_cost_options options = {
	    .size = sizeof options, .flags = PS_UNIT_COST_NON_NEGATIVE | PS_UNIT_COST_CONSTANT};
	double work[30 * 3], cost[30];
	struct ps_unit_cost out[3];
	struct ps_unit_cost_fit fit = {.size = sizeof fit};

	make_work(work, cost, 30, 3, 0);
	for (size_t row = 0; row < 30; row++)
		cost[row] -= 40;
	check_ok(ps_unit_cost_with(work, cost, 30, 3, &options, out, &fit));
	check_near(fit.constant.value, -40, 1e-9);
	check_near(out[1].value, 5, 1e-9);
}
END_TEST

START_TEST(sizes_and_flags_are_checked)
{
	const double work[] = {1, 2, 3}, cost[] = {1, 2, 3};
	struct ps_unit_cost_options options = {.flags = 4};
	struct ps_unit_cost_fit fit = {0};
	struct ps_unit_cost out;

	check_fails(ps_unit_cost_with(work, cost, 3, 1, &options, &out, NULL), PS_EINVAL);
	check_detail("options->size is 0");
	options.size = sizeof options;
	check_fails(ps_unit_cost_with(work, cost, 3, 1, &options, &out, NULL), PS_EINVAL);
	check_detail("flags 0x4");
	options.flags = 0;
	check_fails(ps_unit_cost_with(work, cost, 3, 1, &options, &out, &fit), PS_EINVAL);
	check_detail("fit->size is 0");
	fit.size = sizeof fit;
	check_ok(ps_unit_cost_with(work, cost, 3, 1, &options, &out, &fit));
	ck_assert_uint_eq(fit.size, sizeof fit);
	ck_assert_uint_eq(fit.rows, 3);
}
END_TEST

START_TEST(what_is_no_measurement_is_refused)
{
	double work[] = {1, 2, 3, 4, 5, 7}, cost[] = {1, 2, 3}, weights[] = {1, 1, 1};
	const struct ps_unit_cost_options options = {.size = sizeof options, .weights = weights};
	struct ps_unit_cost out[3] = {{.value = 42}};

	check_fails(ps_unit_cost(NULL, cost, 3, 2, out), PS_EINVAL);
	check_detail("work is NULL");
	check_fails(ps_unit_cost(work, NULL, 3, 2, out), PS_EINVAL);
	check_detail("cost is NULL");
	check_fails(ps_unit_cost(work, cost, 3, 2, NULL), PS_EINVAL);
	check_fails(ps_unit_cost(work, cost, 3, 0, out), PS_EINVAL);
	check_fails(ps_unit_cost(work, cost, 1, 2, out), PS_EINVAL);
	check_detail("1 rows don't determine 2 unknowns");
	weights[1] = weights[2] = 0;
	check_fails(ps_unit_cost_with(work, cost, 3, 2, &options, out, NULL), PS_EINVAL);
	check_detail("with a weight above 0");
	weights[1] = -1;
	check_fails(ps_unit_cost_with(work, cost, 3, 2, &options, out, NULL), PS_EINVAL);
	check_detail("weight of row 1 is -1");
	work[3] = INFINITY;
	check_fails(ps_unit_cost(work, cost, 3, 2, out), PS_EINVAL);
	check_detail("row 1, column 1 is inf");
	cost[0] = NAN;
	check_fails(ps_unit_cost(work, cost, 3, 2, out), PS_EINVAL);
	check_detail("cost of row 0");
	ck_assert(out[0].value == 42); /* untouched */
}
END_TEST

START_TEST(a_lack_of_memory_is_told)
{
	double work[] = {1, 2, 3, 4, 5, 7}, cost[] = {1, 2, 3};
	struct ps_unit_cost out[2];

	for (unsigned nth = 1; nth <= 4; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		check_fails(ps_unit_cost(work, cost, 3, 2, out), PS_ENOMEM);
	}
	fake_fail(FAKE_ALLOCATE, 5, ENOMEM);
	check_ok(ps_unit_cost(work, cost, 3, 2, out));
	fake_fail(FAKE_ALLOCATE, 0, 0);
}
END_TEST

START_TEST(t_has_its_tabulated_values)
{
	static const struct {
		double probability, freedom, t;
	} known[] = {
	    {0.95, 1, 12.7062047361747},  {0.95, 2, 4.30265272974946}, {0.95, 9, 2.26215716279820},
	    {0.95, 30, 2.04227245630124}, {0.99, 5, 4.03214298355523}, {0.5, 3, 0.764892328404345},
	    {0.95, 1e6, 1.95996635681},
	};

	for (size_t index = 0; index < COUNT_OF(known); index++)
		check_near(ps__student_two_sided(known[index].probability, known[index].freedom),
		           known[index].t, 1e-9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unit_cost");
	TCase *tests = scene_case(suite, "unit_cost");

	tcase_add_test(tests, costs_without_noise_are_exact);
	tcase_add_test(tests, an_error_is_not_known_without_a_row_to_spare);
	tcase_add_test(tests, the_interval_has_the_truth_in_95_of_100_runs);
	tcase_add_test(tests, a_hard_reference_problem_has_its_certified_solution);
	tcase_add_test(tests, columns_that_cannot_be_told_apart_are_named_and_the_others_right);
	tcase_add_test(tests, units_may_differ_by_magnitudes);
	tcase_add_test(tests, a_weight_counts_as_so_many_rows);
	tcase_add_test(tests, a_row_with_weight_0_is_left_out);
	tcase_add_test(tests, costs_that_must_not_be_negative_are_the_best_of_those);
	tcase_add_test(tests, a_constant_may_be_negative_where_costs_may_not);
	tcase_add_test(tests, sizes_and_flags_are_checked);
	tcase_add_test(tests, what_is_no_measurement_is_refused);
	tcase_add_test(tests, a_lack_of_memory_is_told);
	tcase_add_test(tests, t_has_its_tabulated_values);
	return scene_run(suite);
}

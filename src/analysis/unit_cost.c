/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit costs: checks the measurements, solves for the costs, and estimates the errors. */
#include "analysis/least_squares.h"
#include "analysis/student.h"
#include "base/error.h"
#include "base/os.h"

#include <math.h>
#include <perfsage/unit_cost.h>
#include <stdio.h>
#include <string.h>

struct measurements {
	const double *work, *cost, *weights;
	size_t rows, columns;
	size_t used; /* rows with a weight above 0 */
	bool has_constant;
};

static double weight_of(const struct measurements *from, size_t row)
{
	return from->weights ? from->weights[row] : 1;
}

static size_t count_unknowns(const struct measurements *from)
{
	return from->columns + (from->has_constant ? 1 : 0);
}

static int check_row(const struct measurements *from, size_t row)
{
	double weight = weight_of(from, row);

	if (!isfinite(weight) || weight < 0)
		return ps__fail(PS_EINVAL,
		                "ps_unit_cost: the weight of row %zu is %g: give 0 or more", row,
		                weight);
	if (!isfinite(from->cost[row]))
		return ps__fail(PS_EINVAL,
		                "ps_unit_cost: the cost of row %zu is %g: leave out what isn't "
		                "known",
		                row, from->cost[row]);
	for (size_t column = 0; column < from->columns; column++) {
		double work = from->work[row * from->columns + column];
		if (!isfinite(work))
			return ps__fail(PS_EINVAL,
			                "ps_unit_cost: the work of row %zu, column %zu is %g: "
			                "leave out what isn't known",
			                row, column, work);
	}
	return PS_OK;
}

static int cost_check(struct measurements *from, const struct ps_unit_cost *out)
{
	int result = PS_OK;

	if (!from->work || !from->cost || !out)
		return ps__fail(PS_EINVAL, "ps_unit_cost: %s is NULL",
		                !from->work   ? "work"
		                : !from->cost ? "cost"
		                              : "out");
	if (from->columns == 0)
		return ps__fail(PS_EINVAL, "ps_unit_cost: there is no column of work");
	if (from->rows > SIZE_MAX / sizeof(double) / from->columns)
		return ps__fail(PS_EINVAL, "ps_unit_cost: %zu rows of %zu columns are no array",
		                from->rows, from->columns);
	for (size_t row = 0; result == PS_OK && row < from->rows; row++) {
		result = check_row(from, row);
		from->used += result == PS_OK && weight_of(from, row) > 0 ? 1 : 0;
	}
	if (result == PS_OK && from->used < count_unknowns(from))
		return ps__fail(PS_EINVAL,
		                "ps_unit_cost: %zu rows don't determine %zu unknowns: give at "
		                "least as many rows%s",
		                from->used, count_unknowns(from),
		                from->used < from->rows ? " with a weight above 0" : "");
	return result;
}

/* Makes the equations, column by column; each row is multiplied by the root of its weight. NULL if
 * out of memory. */
static double *make_columns(const struct measurements *from)
{
	size_t unknowns = count_unknowns(from);
	double *columns = NULL;
	size_t at = 0;

	if (from->used <= SIZE_MAX / (unknowns + 1))
		columns = ps__os_calloc(from->used * (unknowns + 1), sizeof *columns);
	for (size_t row = 0; columns && row < from->rows; row++) {
		double factor = sqrt(weight_of(from, row));
		if (factor <= 0)
			continue;
		for (size_t column = 0; column < from->columns; column++)
			columns[column * from->used + at] =
			    factor * from->work[row * from->columns + column];
		if (from->has_constant)
			columns[from->columns * from->used + at] = factor;
		columns[unknowns * from->used + at] = factor * from->cost[row];
		at++;
	}
	return columns;
}

static int check_costs(const double *costs, size_t count)
{
	for (size_t at = 0; at < count; at++) {
		if (!isfinite(costs[at]))
			return ps__fail(PS_EINVAL,
			                "ps_unit_cost: a cost times the root of its weight is not "
			                "a finite number: give smaller weights, or costs in a "
			                "larger unit");
	}
	return PS_OK;
}

/* Returns PS_OK if all unknowns are determined; otherwise PS_PARTIAL, with a detail that names
 * those that aren't, as many as have room. */
static int name_undetermined(const struct measurements *from, const bool *is_determined)
{
	char names[512] = "";
	size_t length = 0, count = 0;

	for (size_t column = 0; column < count_unknowns(from); column++) {
		if (is_determined[column])
			continue;
		if (length < sizeof names - 32)
			length += (size_t)snprintf(names + length, sizeof names - length, "%s%zu",
			                           count ? ", " : "", column);
		count++;
	}
	if (count == 0)
		return PS_OK;
	return ps__fail(PS_PARTIAL,
	                "ps_unit_cost: the rows don't tell the costs of column%s %s apart: such "
	                "columns are 0 or sums of multiples of others; measure other mixtures of "
	                "work, or leave columns out",
	                count > 1 ? "s" : "", names);
}

/* The largest difference between the costs and the solution. */
struct spread {
	double deviation; /* standard deviation of the residuals, for the scaled costs */
	double width;     /* half the width of the interval, in standard errors */
};

static struct spread spread_of(const struct measurements *from,
                               const struct ps__least_squares *system)
{
	double freedom = (double)from->used - (double)system->rank;

	if (freedom <= 0)
		return (struct spread){NAN, NAN};
	return (struct spread){sqrt(system->unexplained / freedom),
	                       ps__student_two_sided(0.95, freedom)};
}

/* Returns a result in the units of the cost and of the column's work. No intermediate value
 * overflows; only the result can. */
static double cost_unscale(const struct ps__least_squares *system, size_t column, double scaled)
{
	int exponent;
	double fraction = frexp(system->scale[column], &exponent);

	return ldexp(scaled / fraction, system->exponent - exponent);
}

static struct ps_unit_cost cost_of(const struct ps__least_squares *system, size_t column,
                                   bool is_determined, struct spread spread)
{
	struct ps_unit_cost cost = {NAN, NAN, NAN, NAN};

	if (!is_determined)
		return cost;
	cost.value = 0;
	if (system->is_free[column]) {
		double error = spread.deviation * sqrt(system->variance[column]);
		cost.value = cost_unscale(system, column, system->value[column]);
		cost.error = cost_unscale(system, column, error);
	}
	cost.low = cost.value - spread.width * cost.error;
	cost.high = cost.value + spread.width * cost.error;
	return cost;
}

static void cost_tell(const struct measurements *from, const struct ps__least_squares *system,
                      const bool *is_determined, struct ps_unit_cost *out,
                      struct ps_unit_cost_fit *fit)
{
	struct spread spread = spread_of(from, system);

	for (size_t column = 0; column < from->columns; column++)
		out[column] = cost_of(system, column, is_determined[column], spread);
	if (!fit)
		return;
	*fit = (struct ps_unit_cost_fit){.size = sizeof *fit,
	                                 .rows = from->used,
	                                 .rank = system->rank,
	                                 .residual = ldexp(spread.deviation, system->exponent),
	                                 .condition = system->condition};
	if (from->has_constant)
		fit->constant =
		    cost_of(system, from->columns, is_determined[from->columns], spread);
}

/* Refuses work whose squares add up to more than the largest double: it would look like 0 work. */
static int check_work(const struct measurements *from, const struct ps__least_squares *system)
{
	for (size_t column = 0; column < from->columns; column++) {
		if (!isfinite(system->scale[column]))
			return ps__fail(PS_EINVAL,
			                "ps_unit_cost: the work of column %zu is too large to add "
			                "its squares: give it in a larger unit, or leave such "
			                "rows out",
			                column);
	}
	return PS_OK;
}

/* Refuses infinite results. A result that isn't known is NaN, and is allowed. */
static int check_results(const struct measurements *from, const struct ps__least_squares *system,
                         const bool *is_determined)
{
	struct spread spread = spread_of(from, system);

	for (size_t column = 0; column < count_unknowns(from); column++) {
		struct ps_unit_cost cost = cost_of(system, column, is_determined[column], spread);
		if (isinf(cost.value) || isinf(cost.error) || isinf(cost.low) || isinf(cost.high))
			return ps__fail(PS_EINVAL,
			                "ps_unit_cost: the cost of column %zu, or its interval, is "
			                "not a finite number: give the costs in a larger unit, or "
			                "the work in a smaller one",
			                column);
	}
	if (isinf(ldexp(spread.deviation, system->exponent)))
		return ps__fail(PS_EINVAL, "ps_unit_cost: the residuals are too large: give the "
		                           "costs in a larger unit");
	return PS_OK;
}

static int solve_system(const struct measurements *from, bool is_non_negative,
                        struct ps_unit_cost *out, struct ps_unit_cost_fit *fit,
                        struct ps__least_squares *system, bool *is_determined)
{
	size_t unknowns = count_unknowns(from);
	bool *may_fall = is_determined + unknowns;
	int result = check_work(from, system);

	if (result != PS_OK)
		return result;
	may_fall[unknowns - 1] = from->has_constant;
	ps__least_squares_solve(system);
	memcpy(is_determined, system->is_determined, unknowns * sizeof *is_determined);
	if (is_non_negative)
		ps__least_squares_solve_non_negative(system, may_fall);
	result = check_results(from, system, is_determined);
	if (result != PS_OK)
		return result;
	cost_tell(from, system, is_determined, out, fit);
	return name_undetermined(from, is_determined);
}

static int cost_solve(const struct measurements *from, bool is_non_negative,
                      struct ps_unit_cost *out, struct ps_unit_cost_fit *fit,
                      struct ps__least_squares *system)
{
	size_t unknowns = count_unknowns(from);
	bool *is_determined = ps__os_calloc(2 * unknowns, sizeof *is_determined);
	double *columns = make_columns(from);
	int result;

	if (is_determined && columns)
		result = check_costs(columns + unknowns * from->used, from->used);
	else
		result = ps__fail_memory("the equations of unit costs");
	if (result == PS_OK) {
		ps__least_squares_reduce(system, columns, from->used);
		result = solve_system(from, is_non_negative, out, fit, system, is_determined);
	}
	ps__os_free(is_determined);
	ps__os_free(columns);
	return result;
}

static int cost_check_options(const struct ps_unit_cost_options *options,
                              const struct ps_unit_cost_fit *fit)
{
	const unsigned flags = PS_UNIT_COST_CONSTANT | PS_UNIT_COST_NON_NEGATIVE;

	if (options->size != sizeof *options)
		return ps__fail(PS_EINVAL,
		                "ps_unit_cost_with: options->size is %zu, not %zu: set it to "
		                "sizeof(struct ps_unit_cost_options)",
		                options->size, sizeof *options);
	if (fit && fit->size != sizeof *fit)
		return ps__fail(PS_EINVAL,
		                "ps_unit_cost_with: fit->size is %zu, not %zu: set it to "
		                "sizeof(struct ps_unit_cost_fit)",
		                fit->size, sizeof *fit);
	if (options->flags & ~flags)
		return ps__fail(PS_EINVAL, "ps_unit_cost_with: the flags %#x are not known",
		                options->flags & ~flags);
	return PS_OK;
}

int ps_unit_cost_with(const double *work, const double *cost, size_t rows, size_t columns,
                      const struct ps_unit_cost_options *options, struct ps_unit_cost *out,
                      struct ps_unit_cost_fit *fit)
{
	static const struct ps_unit_cost_options none = {.size = sizeof none};
	struct measurements from = {.work = work, .cost = cost, .rows = rows, .columns = columns};
	struct ps__least_squares system;

	if (!options)
		options = &none;
	int result = cost_check_options(options, fit);
	if (result != PS_OK)
		return result;
	from.weights = options->weights;
	from.has_constant = options->flags & PS_UNIT_COST_CONSTANT;
	result = cost_check(&from, out);
	if (result != PS_OK)
		return result;
	if (ps__least_squares_init(&system, count_unknowns(&from)) < 0)
		result = ps__fail_memory("the equations of unit costs");
	else
		result = cost_solve(&from, options->flags & PS_UNIT_COST_NON_NEGATIVE, out, fit,
		                    &system);
	ps__least_squares_clear(&system);
	return result;
}

int ps_unit_cost(const double *work, const double *cost, size_t rows, size_t columns,
                 struct ps_unit_cost *out)
{
	return ps_unit_cost_with(work, cost, rows, columns, NULL, out, NULL);
}

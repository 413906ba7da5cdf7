/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit costs: what one unit of work costs, from many measurements of mixed work.
 */
#ifndef PERFSAGE_UNIT_COST_H
#define PERFSAGE_UNIT_COST_H

#include <perfsage/visibility.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What one unit of a kind of work costs, in units of the cost that was given: an estimate. */
struct ps_unit_cost {
	double value; /* NaN if the measurements don't determine it */
	/* The standard error; NaN if the measurements (rows) are not more than the unknowns that
	 * they determine (rank), or if the cost is held at 0 */
	double error;
	/* The interval that has the true cost in 95 of 100 cases, if the errors of the measurements
	 * are independent and normally distributed; NaN if `error` is NaN */
	double low, high;
};

/** How the measurements are used; may be OR-ed. */
enum ps_unit_cost_flag {
	/* Each measurement has a constant cost besides the cost of its work */
	PS_UNIT_COST_CONSTANT = 1 << 0,
	/* No unit has a cost below 0; the constant may be below 0 */
	PS_UNIT_COST_NON_NEGATIVE = 1 << 1
};

/** How the measurements are used. If all members but size are 0, ps_unit_cost_with does the same as
 * ps_unit_cost. */
struct ps_unit_cost_options {
	size_t size;    /* sizeof(struct ps_unit_cost_options) */
	unsigned flags; /* OR of enum ps_unit_cost_flag */
	/* For each measurement: how much it counts, 0 or more. The inverse of the variance of its
	 * cost gives the best estimate. NULL: all measurements count alike. */
	const double *weights;
};

/** What else is known about the costs. */
struct ps_unit_cost_fit {
	size_t size; /* sizeof(struct ps_unit_cost_fit), set by the caller */
	size_t rows; /* measurements that were used: those with a weight above 0 */
	size_t rank; /* unknowns that these rows determine, without unknowns held at 0 */
	struct ps_unit_cost constant; /* with PS_UNIT_COST_CONSTANT; else all 0 */
	/* The standard deviation of the residuals, in the unit of the cost (times the root of the
	 * weight); NaN if rows is not above rank */
	double residual;
	/* The condition number of the work's columns, each scaled to norm 1: the relative error of
	 * the costs can be this number times the relative error of the measurements. 1: the columns
	 * are orthogonal. Columns that aren't determined or whose cost is held at 0 are left out;
	 * NaN if rank is 0 */
	double condition;
};

/**
 * Solves for the cost of one unit of each kind of work.
 *
 * Each measurement is a row: how much work of each kind was done, and what all
 * of it cost, such as the page faults or cycles that were counted. The costs
 * are those with the least sum of squared differences.
 *
 * work - rows * columns numbers, row by row: work[row * columns + column]; only
 *     read
 * cost - a number for each row; only read
 * rows - measurements; at least as many as columns
 * columns - kinds of work, 1 or more
 * out - receives a cost for each column; untouched on a failure other than
 *     PS_PARTIAL
 *
 * Returns PS_OK, or PS_PARTIAL if the rows don't determine the costs of some
 * columns. Such a column is 0 in all rows, or a sum of multiples of other columns.
 * These other columns are not determined either. The costs of all undetermined
 * columns are NaN, and ps_error_detail() names their numbers, from 0, as far as there
 * is room. The costs of all other columns are right.
 *
 * Errors:
 *   PS_EINVAL - a pointer is NULL; there is no column, or there are fewer rows
 *       than columns; a number isn't finite; the numbers of a column are too large:
 *       the root of the sum of their squares is not a finite double; or a result is
 *       too large to be a finite double (ps_error_detail() says which)
 *   PS_ENOMEM - out of memory
 *
 * Any thread. Allocates a copy of the numbers. Cost: with many rows in proportion
 * to rows * columns^2.
 *
 * Least squares by singular values: G. H. Golub and C. F. Van Loan, "Matrix
 * Computations".
 */
PS_PUBLIC int ps_unit_cost(const double *work, const double *cost, size_t rows, size_t columns,
                           struct ps_unit_cost *out);

/**
 * As ps_unit_cost, with options, and with more results.
 *
 * options - NULL: as ps_unit_cost
 * fit - NULL, or receives more about the costs; untouched on a failure other than
 *     PS_PARTIAL
 *
 * Returns as ps_unit_cost. The constant has the number `columns` in a detail.
 *
 * With PS_UNIT_COST_NON_NEGATIVE a cost that would be below 0 is held at 0. The
 * other costs are solved for without its column (C. L. Lawson and R. J. Hanson,
 * "Solving Least Squares Problems").
 *
 * Errors: those of ps_unit_cost, and
 *   PS_EINVAL - a weight is below 0 or not finite, or a cost times the root of its
 *       weight isn't finite; fewer rows with a weight above 0 than unknowns; a size
 *       isn't set; a flag is unknown
 */
PS_PUBLIC int ps_unit_cost_with(const double *work, const double *cost, size_t rows, size_t columns,
                                const struct ps_unit_cost_options *options,
                                struct ps_unit_cost *out, struct ps_unit_cost_fit *fit);

#ifdef __cplusplus
}
#endif
#endif

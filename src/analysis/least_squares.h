/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Least squares: a system of many equations for few unknowns is reduced by reflections to as many
 * equations as unknowns. These are solved by singular values.
 */
#ifndef PS_ANALYSIS_LEAST_SQUARES_H
#define PS_ANALYSIS_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

/* Matrices are stored column by column. */
struct ps__least_squares {
	size_t unknowns;
	/* Unknowns * unknowns, upper triangle; the length of a column is 1, or 0 */
	double *matrix;
	double *right; /* unknowns */
	/* For each unknown: the length of its column before it was scaled; 1 if the length was 0 */
	double *scale;
	int exponent;  /* the right side was divided by 2 to the power of exponent */
	double rest;   /* the sum of squares that no solution can explain */
	bool *is_free; /* true for unknowns that are solved for; the others are 0 */
	/* The solution, for the scaled right side and the scaled columns: */
	double *value;
	double
	    *variance; /* for each unknown: of its value, where each equation has a variance of 1 */
	bool *is_determined;
	size_t rank;
	double condition;
	double unexplained; /* the sum of squares that the solution doesn't explain */
	/* Used by the solver. rotated and turns are matrices. part is the right side minus what the
	 * solution explains. reached has the present values of the non-negative solution */
	double *rotated, *turns, *part, *reached;
};

/* 0, or -1 for lack of memory. */
int ps__least_squares_init(struct ps__least_squares *system, size_t unknowns);
void ps__least_squares_clear(struct ps__least_squares *system);

/* Reduces `rows` equations; there are at least as many rows as unknowns. columns: rows * (unknowns
 * + 1) numbers, the last column is the right side, whose numbers must be finite. The array is
 * overwritten. */
void ps__least_squares_reduce(struct ps__least_squares *system, double *columns, size_t rows);

/* Solves for the unknowns that are free. */
void ps__least_squares_solve(struct ps__least_squares *system);

/* Solves so that no value is below 0, except those of unknowns for which may_fall is true. */
void ps__least_squares_solve_non_negative(struct ps__least_squares *system, const bool *may_fall);

#endif

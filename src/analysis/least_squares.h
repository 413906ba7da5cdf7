/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Least squares: a system of many equations for few unknowns is reduced to as many equations as
 * unknowns (by reflections), and those are solved by singular values.
 */
#ifndef PS_ANALYSIS_LEAST_SQUARES_H
#define PS_ANALYSIS_LEAST_SQUARES_H

#include <stdbool.h>
#include <stddef.h>

/* Matrices are stored column by column. */
struct ps__least_squares {
	size_t unknowns;
	double *matrix; /* unknowns * unknowns, upper triangle; columns of length 1, or of 0 */
	double *right;  /* unknowns */
	double *scale;  /* for each unknown: its column's length before that; 1 for a length of 0 */
	int exponent;   /* the right side was divided by 2 to the power of this */
	double rest;    /* the sum of squares that no solution can explain */
	bool *is_free;  /* unknowns that are solved for; the others are 0 */
	/* The solution, for the right side and the columns as they were scaled: */
	double *value;
	double
	    *variance; /* for each unknown: of its value, where each equation has a variance of 1 */
	bool *is_determined;
	size_t rank;
	double condition;
	double unexplained; /* sum of squares */
	/* For the solver: two matrices, what the solution leaves of the right side, and where a
	 * solution without values below 0 has got to */
	double *rotated, *turns, *part, *reached;
};

/* 0, or -1 for lack of memory. */
int ps__least_squares_init(struct ps__least_squares *system, size_t unknowns);
void ps__least_squares_clear(struct ps__least_squares *system);

/* Reduces `rows` equations. columns: rows * (unknowns + 1) numbers, the right side at last; they
 * are overwritten. At least as many rows as unknowns. The numbers of the right side are finite. */
void ps__least_squares_reduce(struct ps__least_squares *system, double *columns, size_t rows);

/* Solves for the unknowns that are free. */
void ps__least_squares_solve(struct ps__least_squares *system);

/* Solves with no value below 0 where may_fall (unknowns) isn't set. */
void ps__least_squares_solve_non_negative(struct ps__least_squares *system, const bool *may_fall);

#endif

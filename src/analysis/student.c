/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Student's t distribution. Its tail is an incomplete beta function, which has a continued fraction
 * (Abramowitz and Stegun, 26.5.8 and 26.7.1).
 */
#include "analysis/student.h"

#include <float.h>
#include <math.h>

#define TINY (DBL_MIN / DBL_EPSILON)

static double keep_from_zero(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* Returns the coefficient d of a step, from 1 on, in the fraction 1 + d1 / (1 + d2 / (1 + ...)). */
static double beta_coefficient(double a, double b, double x, unsigned step)
{
	double half = step / 2;

	if (step % 2 == 0)
		return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half));
	return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1));
}

/* Returns the fraction of these coefficients, by Lentz's method. It converges fast for x < (a + 1)
 * / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	double numerator = 1, denominator = 0, fraction = 1, change = 0;

	for (unsigned step = 1; step < 10000 && fabs(change - 1) > 4 * DBL_EPSILON; step++) {
		double coefficient = beta_coefficient(a, b, x, step);
		denominator = 1 / keep_from_zero(1 + coefficient * denominator);
		numerator = keep_from_zero(1 + coefficient / numerator);
		change = numerator * denominator;
		fraction *= change;
	}
	return fraction;
}

static double log_gamma(double value)
{
	int sign;

	return lgamma_r(value, &sign);
}

/* The regularized incomplete beta function I_x(a, b). */
static double beta_part(double a, double b, double x)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	double factor =
	    exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return factor / a / beta_fraction(a, b, x);
	return 1 - factor / b / beta_fraction(b, a, 1 - x);
}

/* P(|T| > t). */
static double student_tails(double t, double freedom)
{
	return beta_part(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double ps__student_two_sided(double probability, double freedom)
{
	double low = 0, high = 2, outside = 1 - probability;

	while (student_tails(high, freedom) > outside && high < DBL_MAX / 4)
		high *= 2;
	for (unsigned step = 0; step < 200 && high - low > 1e-14 * high; step++) {
		double middle = (low + high) / 2;
		if (student_tails(middle, freedom) > outside)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

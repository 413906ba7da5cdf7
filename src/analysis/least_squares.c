/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Least squares by Householder reflections and one-sided Jacobi rotations (Golub and Van Loan,
 * "Matrix Computations", 5.2 and 8.6). LAPACK does the same, but a library that HPC programs link
 * must not bring a second BLAS beside their own; and there are few unknowns.
 */
#include "analysis/least_squares.h"

#include "base/os.h"

#include <float.h>
#include <math.h>

/* Singular values below this fraction of the largest one count as 0: columns that agree to ten
 * digits can't be told apart. */
#define RANK_LIMIT 1e-10
/* A column isn't determined if its share of a dropped direction is more than this. */
#define SHARE_LIMIT 1e-6
#define MAX_SWEEPS  60

int ps__least_squares_init(struct ps__least_squares *system, size_t unknowns)
{
	size_t square = unknowns * unknowns;

	*system = (struct ps__least_squares){.unknowns = unknowns};
	/* One block: three matrices and six vectors. */
	system->matrix = ps__os_calloc(3 * square + 6 * unknowns, sizeof *system->matrix);
	system->is_free = ps__os_calloc(2 * unknowns, sizeof *system->is_free);
	if (!system->matrix || !system->is_free)
		return -1;
	system->rotated = system->matrix + square;
	system->turns = system->rotated + square;
	system->right = system->turns + square;
	system->scale = system->right + unknowns;
	system->value = system->scale + unknowns;
	system->variance = system->value + unknowns;
	system->part = system->variance + unknowns;
	system->reached = system->part + unknowns;
	system->is_determined = system->is_free + unknowns;
	for (size_t column = 0; column < unknowns; column++)
		system->is_free[column] = true;
	return 0;
}

void ps__least_squares_clear(struct ps__least_squares *system)
{
	ps__os_free(system->matrix);
	ps__os_free(system->is_free);
}

static double squares_dot(const double *one, const double *other, size_t count)
{
	double sum = 0;

	for (size_t index = 0; index < count; index++)
		sum += one[index] * other[index];
	return sum;
}

static void add_multiple(double *to, const double *from, double factor, size_t count)
{
	for (size_t index = 0; index < count; index++)
		to[index] += factor * from[index];
}

/* Returns the length of a vector, without overflow for large numbers. */
static double length_of(const double *vector, size_t count)
{
	double largest = 0, sum = 0;

	for (size_t index = 0; index < count; index++)
		largest = fmax(largest, fabs(vector[index]));
	for (size_t index = 0; largest > 0 && index < count; index++)
		sum += (vector[index] / largest) * (vector[index] / largest);
	return largest * sqrt(sum);
}

/* Reflects the columns from `column` on, so that this column is 0 below its diagonal. From the
 * diagonal on, the column then holds the vector of the reflection. Returns the new number on the
 * diagonal. */
static double squares_reflect(double *columns, size_t rows, size_t column, size_t count)
{
	double *own = columns + column * rows + column;
	double length = length_of(own, rows - column);

	if (length == 0)
		return 0;
	double diagonal = own[0] > 0 ? -length : length;
	own[0] -= diagonal;
	double square = squares_dot(own, own, rows - column);
	for (size_t other = column + 1; other < count; other++) {
		double *reflected = columns + other * rows + column;
		double factor = -2 * squares_dot(own, reflected, rows - column) / square;
		add_multiple(reflected, own, factor, rows - column);
	}
	return diagonal;
}

/* Divides the vector by a power of two, which loses no digit, so that its squares don't overflow.
 * Returns the exponent. */
static int scale_right(double *vector, size_t count)
{
	double largest = 0;
	int exponent;

	for (size_t index = 0; index < count; index++)
		largest = fmax(largest, fabs(vector[index]));
	frexp(largest, &exponent);
	for (size_t index = 0; index < count; index++)
		vector[index] = ldexp(vector[index], -exponent);
	return exponent;
}

void ps__least_squares_reduce(struct ps__least_squares *system, double *columns, size_t rows)
{
	size_t unknowns = system->unknowns;
	double *right = columns + unknowns * rows;

	for (size_t column = 0; column < unknowns; column++) {
		double *own = columns + column * rows;
		double length = length_of(own, rows);
		system->scale[column] = length > 0 ? length : 1;
		for (size_t row = 0; row < rows; row++)
			own[row] /= system->scale[column];
	}
	system->exponent = scale_right(right, rows);
	for (size_t column = 0; column < unknowns; column++) {
		double *reduced = system->matrix + column * unknowns;
		for (size_t row = 0; row < unknowns; row++)
			reduced[row] = row < column ? columns[column * rows + row] : 0;
		reduced[column] = squares_reflect(columns, rows, column, unknowns + 1);
	}
	for (size_t row = 0; row < unknowns; row++)
		system->right[row] = right[row];
	double rest = length_of(right + unknowns, rows - unknowns);
	system->rest = rest * rest;
}

/* Turns two columns so that they are orthogonal. False if they were orthogonal already. */
static bool turn_pair(struct ps__least_squares *system, size_t one, size_t other)
{
	size_t unknowns = system->unknowns;
	double *left = system->rotated + one * unknowns,
	       *right = system->rotated + other * unknowns;
	double left_square = squares_dot(left, left, unknowns),
	       right_square = squares_dot(right, right, unknowns);
	double product = squares_dot(left, right, unknowns);

	if (fabs(product) <= DBL_EPSILON * sqrt(left_square * right_square))
		return false;
	double angle = (right_square - left_square) / (2 * product);
	double tangent = copysign(1, angle) / (fabs(angle) + sqrt(1 + angle * angle));
	double cosine = 1 / sqrt(1 + tangent * tangent), sine = cosine * tangent;
	for (unsigned which = 0; which < 2; which++) {
		double *matrix = which == 0 ? system->rotated : system->turns;
		for (size_t row = 0; row < unknowns; row++) {
			double *a = &matrix[one * unknowns + row];
			double *b = &matrix[other * unknowns + row];
			double turned = cosine * *a - sine * *b;
			*b = sine * *a + cosine * *b;
			*a = turned;
		}
	}
	return true;
}

/* Decomposes the matrix into rotated * transposed turns: the lengths of the rotated columns are the
 * singular values. Columns that aren't free are 0. */
static void find_singular_values(struct ps__least_squares *system)
{
	size_t unknowns = system->unknowns;
	bool has_turned = true;

	for (size_t column = 0; column < unknowns; column++) {
		for (size_t row = 0; row < unknowns; row++) {
			size_t at = column * unknowns + row;
			system->rotated[at] = system->is_free[column] ? system->matrix[at] : 0;
			system->turns[at] = row == column ? 1 : 0;
		}
	}
	for (unsigned sweep = 0; has_turned && sweep < MAX_SWEEPS; sweep++) {
		has_turned = false;
		for (size_t one = 0; one < unknowns; one++) {
			for (size_t other = one + 1; other < unknowns; other++)
				has_turned |= turn_pair(system, one, other);
		}
	}
}

/* Adds the contribution of one singular value to the solution. */
static void add_direction(struct ps__least_squares *system, size_t direction, double singular)
{
	size_t unknowns = system->unknowns;
	const double *rotated = system->rotated + direction * unknowns;
	const double *turns = system->turns + direction * unknowns;
	double along = squares_dot(rotated, system->right, unknowns) / (singular * singular);

	add_multiple(system->part, rotated, -along, unknowns);
	for (size_t column = 0; column < unknowns; column++) {
		double share = turns[column] / singular;
		system->value[column] += turns[column] * along;
		system->variance[column] += share * share;
	}
}

/* Drops a direction that the equations don't determine. */
static void drop_direction(struct ps__least_squares *system, size_t direction)
{
	const double *turns = system->turns + direction * system->unknowns;

	for (size_t column = 0; column < system->unknowns; column++) {
		if (fabs(turns[column]) > SHARE_LIMIT)
			system->is_determined[column] = false;
	}
}

void ps__least_squares_solve(struct ps__least_squares *system)
{
	size_t unknowns = system->unknowns;
	double largest = 0, least = INFINITY;

	find_singular_values(system);
	for (size_t column = 0; column < unknowns; column++) {
		system->value[column] = system->variance[column] = 0;
		system->is_determined[column] = true;
		system->part[column] = system->right[column];
		largest = fmax(largest, length_of(system->rotated + column * unknowns, unknowns));
	}
	system->rank = 0;
	for (size_t direction = 0; direction < unknowns; direction++) {
		double singular = length_of(system->rotated + direction * unknowns, unknowns);
		if (singular > RANK_LIMIT * largest) {
			add_direction(system, direction, singular);
			least = fmin(least, singular);
			system->rank++;
		} else {
			drop_direction(system, direction);
		}
	}
	system->condition = system->rank > 0 ? largest / least : NAN;
	system->unexplained = system->rest + squares_dot(system->part, system->part, unknowns);
}

/* Returns how fast the sum of squares falls when an unknown grows. */
static double slope_of(const struct ps__least_squares *system, size_t column)
{
	return squares_dot(system->matrix + column * system->unknowns, system->part,
	                   system->unknowns);
}

/* Moves the reached values towards the solution, but only so far that no value falls below 0. The
 * unknown that reaches 0 is no longer free. False if the solution itself was reached. */
static bool step_back(struct ps__least_squares *system, const bool *may_fall)
{
	double fraction = 1;
	ptrdiff_t stopped = -1;

	for (size_t column = 0; column < system->unknowns; column++) {
		double value = system->value[column], reached = system->reached[column];
		if (!system->is_free[column] || may_fall[column] || value > 0)
			continue;
		double possible = reached > 0 ? reached / (reached - value) : 0;
		if (stopped < 0 || possible < fraction) {
			fraction = possible;
			stopped = (ptrdiff_t)column;
		}
	}
	for (size_t column = 0; column < system->unknowns; column++)
		system->reached[column] +=
		    fraction * (system->value[column] - system->reached[column]);
	if (stopped < 0)
		return false;
	system->is_free[stopped] = false;
	system->reached[stopped] = 0;
	return true;
}

/* Returns the unknown at 0 that would reduce the sum of squares most; -1 if none would. A slope
 * within the rounding errors counts as none. A true slope can be far below the costs: where columns
 * nearly agree, and little is unexplained. */
static ptrdiff_t find_next(const struct ps__least_squares *system)
{
	double rounding = 4 * DBL_EPSILON * (double)system->unknowns;
	double steepest = rounding * length_of(system->right, system->unknowns);
	ptrdiff_t found = -1;

	for (size_t column = 0; column < system->unknowns; column++) {
		double slope = system->is_free[column] ? 0 : slope_of(system, column);
		if (slope > steepest) {
			steepest = slope;
			found = (ptrdiff_t)column;
		}
	}
	return found;
}

void ps__least_squares_solve_non_negative(struct ps__least_squares *system, const bool *may_fall)
{
	ptrdiff_t next;

	for (size_t column = 0; column < system->unknowns; column++)
		system->is_free[column] = may_fall[column];
	ps__least_squares_solve(system);
	for (size_t column = 0; column < system->unknowns; column++)
		system->reached[column] = system->value[column];
	/* Each round reduces the sum of squares, apart from rounding errors. */
	for (size_t round = 0; round < 10 * system->unknowns; round++) {
		next = find_next(system);
		if (next < 0)
			break;
		system->is_free[next] = true;
		ps__least_squares_solve(system);
		while (step_back(system, may_fall))
			ps__least_squares_solve(system);
	}
}

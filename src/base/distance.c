/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance between two words (Damerau and Levenshtein, each letter swapped
 * at most once). */
#include "base/distance.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static size_t distance_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool distance_is_same(char one, char other)
{
	return tolower((unsigned char)one) == tolower((unsigned char)other);
}

size_t ps__distance(const char *one, const char *other)
{
	/* The table has a row for each beginning of `one`. Three rows are kept:
	 * the one that is made, and the two before. */
	size_t cost[3][PS__DISTANCE_LONGEST + 1];
	size_t rows = strnlen(one, PS__DISTANCE_LONGEST);
	size_t columns = strnlen(other, PS__DISTANCE_LONGEST);

	for (size_t j = 0; j <= columns; j++)
		cost[0][j] = j;
	for (size_t i = 1; i <= rows; i++) {
		size_t *row = cost[i % 3];
		const size_t *above = cost[(i + 2) % 3], *above_that = cost[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= columns; j++) {
			size_t changed = above[j - 1] + !distance_is_same(one[i - 1], other[j - 1]);
			row[j] = distance_least(changed, distance_least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && distance_is_same(one[i - 1], other[j - 2]) &&
			    distance_is_same(one[i - 2], other[j - 1]))
				row[j] = distance_least(row[j], above_that[j - 2] + 1);
		}
	}
	return cost[rows % 3][columns];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance between two words (Damerau and Levenshtein, each letter swapped at most once). */
#include "tools/nearest.h"

#include <ctype.h>
#include <string.h>

/* Of longer words only the beginning is compared. */
#define LONGEST 63

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t length_of(const char *word)
{
	return least(strlen(word), LONGEST);
}

static bool is_same(char one, char other)
{
	return tolower((unsigned char)one) == tolower((unsigned char)other);
}

size_t tool_distance(const char *one, const char *other)
{
	size_t cost[LONGEST + 1][LONGEST + 1];
	size_t rows = length_of(one);
	size_t columns = length_of(other);

	for (size_t i = 0; i <= rows; i++)
		cost[i][0] = i;
	for (size_t j = 0; j <= columns; j++)
		cost[0][j] = j;
	for (size_t i = 1; i <= rows; i++) {
		for (size_t j = 1; j <= columns; j++) {
			size_t changed = cost[i - 1][j - 1] + !is_same(one[i - 1], other[j - 1]);
			cost[i][j] = least(changed, least(cost[i - 1][j], cost[i][j - 1]) + 1);
			if (i > 1 && j > 1 && is_same(one[i - 1], other[j - 2]) && is_same(one[i - 2], other[j - 1]))
				cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[rows][columns];
}

bool tool_is_near(const char *word, size_t distance)
{
	return distance <= 1 + length_of(word) / 4;
}

bool tool_is_abbreviation(const char *word, const char *name)
{
	if (!*word || !is_same(*word, *name))
		return false;
	while (*word && *name) {
		word += is_same(*word, *name);
		name++;
	}
	return !*word;
}

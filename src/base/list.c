/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the CPU lists of sysfs and procfs, for topology, event (scopes), locate and the set. */
#include "base/list.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Reads a decimal number at *text, and moves *text past it; -1 if there is none
 * or it is too large. */
static int list_parse_number(const char **text)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	long number = strtol(*text, &end, 10);
	if (errno || number >= INT_MAX)
		return -1;
	*text = end;
	return (int)number;
}

int ps__list_for_each(const char *text, int (*visit)(int number, void *context), void *context)
{
	while (*text && *text != '\n') {
		int first = list_parse_number(&text);
		int last = first;
		if (*text == '-') {
			text++;
			last = list_parse_number(&text);
		}
		if (first < 0 || last < first)
			return -1;
		for (int number = first; number <= last; number++) {
			int stop = visit(number, context);
			if (stop)
				return stop;
		}
		if (*text == ',')
			text++;
		else if (*text && *text != '\n')
			return -1;
	}
	return 0;
}

static int list_is_number(int number, void *context)
{
	return number == *(int *)context;
}

bool ps__list_contains(const char *text, int number)
{
	return ps__list_for_each(text, list_is_number, &number) == 1;
}

static int list_count_one(int number, void *context)
{
	(void)number;
	++*(size_t *)context;
	return 0;
}

size_t ps__list_count(const char *text)
{
	size_t count = 0;

	ps__list_for_each(text, list_count_one, &count);
	return count;
}

static int list_keep_max(int number, void *context)
{
	int *max = context;

	if (number > *max)
		*max = number;
	return 0;
}

int ps__list_max(const char *text)
{
	int max = -1;

	return ps__list_for_each(text, list_keep_max, &max) < 0 ? -1 : max;
}

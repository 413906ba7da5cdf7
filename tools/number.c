/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with SI prefixes. */
#include "tools/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many digits follow the point, so that there are four. */
static int fraction_digits(double value)
{
	return value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0;
}

static void scale(char *out, double value, const char *const *suffixes, size_t count)
{
	size_t step = 0;

	/* What would be shown as 1000 gets the next prefix. */
	while (fabs(value) >= 999.95 && step + 1 < count) {
		value /= 1000;
		step++;
	}
	snprintf(out, TOOL_NUMBER_BYTES, "%.*f%s", fraction_digits(fabs(value)), value, suffixes[step]);
}

void tool_number_si(char *out, double value, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	static const char *const times[] = {" ns", " us", " ms", " s"};

	if (strcmp(unit, "ns") == 0 && value != 0)
		scale(out, value, times, sizeof times / sizeof times[0]);
	else if (value != 0 && fabs(value) < 0.1)
		snprintf(out, TOOL_NUMBER_BYTES, "%.3g", value);
	else if (fabs(value) < 9999.5)
		snprintf(out, TOOL_NUMBER_BYTES, "%.*f",
		         value == floor(value) ? 0
		         : fabs(value) < 100   ? 2
		                               : 1,
		         value);
	else
		scale(out, value, prefixes, sizeof prefixes / sizeof prefixes[0]);
}

void tool_number_duration(char *out, double seconds)
{
	long whole = (long)seconds;

	if (seconds < 60)
		snprintf(out, TOOL_NUMBER_BYTES, "%.*f s", seconds < 10 ? 3 : 2, seconds);
	else if (seconds < 3600)
		snprintf(out, TOOL_NUMBER_BYTES, "%ld min %04.1f s", whole / 60, seconds - (double)(whole / 60 * 60));
	else
		snprintf(out, TOOL_NUMBER_BYTES, "%ld h %02ld min %02ld s", whole / 3600, whole / 60 % 60,
		         whole % 60);
}

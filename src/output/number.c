/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers as text. printf writes the decimal separator of the program's locale, which JSON and CSV
 * readers don't accept, so it is replaced by a point.
 */
#include "output/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 512 /* the longest double has 309 digits before the point */
/* A double has about 15 significant digits: further digits would be made up. */
#define LARGEST_PLAIN 1e15
/* Numbers above the largest SI prefix are written with an exponent. */
#define LARGEST_PREFIXED 1e27

/* Replaces the bytes between the digits, the locale's separator of one or more bytes, by a
 * point. */
static void number_add_with_point(struct ps__buffer *buffer, char *text)
{
	size_t start = strspn(text, "-+0123456789");
	size_t rest = start;

	while (text[rest] && !strchr("0123456789e", text[rest]))
		rest++;
	if (rest == start)
		ps__buffer_add(buffer, "%s", text);
	else
		ps__buffer_add(buffer, "%.*s.%s", (int)start, text, text + rest);
}

void ps__number_add_fixed(struct ps__buffer *buffer, double number, int decimals)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof text, "%.*f", decimals, number);
	number_add_with_point(buffer, text);
}

static void number_add_digits(struct ps__buffer *buffer, double number, int digits)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof text, "%.*g", digits, number);
	number_add_with_point(buffer, text);
}

void ps__number_add_exact(struct ps__buffer *buffer, double number)
{
	char text[NUMBER_BYTES];
	int digits = 15;

	do {
		snprintf(text, sizeof text, "%.*g", digits, number);
	} while (strtod(text, NULL) != number && ++digits <= 17);
	number_add_digits(buffer, number, digits);
}

void ps__number_add_plain(struct ps__buffer *buffer, double number)
{
	double size = fabs(number);

	if (size > 0 && size < 0.1)
		number_add_digits(buffer, number, 3);
	else if (size >= LARGEST_PLAIN)
		number_add_digits(buffer, number, 4);
	else
		ps__number_add_fixed(buffer, number == 0 ? 0 : number, 2);
}

/* Writes four significant digits of a number below 1000. */
static void number_add_four_digits(struct ps__buffer *buffer, double number)
{
	double size = fabs(number);

	ps__number_add_fixed(buffer, number, size < 9.9995 ? 3 : size < 99.995 ? 2 : 1);
}

void ps__number_add_si(struct ps__buffer *buffer, double number)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y"};
	size_t prefix = 0;

	if (fabs(number) < 1000 && number == floor(number)) {
		ps__number_add_fixed(buffer, number, 0);
		return;
	}
	if (fabs(number) < 0.1 || fabs(number) >= LARGEST_PREFIXED) {
		number_add_digits(buffer, number, fabs(number) < 0.1 ? 3 : 4);
		return;
	}
	for (; fabs(number) >= 999.95 && prefix + 1 < sizeof prefixes / sizeof *prefixes; prefix++)
		number /= 1000;
	number_add_four_digits(buffer, number);
	ps__buffer_add(buffer, "%s", prefixes[prefix]);
}

void ps__number_add_time(struct ps__buffer *buffer, double time_ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;

	for (; fabs(time_ns) >= 999.95 && unit < 3; unit++)
		time_ns /= 1000;
	if (unit == 0)
		ps__number_add_fixed(buffer, time_ns, 0);
	else
		number_add_four_digits(buffer, time_ns);
	ps__buffer_add(buffer, " %s", units[unit]);
}

void ps__number_add_duration(struct ps__buffer *buffer, double seconds)
{
	long whole = lround(seconds), tenths = lround(seconds * 10);

	/* Decides by the rounded value: 59.996 s would be shown as 60.00 s. */
	if (tenths >= 36000) {
		ps__buffer_add(buffer, "%ld h %02ld min %02ld s", whole / 3600, whole / 60 % 60,
		               whole % 60);
	} else if (seconds >= 59.995) {
		ps__buffer_add(buffer, "%ld min %02ld.%ld s", tenths / 600, tenths / 10 % 60,
		               tenths % 10);
	} else {
		ps__number_add_fixed(buffer, seconds, seconds < 9.9995 ? 3 : 2);
		ps__buffer_add(buffer, " s");
	}
}

bool ps__number_parse(const char *text, double *number)
{
	size_t whole = strspn(text, "0123456789");
	size_t decimals = text[whole] == '.' ? strspn(&text[whole + 1], "0123456789") : 0;
	size_t end = whole + (decimals ? 1 + decimals : 0);
	double digits = 0;

	if (whole == 0 || text[end] || whole + decimals > 18)
		return false;
	for (size_t at = 0; at < end; at++)
		digits = text[at] == '.' ? digits : digits * 10 + (text[at] - '0');
	*number = digits / pow(10, (double)decimals);
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads decimal numbers of files and formulas, with a decimal point in every locale. */
#ifndef PS_BASE_DECIMAL_H
#define PS_BASE_DECIMAL_H

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Formats as snprintf with "%.17g" in the C locale: all digits. Returns 0, or -1 if out of
 * memory. */
static inline int ps__decimal_format(char *text, size_t size_bytes, double number)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (!c_locale)
		return -1;
	locale_t before = uselocale(c_locale);
	snprintf(text, size_bytes, "%.17g", number);
	uselocale(before);
	freelocale(c_locale);
	return 0;
}

/* Parses as strtod in the C locale. If out of memory, returns NaN, with *end at the text. */
static inline double ps__decimal_parse(const char *text, char **end)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double number = (double)NAN;

	*end = (char *)text;
	if (!c_locale)
		return number;
	number = strtod_l(text, end, c_locale);
	freelocale(c_locale);
	return number;
}

/* Like ps__decimal_parse, but with strtold. Where a long double is wider than a double, each
 * integer of 64 bits is exact, and 1e400 is finite. */
static inline long double ps__decimal_parse_long(const char *text, char **end)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	long double number = (long double)NAN;

	*end = (char *)text;
	if (!c_locale)
		return number;
	number = strtold_l(text, end, c_locale);
	freelocale(c_locale);
	return number;
}

#endif

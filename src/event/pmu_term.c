/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the text between the slashes of pmu/.../ apart, without a copy. The
 * same syntax is in sysfs's alias files. */
#include "event/pmu.h"

#include <ctype.h>
#include <string.h>

static void term_trim(const char **text, int *length)
{
	while (*length > 0 && isspace((unsigned char)**text)) {
		++*text;
		--*length;
	}
	while (*length > 0 && isspace((unsigned char)(*text)[*length - 1]))
		--*length;
}

bool ps__term_next(const char **text, const char *end, struct ps__term *out)
{
	if (*text > end)
		return false;
	const char *start = *text;
	const char *comma = memchr(start, ',', (size_t)(end - start));
	const char *stop = comma ? comma : end;
	const char *equals = memchr(start, '=', (size_t)(stop - start));
	const char *name_end = equals ? equals : stop;

	out->name = start;
	out->name_length = (int)(name_end - start);
	out->has_value = equals != NULL;
	out->value = equals ? equals + 1 : stop;
	out->value_length = (int)(stop - out->value);
	term_trim(&out->name, &out->name_length);
	term_trim(&out->value, &out->value_length);
	*text = stop + 1;
	return true;
}

bool ps__term_is(const struct ps__term *term, const char *name)
{
	return strlen(name) == (size_t)term->name_length &&
	       !memcmp(term->name, name, (size_t)term->name_length);
}

static int term_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (isxdigit((unsigned char)c))
		return tolower((unsigned char)c) - 'a' + 10;
	return 16;
}

bool ps__term_number(const struct ps__term *term, uint64_t *out)
{
	const char *at = term->value;
	const char *end = at + term->value_length;
	int base = 10;
	uint64_t number = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		base = 16;
		at += 2;
	}
	if (at == end)
		return false;
	for (; at < end; at++) {
		if (term_digit(*at) >= base ||
		    __builtin_mul_overflow(number, (uint64_t)base, &number) ||
		    __builtin_add_overflow(number, (uint64_t)term_digit(*at), &number))
			return false;
	}
	*out = number;
	return true;
}

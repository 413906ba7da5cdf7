/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which characters of foreign text may be shown, and how wide they are. It has tables of
 * its own, because the C library's depend on the locale. */
#include "base/printable.h"

#include "base/printable_ranges.h"

#include <string.h>

#define COUNT(ranges) (sizeof(ranges) / sizeof(ranges)[0])

static bool printable_is_in(const struct range *ranges, size_t count, uint32_t code)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (code > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && code >= ranges[low].first;
}

/* Returns the length in bytes of a character that begins with this byte; 0 if none does. */
static size_t printable_expected_bytes(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* Table 3-7 of the Unicode standard: no overlong form, no surrogate, nothing
 * beyond U+10FFFF. */
static bool printable_is_second(unsigned char lead, unsigned char second)
{
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

size_t ps__printable_decode(const char *text, uint32_t *code)
{
	static const unsigned char bits_of_lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *bytes = (const unsigned char *)text;
	size_t count = printable_expected_bytes(bytes[0]), have = 1;
	uint32_t value = bytes[0] & bits_of_lead[count];

	if (!bytes[0]) {
		*code = 0;
		return 0;
	}
	while (have < count &&
	       (have == 1 ? printable_is_second(bytes[0], bytes[1]) : (bytes[have] & 0xc0) == 0x80))
		value = value << 6 | (bytes[have++] & 0x3f);
	*code = count && have == count ? value : PS__NO_CHARACTER;
	return have;
}

bool ps__printable_is(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code > 0x10ffff)
		return false;
	/* The last two code points of each plane are no characters. */
	return (code & 0xfffe) != 0xfffe && !printable_is_in(hidden, COUNT(hidden), code);
}

static size_t printable_columns_of(uint32_t code)
{
	if (printable_is_in(combining, COUNT(combining), code))
		return 0;
	return printable_is_in(wide, COUNT(wide), code) ? 2 : 1;
}

struct ps__glyph ps__printable_next(const char *text, enum ps__charset charset)
{
	uint32_t code;
	size_t taken = ps__printable_decode(text, &code);
	bool is_ascii = code < 0x80;

	if (taken == 0)
		return (struct ps__glyph){.text = ""};
	if (!ps__printable_is(code) || (!is_ascii && charset == PS__CHARSET_ASCII))
		return (struct ps__glyph){.text = "?", .length = 1, .columns = 1, .taken = taken};
	return (struct ps__glyph){.text = text,
	                          .length = taken,
	                          .columns = is_ascii ? 1 : printable_columns_of(code),
	                          .taken = taken};
}

size_t ps__printable_columns(const char *text, size_t bytes, enum ps__charset charset)
{
	const char *end = text + bytes;
	size_t count = 0;

	for (struct ps__glyph glyph;
	     text < end && (glyph = ps__printable_next(text, charset)).taken; text += glyph.taken)
		count += glyph.columns;
	return count;
}

void ps__printable_clean(char *text)
{
	char *out = text;

	for (struct ps__glyph glyph; (glyph = ps__printable_next(text, PS__CHARSET_UTF8)).taken;
	     text += glyph.taken) {
		memmove(out, glyph.text, glyph.length);
		out += glyph.length;
	}
	*out = '\0';
}

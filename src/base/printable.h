/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which characters of foreign text may be shown: names of threads and
 * events, command lines, names in a foreign file. A terminal obeys control
 * characters, so a name could control it. The library and the command ask here,
 * and nowhere else.
 */
#ifndef PS_BASE_PRINTABLE_H
#define PS_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The characters that the reader of the text understands. */
enum ps__charset {
	PS__CHARSET_ASCII,
	PS__CHARSET_UTF8
};

/* The text shown for one character, or for bytes that are no character. */
struct ps__glyph {
	const char *text; /* bytes that may be shown: the character's own, or "?" */
	size_t length;    /* of text, in bytes */
	size_t columns;   /* on a terminal: 0 for a combining character, 2 for a wide one */
	/* bytes of the foreign text that the glyph stands for; 0 at the end of the text */
	size_t taken;
};

/* No code point. */
#define PS__NO_CHARACTER UINT32_MAX

/*
 * Decodes the first character of a NUL-terminated text. Returns its length in bytes; 0 at the end.
 * If the bytes are no UTF-8, *code is PS__NO_CHARACTER, and the length is that of the bytes that
 * Unicode replaces by one U+FFFD (table 3-8 of its standard).
 */
size_t ps__printable_decode(const char *text, uint32_t *code);

/* True if a terminal may get this character: not if it is a control character, invisible, or
 * changes the direction of writing. */
bool ps__printable_is(uint32_t code);

/* The text shown for the first character of a NUL-terminated text. */
struct ps__glyph ps__printable_next(const char *text, enum ps__charset charset);

/* The number of terminal columns that these bytes take. */
size_t ps__printable_columns(const char *text, size_t bytes, enum ps__charset charset);

/* Replaces in place each character that a UTF-8 terminal must not get. The text does not get
 * longer. Safe in a signal handler. */
void ps__printable_clean(char *text);

#endif

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
	size_t length;    /* of them */
	size_t columns;   /* on a terminal: 0 of a combining character, 2 of a wide one */
	size_t taken;     /* bytes of the foreign text that it stands for; 0 at its end */
};

/* No code point. */
#define PS__NO_CHARACTER UINT32_MAX

/*
 * The first character of a text that ends with a NUL: returns its bytes; 0 at
 * the end. *code is PS__NO_CHARACTER if they are no UTF-8: then they are as
 * many as Unicode replaces by one U+FFFD (table 3-8 of its standard).
 */
size_t ps__printable_decode(const char *text, uint32_t *code);

/* May a terminal get this character? Not if it is a control character,
 * invisible, or changes the direction of writing. */
bool ps__printable_is(uint32_t code);

/* The text shown for the first character of a NUL-terminated text. */
struct ps__glyph ps__printable_next(const char *text, enum ps__charset charset);

/* The number of terminal columns that these bytes take. */
size_t ps__printable_columns(const char *text, size_t bytes, enum ps__charset charset);

/* Replaces in the text itself what a UTF-8 terminal must not get. The text gets
 * no longer. Safe in a signal handler. */
void ps__printable_clean(char *text);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A text buffer that grows in memory and is written in one piece. A failed allocation is remembered
 * and reported when the text is written. */
#ifndef PS_OUTPUT_BUFFER_H
#define PS_OUTPUT_BUFFER_H

#include "base/printable.h"

#include <stdio.h>

struct ps__buffer {
	char *text;
	size_t length;
	size_t room;
	bool failed; /* out of memory; everything added afterwards is lost */
};

void ps__buffer_add(struct ps__buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds bytes, which may include NULs. */
void ps__buffer_add_bytes(struct ps__buffer *buffer, const void *bytes, size_t size_bytes);
/* Adds text from outside. Each character that is unprintable or missing from the charset becomes
 * "?". */
void ps__buffer_add_foreign(struct ps__buffer *buffer, const char *text, enum ps__charset charset);
void ps__buffer_trim(struct ps__buffer *buffer); /* removes blanks at the end */

/* Returns the text; "" if memory ran out. */
const char *ps__buffer_text(const struct ps__buffer *buffer);
/* Empties the buffer and keeps its memory. */
void ps__buffer_restart(struct ps__buffer *buffer);
void ps__buffer_clear(struct ps__buffer *buffer);

/* Writes the text to the stream and frees it. Returns PS_OK, PS_ENOMEM or PS_ESYS. */
int ps__buffer_finish(struct ps__buffer *buffer, FILE *stream);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that grows in memory and is written in one piece. A lack of memory is
 * kept and told at the end. */
#ifndef PS_OUTPUT_BUFFER_H
#define PS_OUTPUT_BUFFER_H

#include "base/printable.h"

#include <stdio.h>

struct ps__buffer {
	char *text;
	size_t length;
	size_t room;
	bool failed; /* for lack of memory: what is added from then on is lost */
};

void ps__buffer_add(struct ps__buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Any bytes, also NULs. */
void ps__buffer_add_bytes(struct ps__buffer *buffer, const void *bytes, size_t size_bytes);
/* Foreign text: "?" stands for each character that the reader must not get, or
 * that isn't in the charset. */
void ps__buffer_add_foreign(struct ps__buffer *buffer, const char *text, enum ps__charset charset);
void ps__buffer_trim(struct ps__buffer *buffer); /* takes away blanks at the end */

/* The text; "" for lack of memory. */
const char *ps__buffer_text(const struct ps__buffer *buffer);
/* Empties it for new text, and keeps its memory. */
void ps__buffer_restart(struct ps__buffer *buffer);
void ps__buffer_clear(struct ps__buffer *buffer);

/* Writes all to the stream and releases it. PS_ENOMEM, PS_ESYS. */
int ps__buffer_finish(struct ps__buffer *buffer, FILE *stream);

#endif

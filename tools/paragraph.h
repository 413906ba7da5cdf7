/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences in a column of their own, as wide as the terminal allows. */
#ifndef PS_TOOLS_PARAGRAPH_H
#define PS_TOOLS_PARAGRAPH_H

#include "output/buffer.h"

#include <stdio.h>

/*
 * Adds text from column `indent` on, where its line already is, up to column `width` (0: no limit), with further
 * lines indented alike; ends the line.
 */
void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width);

/*
 * Whatever is printed here may hold what somebody else chose: names of threads and events, arguments. For what a
 * terminal must not get, and outside of a UTF-8 locale for all that isn't ASCII, stands a '?'.
 */
void tool_put(struct ps__buffer *buffer, const char *text);

/* Writes what it holds and empties it; -1 after a complaint, if memory was out. Writing errors are the stream's to tell. */
int tool_write(struct ps__buffer *buffer, FILE *stream);

/* How many columns it takes. */
size_t tool_columns(const char *text, size_t bytes);

#endif

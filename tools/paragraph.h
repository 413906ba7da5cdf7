/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences in a column of their own, as wide as the terminal allows. */
#ifndef PS_TOOLS_PARAGRAPH_H
#define PS_TOOLS_PARAGRAPH_H

#include <stdio.h>

/*
 * Prints text from column `indent` on, where the stream already is, up to column `width` (0: no limit), with further
 * lines indented alike; ends the line. Control characters become '?', so that no name plays with the terminal.
 */
void tool_paragraph(FILE *stream, const char *text, size_t indent, size_t width);

/* How many columns a text takes: characters, not bytes. */
size_t tool_columns(const char *text, size_t bytes);

#endif

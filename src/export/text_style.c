/* SPDX-License-Identifier: BSD-3-Clause */
/* What a terminal wants besides the text: colours, and lines that fit. */
#include "export/text.h"
#include "export/wrap.h"

#include <string.h>

/* Of the eight colours that every terminal has, those that can be read on black and on white. */
static const char *const sequences[] = {
    [PS__STYLE_PLAIN] = "",           [PS__STYLE_HEADING] = "\033[1m",   [PS__STYLE_FAINT] = "\033[2m",
    [PS__STYLE_UNKNOWN] = "\033[31m", [PS__STYLE_ESTIMATE] = "\033[36m",
};

void ps__text_style(struct ps__text *text, enum ps__text_style style)
{
	if (text->options.flags & PS_PRINT_COLOUR)
		ps__buffer_add(&text->buffer, "%s", sequences[style]);
}

void ps__text_end_style(struct ps__text *text, enum ps__text_style style)
{
	if (text->options.flags & PS_PRINT_COLOUR && style != PS__STYLE_PLAIN)
		ps__buffer_add(&text->buffer, "\033[0m");
}

#define NARROWEST 20 /* columns of a line's rest; else further lines begin at the left */

void ps__text_add_wrapped(struct ps__buffer *buffer, const struct ps__buffer *lines, size_t indent, size_t width)
{
	struct ps__wrap wrap = {.indent = width < indent + NARROWEST ? 0 : indent, .width = width};

	buffer->failed |= lines->failed;
	for (char *line = lines->failed ? NULL : lines->text, *next; line && *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		ps__wrap_add(buffer, line, &wrap);
	}
}

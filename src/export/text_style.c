/* SPDX-License-Identifier: BSD-3-Clause */
/* What a terminal wants besides the text: colours, and lines that fit. */
#include "export/text.h"

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

/* How much of a line fits: up to the last blank within the width, or else to the first one. */
static size_t fold_at(const char *line, size_t length, size_t width)
{
	size_t at = width;

	if (!width || length <= width)
		return length;
	while (at > 0 && line[at] != ' ')
		at--;
	if (at == 0)
		at = strcspn(line, " \n");
	return at < length ? at : length;
}

static void add_folded_line(struct ps__text *text, const char *line, size_t length, size_t indent)
{
	size_t width = text->options.width;
	const char *end = line + length;
	size_t shift = 0;

	if (width < indent + 20)
		indent = 0;
	do {
		size_t at = fold_at(line, (size_t)(end - line), width ? width - shift : 0);
		ps__buffer_add(&text->buffer, "%*s%.*s\n", (int)shift, "", (int)at, line);
		line += at;
		while (line < end && *line == ' ')
			line++;
		shift = indent;
	} while (line < end);
}

void ps__text_add_folded(struct ps__text *text, const char *lines, size_t indent)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		add_folded_line(text, lines, length, indent);
		lines += length + (lines[length] == '\n');
	}
}

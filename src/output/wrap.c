/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds sentences: on a terminal a character may take no column, one or two. */
#include "output/wrap.h"

#include <string.h>

#define NARROWEST 20 /* columns of a line's rest; else further lines begin at the left */

static void wrap_add_word(struct ps__buffer *buffer, const char *word, size_t bytes,
                          enum ps__charset charset)
{
	const char *end = word + bytes;

	for (struct ps__glyph glyph; word < end; word += glyph.taken) {
		glyph = ps__printable_next(word, charset);
		ps__buffer_add(buffer, "%.*s", (int)glyph.length, glyph.text);
	}
}

void ps__wrap_add(struct ps__buffer *buffer, const char *text, const struct ps__wrap *wrap)
{
	size_t used = wrap->start;
	bool has_word = false;

	for (const char *word = text; word[strspn(word, " ")];) {
		size_t blanks = strspn(word, " ");
		size_t bytes = strcspn(word + blanks, " ");
		size_t columns = ps__printable_columns(word + blanks, bytes, wrap->charset);
		if (wrap->width && has_word && used + blanks + columns > wrap->width) {
			ps__buffer_add(buffer, "\n%*s", (int)wrap->indent, "");
			used = wrap->indent;
		} else {
			ps__buffer_add(buffer, "%*s", (int)blanks, "");
			used += blanks;
		}
		wrap_add_word(buffer, word + blanks, bytes, wrap->charset);
		has_word = true;
		used += columns;
		word += blanks + bytes;
	}
	ps__buffer_add(buffer, "\n");
}

void ps__wrap_add_lines(struct ps__buffer *buffer, const struct ps__buffer *lines, size_t indent,
                        size_t width)
{
	struct ps__wrap wrap = {.indent = width < indent + NARROWEST ? 0 : indent,
	                        .width = width,
	                        .charset = PS__CHARSET_UTF8};

	buffer->failed |= lines->failed;
	for (char *line = lines->failed ? NULL : lines->text, *next; line && *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		ps__wrap_add(buffer, line, &wrap);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps sentences. A character may take no column, one or two. */
#include "output/wrap.h"

#include <string.h>

#define NARROWEST 20 /* if the indent leaves fewer columns, further lines are not indented */

static void wrap_add_word(struct ps__buffer *buffer, const char *word, size_t bytes,
                          enum ps__charset charset)
{
	const char *end = word + bytes;

	for (struct ps__glyph glyph; word < end; word += glyph.taken) {
		glyph = ps__printable_next(word, charset);
		ps__buffer_add(buffer, "%.*s", (int)glyph.length, glyph.text);
	}
}

/* Returns the length of the quotation, or of the words with single blanks between them, at the
 * beginning of the text; 0 if they may be split. */
static size_t wrap_kept_bytes(const char *text, const struct ps__wrap *wrap)
{
	const char *end = NULL;

	if (wrap->keeps_quotes && *text == '\'')
		end = strchr(text + 1, '\'');
	if (wrap->keeps_pairs)
		end = strstr(text, "  ");
	if (end)
		return (size_t)(end - text) + strcspn(end, " ");
	return wrap->keeps_pairs ? strlen(text) : 0;
}

/* Returns the length of the next word, or of several words that are kept on one line if they
 * fit. */
static size_t wrap_word_bytes(const char *text, const struct ps__wrap *wrap)
{
	size_t bytes = strcspn(text, " "), kept = wrap_kept_bytes(text, wrap);
	bool has_room =
	    wrap->indent + ps__printable_columns(text, kept, wrap->charset) <= wrap->width;

	return kept > bytes && has_room ? kept : bytes;
}

/* Returns the column where a further line begins. columns: width of its first word. */
static size_t wrap_indent(const struct ps__wrap *wrap, size_t columns, size_t width)
{
	if (wrap->indent + columns <= width)
		return wrap->indent;
	return columns < width ? width - columns : 0;
}

/* Ends the line. A line with nothing but blanks is kept for the next word. */
static void wrap_end_line(struct ps__buffer *buffer, bool is_command)
{
	ps__buffer_trim(buffer);
	if (buffer->length && buffer->text[buffer->length - 1] != '\n')
		ps__buffer_add(buffer, "%s\n", is_command ? " \\" : "");
}

void ps__wrap_add(struct ps__buffer *buffer, const char *text, const struct ps__wrap *wrap)
{
	size_t used = wrap->start, width = wrap->width;
	size_t all = used + ps__printable_columns(text, strlen(text), wrap->charset);
	bool has_word = false;

	if (width > strlen(" \\") && all > width && wrap->is_command)
		width -= strlen(" \\");
	for (const char *word = text; word[strspn(word, " ")];) {
		size_t blanks = strspn(word, " ");
		size_t bytes = wrap_word_bytes(word + blanks, wrap);
		size_t columns = ps__printable_columns(word + blanks, bytes, wrap->charset);
		size_t indent = wrap_indent(wrap, columns, width);
		if (width && used + blanks + columns > width && (has_word || indent < used)) {
			wrap_end_line(buffer, wrap->is_command);
			ps__buffer_add(buffer, "%*s", (int)indent, "");
			used = indent;
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

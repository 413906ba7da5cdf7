/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in columns; what of a foreign text is shown, the library's own function decides. */
#include "tools/paragraph.h"

#include "base/printable.h"
#include "tools/complaint.h"
#include "tools/screen.h"

#include <stdlib.h>
#include <string.h>

#define NARROWEST 24 /* columns of text; a narrower terminal wraps by itself */

static enum ps__charset charset(void)
{
	return tool_has_utf8() ? PS__CHARSET_UTF8 : PS__CHARSET_ASCII;
}

static struct ps__glyph glyph_at(const char *text)
{
	return ps__printable_next(text, charset());
}

size_t tool_columns(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	size_t count = 0;

	for (struct ps__glyph glyph; text < end && (glyph = glyph_at(text)).taken; text += glyph.taken)
		count += glyph.columns;
	return count;
}

void tool_put(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add_foreign(buffer, text, charset());
}

int tool_write(struct ps__buffer *buffer, FILE *stream)
{
	int result = buffer->failed ? (tool_complain("out of memory"), -1) : 0;

	fputs(ps__buffer_text(buffer), stream);
	ps__buffer_clear(buffer);
	return result;
}

/* No character's place is longer than its bytes. */
char *tool_shown(const char *text)
{
	char *shown = malloc(strlen(text) + 1);
	char *out = shown;

	for (struct ps__glyph glyph; shown && (glyph = glyph_at(text)).taken; text += glyph.taken)
		out = mempcpy(out, glyph.text, glyph.length);
	if (shown)
		*out = '\0';
	return shown;
}

void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width)
{
	size_t room = width > indent + NARROWEST ? width - indent : width ? NARROWEST : 0;
	size_t used = 0;

	for (const char *word = text; *word;) {
		size_t blanks = strspn(word, " ");
		size_t length = strcspn(word + blanks, " ");
		size_t columns = tool_columns(word + blanks, length);
		if (length == 0)
			break;
		if (room && used && used + blanks + columns > room) {
			ps__buffer_add(out, "\n%*s", (int)indent, "");
			used = 0;
		} else {
			ps__buffer_add(out, "%*s", (int)blanks, "");
			used += blanks;
		}
		for (const char *end = word + blanks + length, *at = word + blanks; at < end;) {
			struct ps__glyph glyph = glyph_at(at);
			ps__buffer_add(out, "%.*s", (int)glyph.length, glyph.text);
			at += glyph.taken;
		}
		used += columns;
		word += blanks + length;
	}
	ps__buffer_add(out, "\n");
}

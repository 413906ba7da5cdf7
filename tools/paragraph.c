/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in columns; what of a foreign text is shown, the library's own function decides. */
#include "tools/paragraph.h"

#include "output/wrap.h"
#include "tools/complaint.h"
#include "tools/screen.h"

#define NARROWEST 24 /* columns of text; a narrower terminal wraps by itself */

static enum ps__charset charset(void)
{
	return tool_has_utf8() ? PS__CHARSET_UTF8 : PS__CHARSET_ASCII;
}

size_t tool_columns(const char *text, size_t bytes)
{
	return ps__printable_columns(text, bytes, charset());
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

void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width)
{
	struct ps__wrap wrap = {.start = indent, .indent = indent, .width = width, .charset = charset()};

	if (width && width < indent + NARROWEST)
		wrap.width = indent + NARROWEST;
	ps__wrap_add(out, text, &wrap);
}

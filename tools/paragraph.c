/* SPDX-License-Identifier: BSD-3-Clause */
/* Text in columns. */
#include "paragraph.h"

#include <string.h>

#define NARROWEST 24 /* columns of text; a narrower terminal wraps by itself */

size_t tool_columns(const char *text, size_t bytes)
{
	size_t count = 0;

	/* The bytes of a character but its first are 10xxxxxx. */
	for (size_t i = 0; i < bytes; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

static void put_word(FILE *stream, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		fputc((unsigned char)word[i] < 0x20 || word[i] == 0x7f ? '?' : word[i], stream);
}

void tool_paragraph(FILE *stream, const char *text, size_t indent, size_t width)
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
			fprintf(stream, "\n%*s", (int)indent, "");
			used = 0;
		} else {
			fprintf(stream, "%*s", (int)blanks, "");
			used += blanks;
		}
		put_word(stream, word + blanks, length);
		used += columns;
		word += blanks + length;
	}
	fputc('\n', stream);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A text buffer. The exporters build their output here, so that the stream gets it in one piece and
 * errors are handled in one place.
 */
#include "output/buffer.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define LEAST_ROOM 1024u

static bool buffer_make_room(struct ps__buffer *buffer, size_t need)
{
	size_t least = need > LEAST_ROOM ? need : LEAST_ROOM;

	if (PS__VECTOR_RESERVE(&buffer->text, buffer->length, least, &buffer->room))
		return true;
	buffer->failed = true;
	return false;
}

void ps__buffer_add(struct ps__buffer *buffer, const char *format, ...)
{
	va_list arguments;

	if (buffer->failed)
		return;
	va_start(arguments, format);
	int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0 || !buffer_make_room(buffer, buffer->length + (size_t)length + 1))
		return;
	va_start(arguments, format);
	vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buffer->length += (size_t)length;
}

void ps__buffer_add_bytes(struct ps__buffer *buffer, const void *bytes, size_t size_bytes)
{
	if (buffer->failed || !buffer_make_room(buffer, buffer->length + size_bytes + 1))
		return;
	memcpy(buffer->text + buffer->length, bytes, size_bytes);
	buffer->length += size_bytes;
	buffer->text[buffer->length] = '\0';
}

void ps__buffer_add_foreign(struct ps__buffer *buffer, const char *text, enum ps__charset charset)
{
	for (struct ps__glyph glyph; (glyph = ps__printable_next(text, charset)).taken;
	     text += glyph.taken)
		ps__buffer_add(buffer, "%.*s", (int)glyph.length, glyph.text);
}

const char *ps__buffer_text(const struct ps__buffer *buffer)
{
	return buffer->failed || !buffer->text ? "" : buffer->text;
}

void ps__buffer_restart(struct ps__buffer *buffer)
{
	buffer->length = 0;
	ps__buffer_add(buffer, "%s", "");
}

void ps__buffer_clear(struct ps__buffer *buffer)
{
	ps__os_free(buffer->text);
	*buffer = (struct ps__buffer){0};
}

void ps__buffer_trim(struct ps__buffer *buffer)
{
	while (buffer->length > 0 && buffer->text[buffer->length - 1] == ' ')
		buffer->length--;
}

int ps__buffer_finish(struct ps__buffer *buffer, FILE *stream)
{
	int code = PS_OK;
	int cancel = ps__cancel_hold();

	errno = 0;
	if (buffer->failed)
		code = ps__fail_memory("the printed text");
	else if ((buffer->length && fwrite(buffer->text, buffer->length, 1, stream) != 1) ||
	         fflush(stream) == EOF)
		/* A full stream in memory doesn't set errno. */
		code = ps__fail(PS_ESYS, "the text could not be written: %s",
		                errno ? strerror(errno)
		                      : "the stream took only a part of it; is it too small?");
	ps__buffer_clear(buffer);
	ps__cancel_release(cancel);
	return code;
}

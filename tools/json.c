/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON, written value by value. */
#include "json.h"

/* How many bytes the character has; 0 if they are no UTF-8 (RFC 3629): overlong, a surrogate, cut off. */
static int utf8_length(const unsigned char *text)
{
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	int length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;

	if (length < 2)
		return length;
	unsigned code = text[0] & (0x7fu >> length);
	for (int i = 1; i < length; i++) {
		if (text[i] >> 6 != 2)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : length;
}

void tool_json_put_text(const char *text, FILE *stream)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', stream);
	while (*at) {
		int length = utf8_length(at);
		if (length == 0)
			fputs("\xef\xbf\xbd", stream);
		else if (*at == '"' || *at == '\\')
			fprintf(stream, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(stream, "\\u%04x", *at);
		else
			fwrite(at, 1, (size_t)length, stream);
		at += length ? length : 1;
	}
	fputc('"', stream);
}

static void begin(struct tool_json *json, const char *name)
{
	if (json->depth)
		fprintf(json->stream, "%s\n%*s", json->has_member ? "," : "", 2 * json->depth, "");
	json->has_member = true;
	if (!name)
		return;
	tool_json_put_text(name, json->stream);
	fputs(": ", json->stream);
}

void tool_json_open(struct tool_json *json, const char *name, char bracket)
{
	begin(json, name);
	fputc(bracket, json->stream);
	json->depth++;
	json->has_member = false;
}

void tool_json_close(struct tool_json *json, char bracket)
{
	json->depth--;
	if (json->has_member)
		fprintf(json->stream, "\n%*s", 2 * json->depth, "");
	fputc(bracket, json->stream);
	json->has_member = true;
	if (json->depth == 0)
		fputc('\n', json->stream);
}

void tool_json_text(struct tool_json *json, const char *name, const char *text)
{
	begin(json, name);
	if (text)
		tool_json_put_text(text, json->stream);
	else
		fputs("null", json->stream);
}

void tool_json_number(struct tool_json *json, const char *name, long long number)
{
	begin(json, name);
	fprintf(json->stream, "%lld", number);
}

void tool_json_bool(struct tool_json *json, const char *name, bool is_true)
{
	begin(json, name);
	fputs(is_true ? "true" : "false", json->stream);
}

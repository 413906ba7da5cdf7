/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON, written value by value. */
#include "tools/json.h"

#include "base/printable.h"

/* JSON's escapes are in UTF-16. */
static void put_escape(uint32_t code, FILE *stream)
{
	if (code > 0xffff)
		fprintf(stream, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(code >> 10), 0xdc00 + (unsigned)(code & 0x3ff));
	else
		fprintf(stream, "\\u%04x", (unsigned)code);
}

void tool_json_put_text(const char *text, FILE *stream)
{
	uint32_t code;

	fputc('"', stream);
	for (size_t length; (length = ps__printable_decode(text, &code)); text += length) {
		if (code == PS__NO_CHARACTER)
			put_escape(0xfffd, stream);
		else if (code == '"' || code == '\\')
			fprintf(stream, "\\%c", *text);
		else if (!ps__printable_is(code))
			put_escape(code, stream);
		else
			fwrite(text, 1, length, stream);
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

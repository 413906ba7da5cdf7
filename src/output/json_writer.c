/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON, written value by value. */
#include "output/json_writer.h"

#include "output/number.h"
#include "output/report.h"

#include <inttypes.h>
#include <math.h>

/* Returns the length of the leading bytes that need no escape. */
static size_t json_plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	return length;
}

/* Adds the escape of a character. JSON's escapes are UTF-16, so a character above U+FFFF takes
 * two. */
static void json_add_escape(struct ps__json *json, uint32_t code)
{
	if (code > 0xffff)
		ps__buffer_add(json->buffer, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(code >> 10),
		               0xdc00 + (unsigned)(code & 0x3ff));
	else
		ps__buffer_add(json->buffer, "\\u%04x", (unsigned)code);
}

/* Escapes characters that could harm a terminal. A program that parses the JSON gets the original
 * text. */
static void json_add_text(struct ps__json *json, const char *text)
{
	ps__buffer_add(json->buffer, "\"");
	for (size_t plain = json_plain_length(text); *text; plain = json_plain_length(text)) {
		if (plain) {
			ps__buffer_add(json->buffer, "%.*s", (int)plain, text);
			text += plain;
			continue;
		}
		uint32_t code;
		size_t length = ps__printable_decode(text, &code);
		if (code == PS__NO_CHARACTER)
			ps__buffer_add(json->buffer, "\\ufffd");
		else if (code == '"' || code == '\\')
			ps__buffer_add(json->buffer, "\\%c", *text);
		else if (!ps__printable_is(code))
			json_add_escape(json, code);
		else
			ps__buffer_add(json->buffer, "%.*s", (int)length, text);
		text += length;
	}
	ps__buffer_add(json->buffer, "\"");
}

static bool json_is_in_line(const struct ps__json *json)
{
	return json->is_compact || (json->line_depth && json->depth > json->line_depth);
}

/* Writes what precedes a value: a comma, and in an object the key. */
static void json_begin(struct ps__json *json, const char *key)
{
	if (json->has_member)
		ps__buffer_add(json->buffer,
		               !json->is_compact && json_is_in_line(json) ? ", " : ",");
	if (json->depth > 0 && !json_is_in_line(json))
		ps__buffer_add(json->buffer, "\n%*s", json->depth, "");
	json->has_member = true;
	if (!key)
		return;
	json_add_text(json, key);
	ps__buffer_add(json->buffer, json->is_compact ? ":" : ": ");
}

void ps__json_open(struct ps__json *json, const char *key, char bracket)
{
	json_begin(json, key);
	ps__buffer_add(json->buffer, "%c", bracket);
	json->has_member = false;
	json->depth++;
}

void ps__json_close(struct ps__json *json, char bracket)
{
	bool was_in_line = json_is_in_line(json);

	json->depth--;
	if (json->has_member && !was_in_line)
		ps__buffer_add(json->buffer, "\n%*s", json->depth, "");
	ps__buffer_add(json->buffer, "%c", bracket);
	json->has_member = true;
	if (json->depth == 0)
		ps__buffer_add(json->buffer, "\n");
}

void ps__json_open_line(struct ps__json *json, const char *key, char bracket)
{
	ps__json_open(json, key, bracket);
	json->line_depth = json->depth - 1;
}

void ps__json_close_line(struct ps__json *json, char bracket)
{
	ps__json_close(json, bracket);
	json->line_depth = 0;
}

void ps__json_add_string(struct ps__json *json, const char *key, const char *text)
{
	if (!text) {
		ps__json_add_null(json, key);
		return;
	}
	json_begin(json, key);
	json_add_text(json, text);
}

void ps__json_add_integer(struct ps__json *json, const char *key, long long number)
{
	json_begin(json, key);
	ps__buffer_add(json->buffer, "%lld", number);
}

void ps__json_add_unsigned(struct ps__json *json, const char *key, uint64_t number)
{
	json_begin(json, key);
	ps__buffer_add(json->buffer, "%" PRIu64, number);
}

void ps__json_add_known(struct ps__json *json, const char *key, uint64_t number, bool is_known)
{
	if (is_known)
		ps__json_add_unsigned(json, key, number);
	else
		ps__json_add_null(json, key);
}

void ps__json_add_bool(struct ps__json *json, const char *key, bool value)
{
	json_begin(json, key);
	ps__buffer_add(json->buffer, value ? "true" : "false");
}

void ps__json_add_double(struct ps__json *json, const char *key, double number)
{
	json_begin(json, key);
	if (isfinite(number))
		ps__number_add_exact(json->buffer, number);
	else
		ps__buffer_add(json->buffer, "null");
}

void ps__json_add_null(struct ps__json *json, const char *key)
{
	json_begin(json, key);
	ps__buffer_add(json->buffer, "null");
}

void ps__json_add_flags(struct ps__json *json, uint32_t flags)
{
	const char *flag;

	ps__json_open(json, "flags", '[');
	for (size_t i = 0; (flag = ps_value_flag_name(flags, i)); i++)
		ps__json_add_string(json, NULL, flag);
	ps__json_close(json, ']');
}

void ps__json_add_how(struct ps__json *json, enum ps_status status, enum ps_attribution attribution,
                      uint32_t flags)
{
	ps__json_add_string(json, "status", ps_status_name(status));
	ps__json_add_string(json, "attribution", ps_attribution_name(attribution));
	ps__json_add_flags(json, flags);
}

void ps__json_add_value(struct ps__json *json, const struct ps_value *value, const char *unit,
                        double scale)
{
	if (!ps__report_is_known(value)) {
		ps__json_add_null(json, "value");
		ps__json_add_null(json, "count");
	} else {
		if (scale == 1)
			ps__json_add_integer(json, "value", value->value);
		else
			ps__json_add_double(json, "value", (double)value->value * scale);
		ps__json_add_integer(json, "count", value->value);
	}
	ps__json_add_string(json, "unit", ps__report_unit(unit));
	ps__json_add_how(json, value->status, value->attribution, value->flags);
}

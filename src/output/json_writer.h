/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes JSON (RFC 8259) value by value. Commas, line ends and escapes are written here only. */
#ifndef PS_OUTPUT_JSON_WRITER_H
#define PS_OUTPUT_JSON_WRITER_H

#include "output/buffer.h"

#include <perfsage/value.h>

struct ps__json {
	struct ps__buffer *buffer;
	bool is_compact; /* the whole document is on one line */
	bool has_member; /* the open object or array has a member, so the next one needs a comma */
	int depth;
	int line_depth; /* an object or array of this depth, and all in it, is on one line; 0:
	                 * none */
};

static inline struct ps__json ps__json_create(struct ps__buffer *buffer, bool is_compact)
{
	return (struct ps__json){.buffer = buffer, .is_compact = is_compact};
}

/* Opens an object or array. key: the member's name in an object; NULL in an array and for the
 * outermost value. */
void ps__json_open(struct ps__json *json, const char *key, char bracket); /* '{' or '[' */
void ps__json_close(struct ps__json *json, char bracket);                 /* '}' or ']' */
/* Open and close an object or array that is written on one line with all that it contains. */
void ps__json_open_line(struct ps__json *json, const char *key, char bracket);
void ps__json_close_line(struct ps__json *json, char bracket);

/* Adds null if text is NULL. Bytes that aren't UTF-8 become U+FFFD. */
void ps__json_add_string(struct ps__json *json, const char *key, const char *text);
void ps__json_add_integer(struct ps__json *json, const char *key, long long number);
void ps__json_add_unsigned(struct ps__json *json, const char *key, uint64_t number);
/* Adds null for a number that isn't known. */
void ps__json_add_known(struct ps__json *json, const char *key, uint64_t number, bool is_known);
void ps__json_add_bool(struct ps__json *json, const char *key, bool is_true);
/* Adds null for NaN and infinities, which JSON can't express. */
void ps__json_add_double(struct ps__json *json, const char *key, double number);
void ps__json_add_null(struct ps__json *json, const char *key);

/* Adds "value", in the unit, and "count" (both null if unknown), "unit", and how they are known. */
void ps__json_add_value(struct ps__json *json, const struct ps_value *value, const char *unit,
                        double scale);
void ps__json_add_flags(struct ps__json *json, uint32_t flags); /* adds "flags" */
/* Adds "status", "attribution" and "flags". */
void ps__json_add_how(struct ps__json *json, enum ps_status status, enum ps_attribution attribution,
                      uint32_t flags);

#endif

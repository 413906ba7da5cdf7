/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON (RFC 8259), written value by value: the commas, the line ends and the
 * escapes are here, and nowhere else. */
#ifndef PS_OUTPUT_JSON_WRITER_H
#define PS_OUTPUT_JSON_WRITER_H

#include "output/buffer.h"

#include <perfsage/value.h>

struct ps__json {
	struct ps__buffer *buffer;
	bool is_compact; /* all in one line */
	bool has_member; /* the object or array that is open: a comma comes first */
	int depth;
	int line_depth; /* what is deeper stands in one line; 0: nothing */
};

static inline struct ps__json ps__json_create(struct ps__buffer *buffer, bool is_compact)
{
	return (struct ps__json){.buffer = buffer, .is_compact = is_compact};
}

/* key: of a member of an object; NULL in an array, and for the outermost
 * value. */
void ps__json_open(struct ps__json *json, const char *key, char bracket); /* '{' or '[' */
void ps__json_close(struct ps__json *json, char bracket);                 /* '}' or ']' */
/* The same of one that stands in one line with all that is in it, as there are many of its kind. */
void ps__json_open_line(struct ps__json *json, const char *key, char bracket);
void ps__json_close_line(struct ps__json *json, char bracket);

/* NULL: null. Bytes that are no UTF-8 become U+FFFD. */
void ps__json_add_string(struct ps__json *json, const char *key, const char *text);
void ps__json_add_integer(struct ps__json *json, const char *key, long long number);
void ps__json_add_unsigned(struct ps__json *json, const char *key, uint64_t number);
void ps__json_add_bool(struct ps__json *json, const char *key, bool is_true);
/* NaN and infinities, which JSON has no words for, are null. */
void ps__json_add_double(struct ps__json *json, const char *key, double number);
void ps__json_add_null(struct ps__json *json, const char *key);

/* "value" in the event's unit and "count", null where they are unknown; "unit";
 * and how they are known. */
void ps__json_add_value(struct ps__json *json, const struct ps_value *value, const char *unit,
                        double scale);
void ps__json_add_flags(struct ps__json *json, uint32_t flags); /* "flags" */
/* "status", "attribution" and "flags". */
void ps__json_add_how(struct ps__json *json, enum ps_status status, enum ps_attribution attribution,
                      uint32_t flags);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON that a subcommand writes itself: objects and arrays with the commas in their places (RFC 8259). */
#ifndef PS_TOOLS_JSON_H
#define PS_TOOLS_JSON_H

#include <stdbool.h>
#include <stdio.h>

struct tool_json {
	FILE *stream;
	int depth;
	bool has_member; /* of what is open, so that a comma comes first */
};

/* name: of a member of an object; NULL in an array, and for the outermost value. */
void tool_json_open(struct tool_json *json, const char *name, char bracket); /* '{' or '[' */
void tool_json_close(struct tool_json *json, char bracket);                  /* '}' or ']' */
/* Bytes that are no UTF-8 become U+FFFD. NULL: null. */
void tool_json_text(struct tool_json *json, const char *name, const char *text);
/* The text alone, in its quotes: for what is written in one line. */
void tool_json_put_text(const char *text, FILE *stream);
void tool_json_number(struct tool_json *json, const char *name, long long number);
void tool_json_bool(struct tool_json *json, const char *name, bool is_true);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of events in a list: names.c adds what names_group.c reads. */
#ifndef PS_TOOLS_NAMES_GROUP_H
#define PS_TOOLS_NAMES_GROUP_H

#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>

struct tool_group {
	const char *text;  /* from its '{' on */
	const char *inner; /* its names, and their length */
	size_t inner_length;
	char letters[16]; /* the modifiers of all */
	bool is_weak;     /* may be split */
};

/* Reads a group that begins at text. Its end: a comma, or the end of the list; or NULL, after a
 * complaint. */
const char *tool_group_read(struct tool_group *group, const char *text);

/* Writes a name of the group with the group's modifiers, those that it has not; returns the
 * length. */
#define TOOL_GROUP_NAME (PS__EVENT_NAME_MAX + 32)
size_t tool_group_name(const struct tool_group *group, const char *name, size_t length,
                       char text[TOOL_GROUP_NAME]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of events in a list. names.c adds the groups that names_group.c reads. */
#ifndef PS_TOOLS_NAMES_GROUP_H
#define PS_TOOLS_NAMES_GROUP_H

#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>

struct tool_group {
	const char *text;  /* begins with the group's '{' */
	const char *inner; /* the names inside the braces */
	size_t inner_length;
	char letters[16]; /* modifiers for all events of the group */
	bool is_weak;     /* may be split */
};

/* Reads the group at the beginning of text. Returns its end, a comma or the end of the list; NULL
 * after a complaint. */
const char *tool_group_read(struct tool_group *group, const char *text);

/* Writes an event's name with the modifiers of the group that it doesn't have itself. Returns the
 * length. */
#define TOOL_GROUP_NAME (PS__EVENT_NAME_MAX + 32)
size_t tool_group_name(const struct tool_group *group, const char *name, size_t length,
                       char text[TOOL_GROUP_NAME]);

#endif

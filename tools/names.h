/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of events, as options take them. */
#ifndef PS_TOOLS_NAMES_H
#define PS_TOOLS_NAMES_H

#include <stddef.h>

struct tool_names {
	char **names;
	size_t count;
};

/* Adds the names of a list with commas between them; those within pmu/.../ divide nothing, and blanks around names are no
 * part of them. Complains, and returns -1, if a name is empty, if one begins a group of perf's, or if memory is out. */
int tool_names_add(struct tool_names *names, const char *list);
void tool_names_clear(struct tool_names *names);

#endif

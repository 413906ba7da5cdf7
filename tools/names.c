/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of events. */
#include "tools/names.h"

#include "tools/complaint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\n"

/* Does the slash close an event's terms? Then modifiers follow, and the end or another event: that has no '=' before its own
 * terms. Else it is within a path (uprobe/path=/usr/bin/ls,offset=0x100/). */
static bool closes_terms(const char *slash)
{
	const char *rest = slash + 1;

	while ((*rest >= 'a' && *rest <= 'z') || (*rest >= 'A' && *rest <= 'Z'))
		rest++;
	rest += strspn(rest, BLANKS);
	if (*rest == '\0')
		return true;
	return *rest == ',' && rest[1 + strcspn(rest + 1, ",/=")] != '=';
}

static size_t first_length(const char *list)
{
	bool is_inside = false;
	size_t length = 0;

	for (; list[length] && (list[length] != ',' || is_inside); length++) {
		if (list[length] == '/')
			is_inside = !is_inside || !closes_terms(&list[length]);
	}
	return length;
}

static int append(struct tool_names *names, const char *name, size_t length)
{
	char **grown = realloc(names->names, (names->count + 1) * sizeof *grown);

	if (grown)
		names->names = grown;
	char *copy = grown ? strndup(name, length) : NULL;
	if (!copy) {
		tool_complain("out of memory");
		return -1;
	}
	names->names[names->count++] = copy;
	return 0;
}

static int add_name(struct tool_names *names, const char *name, size_t length, const char *list)
{
	while (length && strchr(BLANKS, name[length - 1]))
		length--;
	if (length && *name == '{') {
		tool_complain(
		    "leave out perf's braces in '%s': all events are one group, as far as the counters permit it",
		    list);
		return -1;
	}
	if (length == 0) {
		tool_complain("an event's name is missing in '%s'", list);
		return -1;
	}
	return append(names, name, length);
}

int tool_names_add(struct tool_names *names, const char *list)
{
	for (const char *name = list;; name++) {
		name += strspn(name, BLANKS);
		size_t length = first_length(name);
		if (add_name(names, name, length, list) < 0)
			return -1;
		name += length;
		if (!*name)
			return 0;
	}
}

void tool_names_clear(struct tool_names *names)
{
	for (size_t index = 0; index < names->count; index++)
		free(names->names[index]);
	free(names->names);
	*names = (struct tool_names){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of events, as users write them: "cycles, cpu/event=0x3c,umask=1/u, page-faults". */
#include "base/error.h"
#include "event/event.h"

#include <string.h>

#define BLANKS " \t\n"

/*
 * True if the slash closes an event's terms: after it and its modifiers comes the end of the list,
 * or an event that has no '=' before its own terms. Otherwise the slash is inside a path
 * (uprobe/path=/usr/bin/ls,offset=0x100/).
 */
static bool split_closes_terms(const char *slash)
{
	const char *rest = slash + 1;

	while ((*rest >= 'a' && *rest <= 'z') || (*rest >= 'A' && *rest <= 'Z'))
		rest++;
	rest += strspn(rest, BLANKS);
	if (*rest == '\0')
		return true;
	return *rest == ',' && rest[1 + strcspn(rest + 1, ",/=")] != '=';
}

static size_t split_first_length(const char *list)
{
	bool is_inside = false;
	size_t length = 0;

	/* The slash of a breakpoint precedes its length: mem:0x1000/8:w */
	if (strncmp(list, "mem:", strlen("mem:")) == 0)
		return strcspn(list, ",");
	for (; list[length] && (list[length] != ',' || is_inside); length++) {
		if (list[length] == '/')
			is_inside = !is_inside || !split_closes_terms(&list[length]);
	}
	return length;
}

int ps__event_split(const char *list, const char **rest, const char **name, size_t *length)
{
	const char *first = *rest;

	if (!first)
		return 0;
	first += strspn(first, BLANKS);
	size_t size = split_first_length(first);
	const char *behind = first[size] ? first + size + 1 : NULL;
	while (size && strchr(BLANKS, first[size - 1]))
		size--;
	if (size && *first == '{')
		return ps__fail(
		    PS_EINVAL,
		    "no group begins here, in '%s': leave the braces out; all events are "
		    "one group, as far as the counters permit it",
		    list);
	if (size == 0)
		return ps__fail(PS_EINVAL, "an event's name is missing in '%s'", list);
	*name = first;
	*length = size;
	*rest = behind;
	return 1;
}

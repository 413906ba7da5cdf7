/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups in a list of events, in perf's notation: {cycles,instructions}:u are counted together;
 * {...}:W only if possible. */
#include "tools/names_group.h"
#include "event/event.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <string.h>

/* Returns the end of a group: the first '}' that is followed by a comma, by modifiers, or by the
 * end of the list. Other '}' belong to names. If there is no such '}', returns the last one; NULL
 * if there is none. */
static const char *group_find_end(const char *text)
{
	for (const char *end = strchr(text, '}'); end; end = strchr(end + 1, '}')) {
		const char *behind = end + 1 + strspn(end + 1, TOOL_BLANKS);
		if (*behind == '\0' || *behind == ',' || end[1] == ':')
			return end;
	}
	return strrchr(text, '}');
}

static int group_complain_of_letter(const struct tool_group *group, char letter)
{
	return tool_complain("'%c' is no modifier of a group, in '%s': these are " PS__MODIFIERS
	                     ", and W (the group may be split)",
	                     letter, group->text);
}

/* Reads the modifiers after the colon. Returns their end, or NULL after a complaint. */
static const char *group_read_modifiers(struct tool_group *group, const char *at)
{
	size_t count = 0;

	if (*at != ':')
		return at;
	for (at++; *at && *at != ',' && !strchr(TOOL_BLANKS, *at); at++) {
		if (*at == 'W') {
			group->is_weak = true;
		} else if (!ps__modifier_is(*at)) {
			group_complain_of_letter(group, *at);
			return NULL;
		} else if (!memchr(group->letters, *at, count)) {
			group->letters[count++] = *at;
		}
	}
	if (count == 0 && !group->is_weak) {
		tool_complain("no modifier follows the colon, in '%s'", group->text);
		return NULL;
	}
	return at;
}

/* Returns the number of modifiers at the end of a name; 0 if the letters aren't modifiers. */
static size_t group_count_letters(const char *name, size_t length)
{
	size_t count = 0;

	while (count < length && ps__modifier_is(name[length - 1 - count]))
		count++;
	bool are_modifiers =
	    count > 0 && count < length && strchr(":/", name[length - 1 - count]) != NULL;
	return are_modifiers ? count : 0;
}

size_t tool_group_name(const struct tool_group *group, const char *name, size_t length,
                       char text[TOOL_GROUP_NAME])
{
	size_t own = group_count_letters(name, length);
	size_t end = length < PS__EVENT_NAME_MAX ? length : PS__EVENT_NAME_MAX;

	memcpy(text, name, end);
	/* A name too long for an event is left as it is: adding it to a set fails with the
	 * reason. */
	if (end < length || !*group->letters)
		return end;
	if (own == 0 && name[length - 1] != '/')
		text[end++] = ':';
	for (const char *letter = group->letters; *letter; letter++) {
		if (!memchr(name + length - own, *letter, own))
			text[end++] = *letter;
	}
	return end;
}

const char *tool_group_read(struct tool_group *group, const char *text)
{
	*group = (struct tool_group){.text = text};
	const char *end = group_find_end(group->text);

	if (!end) {
		tool_complain("the brace of '%s' is not closed: write {EVENT,EVENT,...}",
		              group->text);
		return NULL;
	}
	group->inner = group->text + 1;
	group->inner_length = (size_t)(end - group->inner);
	if (group->inner + strspn(group->inner, TOOL_BLANKS) == end) {
		tool_complain("the group of '%s' has no event", group->text);
		return NULL;
	}
	if (memchr(group->inner, '{', group->inner_length)) {
		tool_complain("a group within a group, in '%s': close the first one before",
		              group->text);
		return NULL;
	}
	const char *behind = group_read_modifiers(group, end + 1);
	if (!behind)
		return NULL;
	behind += strspn(behind, TOOL_BLANKS);
	if (*behind == '\0' || *behind == ',')
		return behind;
	tool_complain("'%s' stands behind a group of events, where a comma is expected", behind);
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of event names and patterns of tracepoints, as -e takes them. */
#include "base/os.h"
#include "base/vector.h"
#include "event/event.h"
#include "tools/names_group.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int names_append(struct tool_names *names, const char *name, size_t length)
{
	if (!PS__VECTOR_GROW(&names->names, names->count, &names->room) ||
	    !(names->names[names->count] = ps__os_strndup(name, length)))
		return tool_complain("out of memory");
	names->count++;
	return 0;
}

int tool_names_append(struct tool_names *names, const char *name)
{
	return names_append(names, name, strlen(name));
}

int tool_names_split(struct tool_names *names, const char *option, const char *list)
{
	for (const char *at = list;; at++) {
		at += strspn(at, TOOL_BLANKS);
		size_t length = strcspn(at, ","), kept = length;
		while (kept && strchr(TOOL_BLANKS, at[kept - 1]))
			kept--;
		if (kept == 0)
			return tool_complain("%s: a name is missing in '%s'", option, list);
		if (names_append(names, at, kept) < 0)
			return -1;
		at += length;
		if (!*at)
			return 0;
	}
}

bool tool_name_is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/* A pattern such as "sched:sched_wak*:u", split into the pattern and the modifiers for each
 * event. */
struct pattern {
	struct tool_names *names;
	char *text;
	const char *modifiers;
	bool has_failed;
};

static int names_add_match(const struct ps_event_info *info, void *context)
{
	struct pattern *pattern = context;
	char *name;

	if (fnmatch(pattern->text, info->name, 0) != 0)
		return 0;
	size_t length = strlen(info->name) + strlen(pattern->modifiers);
	name = ps__os_calloc(1, length + 1);
	if (!name) {
		tool_complain("out of memory");
		return pattern->has_failed = true;
	}
	stpcpy(stpcpy(name, info->name), pattern->modifiers);
	pattern->has_failed = names_append(pattern->names, name, length) < 0;
	ps__os_free(name);
	return pattern->has_failed;
}

static int names_compare(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Adds all tracepoints that match, sorted by name. If none matches, adds the pattern itself: adding
 * it to a set then fails with the reason. */
static int names_add_pattern(struct tool_names *names, const char *name, size_t length)
{
	struct pattern pattern = {
	    .names = names, .text = ps__os_strndup(name, length), .modifiers = ""};
	size_t before = names->count;
	char *system_end = pattern.text ? strchr(pattern.text, ':') : NULL;
	char *modifiers = system_end ? strchr(system_end + 1, ':') : NULL;
	int result = 0;

	if (!pattern.text)
		return tool_complain("out of memory");
	if (modifiers) {
		pattern.modifiers = strdupa(modifiers);
		*modifiers = '\0';
	}
	if (ps__tracepoint_list(names_add_match, &pattern) < 0 && !pattern.has_failed) {
		tool_complain_detail();
		pattern.has_failed = true;
	}
	ps__os_free(pattern.text);
	if (pattern.has_failed)
		result = -1;
	else if (names->count == before)
		result = names_append(names, name, length);
	else
		qsort(names->names + before, names->count - before, sizeof *names->names,
		      names_compare);
	return result;
}

/* True for a pattern of tracepoints. Other names don't have a ':' together with '*', '?' or '[', or
 * they have a '/'. */
static bool names_is_pattern(const char *name, size_t length)
{
	const char *colon = memchr(name, ':', length);

	return colon && !memchr(name, '/', length) &&
	       (memchr(name, '*', length) || memchr(name, '?', length) ||
	        memchr(name, '[', length));
}

static int names_add_one(struct tool_names *names, const char *name, size_t length)
{
	return names_is_pattern(name, length) ? names_add_pattern(names, name, length)
	                                      : names_append(names, name, length);
}

static int names_note_group(struct tool_names *names, size_t first, bool is_weak)
{
	if (!PS__VECTOR_GROW(&names->groups, names->group_count, &names->group_room))
		return tool_complain("out of memory");
	names->groups[names->group_count++] =
	    (struct tool_name_group){.first = first, .end = names->count, .is_weak = is_weak};
	return 0;
}

static int names_add_members(struct tool_names *names, const struct tool_group *group)
{
	char *list = ps__os_strndup(group->inner, group->inner_length);
	const char *rest = list, *name;
	char text[TOOL_GROUP_NAME];
	size_t length;
	int found;

	if (!list)
		return tool_complain("out of memory");
	while ((found = ps__event_split(list, &rest, &name, &length)) > 0) {
		length = tool_group_name(group, name, length, text);
		if (names_add_one(names, text, length) < 0)
			break;
	}
	if (found < 0)
		tool_complain_detail();
	ps__os_free(list);
	return found == 0 ? 0 : -1;
}

/* Adds the group at *rest, and moves *rest behind the comma after it; NULL at the end of the
 * list. */
static int names_add_group(struct tool_names *names, const char **rest)
{
	struct tool_group group;
	size_t first = names->count;
	const char *behind = tool_group_read(&group, *rest);

	if (!behind || names_add_members(names, &group) < 0 ||
	    names_note_group(names, first, group.is_weak) < 0)
		return -1;
	*rest = *behind ? behind + 1 : NULL;
	return 0;
}

int tool_names_add(struct tool_names *names, const char *list)
{
	const char *rest = list, *name;
	size_t length;
	int found = 1;

	while (found > 0) {
		if (rest)
			rest += strspn(rest, TOOL_BLANKS);
		if (rest && *rest == '{') {
			if (names_add_group(names, &rest) < 0)
				return -1;
			continue;
		}
		found = ps__event_split(list, &rest, &name, &length);
		if (found > 0 && names_add_one(names, name, length) < 0)
			return -1;
	}
	return found < 0 ? tool_complain_detail() : 0;
}

void tool_names_clear(struct tool_names *names)
{
	for (size_t index = 0; index < names->count; index++)
		ps__os_free(names->names[index]);
	ps__os_free(names->names);
	ps__os_free(names->groups);
	*names = (struct tool_names){0};
}

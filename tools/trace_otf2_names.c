/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of an OTF2 archive: names get numbers, and tracks become locations. */
#include "base/hash.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/trace_otf2.h"

#include <string.h>

/* Returns the entry of the text, or the free entry where it belongs. The table always has a free
 * entry. */
static struct tool_otf2_name *names_find_place(struct tool_otf2_name *names, size_t room,
                                               const char *text)
{
	uint64_t hash = ps__hash_of(text);
	size_t at = (size_t)(hash ^ hash >> 32) & (room - 1);

	while (names[at].text && strcmp(names[at].text, text) != 0)
		at = (at + 1) & (room - 1);
	return &names[at];
}

/* Keeps at least half of the table free. */
static bool names_make_room(struct tool_otf2 *otf2)
{
	size_t room = otf2->names.room ? 2 * otf2->names.room : 64;

	if (2 * (otf2->names.count + 1) <= otf2->names.room)
		return true;
	struct tool_otf2_name *names = ps__os_calloc(room, sizeof *names);
	if (!names)
		return false;
	for (size_t at = 0; at < otf2->names.room; at++) {
		if (otf2->names.places[at].text)
			*names_find_place(names, room, otf2->names.places[at].text) =
			    otf2->names.places[at];
	}
	ps__os_free(otf2->names.places);
	otf2->names.places = names;
	otf2->names.room = room;
	return true;
}

OTF2_StringRef tool_otf2_string(struct tool_otf2 *otf2, const char *text)
{
	if (!names_make_room(otf2)) {
		otf2->trace.failed = true;
		return 0;
	}
	struct tool_otf2_name *name = names_find_place(otf2->names.places, otf2->names.room, text);
	if (name->text)
		return name->number;
	char *copy = ps__os_strdup(text);
	if (!copy) {
		otf2->trace.failed = true;
		return 0;
	}
	*name = (struct tool_otf2_name){copy, (OTF2_StringRef)otf2->names.count++};
	tool_otf2_check(otf2,
	                OTF2_GlobalDefWriter_WriteString(otf2->definitions, name->number, text));
	return name->number;
}

OTF2_RegionRef tool_otf2_region(struct tool_otf2 *otf2, const char *text)
{
	OTF2_StringRef name = tool_otf2_string(otf2, text), none = tool_otf2_string(otf2, "");

	for (size_t region = 0; region < otf2->region_count; region++) {
		if (otf2->regions[region] == name)
			return (OTF2_RegionRef)region;
	}
	if (!PS__VECTOR_GROW(&otf2->regions, otf2->region_count, &otf2->region_room)) {
		otf2->trace.failed = true;
		return 0;
	}
	OTF2_RegionRef region = (OTF2_RegionRef)otf2->region_count++;
	otf2->regions[region] = name;
	tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteRegion(otf2->definitions, region, name,
	                                                       name, none, OTF2_REGION_ROLE_CODE,
	                                                       OTF2_PARADIGM_USER,
	                                                       OTF2_REGION_FLAG_NONE, none, 0, 0));
	return region;
}

OTF2_AttributeRef tool_otf2_attribute(struct tool_otf2 *otf2, const char *text, OTF2_Type type)
{
	OTF2_StringRef name = tool_otf2_string(otf2, text), none = tool_otf2_string(otf2, "");

	for (size_t index = 0; index < otf2->attribute_count; index++) {
		if (otf2->attributes[index].name == name && otf2->attributes[index].type == type)
			return (OTF2_AttributeRef)index;
	}
	if (!PS__VECTOR_GROW(&otf2->attributes, otf2->attribute_count, &otf2->attribute_room)) {
		otf2->trace.failed = true;
		return 0;
	}
	OTF2_AttributeRef attribute = (OTF2_AttributeRef)otf2->attribute_count++;
	otf2->attributes[attribute] = (struct tool_otf2_attribute){name, type};
	tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteAttribute(otf2->definitions, attribute,
	                                                          name, none, type));
	return attribute;
}

void tool_otf2_clear_names(struct tool_otf2 *otf2)
{
	for (size_t at = 0; at < otf2->names.room; at++)
		ps__os_free(otf2->names.places[at].text);
	ps__os_free(otf2->names.places);
	ps__os_free(otf2->regions);
	ps__os_free(otf2->attributes);
}

/* Returns the location group of a track, which is its outermost ancestor: a process, or all
 * hardware threads.
 */
static OTF2_LocationGroupRef names_group_of(const struct tool_otf2 *otf2, uint64_t track)
{
	while (otf2->tracks[track].parent)
		track = otf2->tracks[track].parent - 1;
	return otf2->tracks[track].number;
}

/* Returns a name such as "CPU 3, thread 12: request", made of the tracks between the group and the
 * location. */
static OTF2_StringRef full_name(struct tool_otf2 *otf2, uint64_t track)
{
	const struct tool_otf2_track *tracks = otf2->tracks;
	struct ps__buffer name = {0};
	const char *texts[2] = {NULL, NULL};

	for (size_t at = 0; at < otf2->names.room; at++) {
		if (!otf2->names.places[at].text)
			continue;
		if (otf2->names.places[at].number == tracks[track].name)
			texts[1] = otf2->names.places[at].text;
		if (tracks[track].parent && tracks[tracks[track].parent - 1].parent &&
		    otf2->names.places[at].number == tracks[tracks[track].parent - 1].name)
			texts[0] = otf2->names.places[at].text;
	}
	ps__buffer_add(&name, "%s%s%s", texts[0] ? texts[0] : "", texts[0] ? ", " : "",
	               texts[1] ? texts[1] : "");
	OTF2_StringRef number = tool_otf2_string(otf2, ps__buffer_text(&name));
	otf2->trace.failed |= name.failed;
	ps__buffer_clear(&name);
	return number;
}

static void define_metric(struct tool_otf2 *otf2, uint64_t track)
{
	const struct tool_otf2_track *counter = &otf2->tracks[track];
	OTF2_MetricMemberRef member = counter->number;
	OTF2_StringRef none = tool_otf2_string(otf2, "");

	tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteMetricMember(
				  otf2->definitions, member, counter->name, none,
				  OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START,
				  counter->type, OTF2_BASE_DECIMAL, 0, counter->unit));
	tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteMetricClass(
				  otf2->definitions, counter->number, 1, &member,
				  OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
}

void tool_otf2_define(struct tool_otf2 *otf2)
{
	OTF2_StringRef machine = tool_otf2_string(otf2, "machine");
	uint64_t count = otf2->trace.tracks;

	tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteClockProperties(
				  otf2->definitions, 1000000000, otf2->first_ns,
				  otf2->last_ns - otf2->first_ns, OTF2_UNDEFINED_TIMESTAMP));
	tool_otf2_check(
	    otf2, OTF2_GlobalDefWriter_WriteSystemTreeNode(otf2->definitions, 0, machine, machine,
	                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
	for (uint64_t track = 0; track < count; track++) {
		if (!otf2->tracks[track].parent)
			tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteLocationGroup(
						  otf2->definitions, otf2->tracks[track].number,
						  otf2->tracks[track].name,
						  OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
						  OTF2_UNDEFINED_LOCATION_GROUP));
	}
	for (uint64_t track = 0; track < count; track++) {
		const struct tool_otf2_track *at = &otf2->tracks[track];
		if (at->kind == PS__TRACE_COUNTER)
			define_metric(otf2, track);
		else if (at->writer)
			tool_otf2_check(otf2, OTF2_GlobalDefWriter_WriteLocation(
						  otf2->definitions, track, full_name(otf2, track),
						  OTF2_LOCATION_TYPE_CPU_THREAD, at->events,
						  names_group_of(otf2, track)));
	}
}

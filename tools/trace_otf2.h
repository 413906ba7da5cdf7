/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the OTF2 writer. Definitions are written at the end. */
#ifndef PS_TOOLS_TRACE_OTF2_H
#define PS_TOOLS_TRACE_OTF2_H

#include "output/trace.h"

#include <otf2/otf2.h>

#define TOOL_OTF2_MOST_DEPTH 8

struct tool_otf2_track {
	enum ps__trace_kind kind;
	uint64_t parent;
	OTF2_StringRef name, unit;
	uint32_t number;        /* index among the counters, or among the tracks without a parent */
	OTF2_Type type;         /* of a counter's values */
	OTF2_EvtWriter *writer; /* NULL: the track has no events */
	uint64_t events, last_ns;
	OTF2_RegionRef open[TOOL_OTF2_MOST_DEPTH]; /* open slices, outermost first */
	size_t depth;
};

/* An entry of a hash table with open addressing. */
struct tool_otf2_name {
	char *text; /* NULL: free entry */
	OTF2_StringRef number;
};

struct tool_otf2_names {
	struct tool_otf2_name *places;
	size_t count, room; /* a power of two */
};

struct tool_otf2_attribute {
	OTF2_StringRef name;
	OTF2_Type type;
};

struct tool_otf2 {
	struct ps__trace trace; /* the first member, because a pointer to it is also a pointer to
	                         * this struct */
	char *path, *part;
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *definitions;
	OTF2_ErrorCode code; /* of the first failure */
	uint64_t first_ns, last_ns;
	struct tool_otf2_track *tracks;
	size_t track_room;
	uint32_t counters, groups; /* number of tracks of each kind */
	struct tool_otf2_names names;
	OTF2_StringRef *regions; /* names of the regions */
	size_t region_count, region_room;
	struct tool_otf2_attribute *attributes;
	size_t attribute_count, attribute_room;
};

/* Keeps the first failure, to report it. After a failure no writer may be called: the library has
 * freed data that it could not write, and would crash. */
static inline void tool_otf2_check(struct tool_otf2 *otf2, OTF2_ErrorCode code)
{
	if (code != OTF2_SUCCESS && otf2->code == OTF2_SUCCESS)
		otf2->code = code;
}

/* trace_otf2_names.c: these functions return the numbers of texts, regions and attributes. A number
 * is defined at its first use. If memory runs out they return 0, and the trace has failed. */
OTF2_StringRef tool_otf2_string(struct tool_otf2 *otf2, const char *text);
OTF2_RegionRef tool_otf2_region(struct tool_otf2 *otf2, const char *name);
OTF2_AttributeRef tool_otf2_attribute(struct tool_otf2 *otf2, const char *name, OTF2_Type type);
void tool_otf2_clear_names(struct tool_otf2 *otf2);
/* Defines the clock, the tree of locations, and the metrics. */
void tool_otf2_define(struct tool_otf2 *otf2);

#endif

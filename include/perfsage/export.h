/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree with its counters, for programs: JSON, CSV, and hwloc's XML in which lstopo draws them as a heat map. */
#ifndef PERFSAGE_EXPORT_H
#define PERFSAGE_EXPORT_H

#include <perfsage/component.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ps_format {
	PS_FORMAT_TEXT = 0, /* what ps_print prints */
	PS_FORMAT_JSON,     /* the tree as one JSON object */
	PS_FORMAT_CSV,      /* RFC 4180: a row for each component and event */
	PS_FORMAT_XML       /* hwloc's XML, with counts as info attributes and colours as lstopoStyle */
};

/** "text", "json", "csv", "xml"; "unknown" for any other number. Never NULL. */
PS_PUBLIC const char *ps_format_name(enum ps_format format);

/**
 * Writes the tree below a component and all its counts in a format that other programs read; ps_export(3) describes
 * every field. The same numbers as ps_component_total's; what is unknown is null or empty, never 0.
 *
 * root: a Machine or any other component (PS_FORMAT_XML: the whole machine is written, and what is below root has
 * colours). stream: stays open, and is flushed.
 * PS_EINVAL: a NULL or no such format. PS_ESYS: the stream could not be written; the detail says why. PS_ENOMEM.
 * Any thread, also while sets are counting. Allocates. PS_FORMAT_XML costs about what loading the topology costs.
 */
PS_PUBLIC int ps_export(struct ps_component *root, enum ps_format format, FILE *stream);

enum ps_export_flag {
	PS_EXPORT_COMPACT = 1 << 0,   /* JSON: all in one line, for a stream of objects; else it's indented */
	PS_EXPORT_NO_HEADER = 1 << 1, /* CSV: without the header row, for rows that are appended */
	PS_EXPORT_NO_IDLE = 1 << 2    /* JSON and CSV: leave out components without a count */
};

/** A field of the caller's: what was run, its elapsed time. A text, or if that is NULL a number. */
struct ps_export_field {
	const char *name;
	const char *text;
	double number; /* NaN and infinities are written as null */
};

/** Start with `struct ps_export_options o = {.size = sizeof o};`: with the rest 0 it's what ps_export writes. */
struct ps_export_options {
	size_t size;         /* sizeof(struct ps_export_options) */
	unsigned flags;      /* OR of enum ps_export_flag */
	unsigned types;      /* OR of PS_TYPE_BITs (<perfsage/print.h>): only these, and root; 0: all. Not for XML */
	int cache_level;     /* as in struct ps_print_options */
	const char *heat_by; /* XML: the event or metric that colours; NULL: the first event that was counted */
	const char *const *metrics; /* names of <perfsage/metric.h> to write beside the events */
	size_t metric_count;
	/* JSON: the members of the object "run". CSV: a column each, after the others, the same in each row. XML: info
	 * attributes of the Machine. TEXT: not written. */
	const struct ps_export_field *fields;
	size_t field_count;
};

/**
 * As ps_export, with options. PS_FORMAT_TEXT takes types, cache_level and metrics, as ps_print_with does.
 *
 * options: NULL for ps_export's output; only read. PS_EINVAL also: a wrong size, an unknown flag, type or level, a metric
 * or a field without a name. PS_ENOEVNT: heat_by is neither an event that was counted below root nor a metric of such
 * events; or
 * there is no such metric. The detail says what there is.
 */
PS_PUBLIC int ps_export_with(struct ps_component *root, enum ps_format format,
                             const struct ps_export_options *options, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif

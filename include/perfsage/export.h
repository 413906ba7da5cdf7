/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree with its counters, for programs: JSON, CSV, and hwloc's XML, which
 * lstopo draws as a heat map.
 */
#ifndef PERFSAGE_EXPORT_H
#define PERFSAGE_EXPORT_H

#include <perfsage/component.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The formats of ps_export. */
enum ps_format {
	PS_FORMAT_TEXT = 0, /* what ps_print prints */
	PS_FORMAT_JSON,     /* the tree as one JSON object */
	PS_FORMAT_CSV,      /* RFC 4180: a row for each component and event */
	PS_FORMAT_XML /* hwloc's XML, with counts as info attributes and colours as lstopoStyle */
};

/**
 * "text", "json", "csv" or "xml"; "unknown" for any other number. Never NULL.
 */
PS_PUBLIC const char *ps_format_name(enum ps_format format);

/**
 * Writes the tree below a component, with all its counts, for other programs.
 *
 * The numbers are those of ps_component_total. An unknown value is null or
 * empty, never 0. If it is certain that the counted tasks have never been on a
 * component, its count is 0. ps_export(3) has the conditions for this 0, and
 * describes every field.
 *
 * root - a Machine or any other component; PS_FORMAT_XML writes the whole
 *     machine, and only components below root have colours
 * format - one of enum ps_format
 * stream - stays open, and is flushed
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or there is no such format
 *   PS_ESYS - the stream could not be written; ps_error_detail() says why
 *   PS_ENOMEM - out of memory
 *
 * Any thread, also while sets are counting. Allocates. PS_FORMAT_XML costs
 * about as much as loading the topology.
 */
PS_PUBLIC int ps_export(struct ps_component *root, enum ps_format format, FILE *stream);

enum ps_export_flag {
	PS_EXPORT_COMPACT = 1 << 0,   /* JSON: one line, for a stream of objects */
	PS_EXPORT_NO_HEADER = 1 << 1, /* CSV: without the header row, for rows that are appended */
	PS_EXPORT_NO_IDLE = 1 << 2    /* JSON and CSV: leave out components without a count */
};

/**
 * A field from the caller, such as the command or its elapsed time.
 *
 * It has a text, or a number if text is NULL.
 */
struct ps_export_field {
	const char *name;
	const char *text;
	double number; /* NaN and infinities are null in JSON, and empty in CSV and XML */
};

/**
 * Options of ps_export_with. If size is set and all other members are 0,
 * ps_export_with writes what ps_export writes.
 *
 * Start with `struct ps_export_options o = {.size = sizeof o};`.
 */
struct ps_export_options {
	size_t size;    /* sizeof(struct ps_export_options) */
	unsigned flags; /* OR of enum ps_export_flag */
	/* OR of PS_TYPE_BITs: root and components of these types; also the unknown Thread if it has
	 * a count. 0: all types. Not for XML */
	unsigned types;
	int cache_level;     /* as in struct ps_print_options. Not for XML */
	const char *heat_by; /* XML: the event or metric that chooses colours; NULL: the first event
	                      */
	const char *const *metrics; /* names of <perfsage/metric.h> to write beside the events */
	size_t metric_count;
	/* JSON: the members of the object "run". CSV: each field is a column behind the other
	 * columns, with the same text in each row. XML: info attributes of the Machine. TEXT: not
	 * written. */
	const struct ps_export_field *fields;
	size_t field_count;
	/* The readings with this timestamp, which ps_read wrote back; 0: the latest of each set */
	uint64_t timestamp;
};

/**
 * Does what ps_export does, with options.
 *
 * PS_FORMAT_TEXT uses types, cache_level, metrics and timestamp, as ps_print_with does.
 *
 * root, format, stream - as for ps_export
 * options - NULL for ps_export's output; only read
 *
 * Errors, besides those of ps_export:
 *   PS_EINVAL - options has a wrong size, or an unknown flag, type or level;
 *       metrics or fields is NULL although its count is not 0, or an entry has no
 *       name. XML: the topology was loaded from a damaged file
 *   PS_ENOEVNT - a name in metrics is not a known metric. XML: heat_by is not an
 *       event counted below root, and not a metric whose events were all counted
 *       there. ps_error_detail() lists the events of the output, or, without a
 *       timestamp, the events that the metric needs
 *   PS_ENOEVST - no event set has a reading with options->timestamp
 */
PS_PUBLIC int ps_export_with(struct ps_component *root, enum ps_format format,
                             const struct ps_export_options *options, FILE *stream);

/**
 * Does what ps_export_with does, into a file: for languages without FILE *.
 *
 * The file appears whole or not at all, as with ps_print_to_path.
 *
 * root, format, options - as for ps_export_with
 * path - a regular file, or none yet
 *
 * Errors: those of ps_export_with; PS_ESYS if the file can't be written.
 */
PS_PUBLIC int ps_export_to_path(struct ps_component *root, enum ps_format format,
                                const struct ps_export_options *options, const char *path);

/**
 * Does what ps_export_with does, to a descriptor.
 *
 * If writing fails, the descriptor can hold part of the text.
 *
 * root, format, options - as for ps_export_with
 * fd - open for writing; stays open
 *
 * Errors: those of ps_export_with; PS_ESYS if the descriptor can't be written.
 */
PS_PUBLIC int ps_export_to_fd(struct ps_component *root, enum ps_format format,
                              const struct ps_export_options *options, int fd);

#ifdef __cplusplus
}
#endif
#endif

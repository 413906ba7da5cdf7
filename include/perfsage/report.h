/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports by region: what ps_paths_create took, as text, JSON or CSV. */
#ifndef PERFSAGE_REPORT_H
#define PERFSAGE_REPORT_H

#include <perfsage/export.h>
#include <perfsage/region.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ps_paths_flag {
	/* text: no SI prefixes. Counts, and times in ns, are whole numbers. An event with a scale,
	 * and a metric, have decimals */
	PS_PATHS_RAW = 1 << 0,
	PS_PATHS_UTF8 = 1 << 1,   /* text: branches of box characters, names in UTF-8 */
	PS_PATHS_COLOUR = 1 << 2, /* text: ANSI escape sequences, for a terminal */
	/* text: without the last lines, which explain signs and words, and list errors in the use
	 * of regions (ps_profile_faults) */
	PS_PATHS_NO_LEGEND = 1 << 3,
	PS_PATHS_COMPACT = 1 << 4,   /* JSON: one line, for a stream of objects */
	PS_PATHS_NO_HEADER = 1 << 5, /* CSV: without the header row, for rows that are appended */
	PS_PATHS_IDLE = 1 << 6       /* with types: also components without a count */
};

/**
 * Options of ps_paths_export.
 *
 * Start with `struct ps_paths_options o = {.size = sizeof o};`. If all other
 * members are 0, each path has its exclusive counts of the whole machine.
 */
struct ps_paths_options {
	size_t size;         /* sizeof(struct ps_paths_options) */
	unsigned flags;      /* OR of enum ps_paths_flag */
	enum ps_share share; /* text: which counts, times and metrics; other formats have both */
	/* Components that get their own numbers. Text: one PS_TYPE_BIT; a block of
	 * lines for each event and metric, a column for each component. JSON and
	 * CSV: OR of PS_TYPE_BITs; parts of each path. 0: only the whole machine */
	unsigned types;
	int cache_level;            /* as in struct ps_print_options */
	size_t width;               /* text: of the terminal, in columns; 0: unlimited */
	const char *const *metrics; /* names of <perfsage/metric.h> to write beside the events */
	size_t metric_count;
	/* JSON: the members of the object "run". CSV: each field is a column behind
	 * the other columns, with the same text in each row. TEXT: not written. */
	const struct ps_export_field *fields;
	size_t field_count;
};

/**
 * Writes the paths of a profile: what was counted in each, and its visits.
 *
 * The numbers are those of ps_path_value, ps_path_visits and ps_path_mark_value.
 * An unknown value is null in JSON, empty in CSV, and a word or an empty cell in
 * text; it is never 0. ps_report(3) describes every field.
 *
 * paths - from ps_paths_create; the profile must still exist
 * format - PS_FORMAT_TEXT, PS_FORMAT_JSON or PS_FORMAT_CSV
 * options - NULL for none; only read
 * stream - stays open, and is flushed
 *
 * Errors:
 *   PS_EINVAL - paths or stream is NULL; there is no such format; options has a
 *       wrong size, an unknown flag, share, type or level, for text more than
 *       one type, or a metric or a field without a name
 *   PS_ENOSUPP - the format is PS_FORMAT_XML, which has no paths
 *   PS_ENOEVNT - no metric has the given name; ps_error_detail() lists the known names. A metric
 *       whose events the profile doesn't count is left out
 *   PS_ESYS - the stream could not be written; ps_error_detail() says why
 *   PS_ECNFLCT - from a signal handler that interrupted a call of a profile, or from a
 *       callback of ps_region_set_slower_than: the call can't read the faults. Text with
 *       PS_PATHS_NO_LEGEND has no faults, and isn't refused
 *   PS_ENOMEM - out of memory
 *
 * Any thread, also while the profile counts. The paths don't change. The faults
 * are those at the time of the call. Allocates. The cost grows with the number of
 * paths and with the number of requested components.
 */
PS_PUBLIC int ps_paths_export(const struct ps_paths *paths, enum ps_format format,
                              const struct ps_paths_options *options, FILE *stream);

/**
 * Does what ps_paths_export does, into a file: for languages without FILE *.
 *
 * The file appears whole or not at all, as with ps_print_to_path.
 *
 * paths, format, options - as for ps_paths_export
 * path - a regular file, or none yet
 *
 * Errors: those of ps_paths_export; PS_ESYS if the file can't be written.
 */
PS_PUBLIC int ps_paths_export_to_path(const struct ps_paths *paths, enum ps_format format,
                                      const struct ps_paths_options *options, const char *path);

/**
 * Does what ps_paths_export does, to a descriptor.
 *
 * If writing fails, a part may have been written.
 *
 * paths, format, options - as for ps_paths_export
 * fd - open for writing; stays open
 *
 * Errors: those of ps_paths_export; PS_ESYS if the descriptor can't be written.
 */
PS_PUBLIC int ps_paths_export_to_fd(const struct ps_paths *paths, enum ps_format format,
                                    const struct ps_paths_options *options, int fd);

/**
 * Writes the machine's tree with what was counted in one path, as ps_export_with
 * does with the readings: text, JSON, CSV, or a heat map of the path.
 *
 * The numbers are those of ps_path_value. A metric that is a share, such as
 * time-share, is the part of the whole count of all paths together. The fields of the run begin
 * with "path": the regions' names as CSV has them in ps_paths_export.
 *
 * path - from ps_paths_create; the profile must still exist
 * share - the counts of the path itself, or also of the paths below it
 * format, options - as for ps_export_with; options->timestamp must be 0
 * stream - stays open, and is flushed
 *
 * Errors: those of ps_export_with. Besides:
 *   PS_EINVAL - path is NULL, there is no such share, or options->timestamp
 *       isn't 0
 *
 * Any thread, also while the profile counts. Allocates. PS_FORMAT_XML costs
 * about as much as loading the topology.
 */
PS_PUBLIC int ps_path_export(const struct ps_path *path, enum ps_share share, enum ps_format format,
                             const struct ps_export_options *options, FILE *stream);

/**
 * Does what ps_path_export does, into a file: for languages without FILE *.
 *
 * The file appears whole or not at all, as with ps_print_to_path.
 *
 * path, share, format, options - as for ps_path_export
 * file - a regular file, or none yet
 *
 * Errors: those of ps_path_export; PS_ESYS if the file can't be written.
 */
PS_PUBLIC int ps_path_export_to_path(const struct ps_path *path, enum ps_share share,
                                     enum ps_format format, const struct ps_export_options *options,
                                     const char *file);

/**
 * Does what ps_path_export does, to a descriptor.
 *
 * If writing fails, a part may have been written.
 *
 * path, share, format, options - as for ps_path_export
 * fd - open for writing; stays open
 *
 * Errors: those of ps_path_export; PS_ESYS if the descriptor can't be written.
 */
PS_PUBLIC int ps_path_export_to_fd(const struct ps_path *path, enum ps_share share,
                                   enum ps_format format, const struct ps_export_options *options,
                                   int fd);

#ifdef __cplusplus
}
#endif

#endif

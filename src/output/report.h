/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every output format starts from: the table of all totals, and what the
 * caller asked for. A format is one function, in the table of export.c, that
 * turns a report into text.
 */
#ifndef PS_OUTPUT_REPORT_H
#define PS_OUTPUT_REPORT_H

#include "output/buffer.h"
#include "output/table.h"

#include <perfsage/export.h>

struct ps__report {
	const struct ps_export_options *options;
	struct ps__table table; /* a format may drop rows of it */
};

/* Text into the buffer, whose own failure is told by ps__buffer_finish; or an
 * error. */
typedef int ps__sink(struct ps__report *report, struct ps__buffer *buffer);

ps__sink ps__text_write; /* text.c */
ps__sink ps__json_write; /* json.c */
ps__sink ps__csv_write;  /* csv.c */
ps__sink ps__xml_write;  /* heat_map.c */

/* export.c: what writes each format of enum ps_format. */
struct ps__path_table;
struct ps__format_sinks {
	const char *name;
	ps__sink *write;
	/* For ps_paths_export: path_table.h; NULL: the format has no paths */
	int (*write_paths)(struct ps__path_table *table, struct ps__buffer *buffer);
	bool has_colours; /* of heat_by */
};

/* NULL: there is no such format. */
const struct ps__format_sinks *ps__format_sinks(enum ps_format format);
/* The format of a name, as ps_format_name has it. False: none has it. */
bool ps__format_find(const char *name, enum ps_format *out);
/* path_export.c: the same among those that ps_paths_export writes. */
bool ps__path_format_find(const char *name, enum ps_format *out);

/* Drops the rows that the caller doesn't want. */
void ps__report_select(struct ps__report *report);

/* Has each of the caller's fields a name? PS_EINVAL, with a sentence that begins with the call's
 * name. */
int ps__report_check_fields(const struct ps_export_field *fields, size_t count, const char *call);

/* "Joules", "ns"; "count" where the value is one. */
const char *ps__report_unit(const char *unit);
bool ps__report_is_known(const struct ps_value *value);
double ps__report_coverage(const struct ps_value *value); /* NaN of what isn't supported */

/* "Thread 5" has 5: the CPU number of a Thread, for all others the number among
 * their like; -1 for the unknown one. */
int ps__report_id(const struct ps_component *component);

#endif

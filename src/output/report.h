/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input of every output format: the table of all totals, and the caller's options. A format is a
 * function, listed in export.c, that turns a report into text.
 */
#ifndef PS_OUTPUT_REPORT_H
#define PS_OUTPUT_REPORT_H

#include "output/buffer.h"
#include "output/table.h"

#include <perfsage/export.h>

struct ps__report {
	const struct ps_export_options *options;
	struct ps__table table; /* a format may drop rows */
};

/* An output format: writes the report into the buffer. Returns PS_OK or an error. A failure of the
 * buffer is reported later, by ps__buffer_finish. */
typedef int ps__sink(struct ps__report *report, struct ps__buffer *buffer);

ps__sink ps__text_write; /* text.c */
ps__sink ps__json_write; /* json.c */
ps__sink ps__csv_write;  /* csv.c */
ps__sink ps__xml_write;  /* heat_map.c */

/* export.c: the functions for each format of enum ps_format. */
struct ps__path_table;
struct ps__format_sinks {
	const char *name;
	ps__sink *write;
	/* For ps_paths_export, see path_table.h; NULL: the format doesn't support paths */
	int (*write_paths)(struct ps__path_table *table, struct ps__buffer *buffer);
	bool has_colours; /* uses the option heat_by */
};

/* Returns NULL for an unknown format. */
const struct ps__format_sinks *ps__format_sinks(enum ps_format format);
/* Finds a format by its name, as ps_format_name returns it. Returns false if there is none. */
bool ps__format_find(const char *name, enum ps_format *out);
/* path_export.c: finds a format, but only one that ps_paths_export supports. */
bool ps__path_format_find(const char *name, enum ps_format *out);

/* Drops the rows that the caller doesn't want. */
void ps__report_select(struct ps__report *report);

/* Checks that each of the caller's fields has a name. Returns PS_EINVAL if not; the error begins
 * with the call's name. */
int ps__report_check_fields(const struct ps_export_field *fields, size_t count, const char *call);

/* Returns "Joules", "ns", ...; "count" for a plain count. */
const char *ps__report_unit(const char *unit);
bool ps__report_is_known(const struct ps_value *value);
double ps__report_coverage(const struct ps_value *value); /* NaN if the event isn't supported */

/* Returns the number in the component's name, 5 for "Thread 5": a Thread's CPU number, else the
 * number among components of its type. -1 for the unknown Thread. */
int ps__report_id(const struct ps_component *component);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the rows of every CSV have, of the tree and of regions. */
#ifndef PS_OUTPUT_CSV_H
#define PS_OUTPUT_CSV_H

#include "analysis/metric.h"
#include "output/buffer.h"

#include <perfsage/export.h>
#include <stdio.h>

/* An event, as its rows name it. */
struct ps__csv_event {
	const char *name;
	const char *unit;
	double scale;
	bool has_no_times; /* enabled_ns and running_ns are empty */
};

/* The first field of a row. */
void ps__csv_add_first(struct ps__buffer *buffer, const char *text);
/* A field behind a comma; one that is unknown is empty. */
void ps__csv_add_field(struct ps__buffer *buffer, const char *text);
void ps__csv_add_double(struct ps__buffer *buffer, double number);
/* The fields status, attribution and flags, behind a comma. */
void ps__csv_add_how(struct ps__buffer *buffer, enum ps_status status,
                     enum ps_attribution attribution, uint32_t flags);

/* The fields event,value,unit,status,attribution,flags,coverage,count,raw,enabled_ns,running_ns,
 * timestamp,kind, behind a comma. An event and a metric may have the same name: kind tells them
 * apart. */
void ps__csv_add_value(struct ps__buffer *buffer, const struct ps__csv_event *event,
                       const struct ps_value *value);
void ps__csv_add_metric(struct ps__buffer *buffer, const char *name,
                        const struct ps__metric *metric, const struct ps_metric_value *value);
/* Every component has the same rows, or those of two runs would not match: without a reading
 * nothing is known but the unit. */
void ps__csv_add_nothing(struct ps__buffer *buffer, const char *name, const char *unit,
                         const char *kind);

/* The last heading in a file of CSV, also one with lines of text between its rows; for free. NULL:
 * there is none, or no memory. */
char *ps__csv_read_heading(FILE *stream);

/* The header, and the end of a row: with the caller's own fields. */
void ps__csv_add_header(struct ps__buffer *buffer, const char *columns,
                        const struct ps_export_field *fields, size_t count);
void ps__csv_end_row(struct ps__buffer *buffer, const struct ps_export_field *fields, size_t count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV fields that the reports by component and by region have in common. */
#ifndef PS_OUTPUT_CSV_H
#define PS_OUTPUT_CSV_H

#include "analysis/metric.h"
#include "output/buffer.h"

#include <perfsage/export.h>
#include <stdio.h>

/* An event as it appears in CSV rows. */
struct ps__csv_event {
	const char *name;
	const char *unit;
	double scale;
	bool has_no_times; /* enabled_ns and running_ns are empty */
};

/* Adds the first field of a row. */
void ps__csv_add_first(struct ps__buffer *buffer, const char *text);
/* Adds a comma and a field. A NaN gives an empty field. */
void ps__csv_add_field(struct ps__buffer *buffer, const char *text);
void ps__csv_add_double(struct ps__buffer *buffer, double number);
/* Adds a comma and the fields status, attribution and flags. */
void ps__csv_add_how(struct ps__buffer *buffer, enum ps_status status,
                     enum ps_attribution attribution, uint32_t flags);

/* Adds a comma and the fields
 * event,value,unit,status,attribution,flags,coverage,count,raw,enabled_ns,running_ns,
 * timestamp,kind. kind tells an event from a metric of the same name. */
void ps__csv_add_value(struct ps__buffer *buffer, const struct ps__csv_event *event,
                       const struct ps_value *value);
void ps__csv_add_metric(struct ps__buffer *buffer, const char *name,
                        const struct ps__metric *metric, const struct ps_metric_value *value);
/* Adds the same fields for a component without a reading: all fields but name, unit and kind are
 * empty. Every component has the same rows, so that the rows of two runs match. */
void ps__csv_add_nothing(struct ps__buffer *buffer, const char *name, const char *unit,
                         const char *kind);

/* Returns the last heading in a CSV file, which may have lines of text between its rows. The caller
 * frees it. NULL if there is no heading or no memory. */
char *ps__csv_read_heading(FILE *stream);

/* Adds the header. ps__csv_end_row ends a row. Both append the caller's own fields. */
void ps__csv_add_header(struct ps__buffer *buffer, const char *columns,
                        const struct ps_export_field *fields, size_t count);
void ps__csv_end_row(struct ps__buffer *buffer, const struct ps_export_field *fields, size_t count);

#endif

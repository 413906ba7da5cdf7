/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the counts of one run or interval of perfsage stat. */
#ifndef PS_TOOLS_STAT_SHOW_H
#define PS_TOOLS_STAT_SHOW_H

#include "tools/stat_footer.h"

#include <perfsage/export.h>

/* Adds the reports of --regions, and lines of the footer that tell which part of the CPU time the
 * reports cover. cpu_s: as in stat_regions_describe. Returns -1 after a complaint. */
int stat_show_reports(const struct stat_output *output, double cpu_s, struct ps__buffer *out,
                      struct ps__buffer *lines);
/* Writes the reports as JSON or CSV; complains on stderr about missing ones. */
int stat_show_regions_data(const struct stat_output *output, double cpu_s);

/* Shows a whole run, or the counts of an interval. */
int stat_show(struct stat_output *output, struct stat_count *count, const struct stat_facts *facts);

/* stat_export.c: output for programs. perfsage-stat(1) describes its members. */

/* Facts about a run as fields of JSON ("run") and columns of CSV. */
struct stat_fields {
	struct ps_export_field *fields;
	size_t count, room;
	struct ps_export_field *task_columns; /* process, task, cpu; NULL: not needed */
	bool has_failed;                      /* memory ran out: some fields are missing */
	struct ps__buffer target;             /* fields point at it */
	struct stat_quality quality;
	bool has_quality;
};

/* Returns -1 after a complaint; there is then nothing to clear. */
int stat_fields_create(struct stat_fields *fields, const struct stat_output *output,
                       struct stat_count *count, const struct stat_facts *facts);
void stat_fields_clear(struct stat_fields *fields);

#endif

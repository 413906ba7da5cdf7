/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a run, as fields of JSON ("run") and columns of CSV. perfsage(1) lists them. */
#ifndef PS_TOOLS_STAT_FIELDS_H
#define PS_TOOLS_STAT_FIELDS_H

#include "tools/stat_quality.h"
#include "tools/stat_show.h"

#define STAT_MOST_FIELDS 20

struct stat_fields {
	struct ps_export_field fields[STAT_MOST_FIELDS];
	size_t count;
	struct ps__buffer target; /* fields point at it */
	struct stat_quality quality;
	bool has_quality;
};

void stat_fields_create(struct stat_fields *fields, const struct stat_output *output, struct stat_count *count,
                        const struct stat_facts *facts);
void stat_fields_clear(struct stat_fields *fields);

#endif

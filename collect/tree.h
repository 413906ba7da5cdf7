/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's tree of a region's paths, in the place of a table of all paths. */
#ifndef PS_COLLECT_TREE_H
#define PS_COLLECT_TREE_H

#include "collect/report.h"
#include "output/buffer.h"

#include <perfsage/export.h>
#include <stdio.h>

/* What a report writes beside the counts. */
struct collect_run {
	const char *const *metrics;
	size_t metric_count;
	const struct ps_export_field *fields;
	size_t field_count;
	bool is_continued; /* CSV: there are rows already. Text of a tree: there is another */
};

/*
 * Writes the tree of each path that ends in one of settings->regions, with the regions in it. Names
 * are as ps_paths_export writes them in CSV. Text has the trees one below the other, JSON a line
 * for each, CSV a column "path". Text also says for which name there is no path. PS_ESYS,
 * PS_ENOMEM.
 */
int collect_tree_write(const struct collect_report *report, const struct collect_run *run,
                       FILE *stream);

/* Adds a line for each of settings->regions that no path ends in, with the names that there are. */
void collect_tree_find_missing(const struct collect_report *report, struct ps__buffer *out);

#endif

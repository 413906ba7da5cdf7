/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's tree of a region's paths. A report has it instead of the table of all paths. */
#ifndef PS_COLLECT_TREE_H
#define PS_COLLECT_TREE_H

#include "collect/report.h"
#include "output/buffer.h"

#include <perfsage/export.h>
#include <stdio.h>

/* Data that a report writes beside the counts. */
struct collect_run {
	const char *const *metrics;
	size_t metric_count;
	const struct ps_export_field *fields;
	size_t field_count;
	bool is_continued; /* true if rows (CSV) or another tree (text) come before */
};

/*
 * Writes a tree for each path that ends in one of settings->regions, with the regions inside it.
 * Names are written as ps_paths_export writes them in CSV. In text the trees follow each other, in
 * JSON each has a line, in CSV a column "path" tells them apart. Text also names the regions for
 * which there is no path. PS_ESYS, PS_ENOMEM.
 */
int collect_tree_write(const struct collect_report *report, const struct collect_run *run,
                       FILE *stream);

/* Adds a line for each of settings->regions in which no path ends, with the names that exist. */
void collect_tree_find_missing(const struct collect_report *report, struct ps__buffer *out);

#endif

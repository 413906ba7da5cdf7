/* SPDX-License-Identifier: BSD-3-Clause */
/* The last lines of JSON: means of runs, totals of intervals. perfsage(1) describes their members. */
#ifndef PS_TOOLS_STAT_EXPORT_H
#define PS_TOOLS_STAT_EXPORT_H

#include "tools/stat_runs.h"
#include "tools/stat_tally.h"

void stat_export_means(struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output);
void stat_export_total(struct stat_tally *tally, const struct stat_facts *facts, const struct stat_output *output);

#endif

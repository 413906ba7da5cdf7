/* SPDX-License-Identifier: BSD-3-Clause */
/* What perfsage stat shows of several runs, or of all intervals of one: text or a line of JSON. */
#ifndef PS_TOOLS_STAT_SUMS_H
#define PS_TOOLS_STAT_SUMS_H

#include "tools/stat_runs.h"
#include "tools/stat_tally.h"

/* Means, with the deviation of one run. */
void stat_means_show(struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output);
/* All intervals together. */
void stat_total_show(struct stat_tally *tally, const struct stat_facts *facts, const struct stat_output *output);

#endif

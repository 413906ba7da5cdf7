/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the intervals of a run, or means and deviations over several runs, for each component and event. */
#ifndef PS_TOOLS_STAT_TALLY_H
#define PS_TOOLS_STAT_TALLY_H

#include "output/table.h"
#include "tools/stat_metrics.h"
#include "tools/stat_quality.h"
#include "tools/stat_show.h"

struct stat_tally {
	struct ps_topology *topology; /* of the first run, once that is over: the rows are its components */
	struct ps__table table;       /* sums: values only after stat_tally_finish */
	struct ps__spread *spreads;   /* for each row all events; a run that had nothing there is a 0 */
	struct ps__spread elapsed;
	struct stat_metrics metrics;
	struct stat_quality quality;
	bool is_for_people; /* see stat_metrics_find */
};

/* Others that are added must be of the same machine. -1 after a complaint. */
int stat_tally_create(struct stat_tally *tally, const struct stat_output *output, const struct stat_count *count);
void stat_tally_destroy(struct stat_tally *tally);

/* Adds the latest reading of each component: of an interval, or with has_ended of the end of a run. -1 after a complaint. */
int stat_tally_add(struct stat_tally *tally, struct stat_count *count, bool has_ended);

/* A run is over: takes its topology, if the rows are components of it. */
void stat_tally_keep(struct stat_tally *tally, struct stat_count *count);

/* The sum of a row and event as it is known by now. */
struct ps_value stat_tally_total(const struct stat_tally *tally, size_t row, size_t event);

/* All has been added: makes values of the sums. is_mean: means are shown, not sums. */
void stat_tally_finish(struct stat_tally *tally, bool is_mean);

#endif

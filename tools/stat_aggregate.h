/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the intervals of a run of perfsage stat, or means and deviations over several runs. */
#ifndef PS_TOOLS_STAT_AGGREGATE_H
#define PS_TOOLS_STAT_AGGREGATE_H

#include "tools/stat_footer.h"
#include "tools/stat_metrics.h"

#include <perfsage.h>

struct stat_aggregate {
	/* The topology of the first run, whose components the rows are; owned from the end of this
	 * run on */
	struct ps_topology *topology;
	struct ps__table table; /* sums; has values only after stat_means_show or stat_total_show */
	/* For each row and event: the counts of all runs; 0 for a run without counts there */
	struct ps__spread *spreads;
	/* For each row and event: true if a run's count is unknown */
	bool *has_unknown;
	struct ps__spread elapsed;
	struct stat_metrics metrics;
	struct stat_quality quality;
	const struct stat_options *options; /* which metrics are shown: see stat_metrics_find */
	bool is_for_people;                 /* as in stat_metrics_find */
};

/* Starts with no runs. Returns -1 after a complaint. */
int stat_aggregate_create(struct stat_aggregate *aggregate, const struct stat_output *output,
                          const struct stat_count *count);
void stat_aggregate_destroy(struct stat_aggregate *aggregate);

/* Adds the latest reading of each component: of an interval, or, if has_ended, of the end of a run.
 * Returns 1 if a run was left out, because its tree has other components than the first run's; -1
 * after a complaint. */
int stat_aggregate_add(struct stat_aggregate *aggregate, struct stat_count *count, bool has_ended);

/* Called when a run is over. If the rows are components of the run's topology, takes ownership of
 * it. */
void stat_aggregate_keep(struct stat_aggregate *aggregate, struct stat_count *count);

/* Returns the sum of a row and event so far. */
struct ps_value stat_aggregate_total(const struct stat_aggregate *aggregate, size_t row,
                                     size_t event);

/* Returns the elapsed time of all runs together, in seconds. */
static inline double stat_aggregate_s(const struct stat_aggregate *aggregate)
{
	return aggregate->elapsed.mean * (double)aggregate->elapsed.samples;
}

/* Counts how the runs of a command ended; shown beside their means. */

#define STAT_MOST_KINDS 8

/* Runs that ended with the same status. */
struct stat_run_kind {
	int status;
	long long count;
	long long first; /* number of the first such run, from 1 */
};

struct stat_runs {
	struct stat_run_kind kinds[STAT_MOST_KINDS]; /* statuses other than 0 */
	size_t kind_count;
	long long others; /* number of runs with statuses that are not in kinds */
	long long failed;
	long long counted;
	long long left_out;    /* number of the counted runs that stat_aggregate_add left out */
	long long interrupted; /* number of the run that is left out because of a signal; 0: none */
	int signal;            /* the signal that interrupted it */
};

/* Adds a run that has ended. Returns false if it must not be counted, because perfsage got a signal
 * in it. */
bool stat_runs_add(struct stat_runs *runs, const struct stat_facts *facts);
/* Notes the exit status of a run that is in the means. */
void stat_runs_add_status(struct stat_runs *runs, const struct stat_facts *facts);

/* Shows means, with the standard deviation of one run. Like the three functions below, returns -1
 * after a complaint. */
int stat_means_show(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                    const struct stat_output *output);
/* Shows the sum of all intervals. */
int stat_total_show(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                    const struct stat_output *output);

int stat_export_means(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                      const struct stat_output *output);
int stat_export_total(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                      const struct stat_output *output);

#endif

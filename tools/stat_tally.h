/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the intervals of a run, or means and deviations over several runs, for each component and event. */
#ifndef PS_TOOLS_STAT_TALLY_H
#define PS_TOOLS_STAT_TALLY_H

#include "tools/stat_metrics.h"
#include "tools/stat_quality.h"
#include "tools/stat_show.h"

/* Of one component and event; or of the elapsed times. */
struct stat_cell {
	bool is_seen; /* counted here at least once; a run that had nothing here is a 0 */
	size_t samples;
	double mean;    /* with squares: Welford's, which loses no digits */
	double squares; /* of the distances from the mean */
	double least, most;
	struct ps_value sum; /* as the library merges parts: a value only after ps__value_finish */
	size_t parts;
};

struct stat_tally_row {
	char *name;
	const char *type;
	int id;
	int depth;
	unsigned type_bit;
	int cache_level;
};

struct stat_tally {
	const struct ps_eventset *model;
	size_t event_count;
	struct stat_tally_row *rows; /* the tree, from the machine down */
	size_t row_count;
	struct stat_cell *cells; /* row by row */
	struct ps_value *totals; /* the finished sums; as cells */
	struct stat_cell elapsed;
	struct stat_metrics metrics; /* of the totals */
	struct stat_quality quality;
};

/* The rows are the components of this tree; others that are added must be of the same machine. -1 after a complaint. */
int stat_tally_create(struct stat_tally *tally, const struct stat_output *output, const struct stat_count *count);
void stat_tally_destroy(struct stat_tally *tally);

/* Adds the latest reading of each component: of an interval, or with has_ended of the end of a run. */
void stat_tally_add(struct stat_tally *tally, struct stat_count *count, bool has_ended);
void stat_tally_add_elapsed(struct stat_tally *tally, double seconds);

static inline const struct stat_cell *stat_tally_cell(const struct stat_tally *tally, size_t row, size_t event)
{
	return &tally->cells[row * tally->event_count + event];
}

static inline const struct ps_value *stat_tally_total(const struct stat_tally *tally, size_t row, size_t event)
{
	return &tally->totals[row * tally->event_count + event];
}

/* A metric of a row's sums; false if it can't be told. */
bool stat_tally_metric(const struct stat_tally *tally, size_t row, const char *metric, struct ps_metric_value *out);

/* The deviation of the samples, as one of many runs; NaN for fewer than two. */
double stat_cell_deviation(const struct stat_cell *cell);

/* Is this row among those that are to be shown, and was anything counted there? */
bool stat_table_has(const struct stat_tally *tally, const struct stat_output *output, size_t row);
/* The sums, as a table; or the means, with the deviation in per cent. */
void stat_table_show(const struct stat_tally *tally, const struct stat_output *output, bool shows_means);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the intervals of a run, or means and deviations over several runs, for each component and event. */
#ifndef PS_TOOLS_STAT_TALLY_H
#define PS_TOOLS_STAT_TALLY_H

#include "stat_show.h"

/* Of one component and event. */
struct stat_cell {
	bool is_seen; /* counted here at least once; a run that had nothing here is a 0 */
	size_t samples;
	double sum;
	double mean;    /* with squares: Welford's, which loses no digits */
	double squares; /* of the distances from the mean */
	double least, most;
	enum ps_status status;           /* the weakest */
	enum ps_attribution attribution; /* the weakest */
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
	struct stat_cell elapsed;
};

/* The rows are the components of this tree; others that are added must be of the same machine. -1 after a complaint. */
int stat_tally_create(struct stat_tally *tally, const struct ps_eventset *model, struct ps_component *root);
void stat_tally_destroy(struct stat_tally *tally);

/* Adds the latest reading of each component. */
void stat_tally_add(struct stat_tally *tally, struct ps_component *root);
void stat_tally_add_elapsed(struct stat_tally *tally, double seconds);

/* The deviation of the samples, as one of many runs; 0 for fewer than two. */
double stat_cell_deviation(const struct stat_cell *cell);

/* Is this row among those that are to be shown, and was anything counted there? */
bool stat_table_has(const struct stat_tally *tally, const struct stat_output *output, size_t row);
/* The sums of intervals, as a table. */
void stat_tally_show_sums(const struct stat_tally *tally, const struct stat_output *output);
/* Means, with the deviation in per cent, as a table; as a line of JSON. */
void stat_tally_show_means(const struct stat_tally *tally, const struct stat_output *output);
void stat_tally_export_means(const struct stat_tally *tally, const struct stat_output *output);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The totals of a component and of all components below it, for every event, as the exporters show
 * them. The latest reading of each event set is fetched only once, so all numbers of a table belong
 * together, even while sets are counting.
 */
#ifndef PS_OUTPUT_TABLE_H
#define PS_OUTPUT_TABLE_H

#include "analysis/metric.h"
#include "output/spread.h"

#include <perfsage/paths.h>

struct ps__cell {
	struct ps_value value;           /* as ps_component_total returns it */
	size_t parts;                    /* 0: there is no total */
	bool is_absent;                  /* a known 0: nothing ran there */
	const struct ps__spread *spread; /* the runs' values, of which the mean is shown; NULL for
	                                  * one run */
};

struct ps__row {
	struct ps_component *component;
	size_t parent; /* index of a row; the first row is its own parent */
	int depth;     /* below the first row */
	bool counted;  /* has a total of at least one event */
	bool stays;    /* set by ps__table_select: the row is kept */
	size_t index;  /* the row's new index; if it is dropped, that of its nearest kept
	                * ancestor */
};

/* A column: an event, or an operand of a metric. */
struct ps__table_column {
	struct ps__selector selector;
	enum ps_scope scope; /* the widest scope in any set */
	const char *unit;    /* "" for a plain count */
	double scale;        /* count * scale is in unit */
	bool counts_cpu;     /* counted on CPUs, not for tasks */
};

struct ps__table_metric {
	char name[PS__METRIC_NAME_BYTES]; /* as the user wrote it: "IPC:u" */
	struct ps__metric_ask ask;
	size_t operands[PS__METRIC_MOST_OPERANDS]; /* indexes of columns */
	struct ps_value whole;                     /* for a share: the count of the whole Machine */
	bool has_whole;
};

struct ps__table {
	struct ps_topology *topology;
	/* Parents come first. The unknown Thread comes last if the first row is the Machine */
	struct ps__row *rows;
	size_t row_count;
	/* Number of rows that ps__table_select dropped only because nothing was counted there */
	size_t left_out;
	/* First the events, in the order in which they were added; then the operands of metrics */
	struct ps__table_column *columns;
	size_t event_count;
	size_t column_count;
	struct ps__table_metric *metrics;
	size_t metric_count;
	struct ps__cell *cells; /* row by row */
	uint64_t timestamp;     /* timestamp of the readings shown; 0: the latest */
	/* A sum over runs or intervals, or a path's counts. The topology's residual and cost don't
	 * apply to it */
	bool is_sum;
	/* Number of runs that the cells are summed over; metrics are computed from the means. 0:
	 * one run */
	uint64_t runs;
};

static inline struct ps__cell *ps__table_cell(const struct ps__table *table, size_t row,
                                              size_t column)
{
	return &table->cells[row * table->column_count + column];
}

static inline const char *ps__table_event(const struct ps__table *table, size_t event)
{
	return table->columns[event].selector.name;
}

bool ps__table_has_event(const struct ps__table *table, const char *name);

/* metrics: names, which must outlive the table. PS_ENOEVNT if a metric is unknown; PS_ENOMEM. */
int ps__table_create(struct ps__table *out, struct ps_component *root, const char *const *metrics,
                     size_t metric_count);
/* Makes the table of the readings with a timestamp; 0: the latest. PS_ENOEVST if no set has such a
 * reading. */
int ps__table_create_at(struct ps__table *out, struct ps_component *root,
                        const char *const *metrics, size_t metric_count, uint64_t timestamp);
/* table_path.c: makes the table of what was counted in a path. */
int ps__table_create_of_path(struct ps__table *out, const struct ps_path *path, enum ps_share share,
                             const char *const *metrics, size_t metric_count);
void ps__table_clear(struct ps__table *table);

/* For code that builds a table: adds the rows, and makes an array with the row of each Thread, or
 * PS__TABLE_NO_ROW. The caller frees the array. PS_ENOMEM. */
#define PS__TABLE_NO_ROW SIZE_MAX
int ps__table_add_rows(struct ps__table *table, struct ps_component *root, size_t **row_of_thread);
/* Sums up the columns. The caller has filled in the cells of Threads before. */
void ps__table_finish(struct ps__table *table);

/* True if the count is an estimate because the counts of its hardware threads are estimates. The
 * total of the whole Machine isn't one, because it was counted. ps__table_metric_is_share: true if
 * this holds for one of the metric's operands. */
bool ps__table_is_share(const struct ps__table *table, size_t row, size_t column);
bool ps__table_metric_is_share(const struct ps__table *table, size_t row, size_t metric);

/* Computes a metric in a row; NaN if it is unknown. Returns false if an event that the metric needs
 * wasn't counted in the row. */
bool ps__table_metric(const struct ps__table *table, size_t row, size_t metric,
                      struct ps_metric_value *out);

/* table_metric.c: find the metrics, and add columns for their operands after the events. The table
 * must have room for ps__table_count_operands more columns. */
int ps__table_find_metrics(struct ps__table *table, const char *const *names, size_t count);
size_t ps__table_count_operands(const struct ps__table *table);
void ps__table_add_metrics(struct ps__table *table);
/* Finds the whole count of each metric that is a share. Called after all other sums, so that no
 * share exceeds the whole. */
void ps__table_sum_wholes(struct ps__table *table);

/* The rows that the caller wants to see. */
struct ps__table_view {
	unsigned types;  /* OR of PS_TYPE_BITs; 0: all */
	int cache_level; /* 0: all; PS_CACHE_LAST_LEVEL */
	bool idle;       /* also rows without a count */
};

/* Checks that the types and the cache level exist. Returns PS_EINVAL if not; the error begins with
 * the call's name. */
int ps__table_check_view(const struct ps__table_view *view, const char *call);

/* Checks that no name of a metric is NULL. Returns PS_EINVAL if one is; the error begins with the
 * call's name. */
int ps__table_check_metrics(const char *const *names, size_t count, const char *call);

/*
 * Copies a caller's options, which begin with their size. A program that was compiled with an
 * older, smaller struct (least_bytes) gets zeros for the missing fields. Returns PS_EINVAL for any
 * other size.
 */
int ps__table_take_options(void *out, size_t size_bytes, const void *options, size_t least_bytes,
                           const char *call);

/* Drops the rows that view excludes; the first row stays. Parents and depths then refer to the
 * remaining rows. */
void ps__table_select(struct ps__table *table, const struct ps__table_view *view);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The totals of all components below one, for every event: what the exporters
 * show. Each event set's latest reading is looked at once, so all numbers of a
 * table belong together, also while sets are counting.
 */
#ifndef PS_OUTPUT_TABLE_H
#define PS_OUTPUT_TABLE_H

#include "analysis/metric.h"
#include "output/spread.h"

#include <perfsage/paths.h>

struct ps__cell {
	struct ps_value value;           /* what ps_component_total gives */
	size_t parts;                    /* 0: there is no total */
	bool is_absent;                  /* 0, as there was nothing to count */
	const struct ps__spread *spread; /* NULL, or of several runs: their mean is shown */
};

struct ps__row {
	struct ps_component *component;
	size_t parent; /* a row; the first row is its own */
	int depth;     /* below the first row */
	bool counted;  /* has a total of any event */
	bool stays;    /* ps__table_select's: is it kept */
	size_t index;  /* its row then; the nearest kept row above it, if it is not kept */
};

/* A column: the event or the metric part that its cells sum up. */
struct ps__table_column {
	struct ps__selector selector;
	enum ps_scope scope; /* the widest of all sets */
	const char *unit;    /* "" for a plain count */
	double scale;        /* count * scale is in unit */
	bool counts_cpu;     /* what ran on CPUs, and not tasks */
};

struct ps__table_metric {
	char name[PS__METRIC_NAME_BYTES]; /* as it's written: "IPC:u" */
	struct ps__metric_ask ask;
	size_t operands[PS__METRIC_MOST_OPERANDS]; /* columns */
	struct ps_value whole;                     /* of a share: of the whole Machine */
	bool has_whole;
};

struct ps__table {
	struct ps_topology *topology;
	/* Parents first; the unknown Thread last, if the first row is the Machine */
	struct ps__row *rows;
	size_t row_count;
	/* Rows that ps__table_select dropped only because nothing was counted there */
	size_t left_out;
	/* First the events, in the order in which they came; then what metrics need */
	struct ps__table_column *columns;
	size_t event_count;
	size_t column_count;
	struct ps__table_metric *metrics;
	size_t metric_count;
	struct ps__cell *cells; /* for each row all columns */
	uint64_t timestamp;     /* of the readings that it shows; 0: the latest */
	/* Over runs or intervals, or of a path: what the topology has of its own is not of it */
	bool is_sum;
	/* Cells are sums over so many runs; metrics are those of the means. 0: one run */
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

/* metrics: names, which must live as long as the table. PS_ENOEVNT: there is no
 * such metric. PS_ENOMEM. */
int ps__table_create(struct ps__table *out, struct ps_component *root, const char *const *metrics,
                     size_t metric_count);
/* The same of the readings with a timestamp; 0: the latest. PS_ENOEVST: no set has such one. */
int ps__table_create_at(struct ps__table *out, struct ps_component *root,
                        const char *const *metrics, size_t metric_count, uint64_t timestamp);
/* table_path.c: the same of what was counted in a path. */
int ps__table_create_of_path(struct ps__table *out, const struct ps_path *path, enum ps_share share,
                             const char *const *metrics, size_t metric_count);
void ps__table_clear(struct ps__table *table);

/* For those that make a table: rows, and for each Thread its row or PS__TABLE_NO_ROW, to be freed.
 * PS_ENOMEM. */
#define PS__TABLE_NO_ROW SIZE_MAX
int ps__table_add_rows(struct ps__table *table, struct ps_component *root, size_t **row_of_thread);
/* Sums up the columns, whose cells have the parts of Threads. */
void ps__table_finish(struct ps__table *table);

/* Is this count an estimate because the counts of hardware threads are? The total of the whole
 * Machine was counted. The same for what a metric is made of. */
bool ps__table_is_share(const struct ps__table *table, size_t row, size_t column);
bool ps__table_metric_is_share(const struct ps__table *table, size_t row, size_t metric);

/* A metric in a row; false if what it needs wasn't counted there. NaN if it's
 * unknown. */
bool ps__table_metric(const struct ps__table *table, size_t row, size_t metric,
                      struct ps_metric_value *out);

/* table_metric.c: looks the metrics up, and makes their columns, behind the
 * events: there is room for ps__table_count_operands. */
int ps__table_find_metrics(struct ps__table *table, const char *const *names, size_t count);
size_t ps__table_count_operands(const struct ps__table *table);
void ps__table_add_metrics(struct ps__table *table);
/* Last, so that no share is more than the whole. */
void ps__table_sum_wholes(struct ps__table *table);

/* The rows that the caller wants. */
struct ps__table_view {
	unsigned types;  /* OR of PS_TYPE_BITs; 0: all */
	int cache_level; /* 0: all; PS_CACHE_LAST_LEVEL */
	bool idle;       /* also those without a count */
};

/* Is it one that there is? PS_EINVAL, with a sentence that begins with the
 * call's name. */
int ps__table_check_view(const struct ps__table_view *view, const char *call);

/* Are these names of metrics at all? PS_EINVAL, likewise. */
int ps__table_check_metrics(const char *const *names, size_t count, const char *call);

/*
 * Copies a caller's options, which begin with their size: a program that was compiled with an
 * older, smaller struct (least_bytes) gets zeros for the rest. PS_EINVAL, likewise.
 */
int ps__table_take_options(void *out, size_t size_bytes, const void *options, size_t least_bytes,
                           const char *call);

/* Drops the other rows but the first one. Parents and depths are then among
 * those that are left. */
void ps__table_select(struct ps__table *table, const struct ps__table_view *view);

#endif

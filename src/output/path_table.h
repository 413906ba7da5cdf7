/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths of a profile in rows, with their sums: what the reports by region
 * show. All sums of a component are made at once, in time that grows with the
 * number of paths, however deep they are.
 */
#ifndef PS_OUTPUT_PATH_TABLE_H
#define PS_OUTPUT_PATH_TABLE_H

#include "analysis/metric.h"
#include "output/buffer.h"

#include <perfsage/report.h>

#define PS__SHARES ((size_t)2) /* exclusive, inclusive: by enum ps_share */

/* JSON and CSV have the names of all regions of a path up to this depth: of deeper ones, in a
 * recursion, all names together would grow with the square of the depth. Each path has its
 * parent's number in any case. */
#define PS__PATH_MOST_NAMES ((size_t)64)

struct ps__path_row {
	const struct ps_path *path;
	size_t parent;   /* a row; the first row, the root path, is its own */
	size_t depth;    /* below the root path */
	bool is_unsplit; /* PS__HAS_UNSPLIT of the path, or of one below it */
	uint64_t wall_ns[PS__SHARES];
	uint64_t on_cpu_ns[PS__SHARES]; /* UINT64_MAX: unknown */
};

struct ps__path_sum {
	struct ps_value value;
	size_t parts; /* 0: it isn't known that anything was counted there, or that nothing was */
};

/* The numbers that were given under one name: in a path and those below it. */
struct ps__path_value {
	__int128 sum;
	uint64_t count;
};

struct ps__path_metric {
	char name[PS__METRIC_NAME_BYTES]; /* as it's written: "IPC:u" */
	struct ps__metric_ask ask;
	size_t operands[PS__METRIC_MOST_OPERANDS]; /* events */
	bool has_number;                           /* text: in some line */
};

struct ps__path_table {
	const struct ps_paths_options *options;
	struct ps_profile *profile;
	const struct ps_eventset *model;
	struct ps_component *root; /* of the topology */
	struct ps__path_row *rows; /* parents first: the order of the tree */
	size_t row_count;
	size_t event_count;
	struct ps__path_sum *sums;            /* by row, event and share, of one component */
	const struct ps_component *component; /* whose sums they are */
	struct ps__path_sum *whole;           /* by event: of all paths on the whole machine */
	struct ps__path_sum
	    *everywhere; /* as sums, of the machine; NULL: they tell no 0 elsewhere */
	/* They are of the types that were asked for: those where anything was counted, or all */
	const struct ps_component **components;
	size_t component_count;
	struct ps__path_metric *metrics; /* whose events are counted */
	size_t metric_count;
	const char **names; /* room for those of the deepest path */
	const struct ps_paths *paths;
	size_t value_count;            /* names of numbers that were given */
	struct ps__path_value *values; /* by row and name: inclusive */
	const char *faults;            /* CSV: the field of each row */
};

/* Has the sums of the whole machine. options must live as long, and have been checked.
 * PS_ENOMEM; PS_ENOEVNT: there is no such metric. To be cleared all the same. */
int ps__path_table_create(struct ps__path_table *out, const struct ps_paths *paths,
                          const struct ps_paths_options *options);
void ps__path_table_clear(struct ps__path_table *table);

/* Makes the sums of a component in the place of the last one's. */
void ps__path_table_sum(struct ps__path_table *table, const struct ps_component *component);

static inline struct ps__path_sum *ps__path_table_at(const struct ps__path_table *table, size_t row,
                                                     size_t event, enum ps_share share)
{
	return &table->sums[(row * table->event_count + event) * PS__SHARES + share];
}

/* path_components.c. PS_ENOMEM, or PS_OK. */
int ps__path_table_find_components(struct ps__path_table *table);
/* Is the last component a hardware thread that the tree doesn't have? */
bool ps__path_table_has_elsewhere(const struct ps__path_table *table);
/* Is the sum an estimate, as the share that its component has of a count? The same of a metric with
 * such an operand. */
bool ps__path_table_is_share(const struct ps__path_table *table, size_t row, size_t event,
                             enum ps_share share);
bool ps__path_table_metric_is_share(const struct ps__path_table *table, size_t row,
                                    enum ps_share share, const struct ps__path_metric *metric);

/* The name of the numbers, and their sum in a row's path. */
const char *ps__path_table_value_name(const struct ps__path_table *table, size_t value);
struct ps_mark_value ps__path_table_value(const struct ps__path_table *table, size_t row,
                                          size_t value, enum ps_share share);

/* Puts the names of a path's regions into table->names, outermost first; as many as it is deep. */
size_t ps__path_table_name(struct ps__path_table *table, size_t row);

/* True if one path itself has counts on a component, of any event. */
bool ps__path_table_has_own(const struct ps__path_table *table, size_t row,
                            const struct ps_component *component);

/* Gives what one path itself counted on a component, of the event: also a 0 that is known. */
struct ps__path_sum ps__path_table_own(const struct ps__path_table *table, size_t row,
                                       const struct ps_component *component, size_t event);

/* Computes it from the sums that there are; false if an event it needs wasn't counted there. */
bool ps__path_table_metric(const struct ps__path_table *table, size_t row, enum ps_share share,
                           const struct ps__path_metric *metric, struct ps_metric_value *out);

/* path_faults.c: the faults by the names that JSON and CSV have. why: the reason of the uncounted
 * ones, NULL without. The errors of ps_profile_faults. */
struct ps__path_fault {
	const char *name;
	uint64_t count;
};
#define PS__PATH_FAULTS ((size_t)7)
int ps__path_faults_find(struct ps_profile *profile, struct ps__path_fault out[PS__PATH_FAULTS],
                         const char **why);

/* path_faults.c: a line for each kind of fault that happened, or an error. */
int ps__path_faults_add(const struct ps__path_table *table, struct ps__buffer *lines);

/* A format: text into the buffer, or an error. */
typedef int ps__path_sink(struct ps__path_table *table, struct ps__buffer *buffer);

ps__path_sink ps__path_text_write; /* path_text.c */
ps__path_sink ps__path_json_write; /* path_json.c */
ps__path_sink ps__path_csv_write;  /* path_csv.c */

#endif

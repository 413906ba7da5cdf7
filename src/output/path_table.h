/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths of a profile in rows, with their sums, for the reports by region. All sums of a
 * component are made at once, in time proportional to the number of paths, whatever their depth.
 */
#ifndef PS_OUTPUT_PATH_TABLE_H
#define PS_OUTPUT_PATH_TABLE_H

#include "analysis/metric.h"
#include "output/buffer.h"

#include <perfsage/report.h>

#define PS__SHARES ((size_t)2) /* exclusive and inclusive; indexed by enum ps_share */

/* The name of an enum ps_share in JSON and CSV. */
static inline const char *ps__share_name(size_t share)
{
	return share == PS_SHARE_INCLUSIVE ? "inclusive" : "exclusive";
}

/* Greatest depth of a path whose region names JSON and CSV list in full. In a recursion, the names
 * of deeper paths would grow with the square of the depth. Every path has its parent's number. */
#define PS__PATH_MOST_NAMES ((size_t)64)

struct ps__path_row {
	const struct ps_path *path;
	size_t parent;   /* index of the parent's row; the first row, the root path, is its own
	                  * parent */
	size_t depth;    /* below the root path */
	bool is_unsplit; /* PS__HAS_UNSPLIT is set for the path or one below it */
	uint64_t wall_ns[PS__SHARES];
	uint64_t on_cpu_ns[PS__SHARES]; /* UINT64_MAX: unknown */
};

struct ps__path_sum {
	struct ps_value value;
	size_t parts; /* 0: unknown whether anything was counted */
};

/* The sum and number of the values that a program passed under one name, in a path and below it. */
struct ps__path_value {
	__int128 sum;
	uint64_t count;
};

struct ps__path_metric {
	char name[PS__METRIC_NAME_BYTES]; /* as the user wrote it: "IPC:u" */
	struct ps__metric_ask ask;
	size_t operands[PS__METRIC_MOST_OPERANDS]; /* indexes of events */
	bool has_number;                           /* used by text: some line shows a number */
};

struct ps__path_table {
	const struct ps_paths_options *options;
	struct ps_profile *profile;
	const struct ps_eventset *model;
	struct ps_component *root; /* the topology's root */
	struct ps__path_row *rows; /* in the tree's order: parents first */
	size_t row_count;
	size_t event_count;
	struct ps__path_sum *sums;            /* of one component, by row, event and share */
	const struct ps_component *component; /* the component that sums belongs to */
	struct ps__path_sum *whole;           /* by event: the sums of all paths on the whole
	                                       * machine */
	struct ps__path_sum *everywhere;      /* the machine's sums; NULL if it is unknown whether a
	                                       * component without parts has a count of 0 */
	/* The components to show: those of the chosen types where anything was counted, or all of
	 * them */
	const struct ps_component **components;
	size_t component_count;
	struct ps__path_metric *metrics; /* those whose events are counted */
	size_t metric_count;
	const char **names; /* space for the names of the deepest path */
	const struct ps_paths *paths;
	size_t value_count;            /* number of names under which the program passed values */
	struct ps__path_value *values; /* by row and name; inclusive */
	const char *faults;            /* used by CSV: the field "faults" of each row */
};

/* Makes the table with the sums of the whole machine. options must have been checked, and must
 * outlive the table. PS_ENOMEM; PS_ENOEVNT if a metric is unknown. The caller clears the table,
 * also after a failure. */
int ps__path_table_create(struct ps__path_table *out, const struct ps_paths *paths,
                          const struct ps_paths_options *options);
void ps__path_table_clear(struct ps__path_table *table);

/* Replaces the sums by those of a component. */
void ps__path_table_sum(struct ps__path_table *table, const struct ps_component *component);

static inline struct ps__path_sum *ps__path_table_at(const struct ps__path_table *table, size_t row,
                                                     size_t event, enum ps_share share)
{
	return &table->sums[(row * table->event_count + event) * PS__SHARES + share];
}

/* path_components.c: PS_OK or PS_ENOMEM. */
int ps__path_table_find_components(struct ps__path_table *table);
/* True if the last component is a hardware thread that isn't in the tree. */
bool ps__path_table_has_elsewhere(const struct ps__path_table *table);
/* True if a component's sum is an estimate because it is a share of a count; for a metric, if one
 * of its operands is. */
bool ps__path_table_is_share(const struct ps__path_table *table, size_t row, size_t event,
                             enum ps_share share);
bool ps__path_table_metric_is_share(const struct ps__path_table *table, size_t row,
                                    enum ps_share share, const struct ps__path_metric *metric);

/* Return the name of a value that the program passed, and its sum in a row's path. */
const char *ps__path_table_value_name(const struct ps__path_table *table, size_t value);
struct ps_mark_value ps__path_table_value(const struct ps__path_table *table, size_t row,
                                          size_t value, enum ps_share share);
/* Returns PS_STATUS_INCOMPLETE if the row's path may lack such values, otherwise PS_STATUS_COUNTED.
 */
enum ps_status ps__path_table_value_status(const struct ps__path_table *table, size_t row);

/* Writes the names of a path's regions into table->names, outermost first. Returns their number. */
size_t ps__path_table_name(struct ps__path_table *table, size_t row);

/* True if the path itself, without those below it, has a count of any event on the component. */
bool ps__path_table_has_own(const struct ps__path_table *table, size_t row,
                            const struct ps_component *component);

/* Returns what the path itself, without those below it, counted on a component. A known 0 has
 * parts. */
struct ps__path_sum ps__path_table_own(const struct ps__path_table *table, size_t row,
                                       const struct ps_component *component, size_t event);

/* Computes a metric from the current sums. Returns false if an event that the metric needs wasn't
 * counted in the row. */
bool ps__path_table_metric(const struct ps__path_table *table, size_t row, enum ps_share share,
                           const struct ps__path_metric *metric, struct ps_metric_value *out);

/* path_faults.c: gives each kind of fault with its name in JSON and CSV. why gets the reason why
 * visits were uncounted; it may be NULL. Returns the errors of ps_profile_faults. */
struct ps__path_fault {
	const char *name;
	uint64_t count;
};
#define PS__PATH_FAULTS ((size_t)7)
int ps__path_faults_find(struct ps_profile *profile, struct ps__path_fault out[PS__PATH_FAULTS],
                         const char **why);

/* path_faults.c: adds a line for each kind of fault that happened. Returns the errors of
 * ps_profile_faults. */
int ps__path_faults_add(const struct ps__path_table *table, struct ps__buffer *lines);

/* An output format: writes the table into the buffer. Returns PS_OK or an error. */
typedef int ps__path_sink(struct ps__path_table *table, struct ps__buffer *buffer);

ps__path_sink ps__path_text_write; /* path_text.c */
ps__path_sink ps__path_json_write; /* path_json.c */
ps__path_sink ps__path_csv_write;  /* path_csv.c */

#endif

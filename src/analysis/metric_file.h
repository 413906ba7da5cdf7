/* SPDX-License-Identifier: BSD-3-Clause */
/* The sources of metrics: files of groups, built in or loaded, and definitions of the program. */
#ifndef PS_ANALYSIS_METRIC_FILE_H
#define PS_ANALYSIS_METRIC_FILE_H

#include "analysis/metric.h"
#include "topology/arena.h"

#include <stdatomic.h>

/* metric_list.c: the list of all metrics, the built-in ones first. Readers follow the list while
 * metrics are added. */

/* metric_names.c: a hash table of the named items of a file. */

struct ps__metric_names {
	struct ps__metric_name *places;
	size_t capacity; /* 0, or a power of two */
	size_t count;
};

/* Finds an item; NULL if there is none. compare: strncmp, or strncasecmp to ignore case. */
void *ps__metric_names_find(const struct ps__metric_names *names, const char *name, size_t length,
                            int (*compare)(const char *, const char *, size_t));
/* Adds an item. The name must live as long as the arena. False if out of memory. */
bool ps__metric_names_add(struct ps__metric_names *names, struct ps__arena *arena, const char *name,
                          size_t length, void *item);

/* The metrics of a file, or one metric that the program defined; they are freed together. */
struct ps__metric_file {
	struct ps__arena arena;
	struct ps__metric_group group;
	struct ps__metric_entry *first, *last;
	struct ps__metric_names names; /* entries of the metrics' first formulas */
	size_t listed;                 /* number of its metrics in the list */
	struct ps__metric_file *older; /* the next older built-in file */
};

struct ps__metric_entry {
	/* Must be the first member: a metric of the list is cast to its entry */
	struct ps__metric metric;
	_Atomic(struct ps__metric_entry *) next; /* next in the list of all metrics */
	struct ps__metric_entry *next_in_file;
	struct ps__metric_file *file;
	/* True for a metric's second and later formulas, which aren't in the list */
	bool is_other_formula;
	/* A later metric has the same name. Readers may see both while a file is added. */
	atomic_bool is_replaced;
};

/* NULL if out of memory, without a detail. */
struct ps__metric_file *ps__metric_file_create(void);
void ps__metric_file_destroy(struct ps__metric_file *file);

/* Reads the built-in metrics, once in a process. PS_ENOMEM. */
int ps__metric_load_builtin(void);
/* metric_define.c: adds the metrics of a file to the list. Any thread. */
void ps__metric_add_file(struct ps__metric_file *file);
/* Adds the metrics of a file at the end of the list; one caller at a time. */
void ps__metric_list_file(struct ps__metric_file *file);
/* Removes from the list the metric that is found under the name; one caller at a time, and no
 * reader. False if no such metric was defined or loaded. *empty: the metric's file if it has no
 * more metrics in the list; else NULL. */
bool ps__metric_unlist(const char *name, struct ps__metric_file **empty);
/* Returns the next metric of the list, without metrics that were replaced; NULL after the last.
 * metric NULL: returns the first. */
const struct ps__metric *ps__metric_next(const struct ps__metric *metric);

/* metric_make.c: makes a metric of a file. */

/* A symbol that a formula may name. name is a part of the file's text, names are copies. */
struct ps__metric_symbol {
	const char *name;
	size_t length;
	const char *names[PS__METRIC_MOST_NAMES + 1]; /* only an event has names */
	double number;                                /* the value, if it has no names */
	unsigned line, column;
	bool is_whole, is_used;
	struct ps__metric_symbol *next; /* next symbol of the file */
};

struct ps__metric_symbols {
	struct ps__metric_symbol *first, *last;
	struct ps__metric_names names;
};

/* Returns the length of the metric's name at the beginning of a text. */
size_t ps__metric_name_length(const char *text);
/* Adds a metric to a file. metric has name, unit, description and text, which live as long as the
 * file. where: the place of the formula, for errors. PS_OK, or a code with a detail. */
int ps__metric_make(struct ps__metric_file *file, const struct ps__metric *metric,
                    const struct ps__metric_symbols *symbols, const struct ps__formula_place *where,
                    struct ps__metric_entry **out);

/* metric_file.c: reads the metrics of a text into a file. path: for errors, and for the group.
 * PS_OK, or a code with a detail. */
int ps__metric_file_parse(struct ps__metric_file *file, const char *path, const char *text);

/* metric_builtin.c, which is made of share/perfsage/metrics. */
struct ps__metric_text {
	const char *name; /* name of the file */
	const char *text;
};
extern const struct ps__metric_text ps__metric_texts[] __attribute__((visibility("hidden")));
extern const size_t ps__metric_text_count __attribute__((visibility("hidden")));

/* metric_events.c: tries the metric's formulas one after the other, and adds all events of the
 * first one that can be counted. After a failure the set is as before. */
int ps__metric_add_events(struct ps_eventset *set, const struct ps__metric_ask *ask);
/* True if the metric, or any metric, has a group of that name; case is ignored. */
bool ps__metric_is_in(const struct ps__metric *metric, const char *group);
bool ps__metric_has_group(const char *group);

#endif

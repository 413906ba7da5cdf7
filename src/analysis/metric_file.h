/* SPDX-License-Identifier: BSD-3-Clause */
/* Where metrics come from: files of groups, built in or loaded, and what the program defines. */
#ifndef PS_ANALYSIS_METRIC_FILE_H
#define PS_ANALYSIS_METRIC_FILE_H

#include "analysis/metric.h"
#include "topology/arena.h"

#include <stdatomic.h>

/* metric_list.c: all metrics, the built-in ones first; readers follow the list while others are
 * added. */

/* metric_names.c: what has a name in a file, in a hash table. */

struct ps__metric_names {
	struct ps__metric_name *places;
	size_t capacity; /* 0, or a power of two */
	size_t count;
};

/* The item of that name; NULL: there is none. compare: strncmp, or strncasecmp for any case. */
void *ps__metric_names_find(const struct ps__metric_names *names, const char *name, size_t length,
                            int (*compare)(const char *, const char *, size_t));
/* The name lives as long as the arena. False for lack of memory. */
bool ps__metric_names_add(struct ps__metric_names *names, struct ps__arena *arena, const char *name,
                          size_t length, void *item);

/* A file of metrics, or one that the program defined; they live and end together. */
struct ps__metric_file {
	struct ps__arena arena;
	struct ps__metric_group group;
	struct ps__metric_entry *first, *last;
	struct ps__metric_names names; /* the entries of first formulas */
	size_t listed;                 /* how many are in the list */
	struct ps__metric_file *older; /* of the built-in ones */
};

struct ps__metric_entry {
	struct ps__metric metric; /* the first member: a metric of the list leads to its entry */
	_Atomic(struct ps__metric_entry *) next; /* in the list of all */
	struct ps__metric_entry *next_in_file;
	struct ps__metric_file *file;
	bool is_other_formula; /* of the metric before: it has no place in the list */
	/* A later one in the list has the name. Readers may meet both while a file is added. */
	atomic_bool is_replaced;
};

/* NULL without a detail: no memory. */
struct ps__metric_file *ps__metric_file_create(void);
void ps__metric_file_destroy(struct ps__metric_file *file);

/* Reads the built-in metrics, once in a process. PS_ENOMEM. */
int ps__metric_load_builtin(void);
/* metric_define.c: the same, for any thread. */
void ps__metric_add_file(struct ps__metric_file *file);
/* At the end, the metrics of a file; one caller at a time. */
void ps__metric_list_file(struct ps__metric_file *file);
/* Takes the metric away that is found under the name. NULL if none was defined or loaded; one
 * caller at a time, and no reader. Returns its file once that has no metric in the list. */
bool ps__metric_unlist(const char *name, struct ps__metric_file **empty);
/* One after the other, NULL for the first and behind the last; without those whose name a later one
 * has. */
const struct ps__metric *ps__metric_next(const struct ps__metric *metric);

/* metric_make.c: a metric of a file. */

/* Something that a formula may name; slices of the file's text. */
struct ps__metric_symbol {
	const char *name;
	size_t length;
	const char *names[PS__METRIC_MOST_NAMES + 1]; /* of an event */
	double number;                                /* if it has no names */
	unsigned line, column;
	bool is_whole, is_used;
	struct ps__metric_symbol *next; /* in the file */
};

struct ps__metric_symbols {
	struct ps__metric_symbol *first, *last;
	struct ps__metric_names names;
};

/* Bytes of a metric's name at the beginning of a text. */
size_t ps__metric_name_length(const char *text);
/* Adds a metric to a file. metric has name, unit, description and text, which live as long as the
 * file; where: of the formula, for errors. */
int ps__metric_make(struct ps__metric_file *file, const struct ps__metric *metric,
                    const struct ps__metric_symbols *symbols, const struct ps__formula_place *where,
                    struct ps__metric_entry **out);

/* metric_file.c: the metrics of a text. path: in errors, and as the group's. PS_EINVAL. */
int ps__metric_file_parse(struct ps__metric_file *file, const char *path, const char *text);

/* metric_builtin.c, which is made of share/perfsage/metrics. */
struct ps__metric_text {
	const char *name; /* of the file */
	const char *text;
};
extern const struct ps__metric_text ps__metric_texts[] __attribute__((visibility("hidden")));
extern const size_t ps__metric_text_count __attribute__((visibility("hidden")));

/* metric_events.c: adds all events of a metric's first formula that can be counted, or none. */
int ps__metric_add_events(struct ps_eventset *set, const struct ps__metric_ask *ask);
/* Has the metric a group of that name, in any case? Has any? */
bool ps__metric_is_in(const struct ps__metric *metric, const char *group);
bool ps__metric_has_group(const char *group);

/* metric_load.c: a file, or those of a folder. */
int ps__metric_load_path(const char *path);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log: the choice of a log's records and intervals, and the actions on them. */
#ifndef PS_TOOLS_LOG_H
#define PS_TOOLS_LOG_H

#include "output/known.h"
#include "tools/options.h"
#include "tools/trace_file.h"

#include <perfsage.h>

enum tool_log_format {
	TOOL_LOG_TEXT,
	TOOL_LOG_CSV,
	TOOL_LOG_JSON
};

/* A point as the user names it: "begin", or "previous:end" for a point of the previous record. */
struct tool_log_point {
	const char *name; /* NULL: the record type's first point (from) or last point (to) */
	bool is_previous;
};

/* How a field's value compares with a condition's. */
enum tool_log_relation {
	TOOL_LOG_LESS = 1,
	TOOL_LOG_EQUAL = 2,
	TOOL_LOG_GREATER = 4
};

/* A condition such as "rows>=100". */
struct tool_log_condition {
	const char *whole;  /* as the user wrote it */
	size_t name_length; /* length of the field's name, at the beginning of whole */
	unsigned relations; /* bits of enum tool_log_relation that meet the condition */
	const char *text;   /* the text after the relation */
	bool is_number;     /* false: text isn't a number */
	long double number;
};

struct tool_log_options {
	const char *path, *type, *group;
	char *output; /* convert's output */
	struct tool_log_point from, to;
	struct tool_log_condition *conditions;
	size_t condition_count;
	struct tool_names events; /* events that the user chose; none: all */
	struct tool_names work;
	/* Types of the components that get rows, and the cache level; 0: none */
	unsigned by;
	int by_level;
	enum tool_log_format format;
	enum tool_trace_format trace_format;
	long long rows; /* most records that show prints as text; 0: as many as fit on a terminal */
	bool has_histogram, has_constant, is_non_negative;
	bool may_mix; /* records of several types may be shown together */
};

/* The user's names as indexes in the record's stream. */
struct tool_log_view {
	size_t stream;
	bool is_chosen;        /* its records have the chosen type */
	uint32_t taken_before; /* the points that were taken for the previous record */
	unsigned from, to;
	ptrdiff_t group;
	unsigned *conditions; /* for each condition: number of its field */
	ptrdiff_t *events;    /* for each of the log's events: index in the stream, or -1 if the
	                       * stream lacks it */
	unsigned *work;
};

struct tool_log {
	struct tool_log_options options;
	struct ps_log_reader *reader;
	struct tool_names events; /* the events that are shown */
	struct ps__look *looks;   /* the notation of each event */
	struct tool_log_view view;
	struct ps_value *values; /* of the stream's events */
	size_t value_room;
};

/* log_condition.c: parses FIELD=VALUE, with = != < <= > or >=. Returns -1 after a complaint. */
int tool_log_add_condition(struct tool_log_options *options, const char *text);
/* Splits the condition after a field's name of this length (a name may contain '=' and the like).
 * Returns false, and changes nothing, if no relation follows. */
bool tool_log_split_condition(struct tool_log_condition *condition, size_t name_length);
bool tool_log_is_met(const struct tool_log_condition *condition, const struct ps_log_value *value);
/* Parses a number in C's notation, with a decimal point in every locale. Returns false unless the
 * whole text is a number. */
bool tool_log_parse_number(const char *text, double *number);

/* log_select.c: opens the file. Returns -1 after a complaint. */
int tool_log_open(struct tool_log *log);
void tool_log_close(struct tool_log *log);
/* Parses "end" or "previous:end". */
struct tool_log_point tool_log_parse_point(const char *text);

typedef int tool_log_visit(struct tool_log *log, const struct ps_log_record *record, void *context);
/* Calls visit for each record of the type that meets the conditions, until visit returns a number
 * other than 0; returns this number, or -1 after a complaint. At the end complains about missing
 * records. */
int tool_log_each(struct tool_log *log, tool_log_visit *visit, void *context);
/* Gets the values of the record's interval, for the log's events. Returns 1; 0 if the record has no
 * such interval, or nothing on the component; -1 after a complaint. An event that the stream lacks
 * has the status "not supported". */
int tool_log_interval(struct tool_log *log, const struct ps_log_record *record,
                      const struct ps_component *component, struct ps_value *values,
                      uint64_t *duration_ns);
/* Gets the values of the log's events from log->values, which ps_log_interval filled. */
void tool_log_choose(const struct tool_log *log, struct ps_value *values);
/* Writes the text of a field, as conditions and groups use it. */
void tool_log_field_text(const struct ps_log_value *value, char *text, size_t size_bytes);

struct ps__json;

/* log_missing.c: called when all records have been read. */
/* True if there were records, and none of them can be read. */
bool tool_log_has_lost_all(const struct tool_log *log);
void tool_log_complain_missing(const struct tool_log *log);
/* Adds "missing" (null if unknown), "dropped", "damaged_blocks" and "end". */
void tool_log_add_missing_json(const struct tool_log *log, struct ps__json *json);
/* Adds the same as CSV fields, each after a comma. */
#define TOOL_LOG_MISSING_COLUMNS ",missing,dropped,damaged_blocks,end"
void tool_log_add_missing_csv(const struct tool_log *log, struct ps__buffer *text);

/* The actions. Each returns an exit status. */
int tool_log_show(struct tool_log *log);
int tool_log_intervals(struct tool_log *log);
int tool_log_cost(struct tool_log *log);
int tool_log_convert(struct tool_log *log);

#endif

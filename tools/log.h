/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log: which records and intervals of a log are asked for, and the actions on them. */
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

/* A point as the user names it: "begin", or "previous:end" of the record before. */
struct tool_log_point {
	const char *name; /* NULL: the type's first, or its last */
	bool is_previous;
};

/* A field's value beside that of a condition. */
enum tool_log_relation {
	TOOL_LOG_LESS = 1,
	TOOL_LOG_EQUAL = 2,
	TOOL_LOG_GREATER = 4
};

/* "rows>=100" */
struct tool_log_condition {
	const char *whole;  /* as given */
	size_t name_length; /* of the field, at the beginning of it */
	unsigned relations; /* those that hold */
	const char *text;   /* behind the relation */
	bool is_number;     /* else it is text alone */
	long double number;
};

struct tool_log_options {
	const char *path, *type, *group;
	char *output; /* of convert */
	struct tool_log_point from, to;
	struct tool_log_condition *conditions;
	size_t condition_count;
	struct tool_names events; /* those asked for; none: all */
	struct tool_names work;
	/* A row for each component of these types, and this cache level; 0: none */
	unsigned by;
	int by_level;
	enum tool_log_format format;
	enum tool_trace_format trace_format;
	long long rows; /* records that show prints as text; 0: as many as a terminal should get */
	bool has_histogram, has_constant, is_non_negative;
	bool may_mix; /* records of several types may be shown together */
};

/* Indexes, in the stream of the record, of the things that were asked for. */
struct tool_log_view {
	size_t stream;
	bool is_chosen;        /* its records are of the type */
	uint32_t taken_before; /* points that were taken for the record before */
	unsigned from, to;
	ptrdiff_t group;
	unsigned *conditions; /* fields, as many as there are conditions */
	ptrdiff_t *events;    /* of the names in `events`: index in the stream; -1: it lacks it */
	unsigned *work;
};

struct tool_log {
	struct tool_log_options options;
	struct ps_log_reader *reader;
	struct tool_names events; /* that are shown */
	struct ps__look *looks;   /* the unit of each of them */
	struct tool_log_view view;
	struct ps_value *values; /* of a stream's events */
	size_t value_room;
};

/* log_condition.c: parses FIELD=VALUE, with = != < <= > or >=. -1 after a complaint. */
int tool_log_add_condition(struct tool_log_options *options, const char *text);
/* The field's name may have relations in it: takes so many bytes for it. False, and nothing is
 * changed, if no relation is behind them. */
bool tool_log_split_condition(struct tool_log_condition *condition, size_t name_length);
bool tool_log_is_met(const struct tool_log_condition *condition, const struct ps_log_value *value);
/* The whole text must be a number, as in C, with a point in every locale. */
bool tool_log_parse_number(const char *text, double *number);

/* log_select.c: opens the file. -1 after a complaint. */
int tool_log_open(struct tool_log *log);
void tool_log_close(struct tool_log *log);
/* "previous:end" */
struct tool_log_point tool_log_parse_point(const char *text);

typedef int tool_log_visit(struct tool_log *log, const struct ps_log_record *record, void *context);
/* Calls visit for each record of the type that meets the conditions, until it returns another
 * number than 0; returns that, or -1 after a complaint. Says at the end what is missing. */
int tool_log_each(struct tool_log *log, tool_log_visit *visit, void *context);
/* The values of the record's interval, by the log's events. Returns 1; 0 if the record has no such
 * interval, or nothing of the component; -1 after a complaint. An event that the stream lacks is
 * not supported there. */
int tool_log_interval(struct tool_log *log, const struct ps_log_record *record,
                      const struct ps_component *component, struct ps_value *values,
                      uint64_t *duration_ns);
/* The values of the log's events, of those that ps_log_interval gave to log->values. */
void tool_log_choose(const struct tool_log *log, struct ps_value *values);
/* The text of a field, as conditions and groups see it. */
void tool_log_field_text(const struct ps_log_value *value, char *text, size_t size_bytes);

struct ps__json;

/* log_missing.c, when all records were read. */
/* There were records, and none of them can be read. */
bool tool_log_has_lost_all(const struct tool_log *log);
void tool_log_complain_missing(const struct tool_log *log);
/* "missing", null if it can't be known; "damaged_blocks" and "end". */
void tool_log_add_missing_json(const struct tool_log *log, struct ps__json *json);
/* The same as fields, behind a comma. */
#define TOOL_LOG_MISSING_COLUMNS ",missing,damaged_blocks,end"
void tool_log_add_missing_csv(const struct tool_log *log, struct ps__buffer *text);

/* The actions. Each returns an exit status. */
int tool_log_show(struct tool_log *log);
int tool_log_intervals(struct tool_log *log);
int tool_log_cost(struct tool_log *log);
int tool_log_convert(struct tool_log *log);

#endif

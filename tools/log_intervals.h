/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of perfsage log intervals: log_intervals.c makes the rows;
 * log_intervals_text.c shows them as text, log_intervals_export.c as CSV and JSON. */
#ifndef PS_TOOLS_LOG_INTERVALS_H
#define PS_TOOLS_LOG_INTERVALS_H

#include "output/grid.h"
#include "output/json_writer.h"
#include "tools/log_sums.h"
#include "tools/terminal.h"

/* A row of the output. */
struct interval_row {
	const struct tool_log_group *group;
	const struct ps_component *component; /* NULL: all components */
	const char *event;                    /* NULL: the row has the time */
	struct ps__look look;                 /* notation of the event or the time */
	struct tool_log_sum *sum;
	struct tool_log_statistics statistics; /* valid if the sum has a number */
};

/* A component of a group; sorted by the first event's count there. */
struct interval_place {
	size_t component;
	bool is_known;
	long long sum;
};

struct interval_output {
	struct tool_log *log;
	struct tool_log_groups groups;
	struct ps__buffer text;
	struct tool_screen screen;
	struct ps__grid grid;
	size_t at; /* index of the grid's next row */
	struct interval_place *places;
	/* Numbers of groups that are shown, and of components that are shown of each group; largest
	 * number of components that are left out of a group */
	size_t most_groups, most_components, left_out;
	bool has_elsewhere; /* a part of the counts may belong to no CPU of the machine */
	struct ps__json json;
};

typedef void interval_put(struct interval_output *output, const struct interval_row *row);

interval_put log_intervals_put_text, log_intervals_put_histogram, log_intervals_put_csv,
    log_intervals_put_json;
/* Chooses how many rows are shown. Returns -1 after a complaint. */
int log_intervals_begin_text(struct interval_output *output);
void log_intervals_end_text(struct interval_output *output);
void log_intervals_begin_json(struct interval_output *output);
void log_intervals_end_json(struct interval_output *output);

#endif

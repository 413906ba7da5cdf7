/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of many intervals: their sum, mean and percentiles, and how they are known. */
#ifndef PS_TOOLS_LOG_SUMS_H
#define PS_TOOLS_LOG_SUMS_H

#include "output/known.h"
#include "tools/log.h"

#define TOOL_LOG_BINS 64

/* The numbers of one event, on one component, in the intervals of a group. */
struct tool_log_sum {
	long long *numbers;
	size_t count, room;
	size_t unknown; /* intervals whose number isn't known */
	/* The sum of the known ones, saturated, with their weakest status and attribution */
	struct ps_value total;
	struct ps__known known;
};

struct tool_log_statistics {
	double mean;
	long long least, most;
	long long percentiles[3]; /* 50, 90, 99: the nearest rank */
	/* Counts of those that are 0 or less; then from 1, 2, 4, ... on */
	size_t bins[1 + TOOL_LOG_BINS];
};

/* -1 after a complaint. */
int tool_log_sum_add(struct tool_log_sum *sum, const struct ps_value *value);
/* Sorts the numbers, of which there is one or more. */
void tool_log_sum_up(struct tool_log_sum *sum, struct tool_log_statistics *out);

/* Intervals with the same value of a field. */
struct tool_log_group {
	char text[PS_LOG_TEXT_BYTES + 1];
	bool is_set;               /* else these are the records in which the field was never set */
	struct tool_log_sum time;  /* ns */
	struct tool_log_sum *sums; /* component by component, a sum for each event */
};

struct tool_log_groups {
	struct tool_log_group *groups;
	size_t count, room;
	uint32_t *places; /* by the hash of a group's text: its index plus 1; 0: none */
	struct ps_component **components; /* NULL alone: all */
	size_t component_count, component_room;
	size_t event_count;
};

/* log_sums.c. -1 after a complaint. */
int tool_log_groups_create(struct tool_log_groups *all, const struct tool_log *log);
int tool_log_groups_collect(struct tool_log_groups *all, struct tool_log *log);
void tool_log_groups_clear(struct tool_log_groups *all);

#endif

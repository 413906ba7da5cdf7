/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of many intervals: sum, mean and percentiles, and how they are known. */
#ifndef PS_TOOLS_LOG_SUMS_H
#define PS_TOOLS_LOG_SUMS_H

#include "output/known.h"
#include "tools/log.h"

#define TOOL_LOG_BINS 64

/* The numbers of one event on one component, in the intervals of a group. */
struct tool_log_sum {
	long long *numbers;
	size_t count, room;
	size_t unknown; /* number of intervals whose number is unknown */
	/* Saturated sum of the known numbers, with their weakest status and attribution */
	struct ps_value total;
	struct ps__known known;
};

struct tool_log_statistics {
	double mean;
	long long least, most;
	long long percentiles[3]; /* 50, 90, 99, by nearest rank */
	/* Histogram: bin 0 for numbers up to 0, then bins from 1, 2, 4, ... */
	size_t bins[1 + TOOL_LOG_BINS];
};

/* Adds the value of an interval. Returns -1 after a complaint. */
int tool_log_sum_add(struct tool_log_sum *sum, const struct ps_value *value);
/* Computes the statistics; sorts the numbers, of which there must be at least one. */
void tool_log_sum_up(struct tool_log_sum *sum, struct tool_log_statistics *out);

/* Intervals with the same value of a field. */
struct tool_log_group {
	char text[PS_LOG_TEXT_BYTES + 1];
	bool is_set;               /* false: records in which the field was never set */
	struct tool_log_sum time;  /* in ns */
	struct tool_log_sum *sums; /* for each component a sum for each event */
};

struct tool_log_groups {
	struct tool_log_group *groups;
	size_t count, room;
	uint32_t *places;                 /* hash table by a group's text: 1 + index; 0: none */
	struct ps_component **components; /* a single NULL: all components */
	size_t component_count, component_room;
	size_t event_count;
};

/* log_sums.c: return -1 after a complaint. */
int tool_log_groups_create(struct tool_log_groups *all, const struct tool_log *log);
int tool_log_groups_collect(struct tool_log_groups *all, struct tool_log *log);
void tool_log_groups_clear(struct tool_log_groups *all);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics that perfsage stat shows: those of -M, or all whose events are counted. */
#ifndef PS_TOOLS_STAT_METRICS_H
#define PS_TOOLS_STAT_METRICS_H

#include "tools/options.h"

#include <perfsage.h>

struct stat_options;

/* Replaces names of groups by the names of their metrics, and adds the events that metrics need.
 * Returns -1 after a complaint. */
int stat_metrics_resolve(struct stat_options *options);

/* The metrics that can be computed for a tree. */
struct stat_metrics {
	const struct ps_component *root;
	bool is_for_people;
	bool has_unknown;
	bool lacks_name; /* memory ran out, so names are missing */
	struct tool_names names;
};

/* Finds the metrics that the options name. If they name none, finds all metrics, or no metrics with
 * --no-metrics. is_for_people: leaves out rates that are shown in the lines below the table.
 * has_unknown: includes metrics without a value yet. Returns -1 after a complaint; some metrics are
 * then missing. */
int stat_metrics_find(struct stat_metrics *metrics, const struct stat_options *options,
                      const struct ps_component *root, bool is_for_people, bool has_unknown);
void stat_metrics_clear(struct stat_metrics *metrics);

#endif

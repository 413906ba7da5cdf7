/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics that perfsage stat shows: those that -M names, or all whose events are counted. */
#ifndef PS_TOOLS_STAT_METRICS_H
#define PS_TOOLS_STAT_METRICS_H

#include "tools/options.h"

#include <perfsage.h>

struct stat_options;

/* Replaces the names of groups by those of their metrics, and adds what the metrics need to the
 * events. -1 after a complaint. */
int stat_metrics_resolve(struct stat_options *options);

/* The derived values that can be told of a tree. */
struct stat_metrics {
	const struct ps_component *root;
	bool is_for_people;
	bool has_unknown;
	bool lacks_name; /* for lack of memory */
	struct tool_names names;
};

/* The options name the metrics; none named: all, or none with --no-metrics. is_for_people: without
 * the rates of the lines below the table. has_unknown: those too that can't be told yet. -1 after a
 * complaint: some are missing. */
int stat_metrics_find(struct stat_metrics *metrics, const struct stat_options *options,
                      const struct ps_component *root, bool is_for_people, bool has_unknown);
void stat_metrics_clear(struct stat_metrics *metrics);

#endif

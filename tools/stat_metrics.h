/* SPDX-License-Identifier: BSD-3-Clause */
/* The derived values that can be told of a tree. */
#ifndef PS_TOOLS_STAT_METRICS_H
#define PS_TOOLS_STAT_METRICS_H

#include <perfsage.h>
#include <stdbool.h>

#define STAT_MOST_METRICS 32

struct stat_metrics {
	const struct ps_component *root;
	bool is_for_people;
	bool has_unknown;
	char *names[STAT_MOST_METRICS];
	size_t count;
};

/* is_for_people: without rates, for which a table has no room. has_unknown: those too that can't be told yet. */
void stat_metrics_find(struct stat_metrics *metrics, const struct ps_component *root, bool is_for_people,
                       bool has_unknown);
void stat_metrics_clear(struct stat_metrics *metrics);

#endif

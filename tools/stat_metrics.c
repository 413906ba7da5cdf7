/* SPDX-License-Identifier: BSD-3-Clause */
/* Which derived values are shown beside the counts. */
#include "tools/stat_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Only what is known is shown: a ratio of events that were not counted is none. */
static int keep_metric(const char *name, void *context)
{
	struct stat_metrics *metrics = context;
	struct ps_metric_value value;

	if (metrics->count == STAT_MOST_METRICS)
		return 1;
	/* A table has room for ratios; what happens in a second of task-clock can be told from the counts. */
	if (metrics->is_for_people && strcmp(ps_metric_unit(name), "1/s") == 0)
		return 0;
	if (ps_component_metric(metrics->root, name, &value) != PS_OK)
		return 0;
	if (isnan(value.value) && !metrics->has_unknown)
		return 0;
	metrics->names[metrics->count] = strdup(name);
	metrics->count += metrics->names[metrics->count] != NULL;
	return 0;
}

void stat_metrics_find(struct stat_metrics *metrics, const struct ps_component *root, bool is_for_people,
                       bool has_unknown)
{
	*metrics = (struct stat_metrics){.root = root, .is_for_people = is_for_people, .has_unknown = has_unknown};
	ps_metric_for_each(root, keep_metric, metrics);
}

void stat_metrics_clear(struct stat_metrics *metrics)
{
	for (size_t index = 0; index < metrics->count; index++)
		free(metrics->names[index]);
}

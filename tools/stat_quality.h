/* SPDX-License-Identifier: BSD-3-Clause */
/* How far counts can be trusted, of one run or of several together: the weakest of each. */
#ifndef PS_TOOLS_STAT_QUALITY_H
#define PS_TOOLS_STAT_QUALITY_H

#include "tools/stat_count.h"

struct stat_quality {
	const struct ps_eventset *model;
	enum ps_attribution attribution;
	char *why; /* the attribution is no better; "" if there is no reason */
	double coverage;
	size_t event_count;
	long long *residual; /* of each event, over all runs */
	struct stat_uncounted uncounted;
	char *origin;  /* of the tree, if it isn't this machine's; else NULL */
	char *unknown; /* why the residual can't be told; NULL if it can */
};

/* -1 after a complaint. */
int stat_quality_create(struct stat_quality *quality, const struct ps_eventset *model);
void stat_quality_destroy(struct stat_quality *quality);

/* Adds what an interval tells: its coverage. Adds the rest when a run has ended. */
void stat_quality_add_interval(struct stat_quality *quality, const struct stat_count *count);
void stat_quality_add_run(struct stat_quality *quality, struct stat_count *count);

/* The sum of all events'. */
long long stat_quality_residual(const struct stat_quality *quality);

#endif

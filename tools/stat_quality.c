/* SPDX-License-Identifier: BSD-3-Clause */
/* Attribution, coverage and residual, gathered while the event sets are there: the runs that are summed up each have their own. */
#include "tools/stat_quality.h"

#include "tools/complaint.h"

#include <stdlib.h>
#include <string.h>

int stat_quality_create(struct stat_quality *quality, const struct ps_eventset *model)
{
	*quality = (struct stat_quality){.model = model,
	                                 .attribution = PS_ATTRIBUTION_EXACT,
	                                 .coverage = 1.0,
	                                 .event_count = ps_eventset_event_count(model),
	                                 .why = strdup("")};
	quality->residual = calloc(quality->event_count + 1, sizeof *quality->residual);
	if (quality->residual && quality->why)
		return 0;
	tool_complain("out of memory");
	stat_quality_destroy(quality);
	return -1;
}

void stat_quality_destroy(struct stat_quality *quality)
{
	free(quality->why);
	free(quality->residual);
	free(quality->origin);
	free(quality->unknown);
}

void stat_quality_add_interval(struct stat_quality *quality, const struct stat_count *count)
{
	double coverage = stat_count_coverage(count);

	if (coverage < quality->coverage)
		quality->coverage = coverage;
}

static void add_attribution(struct stat_quality *quality, const struct stat_count *count)
{
	const char *why;
	enum ps_attribution attribution = stat_count_attribution(count, &why);

	if (attribution < quality->attribution || (attribution == quality->attribution && *quality->why))
		return;
	char *copy = strdup(why);
	quality->attribution = attribution;
	if (!copy)
		return;
	free(quality->why);
	quality->why = copy;
}

/* Residuals of opposite signs hide nothing of each other. */
static void add_residual(struct stat_quality *quality, struct stat_count *count)
{
	long long *residual = calloc(quality->event_count + 1, sizeof *residual);

	if (residual && stat_count_check(count, residual) == 0) {
		for (size_t event = 0; event < quality->event_count; event++) {
			long long sum = quality->residual[event];
			bool is_against = (sum < 0) != (residual[event] < 0);
			quality->residual[event] += is_against && sum ? -residual[event] : residual[event];
		}
	} else if (!quality->unknown) {
		quality->unknown = strdup(residual ? ps_error_detail() : "out of memory");
	}
	free(residual);
}

void stat_quality_add_run(struct stat_quality *quality, struct stat_count *count)
{
	const char *origin = ps_topology_origin(count->topology);

	stat_quality_add_interval(quality, count);
	if (origin && !quality->origin)
		quality->origin = strdup(origin);
	add_attribution(quality, count);
	add_residual(quality, count);
	stat_uncounted_take(count);
	stat_uncounted_add(&quality->uncounted, &count->uncounted);
}

long long stat_quality_residual(const struct stat_quality *quality)
{
	long long sum = 0;

	for (size_t event = 0; event < quality->event_count; event++)
		sum += llabs(quality->residual[event]);
	return sum;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles by the nearest-rank method. */
#include "stats.h"

#include <stdlib.h>

static int stats_compare(const void *one, const void *other)
{
	double a = *(const double *)one;
	double b = *(const double *)other;

	return (a > b) - (a < b);
}

static double stats_quantile(const double *sorted, size_t count, double share)
{
	return sorted[(size_t)(share * (double)(count - 1) + 0.5)];
}

struct bench_stats bench_stats_of(double *samples, size_t count)
{
	qsort(samples, count, sizeof *samples, stats_compare);
	return (struct bench_stats){
	    .q1 = stats_quantile(samples, count, 0.25),
	    .median = stats_quantile(samples, count, 0.5),
	    .q3 = stats_quantile(samples, count, 0.75),
	    .p99 = stats_quantile(samples, count, 0.99),
	};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantiles, by the nearest rank. */
#include "stats.h"

#include <stdlib.h>

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one;
	double b = *(const double *)other;

	return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t count, double share)
{
	return sorted[(size_t)(share * (double)(count - 1) + 0.5)];
}

struct bench_stats bench_stats_of(double *samples, size_t count)
{
	qsort(samples, count, sizeof *samples, compare);
	return (struct bench_stats){
	    .q1 = quantile(samples, count, 0.25),
	    .median = quantile(samples, count, 0.5),
	    .q3 = quantile(samples, count, 0.75),
	    .p99 = quantile(samples, count, 0.99),
	};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of the rounds of one case. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

struct bench_stats {
	double q1;
	double median;
	double q3;
	double p99;
};

/* Sorts the samples. */
struct bench_stats bench_stats_of(double *samples, size_t count);

#endif

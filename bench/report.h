/* SPDX-License-Identifier: BSD-3-Clause */
/* Output of the harness: tables for people, JSON lines for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "harness.h"

struct bench_round {
	unsigned number;
	double core_ns; /* the largest bench_time_core in the round */
};

/* The rounds of a table. */
struct bench_rounds {
	const struct bench_round *counted; /* sorted by core_ns */
	unsigned count;
	unsigned run; /* number of all rounds */
};

void bench_report_machine(const struct bench_options *options, size_t cpus);

/* samples: for each case, the nanoseconds per call, indexed by the round's number. */
void bench_report_table(const struct bench_options *options, const struct bench_table *table,
                        const struct bench_rounds *rounds, double **samples);

void bench_report_figures(const struct bench_options *options, const char *title, const char *unit,
                          const struct bench_figure *figures, size_t count);

#endif

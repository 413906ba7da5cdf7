/* SPDX-License-Identifier: BSD-3-Clause */
/* What the harness prints: tables for people, JSON lines for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "harness.h"

void bench_report_machine(const struct bench_options *options, size_t cpus);

/* samples: for each case, nanoseconds a call of each round. */
void bench_report_table(const struct bench_options *options, const struct bench_table *table,
                        unsigned rounds, double **samples);

void bench_report_figures(const struct bench_options *options, const char *title, const char *unit,
                          const struct bench_figure *figures, size_t count);

#endif

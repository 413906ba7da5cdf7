/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether the measuring thread has the core for itself. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

/*
 * A core often has two hardware threads. On a virtual machine the other one may belong to another
 * guest, which no clock and no steal time shows. While it is busy, work takes up to twice the time.
 * So a loop of additions is timed, which depends only on the core. Returns nanoseconds, about
 * 10,000.
 */
double bench_time_core(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells whether the measuring thread has the core for itself. */
#ifndef BENCH_SHARED_H
#define BENCH_SHARED_H

/*
 * A core has often two hardware threads, and on a virtual machine the other one may be another
 * guest's: no clock and no steal time tells. While it is busy, each takes up to twice the time. So
 * a loop of additions is timed, which needs nothing but the core. Nanoseconds, some 10,000.
 */
double bench_time_core(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop that takes longer while the core is shared. */
#include "shared.h"

#include "harness.h"

#define TURNS 15000

/* Independent additions, which use as much of the core as they can get. */
double bench_time_core(void)
{
	unsigned long one = 1, two = 2, three = 3, four = 4;
	double start = bench_now_ns();

	for (unsigned long turn = 0; turn < TURNS; turn++) {
		__asm__ volatile("" : "+r"(one), "+r"(two), "+r"(three), "+r"(four));
		one += turn;
		two ^= turn;
		three += turn;
		four ^= turn;
	}
	return bench_now_ns() - start;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and durations for people. */
#ifndef PS_TOOLS_NUMBER_H
#define PS_TOOLS_NUMBER_H

#include <stddef.h>
#include <sys/time.h>

#define TOOL_NUMBER_BYTES 48

/* "12.35M", four digits and an SI prefix; numbers below 10000 as they are, fractions with up to two digits after the
 * point. unit: of nanoseconds ("ns") the larger units are taken ("7.215 ms"). */
void tool_number_si(char *out, double value, const char *unit);

static inline double tool_number_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* "12.35", "1 h 02 min 03 s". */
void tool_number_duration(char *out, double seconds);

#endif

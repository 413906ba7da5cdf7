/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean and deviation of a number that was measured several times, by Welford's method (B. P.
 * Welford, 1962), which avoids loss of digits. */
#ifndef PS_OUTPUT_SPREAD_H
#define PS_OUTPUT_SPREAD_H

#include <math.h>
#include <stddef.h>

struct ps__spread {
	size_t samples;
	double mean;
	double squares; /* sum of the squared distances from the mean */
	double least, most;
};

static inline void ps__spread_add(struct ps__spread *spread, double value)
{
	double distance = value - spread->mean;

	if (spread->samples == 0 || value < spread->least)
		spread->least = value;
	if (spread->samples == 0 || value > spread->most)
		spread->most = value;
	spread->samples++;
	spread->mean += distance / (double)spread->samples;
	spread->squares += distance * (value - spread->mean);
}

/* Returns the standard deviation of one sample; NaN for fewer than two samples. */
static inline double ps__spread_deviation(const struct ps__spread *spread)
{
	return spread->samples < 2 ? (double)NAN
	                           : sqrt(spread->squares / (double)(spread->samples - 1));
}

/* Returns the standard deviation in percent of the mean; 0 if the mean is 0. */
static inline double ps__spread_percent(const struct ps__spread *spread)
{
	return spread->mean != 0 ? 100 * ps__spread_deviation(spread) / fabs(spread->mean) : 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling: only some visits of a region are counted.
 *
 * A visit that isn't counted makes no boundary, and neither do the visits inside it. Their counts
 * are added to the innermost counted visit: so nothing is lost, and the counts of all paths
 * together are exact. The counts of each path are extrapolated when the paths are read
 * (estimate.c).
 */
#ifndef PS_REGION_SAMPLING_H
#define PS_REGION_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct ps_region;
struct ps__member;
struct ps__node;

/* How often a region's visits are counted. The struct's address identifies the region and the rate:
 * visits at different rates have different nodes. */
struct ps__rate {
	struct ps__rate *next; /* a rate that was made for the region earlier */
	uint64_t one_in;
	uint64_t limit; /* a visit is counted if a random number is no larger */
};

/* Number of rates that a budget chooses from: one visit in 1, 2, 4, ... */
#define PS__POWERS 24

static inline void ps__rate_set(struct ps__rate *rate, uint64_t one_in)
{
	rate->one_in = one_in;
	rate->limit = UINT64_MAX / one_in;
}

/* xorshift64* (Vigna 2016): never 0, and good in its upper bits. */
static inline uint64_t ps__random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

static inline bool ps__rate_chooses(const struct ps__rate *rate, uint64_t *random)
{
	return __builtin_expect(rate->one_in == 1, 1) || ps__random_next(random) <= rate->limit;
}

/* Makes the rates that a budget chooses from, if they aren't there. 0, or -1 for lack of memory.
 * The caller holds the profile's lock. */
int ps__region_make_powers(struct ps_region *region);
/* Finds or makes a rate of the region. NULL if out of memory. Takes the profile's lock. */
const struct ps__rate *ps__region_get_rate(struct ps_region *region, uint64_t one_in);

/* review.c: a boundary calls this after every PS__REVIEW_VISITS counted visits of a node. Changes
 * the region's rate if its cost doesn't fit the budget. */
#define PS__REVIEW_VISITS 64
void ps__sampling_review(struct ps__member *member, struct ps_region *region, struct ps__node *node,
                         uint64_t now_ns) __attribute__((cold));

#endif

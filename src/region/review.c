/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the visits of a region to the profile's budget: the rate follows what they cost. */
#include "region/profile.h"

/* Below this part of the budget more visits are counted again. */
#define LOW_SHARE 0.25

/* The power of the rate that is in force now; -1: the program has chosen it. */
static int sampling_power(const struct ps_region *region)
{
	const struct ps__rate *rate = atomic_load_explicit(&region->rate, memory_order_acquire);

	if (rate == &region->all)
		return 0;
	return rate >= region->powers && rate < region->powers + PS__POWERS
	           ? (int)(rate - region->powers)
	           : -1;
}

/* wanted: how often the budget goes into what is spent. */
static int sampling_next_power(int power, double wanted)
{
	if (wanted < LOW_SHARE)
		return power > 0 ? power - 1 : 0;
	for (; wanted > 1 && power < PS__POWERS - 1; power++)
		wanted /= 2;
	return power;
}

/* A rate is in force for all threads; each looks at its own time. */
void ps__sampling_review(struct ps__member *member, struct ps_region *region, struct ps__node *node,
                         uint64_t now_ns)
{
	uint64_t since_ns = node->reviewed_ns;
	int power = region->powers ? sampling_power(region) : -1;

	node->reviewed_ns = now_ns;
	if (power < 0 || !since_ns || now_ns <= since_ns ||
	    node->rate->one_in != atomic_load_explicit(&region->rate, memory_order_relaxed)->one_in)
		return;
	double share = PS__REVIEW_VISITS * member->visit_ns / (double)(now_ns - since_ns);
	power = sampling_next_power(power, share / member->profile->budget);
	atomic_store_explicit(&region->rate, power > 0 ? &region->powers[power] : &region->all,
	                      memory_order_release);
}

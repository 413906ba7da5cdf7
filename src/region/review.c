/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the cost of a region's visits within the profile's budget: the rate follows the cost. */
#include "region/profile.h"

/* If less than this part of the budget is spent, more visits are counted again. */
#define LOW_SHARE 0.25

/* Returns n if one visit in 2^n is counted now; -1 if the program has chosen the rate. */
static int sampling_power(const struct ps_region *region)
{
	const struct ps__rate *rate = atomic_load_explicit(&region->rate, memory_order_acquire);

	if (rate == &region->all)
		return 0;
	return rate >= region->powers && rate < region->powers + PS__POWERS
	           ? (int)(rate - region->powers)
	           : -1;
}

/* Returns the next power. wanted: the cost of the visits, divided by the budget. */
static int sampling_next_power(int power, double wanted)
{
	if (wanted < LOW_SHARE)
		return power > 0 ? power - 1 : 0;
	for (; wanted > 1 && power < PS__POWERS - 1; power++)
		wanted /= 2;
	return power;
}

/* Numbers of reviews. After LEAST_REVIEWS the cost of all paths is known. After MOST_REVIEWS the
 * measurement begins anew. */
#define LEAST_REVIEWS 4
#define MOST_REVIEWS  64

static void spent_begin(struct ps__spent *spent, uint64_t now_ns)
{
	spent->since_ns = now_ns;
	spent->reviews = 0;
}

/* Returns the part of the thread's time that all its paths cost; 0: not known yet. The first review
 * is left out, because its visits began before since_ns. */
static double spent_share(const struct ps__spent *spent, uint64_t now_ns)
{
	if (spent->reviews < LEAST_REVIEWS || now_ns <= spent->since_ns)
		return 0;
	return (spent->reviews - 1) * PS__REVIEW_VISITS * spent->visit_ns /
	       (double)(now_ns - spent->since_ns);
}

/* True if two nodes are of one path, which has a node for each rate. */
static bool spent_is_same_path(const struct ps__node *one, const struct ps__node *other)
{
	return one->region == other->region && one->parent == other->parent;
}

static void spent_add(struct ps__spent *spent, const struct ps__node *node)
{
	spent->is_shared |= spent->node && !spent_is_same_path(spent->node, node);
	spent->node = node;
	spent->reviews++;
}

/* Returns the cost of the path, or of all the thread's paths if that is more, divided by the
 * budget; -1 if it isn't known yet whether more visits can be counted. */
static double sampling_wanted(const struct ps__member *member, double own_share, uint64_t now_ns)
{
	const struct ps__spent *spent = &member->spent;
	double budget = member->profile->budget;
	double all_share = spent_share(spent, now_ns);

	if (!spent->is_shared)
		return own_share / budget;
	if (all_share == 0 && own_share < budget)
		return -1;
	return (own_share > all_share ? own_share : all_share) / budget;
}

/* A rate applies to all threads, but each thread looks only at its own time. */
void ps__sampling_review(struct ps__member *member, struct ps_region *region, struct ps__node *node,
                         uint64_t now_ns)
{
	struct ps__spent *spent = &member->spent;
	uint64_t since_ns = node->reviewed_ns;
	int power = region->powers ? sampling_power(region) : -1;

	node->reviewed_ns = now_ns;
	if (power < 0 || !since_ns || now_ns <= since_ns ||
	    node->rate->one_in != atomic_load_explicit(&region->rate, memory_order_relaxed)->one_in)
		return;
	if (!spent->since_ns || spent->reviews == MOST_REVIEWS)
		spent_begin(spent, now_ns);
	spent_add(spent, node);
	double own_share = PS__REVIEW_VISITS * spent->visit_ns / (double)(now_ns - since_ns);
	double wanted = sampling_wanted(member, own_share, now_ns);
	int next = wanted < 0 ? power : sampling_next_power(power, wanted);
	if (next == power)
		return;
	spent_begin(spent, now_ns);
	spent->is_shared = false;
	atomic_store_explicit(&region->rate, next > 0 ? &region->powers[next] : &region->all,
	                      memory_order_release);
}

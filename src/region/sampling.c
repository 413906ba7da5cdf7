/* SPDX-License-Identifier: BSD-3-Clause */
/* The program sets rates and a budget. */
#include "region/sampling.h"

#include "base/error.h"
#include "base/os.h"
#include "region/profile.h"

#include <perfsage/sampling.h>

int ps__region_make_powers(struct ps_region *region)
{
	if (region->powers)
		return 0;
	region->powers = ps__os_calloc(PS__POWERS, sizeof *region->powers);
	if (!region->powers)
		return -1;
	for (unsigned power = 0; power < PS__POWERS; power++)
		ps__rate_set(&region->powers[power], UINT64_C(1) << power);
	return 0;
}

/* The caller holds the profile's lock. */
static struct ps__rate *sampling_get_rate(struct ps_region *region, uint64_t one_in)
{
	struct ps__rate *rate = region->chosen;

	if (one_in == 1)
		return &region->all;
	while (rate && rate->one_in != one_in)
		rate = rate->next;
	if (rate)
		return rate;
	rate = ps__os_calloc(1, sizeof *rate);
	if (!rate)
		return NULL;
	ps__rate_set(rate, one_in);
	rate->next = region->chosen;
	region->chosen = rate;
	return rate;
}

const struct ps__rate *ps__region_get_rate(struct ps_region *region, uint64_t one_in)
{
	pthread_mutex_lock(&region->profile->lock);
	const struct ps__rate *rate = sampling_get_rate(region, one_in);
	pthread_mutex_unlock(&region->profile->lock);
	return rate;
}

int ps_region_set_one_in(struct ps_region *region, uint64_t one_in)
{
	if (!region || one_in == 0)
		return ps__fail(PS_EINVAL, "ps_region_set_one_in: %s",
		                region ? "one visit in 0: the least is 1, each visit"
		                       : "the region is NULL");
	int result = ps__profile_begin(region->profile, "ps_region_set_one_in");
	if (result != PS_OK)
		return result;
	const struct ps__rate *rate = ps__region_get_rate(region, one_in);
	ps__profile_end();
	if (!rate)
		return ps__fail_memory("the rate of a region");
	atomic_store_explicit(&region->rate, rate, memory_order_release);
	return PS_OK;
}

int ps_profile_set_seed(struct ps_profile *profile, uint64_t seed)
{
	if (!profile)
		return ps__fail(PS_EINVAL, "ps_profile_set_seed: the profile is NULL");
	int result = ps__profile_begin(profile, "ps_profile_set_seed");
	if (result != PS_OK)
		return result;
	pthread_mutex_lock(&profile->lock);
	profile->seed = seed;
	pthread_mutex_unlock(&profile->lock);
	ps__profile_end();
	return PS_OK;
}

/* The caller holds the profile's lock. */
static int sampling_make_all_powers(struct ps_profile *profile)
{
	for (size_t place = 0; place < profile->region_room; place++) {
		struct ps_region *region = profile->regions[place];
		for (; region; region = region->next) {
			if (ps__region_make_powers(region) < 0)
				return ps__fail_memory("the rates of a region");
		}
	}
	return PS_OK;
}

int ps_profile_set_budget(struct ps_profile *profile, double percent)
{
	if (!profile || !(percent > 0 && percent <= 100))
		return ps__fail(PS_EINVAL, "ps_profile_set_budget: the %s",
		                profile ? "budget is more than 0 and at most 100 percent"
		                        : "profile is NULL");
	int result = ps__profile_begin(profile, "ps_profile_set_budget");
	if (result != PS_OK)
		return result;
	pthread_mutex_lock(&profile->lock);
	if (profile->members)
		result = ps__fail(PS_ECNFLCT, "ps_profile_set_budget: threads are counted already: "
		                              "set it before the first region is entered");
	if (result == PS_OK)
		result = sampling_make_all_powers(profile);
	if (result == PS_OK)
		profile->budget = percent / 100;
	pthread_mutex_unlock(&profile->lock);
	ps__profile_end();
	return result;
}

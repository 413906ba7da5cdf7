/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions that are visited too often to count each visit. */
#ifndef PERFSAGE_SAMPLING_H
#define PERFSAGE_SAMPLING_H

#include <perfsage/region.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Samples a region: one visit in `one_in` is counted, chosen at random.
 *
 * A visit that isn't counted costs some nanoseconds. Regions inside such a visit
 * aren't counted either. ps_path_value extrapolates by the number of visits, which
 * is exact, and labels the value: PS_STATUS_SCALED, PS_VALUE_SAMPLED. The coverage
 * is the fraction of the extrapolated enabled time that was counted. If the event
 * always had a counter and the rate did not change, the coverage is the fraction of
 * the visits that was counted. ps_path_visits gives exact numbers of visits. What
 * the extrapolation adds to a path is subtracted from the path around it, so the sum
 * of all paths stays what the kernel counted, unless an estimate below 0 is shown as
 * 0 (ps_sampling(3)). A path without a counted visit has no value.
 *
 * region - from ps_region_define
 * one_in - 1: each visit is counted, unless a budget samples the region
 *
 * Errors:
 *   PS_EINVAL - region is NULL, or one_in is 0
 *   PS_ENOMEM - out of memory
 *   PS_ECLOST, PS_ECNFLCT - as ps_region_define
 *
 * For all threads, from their next visit on. A budget doesn't change the rate of
 * a region whose one_in is not 1.
 */
PS_PUBLIC int ps_region_set_one_in(struct ps_region *region, uint64_t one_in);

/**
 * Sets a limit to the cost of measuring: a region whose visits cost more is sampled.
 *
 * The cost of a visit is measured when the profile begins to count a thread.
 * After every 64 counted visits of a path, the thread compares the cost of these
 * visits with the time that passed. If the visits cost too much, one visit in 2, 4,
 * 8, ... is counted from then on, in all threads. The other visits cost some
 * nanoseconds each, which the budget does not include.
 *
 * profile - from ps_profile_create
 * percent - of the time that passes in a thread, for each path and for all paths
 *     together: more than 0, at most 100
 *
 * Errors:
 *   PS_EINVAL - profile is NULL, or percent out of its range
 *   PS_ECNFLCT - a thread is counted already; or as ps_region_define
 *   PS_ENOMEM - out of memory
 *   PS_ECLOST - in a child of fork()
 */
PS_PUBLIC int ps_profile_set_budget(struct ps_profile *profile, double percent);

/**
 * Seeds the choice of visits in the threads that join after the call: with the same
 * seed, and threads that join in the same order, the same visits are counted.
 * Without this call each profile has a seed of its own. With a budget, runs still
 * differ.
 *
 * profile - from ps_profile_create
 * seed - any number
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ECLOST, PS_ECNFLCT - as ps_region_define
 */
PS_PUBLIC int ps_profile_set_seed(struct ps_profile *profile, uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif

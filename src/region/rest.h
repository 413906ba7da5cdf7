/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of another thread, up to now. */
#ifndef PS_REGION_REST_H
#define PS_REGION_REST_H

#include <stdbool.h>

struct ps_paths;
struct ps__member;

/* Adds the counts of a thread up to now. If it isn't the calling thread, they include counts that
 * are in no node yet. The caller holds the profile's lock. 0, or -1 for lack of memory: nothing is
 * added then. */
int ps__rest_add_member(struct ps_paths *paths, struct ps__member *member);

/* True if the counts of a running thread since its last boundary can be read. */
bool ps__rest_is_known(struct ps__member *member);

#endif

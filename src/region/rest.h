/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of another thread, up to now. */
#ifndef PS_REGION_REST_H
#define PS_REGION_REST_H

#include <stdbool.h>

struct ps_paths;
struct ps__member;

/* Adds what a thread has counted up to now; if it isn't the calling one, with what is in no node
 * yet. The caller holds the profile's lock. 0, or -1 for lack of memory: nothing is added then. */
int ps__rest_add_member(struct ps_paths *paths, const struct ps__member *member);

/* Can it be told what a running thread counted since its last boundary? */
bool ps__rest_is_known(const struct ps__member *member);

#endif

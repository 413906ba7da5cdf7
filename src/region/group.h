/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that are told apart by a number. */
#ifndef PS_REGION_GROUP_H
#define PS_REGION_GROUP_H

#include "region/profile.h"

/* In the table of a member: leads from a node's visits to those with the number. */
static inline const void *ps__group_key(int64_t number)
{
	return (const void *)(uintptr_t)number;
}

/* A region is open: what was counted in its visit since the last boundary goes to the path with the
 * number; if it had another number, only what comes from now on. */
int ps__group_change(struct ps__member *member, const struct ps_region *named, int64_t number);

#endif

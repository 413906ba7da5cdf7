/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that are told apart by a number. */
#ifndef PS_REGION_GROUP_H
#define PS_REGION_GROUP_H

#include "region/profile.h"

/* Returns the second key of a node with a number in member->links. The first key is `visits` of the
 * node without the number. */
static inline const void *ps__group_key(int64_t number)
{
	return (const void *)(uintptr_t)number;
}

/* Moves the innermost open visit to the path with the number. A region must be open. If the visit
 * had no number, its counts since the last boundary move, too; if it had another number, a boundary
 * is made first. Returns PS_OK; PS_ENOMEM: the visit does not move; or the boundary's code. */
int ps__group_change(struct ps__member *member, const struct ps_region *named, int64_t number);

#endif

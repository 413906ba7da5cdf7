/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that are told apart by a number: if 3 is given under the name "level" in a visit of
 * "smooth", the visit is counted in the path "smooth[level=3]". */
#include "region/group.h"

#include "base/error.h"
#include "base/os.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES ((size_t)24) /* of "[=-9223372036854775808]", and its end */

int ps_profile_set_group(struct ps_profile *profile, const char *name)
{
	struct ps_region *none = NULL, *named;

	if (!profile)
		return ps__fail(PS_EINVAL, "ps_profile_set_group: the profile is NULL");
	int result = ps_region_define(&named, profile, name);
	if (result != PS_OK)
		return result;
	if (atomic_compare_exchange_strong(&profile->group, &none, named) || none == named)
		return PS_OK;
	return ps__fail(PS_ECNFLCT,
	                "ps_profile_set_group: the visits of this profile are told apart by '%s' "
	                "already",
	                none->name);
}

/* Makes the node of the path with the number. base: the node of the path without it. NULL if out of
 * memory. */
static __attribute__((cold, noinline)) struct ps__node *
group_make_node(struct ps__member *member, struct ps__node *base, const char *name, int64_t number)
{
	size_t size = strlen(base->region->name) + strlen(name) + NUMBER_BYTES;
	char *text = ps__os_calloc(1, size);

	if (!text)
		return NULL;
	snprintf(text, size, "%s[%s=%" PRId64 "]", base->region->name, name, number);
	struct ps_region *region = ps__region_get(member->profile, text);
	ps__os_free(text);
	if (region)
		atomic_store_explicit(&region->base, base->region, memory_order_release);
	/* The new node gets the rate of the base. */
	const struct ps__rate *rate =
	    region ? ps__region_get_rate(region, base->rate->one_in) : NULL;
	struct ps__node *node = rate ? ps__node_get(member, base->parent, region, rate) : NULL;
	if (!node || ps__links_reserve(&member->links) < 0)
		return NULL;
	ps__links_add(&member->links, &base->visits, ps__group_key(number), node);
	return node;
}

int ps__group_change(struct ps__member *member, const struct ps_region *named, int64_t number)
{
	struct ps__level *level = &member->levels[member->depth - 1];
	struct ps__node *base =
	    ps__node_get(member, level->node->parent, level->region, level->rate);
	struct ps__node *node =
	    ps__links_find(&member->links, &base->visits, ps__group_key(number));
	int result = PS_OK;
	uint64_t now_ns;

	if (!node) {
		struct ps__held held;
		ps__signals_hold(&held);
		node = group_make_node(member, base, named->name, number);
		ps__signals_release(&held);
	}
	if (!node) {
		ps__profile_note(member->profile, PS__FAULT_NO_MEMORY);
		return ps__fail_memory("a path; the visit stays in the one that it is in");
	}
	if (level->node != base && level->node != node && member->seen == member->depth)
		result = ps__member_boundary(member, &now_ns);
	/* If the boundary failed, the next counts contain counts from before this call. */
	if (result != PS_OK)
		ps__member_lose(member, member->seen - 1);
	ps__level_set_node(level, node);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: defined, entered and left. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/hot.h"
#include "base/os.h"
#include "region/boundary.h"
#include "region/profile.h"

#include <string.h>

#define LEAST_REGIONS ((size_t)64)
#define LEAST_LEVELS  ((size_t)16)

static struct ps_region **region_place(struct ps_region **regions, size_t room, const char *name)
{
	return &regions[ps__hash_of(name) & (room - 1)];
}

static int region_make_room(struct ps_profile *profile)
{
	size_t room = profile->region_room ? 2 * profile->region_room : LEAST_REGIONS;
	struct ps_region **regions;

	if (profile->region_count < profile->region_room)
		return 0;
	regions = ps__os_calloc(room, sizeof *regions);
	if (!regions)
		return -1;
	for (size_t place = 0; place < profile->region_room; place++) {
		struct ps_region *next;
		for (struct ps_region *region = profile->regions[place]; region; region = next) {
			struct ps_region **to = region_place(regions, room, region->name);
			next = region->next;
			region->next = *to;
			*to = region;
		}
	}
	ps__os_free(profile->regions);
	profile->regions = regions;
	profile->region_room = room;
	return 0;
}

static struct ps_region *region_add(struct ps_profile *profile, const char *name)
{
	size_t length = strlen(name);
	struct ps_region *region = ps__os_calloc(1, sizeof *region + length + 1);
	struct ps_region **place;

	if (!region)
		return NULL;
	region->profile = profile;
	ps__rate_set(&region->all, 1);
	atomic_init(&region->rate, &region->all);
	if (profile->budget > 0 && ps__region_make_powers(region) < 0) {
		ps__os_free(region);
		return NULL;
	}
	memcpy(region->name, name, length + 1);
	place = region_place(profile->regions, profile->region_room, name);
	region->next = *place;
	*place = region;
	profile->region_count++;
	return region;
}

static struct ps_region *region_find(struct ps_profile *profile, const char *name)
{
	struct ps_region *region;

	if (region_make_room(profile) < 0)
		return NULL;
	region = *region_place(profile->regions, profile->region_room, name);
	while (region && strcmp(region->name, name) != 0)
		region = region->next;
	return region ? region : region_add(profile, name);
}

struct ps_region *ps__region_get(struct ps_profile *profile, const char *name)
{
	struct ps__held held;

	ps__signals_hold(&held);
	pthread_mutex_lock(&profile->lock);
	struct ps_region *region = region_find(profile, name);
	pthread_mutex_unlock(&profile->lock);
	ps__signals_release(&held);
	return region;
}

int ps_region_define(struct ps_region **out, struct ps_profile *profile, const char *name)
{
	if (!out || !profile || !name || !*name)
		return ps__fail(PS_EINVAL, "ps_region_define: the %s",
		                !out       ? "pointer for the region is NULL"
		                : !profile ? "profile is NULL"
		                : !name    ? "name is NULL"
		                           : "name is empty: that is the root path's");
	int result = ps__profile_begin(profile, "ps_region_define");
	if (result != PS_OK)
		return result;
	struct ps_region *region = ps__region_get(profile, name);
	ps__profile_end();
	if (!region)
		return ps__fail_memory("a region");
	*out = region;
	return PS_OK;
}

int ps__region_set_slow(struct ps_region *region, const struct ps__slow *slow, const char *call)
{
	if (!region)
		return ps__fail(PS_EINVAL, "%s: the region is NULL", call);
	int result = ps__profile_begin(region->profile, call);
	if (result != PS_OK)
		return result;
	struct ps__slow *own = ps__os_calloc(1, sizeof *own);
	if (own) {
		*own = *slow;
		pthread_mutex_lock(&region->profile->lock);
		own->before = atomic_load_explicit(&region->slow, memory_order_relaxed);
		/* Pairs with the acquiring load of region_enter. */
		atomic_store_explicit(&region->slow, own, memory_order_release);
		pthread_mutex_unlock(&region->profile->lock);
	}
	ps__profile_end();
	return own ? PS_OK : ps__fail_memory("the limit of a region's visits");
}

int ps_region_set_slower_than(struct ps_region *region, uint64_t limit_ns, ps_slow_visit *callback,
                              void *context)
{
	const struct ps__slow slow = {
	    .limit_ns = limit_ns, .callback = callback, .context = context};

	return ps__region_set_slow(region, &slow, "ps_region_set_slower_than");
}

/* Makes room for more levels. Holds the lock, because other threads may read the levels. 0, or -1
 * if out of memory. */
static __attribute__((cold, noinline)) int region_make_level(struct ps__member *member)
{
	size_t room = member->room ? 2 * member->room : LEAST_LEVELS;
	struct ps__held held;

	ps__signals_hold(&held);
	struct ps__level *levels = ps__os_calloc(room, sizeof *levels);
	struct ps__level *before = member->levels;
	if (levels) {
		if (member->depth)
			memcpy(levels, before, member->depth * sizeof *levels);
		pthread_mutex_lock(&member->profile->lock);
		member->levels = levels;
		pthread_mutex_unlock(&member->profile->lock);
		member->room = room;
		ps__os_free(before);
	}
	ps__signals_release(&held);
	return levels ? 0 : -1;
}

static __attribute__((cold, noinline)) int region_fail_uncounted(struct ps_region *region, int code)
{
	atomic_fetch_add_explicit(&region->uncounted, 1, memory_order_relaxed);
	ps__profile_note(region->profile, PS__FAULT_UNCOUNTED);
	return code;
}

PS__INLINE int region_enter(struct ps_region *region)
{
	struct ps__member *member = ps__member_find(region->profile);
	uint64_t now_ns = 0;
	int result = PS_OK;

	if (__builtin_expect(!member, 0)) {
		struct ps__member *made;
		result = ps__member_create(region->profile, &made);
		if (result != PS_OK)
			return region_fail_uncounted(region, result);
		member = made;
	}
	struct ps__node *outer = ps__member_innermost(member);
	const struct ps__rate *rate = atomic_load_explicit(&region->rate, memory_order_acquire);
	struct ps__node *node = ps__node_get(member, outer, region, rate);
	if (!node || (member->depth == member->room && region_make_level(member) < 0)) {
		ps__profile_note(region->profile, PS__FAULT_NO_MEMORY);
		return ps__fail_memory("a path; what follows is counted to the region around it");
	}
	ps__node_prefetch(node);
	if (member->seen == member->depth && ps__rate_chooses(rate, &member->random)) {
		result = ps__boundary_make(member, outer, &now_ns);
		/* The region isn't opened, as after the errors above, which have the same code: the
		 * caller must know from the code whether the region is open. */
		if (__builtin_expect(result == PS_ENOMEM, 0))
			return result;
		if (__builtin_expect(result != PS_OK, 0))
			ps__member_lose(member, member->seen);
		ps__member_set_seen(member, member->seen + 1);
		const struct ps__slow *slow =
		    atomic_load_explicit(&region->slow, memory_order_acquire);
		if (__builtin_expect(slow != NULL, 0))
			ps__slow_begin(member, slow, result);
	}
	struct ps__level *level = &member->levels[member->depth];
	level->region = region;
	level->rate = rate;
	level->entered_ns = now_ns;
	ps__level_set_node(level, node);
	ps__member_set_depth(member, member->depth + 1);
	return result;
}

PS__HOT int ps_region_enter(struct ps_region *region)
{
	if (!region)
		return ps__fail(PS_EINVAL, "ps_region_enter: the region is NULL");
	int result = ps__profile_begin_visit(region->profile, "ps_region_enter");
	if (result != PS_OK)
		return result;
	result = region_enter(region);
	ps__profile_end();
	return result;
}

static bool region_is_open(const struct ps__member *member, const struct ps_region *region)
{
	for (size_t depth = 0; member && depth < member->depth; depth++) {
		if (member->levels[depth].region == region)
			return true;
	}
	return false;
}

static __attribute__((cold, noinline)) int region_fail_order(const struct ps__member *member,
                                                             const struct ps_region *region)
{
	if (!region_is_open(member, region)) {
		/* If the thread isn't counted, region_enter has noted a fault already. */
		if (member || ps__own.refused != region->profile->number)
			ps__profile_note(region->profile, PS__FAULT_UNMATCHED);
		return ps__fail(PS_EINVAL,
		                "ps_region_leave: '%s' isn't open in this thread: enter it first",
		                region->name);
	}
	ps__profile_note(region->profile, PS__FAULT_CROSSED);
	return ps__fail(PS_EINVAL,
	                "ps_region_leave: '%s' is left while '%s' is open inside it: leave that "
	                "first, or both by ps_region_close",
	                region->name, member->levels[member->depth - 1].region->name);
}

PS__HOT int ps_region_leave(struct ps_region *region)
{
	if (!region)
		return ps__fail(PS_EINVAL, "ps_region_leave: the region is NULL");
	int result = ps__profile_begin_visit(region->profile, "ps_region_leave");
	if (result != PS_OK)
		return result;
	struct ps__member *member = ps__member_find(region->profile);
	if (__builtin_expect(
		!member || !member->depth || member->levels[member->depth - 1].region != region, 0))
		result = region_fail_order(member, region);
	else
		result = ps__boundary_leave(member);
	ps__profile_end();
	return result;
}

void ps__region_leave_through(struct ps_region *region)
{
	if (ps_region_leave(region) != PS_EINVAL ||
	    ps__profile_begin_visit(region->profile, "ps_region_leave") != PS_OK)
		return;
	struct ps__member *member = ps__member_find(region->profile);
	if (region_is_open(member, region)) {
		while (member->levels[member->depth - 1].region != region)
			ps__member_leave(member);
		ps__member_leave(member);
	}
	ps__profile_end();
}

size_t ps_region_level(const struct ps_profile *profile)
{
	if (!profile || !ps__fork_is_same(profile->generation))
		return 0;
	const struct ps__member *member = ps__member_look_up(profile);
	return member ? member->depth : 0;
}

int ps_region_close(struct ps_profile *profile, size_t level)
{
	if (!profile)
		return ps__fail(PS_EINVAL, "ps_region_close: the profile is NULL");
	int result = ps__profile_begin_visit(profile, "ps_region_close");
	if (result != PS_OK)
		return result;
	struct ps__member *member = ps__member_find(profile);
	while (member && member->depth > level) {
		int left = ps__member_leave(member);
		result = result == PS_OK ? left : result;
	}
	ps__profile_end();
	return result;
}

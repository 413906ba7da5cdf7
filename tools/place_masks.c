/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The affinity masks of a program's tasks.
 *
 * No record reports a mask. It is read when a task is first seen, and again at growing intervals,
 * because most tasks that bind themselves do it soon after their start.
 */
#include "tools/place.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <string.h>

/* A mask that a task sets this early counts as its first one. */
#define EARLY_NS        5000000u
#define SOONEST_LOOK_NS 1000000u
#define LATEST_LOOK_NS  1000000000u
#define AGE_SHARE       4 /* the time between two looks is a quarter of the task's age */

/* Returns the index of the first entry after this tid and time. */
static size_t masks_behind(const struct place_masks *masks, uint32_t tid, uint64_t ns)
{
	size_t from = 0, to = masks->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct place_mask *mask = &masks->list[middle];
		if (mask->tid < tid || (mask->tid == tid && mask->begin_ns <= ns))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct place_mask *place_masks_find(const struct place_masks *masks, uint32_t tid, uint64_t ns)
{
	size_t behind = masks_behind(masks, tid, ns);

	if (behind == 0 || masks->list[behind - 1].tid != tid)
		return NULL;
	return &masks->list[behind - 1];
}

/* Reads the task's mask and plans the next look. If the mask can't be read, the task has ended, and
 * nothing changes. */
static int mask_look(struct place_mask *mask, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > mask->begin_ns ? now_ns - mask->begin_ns : 0;
	uint64_t wait_ns = age_ns / AGE_SHARE;
	struct tool_cpus now = {0};

	wait_ns = wait_ns < SOONEST_LOOK_NS ? SOONEST_LOOK_NS : wait_ns;
	mask->next_look_ns = now_ns + (wait_ns > LATEST_LOOK_NS ? LATEST_LOOK_NS : wait_ns);
	int result = tool_cpus_of_task(&now, (pid_t)mask->tid);
	if (result != PS_OK)
		return result == PS_ENOMEM ? PS_ENOMEM : PS_OK;
	if (mask->is_known && tool_cpus_are_equal(&mask->last, &now))
		goto clear_now;
	if (!mask->is_known || age_ns < EARLY_NS)
		result = tool_cpus_copy(&mask->first, &now);
	else
		mask->has_changed = true;
	if (result == PS_OK)
		result = tool_cpus_copy(&mask->last, &now);
	mask->is_known = result == PS_OK;
clear_now:
	tool_cpus_clear(&now);
	return result;
}

int place_masks_begin(struct place_masks *masks, uint32_t tid, uint64_t begin_ns)
{
	if (!PS__VECTOR_GROW(&masks->list, masks->count, &masks->room))
		return ps__fail_memory("the masks of a program's tasks");
	size_t at = masks_behind(masks, tid, begin_ns);
	memmove(&masks->list[at + 1], &masks->list[at], (masks->count - at) * sizeof *masks->list);
	masks->count++;
	masks->list[at] = (struct place_mask){.tid = tid, .begin_ns = begin_ns};
	return mask_look(&masks->list[at], ps__os_now_ns());
}

int place_masks_hear(struct place_masks *masks, const struct ps_record *record)
{
	struct place_mask *mask;

	if (record->type == PS_RECORD_FORK)
		return place_masks_begin(masks, record->tid, record->time);
	mask = record->type == PS_RECORD_EXIT ? place_masks_find(masks, record->tid, record->time)
	                                      : NULL;
	if (mask)
		mask->has_ended = true;
	return PS_OK;
}

int place_masks_look(struct place_masks *masks, uint64_t now_ns)
{
	int result = PS_OK;

	for (size_t i = 0; result == PS_OK && i < masks->count; i++) {
		struct place_mask *mask = &masks->list[i];
		if (!mask->has_ended && mask->next_look_ns <= now_ns)
			result = mask_look(mask, now_ns);
	}
	return result;
}

void place_masks_clear(struct place_masks *masks)
{
	for (size_t i = 0; i < masks->count; i++) {
		tool_cpus_clear(&masks->list[i].first);
		tool_cpus_clear(&masks->list[i].last);
	}
	ps__os_free(masks->list);
	*masks = (struct place_masks){.list = NULL};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots on the fast path: they read the totals as a reading does, and write no row. */
#include "base/error.h"
#include "eventset/fast_totals.h"
#include "eventset/snapshot.h"

#include <perfsage/snapshot.h>

/* The other slots' parts don't change while the fast path is open. */
static void snapshot_copy_all(const struct ps_eventset *set, struct ps_snapshot *snapshot)
{
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		const struct ps__slot *slot = set->recorder.met[index];
		ps__snapshot_copy(slot, ps__snapshot_part(snapshot, index), snapshot->width);
		if (slot == set->fast_path.slot)
			snapshot->own = index;
	}
	snapshot->count = set->recorder.met_count;
	snapshot->opening = set->openings;
}

static inline bool snapshot_has_room(const struct ps_eventset *set,
                                     const struct ps_snapshot *snapshot)
{
	return snapshot->of == set->snapshots && snapshot->room >= set->recorder.met_count;
}

static inline bool went_backwards(const struct ps__fast_path *fast)
{
	const uint64_t *current = fast->current, *previous = fast->previous;
	ps__pair changes = {0, 0};

	for (size_t at_bytes = 0; at_bytes != fast->even_bytes; at_bytes += sizeof changes)
		changes |= ps__load_pair(current, at_bytes) - ps__load_pair(previous, at_bytes);
	uint64_t all = changes[0] | changes[1];
	if (fast->width & 1)
		all |= current[fast->width - 1] - previous[fast->width - 1];
	return all >> 63;
}

static inline void snapshot_copy_own(const struct ps__fast_path *fast,
                                     const struct ps_snapshot *snapshot)
{
	const uint64_t *current = fast->current, *passed = fast->passed;
	uint64_t *part = ps__snapshot_part(snapshot, snapshot->own), *words = part + 1;

	part[0] = fast->counts_mark;
	for (size_t at_bytes = 0; at_bytes != fast->even_bytes; at_bytes += sizeof(ps__pair))
		ps__store_pair(words, at_bytes,
		               ps__load_pair(passed, at_bytes) + ps__load_pair(current, at_bytes));
	if (fast->width & 1)
		words[fast->width - 1] = passed[fast->width - 1] + current[fast->width - 1];
}

PS__INLINE int snapshot_at_hand(struct ps_eventset *set, struct ps_snapshot *snapshot)
{
	struct ps__fast_path *fast = &set->fast_path;

	if (!PS__LIKELY(fast->root) || !PS__LIKELY(set->calls.owner == ps__own_thread_number) ||
	    !PS__LIKELY(snapshot_has_room(set, snapshot)))
		return PS__TRY_SLOW_PATH;
	int result = ps__fast_read_totals(fast);
	if (!PS__LIKELY(result == PS_OK))
		return result;
	uint64_t now_ns = ps__clock_now_ns(&set->recorder.clock);
	if (!PS__LIKELY(snapshot->opening == set->openings))
		snapshot_copy_all(set, snapshot);
	if (!PS__LIKELY(!went_backwards(fast)))
		return ps__fast_note_miss(fast, PS_OK);
	snapshot_copy_own(fast, snapshot);
	snapshot->timestamp = now_ns;
	fast->pause.takes++;
	return PS_OK;
}

PS__INLINE int snapshot_fast(struct ps_eventset *set, struct ps_snapshot *snapshot)
{
	if (!PS__LIKELY(ps__fork_is_same(set->calls.fork_generation)) ||
	    !PS__LIKELY(set->calls.busy < 16))
		return PS__TRY_SLOW_PATH;
	ps__arch_note_stack(&set->calls.busy);
	atomic_signal_fence(memory_order_seq_cst);
	int result = snapshot_at_hand(set, snapshot);
	atomic_signal_fence(memory_order_seq_cst);
	set->calls.busy = 0;
	return result;
}

PS__HOT int ps__set_take_snapshot(struct ps_eventset *set, struct ps_snapshot **snapshot)
{
	int result = set && *snapshot ? snapshot_fast(set, *snapshot) : PS__TRY_SLOW_PATH;

	return PS__LIKELY(result != PS__TRY_SLOW_PATH)
	           ? result
	           : ps__set_take_snapshot_slowly(set, snapshot);
}

int ps_snapshot_take(struct ps_eventset *set, struct ps_snapshot **snapshot)
{
	if (!snapshot)
		return ps__fail(PS_EINVAL,
		                "ps_snapshot_take: the pointer for the snapshot is NULL");
	return ps__set_take_snapshot(set, snapshot);
}

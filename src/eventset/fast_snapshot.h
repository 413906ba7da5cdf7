/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots on the fast path. They read the totals as a reading does, but write no row. The
 * functions are also inlined in ps_log_take, because after a system call the CPU predicts each
 * function return wrongly.
 */
#ifndef PS_EVENTSET_FAST_SNAPSHOT_H
#define PS_EVENTSET_FAST_SNAPSHOT_H

#include "base/identity.h"
#include "base/stack.h"
#include "eventset/fast_totals.h"
#include "eventset/parts.h"
#include "store/recording.h"

/* snapshot.c: copies all parts to a snapshot that was taken before the fast path was last opened.
 * Returns false, and leaves the snapshot as it is, if it has too little room. */
bool ps__fast_copy_parts(const struct ps__fast_path *fast, struct ps_snapshot *snapshot)
    __attribute__((cold));

static inline bool ps__fast_went_back(const struct ps__fast_path *fast)
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

static inline void ps__fast_copy_own(const struct ps__fast_path *fast,
                                     const struct ps_snapshot *snapshot)
{
	const uint64_t *totals = fast->snapshot.totals, *passed = fast->snapshot.passed;
	uint64_t *part = ps__snapshot_part(snapshot, snapshot->own), *words = part + 1;

	part[0] = fast->snapshot.label;
	for (size_t at_bytes = 0; at_bytes != fast->even_bytes; at_bytes += sizeof(ps__pair))
		ps__store_pair(words, at_bytes,
		               ps__load_pair(passed, at_bytes) + ps__load_pair(totals, at_bytes));
	if (fast->width & 1)
		words[fast->width - 1] = passed[fast->width - 1] + totals[fast->width - 1];
}

PS__INLINE int ps__fast_snapshot_at_hand(struct ps__fast_path *fast, struct ps_snapshot *snapshot)
{
	if (!PS__LIKELY(fast->root) ||
	    !PS__LIKELY(fast->set.calls->owner == ps__own_thread_number) ||
	    !PS__LIKELY(snapshot->of == fast->snapshot.of))
		return PS__TRY_SLOW_PATH;
	int result = ps__fast_read_totals(fast);
	if (!PS__LIKELY(result == PS_OK))
		return result;
	uint64_t now_ns = ps__clock_now_ns(fast->set.clock);
	if (!PS__LIKELY(!ps__fast_went_back(fast)))
		return ps__fast_note_miss(fast, PS_OK);
	if (!PS__LIKELY(snapshot->opening == fast->snapshot.opening) &&
	    !ps__fast_copy_parts(fast, snapshot))
		return PS__TRY_SLOW_PATH;
	/* Noted before the snapshot has them: what it gives to its CPU stays there, also if this
	 * call is left. */
	ps__fast_swap(&fast->current, &fast->snapshot.totals);
	fast->snapshot.until_ns = now_ns;
	atomic_signal_fence(memory_order_seq_cst);
	ps__fast_copy_own(fast, snapshot);
	snapshot->timestamp = now_ns;
	fast->pause.takes++;
	return PS_OK;
}

/* Takes a snapshot of the set that has this fast path; `fast` is valid as long as the set. PS_OK,
 * or a code with a detail; or PS__TRY_SLOW_PATH: call ps__set_take_snapshot_slowly. */
PS__INLINE int ps__fast_take_snapshot(struct ps__fast_path *fast, struct ps_snapshot *snapshot)
{
	struct ps__calls *calls = fast->set.calls;

	if (!PS__LIKELY(ps__fork_is_same(calls->fork_generation)) || !PS__LIKELY(calls->busy < 16))
		return PS__TRY_SLOW_PATH;
	ps__arch_note_stack(&calls->busy);
	atomic_signal_fence(memory_order_seq_cst);
	int result = ps__fast_snapshot_at_hand(fast, snapshot);
	atomic_signal_fence(memory_order_seq_cst);
	calls->busy = 0;
	return result;
}

#endif

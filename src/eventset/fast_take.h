/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast path of takes (take.h), in two steps. Between the steps the caller adds up what was
 * counted. The functions are inlined where a region begins or ends, because after a system call the
 * CPU predicts each function return wrongly.
 */
#ifndef PS_EVENTSET_FAST_TAKE_H
#define PS_EVENTSET_FAST_TAKE_H

#include "eventset/fast_totals.h"
#include "eventset/take.h"
#include "topology/tree.h"

/*
 * Reads the counters: `current` less `previous` was counted since the last take. The caller has
 * made sure that the set counts the calling thread, and that the process has not forked. After
 * PS_OK call ps__fast_take_cancel or ps__fast_take_end. PS__TRY_SLOW_PATH: call ps__set_take.
 * Otherwise a code with a detail.
 */
PS__INLINE int ps__fast_take_begin(struct ps__fast_path *fast, uint64_t *now_ns)
{
	if (!PS__LIKELY(fast->root == &ps__fast_take) ||
	    !PS__LIKELY(!ps__topology_is_destroyed(fast->set.topology)) ||
	    !PS__LIKELY(!fast->set.calls->busy))
		return PS__TRY_SLOW_PATH;
	ps__arch_note_stack(&fast->set.calls->busy);
	atomic_signal_fence(memory_order_seq_cst);
	int result = ps__fast_read_totals(fast);
	if (PS__LIKELY(result == PS_OK)) {
		*now_ns = ps__clock_now_ns(fast->set.clock);
		return PS_OK;
	}
	__atomic_store_n(&fast->set.calls->busy, 0, __ATOMIC_RELEASE);
	return result;
}

/* Ends the take as if nothing had been taken. */
PS__INLINE void ps__fast_take_cancel(struct ps__fast_path *fast)
{
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&fast->set.calls->busy, 0, __ATOMIC_RELEASE);
}

/* Ends the take: the set is then as after ps_accum, but there is no row. now_ns: the take's time.
 */
PS__INLINE void ps__fast_take_end(struct ps__fast_path *fast, uint64_t now_ns)
{
	ps__fast_swap(&fast->current, &fast->previous);
	fast->base = PS__BASE_PREVIOUS;
	fast->snapshot.until_ns = now_ns;
	fast->pause.takes++;
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&fast->set.calls->busy, 0, __ATOMIC_RELEASE);
}

/* take.c: returns what the take in progress has taken, as the argument of a ps__take function. */
struct ps__taken ps__fast_taken(struct ps__fast_path *fast, uint64_t now_ns) __attribute__((cold));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a boundary: reads the counters where a visit begins or ends. The functions are inlined into
 * the public calls: after a system call the CPU mispredicts each return to a caller
 * (doc/measurements, "Regions"). */
#ifndef PS_REGION_BOUNDARY_H
#define PS_REGION_BOUNDARY_H

#include "base/error.h"
#include "base/hot.h"
#include "eventset/fast_take.h"
#include "region/profile.h"

/*
 * Adds the counts since the last boundary to a node, on the fast path. level: the visit that ends
 * at this boundary, or NULL. After PS_OK member->is_changing is true, and the caller sets it to
 * false. After any other result nothing was added.
 */
PS__INLINE int boundary_make_fast(struct ps__member *member, struct ps__node *node,
                                  const struct ps__level *level, uint64_t *now_ns)
{
	struct ps__fast_path *fast = member->fast;

	if (!PS__LIKELY(!member->last.has_failed))
		return PS__TRY_SLOW_PATH;
	int result = ps__fast_take_begin(fast, now_ns);
	if (!PS__LIKELY(result == PS_OK))
		return result;
	struct ps__node_cell *cell = ps__node_cell(node, fast->row.history);
	if (!PS__LIKELY(cell)) {
		ps__fast_take_cancel(fast);
		return ps__fail_memory("a region's counts; they come with a later boundary");
	}
	member->last.mark |= fast->counts_mark;
	member->is_changing = true;
	ps__node_begin(node);
	uint64_t growth = ps__add_growth(&cell->words[1], fast->current, fast->previous,
	                                 fast->even_bytes, fast->width);
	if (!PS__LIKELY(!(growth >> 63))) {
		ps__add_growth(&cell->words[1], fast->previous, fast->current, fast->even_bytes,
		               fast->width);
		ps__node_end(node);
		ps__fast_take_cancel(fast);
		return ps__fast_note_miss(fast, PS_OK);
	}
	ps__cell_note(cell, *now_ns, fast->counts_mark);
	ps__add_word(&node->visits.wall_ns, *now_ns - member->last.ns);
	ps__member_set_last_ns(member, *now_ns);
	if (level)
		ps__visits_add(&node->visits, *now_ns - level->entered_ns);
	ps__node_end(node);
	if (!PS__LIKELY(!member->watches.open))
		ps__member_tell_watches(member, *now_ns);
	ps__fast_take_end(fast, *now_ns);
	return PS_OK;
}

/* Does the same as ps__member_boundary. node: the node of the innermost counted region. */
PS__INLINE int ps__boundary_make(struct ps__member *member, struct ps__node *node, uint64_t *now_ns)
{
	uint64_t fast_ns = 0;
	int result = boundary_make_fast(member, node, NULL, &fast_ns);

	*now_ns = fast_ns;
	if (!PS__LIKELY(result == PS_OK))
		return ps__member_boundary_slowly(member, result, now_ns);
	member->is_changing = false;
	return PS_OK;
}

/* As ps__member_leave. */
PS__INLINE int ps__boundary_leave(struct ps__member *member)
{
	const struct ps__level *level = &member->levels[member->depth - 1];
	struct ps__node *node = level->node;
	uint64_t now_ns = 0;

	if (!PS__LIKELY(member->seen == member->depth))
		return ps__member_leave_uncounted(member);
	ps__node_prefetch_next(node);
	int result = boundary_make_fast(member, node, level, &now_ns);
	if (!PS__LIKELY(result == PS_OK)) {
		uint64_t slow_ns = now_ns;
		result = ps__member_leave_slowly(member, result, &slow_ns);
		now_ns = slow_ns;
	}
	ps__member_set_depth(member, member->depth - 1);
	ps__member_set_seen(member, member->seen - 1);
	member->is_changing = false;
	if (__builtin_expect(member->spent.visit_ns > 0, 0) &&
	    atomic_load_explicit(&node->visits.count, memory_order_relaxed) % PS__REVIEW_VISITS ==
	        0)
		ps__sampling_review(member, level->region, node, now_ns);
	if (__builtin_expect(member->watches.open != NULL, 0))
		ps__slow_end(member, now_ns, result);
	return result;
}

#endif

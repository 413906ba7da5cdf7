/* SPDX-License-Identifier: BSD-3-Clause */
/* A boundary of a visit. It is in the public calls themselves: behind the system call each return
 * to a caller is predicted wrongly (doc/measurements, "Regions"). */
#ifndef PS_REGION_BOUNDARY_H
#define PS_REGION_BOUNDARY_H

#include "base/hot.h"
#include "base/os.h"
#include "region/profile.h"

/* member.c: adds the counts since the last boundary, on one hardware thread. */
int ps__member_add(void *context, const struct ps__taken *taken);

/* As ps__member_boundary. */
PS__INLINE int ps__boundary_make(struct ps__member *member, uint64_t *now_ns)
{
	struct ps__node *node = ps__member_counted(member);

	*now_ns = 0;
	int result = ps__set_take(member->set, ps__member_add, member, now_ns);
	member->is_changing = false;
	if (__builtin_expect(!*now_ns, 0))
		*now_ns = ps__os_now_ns();
	ps__add_word(&node->visits.wall_ns, *now_ns - member->last.ns);
	member->last.ns = *now_ns;
	if (__builtin_expect(result != PS_OK && result != PS_PARTIAL, 0)) {
		ps__profile_note(member->profile, PS__FAULT_FAILED);
		return result;
	}
	member->last.has_failed = false;
	return PS_OK;
}

/* As ps__member_leave. */
PS__INLINE int ps__boundary_leave(struct ps__member *member)
{
	const struct ps__level *level = &member->levels[member->depth - 1];
	struct ps__node *node = level->node;
	uint64_t now_ns;

	if (__builtin_expect(member->seen < member->depth, 0))
		return ps__member_leave_uncounted(member);
	int result = ps__boundary_make(member, &now_ns);
	if (__builtin_expect(result != PS_OK, 0))
		ps__member_lose(member, member->seen - 1);
	member->is_changing = true;
	ps__node_add_visit(node, now_ns - level->entered_ns);
	ps__member_set_depth(member, member->depth - 1);
	member->seen--;
	member->is_changing = false;
	if (__builtin_expect(member->visit_ns > 0, 0) &&
	    atomic_load_explicit(&node->visits.count, memory_order_relaxed) % PS__REVIEW_VISITS ==
	        0)
		ps__sampling_review(member, level->region, node, now_ns);
	if (__builtin_expect(member->watches.open != NULL, 0))
		ps__slow_end(member, now_ns, result);
	return result;
}

#endif

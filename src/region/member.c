/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that a profile counts: its beginning, its boundaries and its end. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/os.h"
#include "eventset/take.h"
#include "region/boundary.h"
#include "region/paths.h"
#include "region/profile.h"

#include <math.h>
#include <perfsage/read.h>
#include <stdlib.h>

#define TRIALS 15

_Thread_local struct ps__own ps__own;

static void member_forget(struct ps_profile *profile)
{
	pthread_setspecific(profile->key.id, NULL);
	ps__own.number = 0;
	ps__own.member = NULL;
}

/* The C library gives the stack of a thread that ended by exit(2) to a later thread, with the
 * values of all keys. So the key's value can be the member of a thread that is gone. */
static bool member_is_own(const struct ps__member *member)
{
	return member->thread == ps__thread_number();
}

struct ps__member *ps__member_look_up(const struct ps_profile *profile)
{
	struct ps__member *member = pthread_getspecific(profile->key.id);

	return member && member->profile == profile && member_is_own(member) ? member : NULL;
}

void ps__member_clear(struct ps__member *member)
{
	ps_eventset_destroy(member->set);
	ps__node_free_all(member);
	ps__slow_end_thread(member);
	ps__os_free(member->levels);
}

void ps__member_free(struct ps__member *member)
{
	ps__member_clear(member);
	ps__os_free(member);
}

/* Starts the thread's set. The first reading binds the set to the topology. All later fetches are
 * takes (take.h). */
static int member_start(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;
	int result = ps__spare_start(profile, &member->set);

	if (result != PS_OK)
		return result;
	member->fast = ps__set_fast_path(member->set);
	result = ps_read(member->set, profile->root, NULL, NULL);
	return result == PS_PARTIAL ? PS_OK : result;
}

static void member_link(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;

	pthread_mutex_lock(&profile->lock);
	member->next = profile->members;
	if (member->next)
		member->next->link = &member->next;
	member->link = &profile->members;
	profile->members = member;
	pthread_mutex_unlock(&profile->lock);
}

void ps__member_unlink(struct ps__member *member)
{
	*member->link = member->next;
	if (member->next)
		member->next->link = member->link;
}

static int member_compare_times(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* Returns the median cost of TRIALS visits in ns. Each visit is two boundaries here. They add their
 * counts to the root path, where these belong. NaN if a boundary fails. */
static double member_try_visit(struct ps__member *member)
{
	uint64_t times[TRIALS], begun_ns, now_ns;

	for (unsigned trial = 0; trial < TRIALS; trial++) {
		if (ps__member_boundary(member, &begun_ns) != PS_OK ||
		    ps__member_boundary(member, &now_ns) != PS_OK ||
		    ps__member_boundary(member, &now_ns) != PS_OK)
			return (double)NAN;
		times[trial] = now_ns - begun_ns;
	}
	qsort(times, TRIALS, sizeof times[0], member_compare_times);
	return (double)times[TRIALS / 2];
}

static void member_begin_sampling(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;

	pthread_mutex_lock(&profile->lock);
	uint64_t seed = profile->seed + ++profile->joined * UINT64_C(0x9e3779b97f4a7c15);
	double budget = profile->budget;
	pthread_mutex_unlock(&profile->lock);
	/* The upper bits of neighbouring seeds differ little until they are mixed. */
	member->random = (seed ^ seed >> 31) * UINT64_C(0xbf58476d1ce4e5b9) | 1;
	double visit_ns = budget > 0 ? member_try_visit(member) : 0;
	member->spent.visit_ns = isnan(visit_ns) ? 0 : visit_ns;
}

int ps__member_make(struct ps_profile *profile, struct ps__member **out)
{
	struct ps__member *member = ps__os_calloc(1, sizeof *member);
	int result;

	if (!member)
		return ps__fail_memory("a thread of a profile");
	member->profile = profile;
	member->tid = ps__os.gettid();
	member->thread = ps__thread_number();
	member->last.ns = ps__os_now_ns(); /* before the set counts */
	member->root = ps__node_search(member, NULL, NULL, NULL);
	member->entered = member->root;
	result = member->root ? member_start(member) : ps__fail_memory("a thread of a profile");
	if (result == PS_OK)
		member_begin_sampling(member);
	if (result == PS_OK && pthread_setspecific(profile->key.id, member) != 0)
		result = ps__fail_memory("a thread of a profile");
	if (result != PS_OK) {
		ps__member_free(member);
		return result;
	}
	ps__own.number = profile->number;
	ps__own.member = member;
	member_link(member);
	*out = member;
	return PS_OK;
}

static void member_doubt(struct ps__node *node, enum ps__doubt doubt)
{
	atomic_fetch_or_explicit(&node->doubt, doubt, memory_order_relaxed);
}

void ps__member_lose(struct ps__member *member, size_t common)
{
	if (!member->last.has_failed || member->last.common > common)
		__atomic_store_n(&member->last.common, common, __ATOMIC_RELAXED);
	/* Pairs with ps__member_failed_by_other. */
	__atomic_store_n(&member->last.has_failed, true, __ATOMIC_RELEASE);
	member_doubt(ps__member_counted(member), PS__LACKS);
}

/* Returns the node that gets the counts of the first reading after a failed one. */
static __attribute__((cold, noinline)) struct ps__node *
member_find_common(struct ps__member *member)
{
	size_t common = member->last.common < member->seen ? member->last.common : member->seen;
	struct ps__node *node = common ? member->levels[common - 1].node : member->root;

	if (node != ps__member_counted(member))
		member_doubt(ps__member_counted(member), PS__LACKS);
	member_doubt(node, PS__HAS_OTHERS);
	return node;
}

static int member_add(void *context, const struct ps__taken *taken)
{
	struct ps__member *member = context;
	struct ps__node *node = ps__member_counted(member);

	if (__builtin_expect(member->last.has_failed, 0))
		node = member_find_common(member);
	struct ps__node_cell *cell = ps__node_cell(node, taken->history);

	if (__builtin_expect(!cell, 0))
		return ps__fail_memory("a region's counts; they come with a later boundary");
	member->last.mark |= taken->mark;
	member->is_changing = true;
	ps__node_begin(node);
	ps__cell_add(cell, taken);
	ps__node_end(node);
	if (__builtin_expect(member->watches.open != NULL, 0))
		ps__slow_add(member, taken);
	return PS_OK;
}

int ps__member_boundary_slowly(struct ps__member *member, int result, uint64_t *now_ns)
{
	struct ps__node *node = ps__member_counted(member);

	if (result == PS__TRY_SLOW_PATH)
		result = ps__set_take(member->set, member_add, member, now_ns);
	member->is_changing = false;
	if (!*now_ns)
		*now_ns = ps__os_now_ns();
	ps__add_word(&node->visits.wall_ns, *now_ns - member->last.ns);
	ps__member_set_last_ns(member, *now_ns);
	if (result != PS_OK && result != PS_PARTIAL) {
		ps__profile_note(member->profile, PS__FAULT_UNREAD);
		return result;
	}
	__atomic_store_n(&member->last.has_failed, false, __ATOMIC_RELAXED);
	return PS_OK;
}

int ps__member_leave_slowly(struct ps__member *member, int result, uint64_t *now_ns)
{
	const struct ps__level *level = &member->levels[member->depth - 1];

	result = ps__member_boundary_slowly(member, result, now_ns);
	if (result != PS_OK)
		ps__member_lose(member, member->seen - 1);
	member->is_changing = true;
	ps__node_add_visit(level->node, *now_ns - level->entered_ns);
	return result;
}

void ps__member_tell_watches(struct ps__member *member, uint64_t now_ns)
{
	const struct ps__taken taken = ps__fast_taken(member->fast, now_ns);

	ps__slow_add(member, &taken);
}

int ps__member_boundary(struct ps__member *member, uint64_t *now_ns)
{
	return ps__boundary_make(member, ps__member_counted(member), now_ns);
}

int ps__member_leave(struct ps__member *member)
{
	return ps__boundary_leave(member);
}

static void member_mark_node(struct ps__node *node, uint16_t mark)
{
	for (struct ps__node_cell *cell = atomic_load_explicit(&node->cells, memory_order_acquire);
	     cell; cell = cell->next)
		atomic_fetch_or_explicit(&cell->mark, mark, memory_order_relaxed);
}

/* The event set repairs itself. If the jump interrupted an addition of counts to a path, the path
 * may have only a part of them, or may get them twice. */
static void member_recover(struct ps__member *member)
{
	if (member->seen > member->depth)
		ps__member_set_seen(member, member->depth);
	if (member->set)
		ps__set_note_left(member->set);
	/* Checks all nodes, because the node that was being changed may be of a visit that is no
	 * longer in levels. */
	for (struct ps__node *node = member->root; node;
	     node = atomic_load_explicit(&node->next, memory_order_acquire)) {
		if (atomic_load_explicit(&node->sequence, memory_order_relaxed) & 1)
			ps__node_end(node);
	}
	ps__slow_recover(member);
	if (!member->is_changing)
		return;
	member->is_changing = false;
	ps__slow_lose(member);
	member_mark_node(ps__member_counted(member), PS__MARK_INTERRUPTED);
	ps__profile_note(member->profile, PS__FAULT_JUMP);
}

struct ps__member *ps__member_find_anew(struct ps_profile *profile)
{
	ps__own.member = ps__member_look_up(profile);
	ps__own.number = profile->number;
	if (ps__own.member && ps__own.has_jumped)
		member_recover(ps__own.member);
	return ps__own.member;
}

void ps__own_note_jump(void)
{
	ps__own.has_jumped = true;
	ps__own.number = 0;
	ps__own.member = NULL;
}

void ps__member_give_up_call(void)
{
	if (!ps__own.is_inside || ps__stack_noted == UINTPTR_MAX)
		return;
	ps__own_note_jump();
	ps__profile_end();
}

/* Marks all cells: only the stop shows that counters were off meanwhile, so any path may lack
 * counts. */
static void member_mark_cells(struct ps__member *member, uint16_t mark)
{
	for (struct ps__node *node = member->root; node;
	     node = atomic_load_explicit(&node->next, memory_order_acquire)) {
		member_mark_node(node, mark);
	}
}

/* Adds to residual the counts that the kernel has and the set did not attribute; they must be 0. */
int ps__member_check(struct ps__member *member, long long *residual)
{
	size_t events = ps_eventset_event_count(member->set);
	long long *own = ps__os_calloc(events, sizeof *own);

	if (!own)
		return ps__fail_memory("the residual of a thread");
	int result = ps_eventset_check(member->set, own, (int)events);
	for (size_t event = 0; result == PS_OK && event < events; event++)
		residual[event] += own[event];
	ps__os_free(own);
	return result;
}

static int member_stop(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;
	uint64_t now_ns;
	int left = PS_OK;

	while (member->depth) {
		ps__profile_note(profile, PS__FAULT_LEFT_OPEN);
		int result = ps__member_leave(member);
		left = left == PS_OK ? result : left;
	}
	int stopped = ps_stop(member->set, profile->root, NULL, NULL);
	member->last.mark = 0;
	int taken = ps__member_boundary(member, &now_ns);
	if (taken != PS_OK)
		ps__member_lose(member, 0);
	member_mark_cells(member, member->last.mark & PS__MARK_INTERRUPTED);
	return stopped != PS_OK ? stopped : left != PS_OK ? left : taken;
}

/* Adds the member's residual to the profile's. A set that can't be read has none. */
static void member_check_at_end(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;
	size_t events = profile->ended.all->events;
	long long *residual = ps__os_calloc(events, sizeof *residual);

	if (!residual || ps__member_check(member, residual) != PS_OK) {
		ps__os_free(residual);
		return;
	}
	pthread_mutex_lock(&profile->lock);
	for (size_t event = 0; event < events; event++)
		profile->ended.residual[event] += residual[event];
	pthread_mutex_unlock(&profile->lock);
	ps__os_free(residual);
}

/* If the member can't be added for lack of memory, it stays in the list, without a set. */
static int member_end(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;
	int cancel = ps__cancel_hold();
	int result = member_stop(member);

	if (result == PS_OK)
		member_check_at_end(member);
	struct ps_eventset *set = member->set;
	pthread_mutex_lock(&profile->lock);
	member->set = NULL; /* no other thread uses the set from now on */
	pthread_mutex_unlock(&profile->lock);
	if (result == PS_OK)
		ps__spare_put(profile, set);
	else
		ps_eventset_destroy(set);
	pthread_mutex_lock(&profile->lock);
	bool is_added = ps__paths_add_member(profile->ended.all, member) == 0;
	if (is_added && profile->ended.are_kept &&
	    ps__ended_add(profile, member, ps__paths_add_member) < 0)
		ps__profile_note(profile, PS__FAULT_NO_MEMORY);
	if (is_added)
		ps__member_unlink(member);
	pthread_mutex_unlock(&profile->lock);
	if (is_added)
		ps__member_free(member);
	ps__cancel_release(cancel);
	return result;
}

int ps__member_end(struct ps__member *member)
{
	struct ps_profile *profile = member->profile;

	if (ps__own.has_jumped)
		member_recover(member);
	int result = member_end(member);
	member_forget(profile);
	return result;
}

void ps__member_end_earlier(const struct ps_profile *profile)
{
	struct ps__member *member = pthread_getspecific(profile->key.id);

	if (member && member->profile != profile && member_is_own(member))
		ps__member_end(member);
}

void ps__member_thread_ends(void *argument)
{
	struct ps__member *member = argument;

	if (!ps__fork_is_same(member->profile->generation) || !member_is_own(member))
		return;
	ps__member_give_up_call();
	/* From now on a mark in a signal handler is refused: it would use memory that is being
	 * freed. */
	ps__stack_noted = UINTPTR_MAX;
	ps__own.is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	ps__member_end(member);
	ps__profile_end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile inside.
 *
 * Each thread that is counted has a member: its event set, its stack of open regions, and its
 * nodes, one for each path that it has entered. Only the thread itself writes there, without a
 * lock. Who reads (paths.c) holds the profile's lock, so that no member goes away, and sees each
 * node whole by its sequence. When a thread ends, its nodes are added to the profile's paths of
 * ended threads.
 */
#ifndef PS_REGION_PROFILE_H
#define PS_REGION_PROFILE_H

#include "base/identity.h"
#include "base/stack.h"
#include "eventset/take.h"
#include "region/links.h"
#include "region/node.h"
#include "region/sampling.h"
#include "region/slow.h"
#include "store/recording.h"

#include <perfsage/error.h>
#include <perfsage/region.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A region that is open. */
struct ps__level {
	struct ps_region *region;
	const struct ps__rate *rate; /* of it */
	struct ps__node *node;
	uint64_t entered_ns;
};

/* The cost of all counted visits of a thread together, in any path: see review.c. */
struct ps__spent {
	uint64_t since_ns;           /* when a rate was last changed */
	unsigned reviews;            /* since then */
	const struct ps__node *node; /* of the last one */
	bool is_shared;              /* they were of several paths */
};

struct ps__member {
	struct ps__member *next; /* in the profile; by its lock */
	struct ps__member **link;
	struct ps_profile *profile;
	pid_t tid;
	struct ps_eventset *set;    /* NULL: the thread has ended */
	struct ps__fast_path *fast; /* the set's */
	struct ps__level *levels;
	size_t room; /* that levels has */
	/* Others look at these two, the nodes of levels, and at what is in last but its mark
	 * (rest.c). So they are changed by atomic stores, and levels is by the profile's lock. */
	size_t depth;
	size_t seen; /* of these levels, the outermost, are counted; those inside are not */
	struct ps__node *root;
	struct ps__node *newest;
	struct ps__node *entered; /* last; the root path at first */
	struct ps__links links;   /* from a node and a rate to the node below */
	struct ps__watches watches;
	volatile bool is_changing; /* counts, visits or numbers of a node */
	uint64_t random;
	double visit_ns; /* what a visit costs, if there is a budget; else 0 */
	struct ps__spent spent;
	struct {
		uint64_t ns;
		uint16_t mark;   /* of all that was taken since it was set to 0 */
		bool has_failed; /* and regions were entered or left at it */
		size_t common;   /* of the regions that are open, so many were so ever since */
	} last;                  /* boundary */
};

/* A set that counts no thread now. */
struct ps__spare {
	struct ps__spare *next;
	struct ps_eventset *set;
};

struct ps_region {
	struct ps_profile *profile;
	struct ps_region *next;                /* with the same hash of the name */
	_Atomic(const struct ps__rate *) rate; /* of the visits that begin now: one of these */
	_Atomic(struct ps__slow *) slow;       /* which visits are told; NULL: none */
	_Atomic uint64_t uncounted;            /* visits of threads that could not be counted */
	struct ps__rate all;                   /* each visit is counted */
	struct ps__rate *chosen;               /* by the program */
	struct ps__rate *powers;               /* for a budget; NULL: there is none */
	/* The region "smooth" of "smooth[level=3]": see group.c; NULL: none. Stored once */
	_Atomic(const struct ps_region *) base;
	char name[];
};

/* Its visits that were not counted, and which path they were of isn't known. A visit that a number
 * would have told apart may be among those of its base. */
static inline uint64_t ps__region_uncounted(const struct ps_region *region)
{
	const struct ps_region *base = atomic_load_explicit(&region->base, memory_order_acquire);

	return atomic_load_explicit(&region->uncounted, memory_order_relaxed) +
	       (base ? atomic_load_explicit(&base->uncounted, memory_order_relaxed) : 0);
}

/* Found or made, under the profile's lock; NULL for lack of memory. */
struct ps_region *ps__region_get(struct ps_profile *profile, const char *name);

/* For marks: leaves it, and what is open inside it, as longjmp leaves it. Not in order is a fault
 * all the same. */
void ps__region_leave_through(struct ps_region *region);

/* Faults by kind. The last one is of profiles that were loaded into this one. */
enum ps__fault {
	PS__FAULT_UNMATCHED,
	PS__FAULT_CROSSED,
	PS__FAULT_LEFT_OPEN,
	PS__FAULT_IN_HANDLER,
	/* The next ones together are `failed` in struct ps_profile_faults. */
	PS__FAULT_UNREAD,
	PS__FAULT_NO_MEMORY,
	PS__FAULT_NO_NAME,
	PS__FAULT_JUMP,
	PS__FAULT_UNREPORTED,
	PS__FAULT_UNCOUNTED,
	PS__FAULT_INSIDE_ELSEWHERE,
	PS__FAULTS
};

struct ps_profile {
	uint64_t number; /* never given twice in a process */
	uint64_t generation;
	struct ps_eventset *model;
	struct ps_component *root;
	pthread_key_t key;    /* of the thread's member: its destructor is the thread's end */
	pthread_mutex_t lock; /* of all below but group and faults */
	struct ps__member *members;
	struct ps__spare *spares;
	struct {
		struct ps_paths *all; /* what threads that have ended counted, together */
		struct ps__ended_thread *threads; /* and each by itself */
		struct ps__links links;           /* from its tid to it; see ended.c */
		bool are_kept;
		long long *residual; /* of each event, what was counted and is in no path */
	} ended;
	struct ps_region **regions; /* by hash */
	size_t region_count;
	size_t region_room;                           /* a power of two */
	void (*unlisten)(struct ps_profile *profile); /* NULL: it never heard marks */
	_Atomic(struct ps_region *) group;            /* tells visits apart; NULL: nothing does */
	_Atomic uint64_t faults[PS__FAULTS];
	double budget;   /* of the time, that visits may cost; 0: none */
	uint64_t seed;   /* of the choice of visits */
	uint64_t joined; /* how often a thread did */
	struct {
		_Atomic uint64_t all;   /* that joined, or could not be counted */
		_Atomic uint64_t first; /* of these, those that no profile knew before */
	} threads;
	_Atomic(char *) uncounted_why; /* of the first thread that could not be counted */
};

/* The calling thread's: which member it is, and whether it is inside a call of any profile. */
struct ps__own {
	uint64_t number; /* of the profile that `member` is of */
	struct ps__member *member;
	volatile bool is_inside;
	int refusal;      /* why that profile can't count it */
	uint64_t refused; /* the number of a profile that can't count it */
	uint64_t known;   /* the number of the last profile that it came to, counted or not */
};
extern _Thread_local struct ps__own ps__own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Around each public call that looks at the calling thread. PS_ECLOST, or PS_ECNFLCT from a handler
 * that interrupted another one: those don't leave. */
int ps__profile_refuse(struct ps_profile *profile, const char *call) __attribute__((cold));
static inline int ps__profile_may_begin(struct ps_profile *profile, const char *call)
{
	return __builtin_expect(!ps__fork_is_same(profile->generation) || ps__own.is_inside, 0)
	           ? ps__profile_refuse(profile, call)
	           : PS_OK;
}
static inline void ps__profile_enter(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	ps__own.is_inside = true;
	atomic_signal_fence(memory_order_seq_cst);
}
static inline int ps__profile_begin(struct ps_profile *profile, const char *call)
{
	int result = ps__profile_may_begin(profile, call);

	if (result != PS_OK)
		return result;
	ps__stack_noted = UINTPTR_MAX;
	ps__profile_enter();
	return PS_OK;
}
/* The same around boundaries, which may be left: see base/stack.h. */
static inline int ps__profile_begin_visit(struct ps_profile *profile, const char *call)
{
	int result = ps__profile_may_begin(profile, call);

	if (__builtin_expect(result != PS_OK, 0))
		return result;
	ps__arch_note_stack(&ps__stack_noted);
	ps__profile_enter();
	return PS_OK;
}
static inline void ps__profile_end(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	ps__own.is_inside = false;
}

/* Returns the number of threads that have come to be counted, with those that could not be. A
 * thread that comes again is one; but not if it was counted by another profile meanwhile. */
uint64_t ps__profile_threads(struct ps_profile *profile);
/* Of these, those that had come to no other profile before. */
uint64_t ps__profile_new_threads(struct ps_profile *profile);

static inline void ps__profile_note(struct ps_profile *profile, enum ps__fault fault)
{
	atomic_fetch_add_explicit(&profile->faults[fault], 1, memory_order_relaxed);
}

/* The calling thread's member; NULL if it has none. */
static inline struct ps__member *ps__member_find(struct ps_profile *profile)
{
	if (__builtin_expect(ps__own.number != profile->number, 0)) {
		ps__own.member = pthread_getspecific(profile->key);
		ps__own.number = profile->number;
	}
	return ps__own.member;
}
/* The same, made if need be. What failed once is not tried again before ps_profile_join. */
int ps__member_create(struct ps_profile *profile, struct ps__member **out) __attribute__((cold));
static inline int ps__member_get(struct ps_profile *profile, struct ps__member **out)
{
	*out = ps__member_find(profile);
	return __builtin_expect(*out != NULL, 1) ? PS_OK : ps__member_create(profile, out);
}
/* Counts go to the innermost path. now_ns is there in any case. */
int ps__member_boundary(struct ps__member *member, uint64_t *now_ns);
/* The rest of a boundary for which the fast path gave this result, and maybe a time; else 0. */
int ps__member_boundary_slowly(struct ps__member *member, int result, uint64_t *now_ns);
/* The same for one that ends a visit; member->is_changing is for the caller to end. */
int ps__member_leave_slowly(struct ps__member *member, int result, uint64_t *now_ns);
/* Visits that are watched get the counts that the fast path is about to take, too. */
void ps__member_tell_watches(struct ps__member *member, uint64_t now_ns) __attribute__((cold));
/*
 * Called before a region is entered or left without a reading: `common` of the levels stay open.
 * What comes with the next reading belongs to several paths. The innermost path that was open all
 * the time gets it: so its inclusive counts, and those around it, are right.
 */
void ps__member_lose(struct ps__member *member, size_t common) __attribute__((cold));
static inline void ps__level_set_node(struct ps__level *level, struct ps__node *node)
{
	__atomic_store_n(&level->node, node, __ATOMIC_RELAXED);
}

/* Pairs with ps__member_counted_by_other: the node of the innermost level comes first. */
static inline void ps__member_set_depth(struct ps__member *member, size_t depth)
{
	__atomic_store_n(&member->depth, depth, __ATOMIC_RELEASE);
}

static inline void ps__member_set_seen(struct ps__member *member, size_t seen)
{
	__atomic_store_n(&member->seen, seen, __ATOMIC_RELAXED);
}

static inline void ps__member_set_last_ns(struct ps__member *member, uint64_t now_ns)
{
	__atomic_store_n(&member->last.ns, now_ns, __ATOMIC_RELAXED);
}

/* After a call that was left: see ps__stack_was_left. */
void ps__member_recover(struct ps__member *member);

int ps__member_check(struct ps__member *member, long long *residual);
/* Leaves the innermost region. */
int ps__member_leave(struct ps__member *member);
/* The calling thread's: its counts go to the paths of ended threads. */
int ps__member_end(struct ps__member *member);
void ps__member_thread_ends(void *member); /* for pthread_key_create */
void ps__member_free(struct ps__member *member);
/* The caller's, which has none. */
int ps__member_make(struct ps_profile *profile, struct ps__member **out);
/* The caller holds the profile's lock. */
void ps__member_unlink(struct ps__member *member);

/* The innermost of the regions that are open. */
static inline struct ps__node *ps__member_innermost(const struct ps__member *member)
{
	return member->depth ? member->levels[member->depth - 1].node : member->root;
}

/* The innermost of those that are counted: counts go there. */
static inline struct ps__node *ps__member_counted(const struct ps__member *member)
{
	return member->seen ? member->levels[member->seen - 1].node : member->root;
}

/* As another thread sees it, which holds the profile's lock; NULL while it changes. */
static inline const struct ps__node *ps__member_counted_by_other(const struct ps__member *member)
{
	size_t depth = __atomic_load_n(&member->depth, __ATOMIC_ACQUIRE);
	size_t seen = __atomic_load_n(&member->seen, __ATOMIC_RELAXED);

	if (seen > depth)
		return NULL;
	return seen ? __atomic_load_n(&member->levels[seen - 1].node, __ATOMIC_RELAXED)
	            : member->root;
}

/* The same, where the last boundary failed: the innermost that was open all the time since the one
 * before it. NULL: it did not fail. counted is what the call above has returned. */
static inline const struct ps__node *ps__member_failed_by_other(const struct ps__member *member,
                                                                const struct ps__node *counted)
{
	if (!__atomic_load_n(&member->last.has_failed, __ATOMIC_ACQUIRE))
		return NULL;
	size_t common = __atomic_load_n(&member->last.common, __ATOMIC_RELAXED);
	size_t seen = __atomic_load_n(&member->seen, __ATOMIC_RELAXED);

	if (common >= seen)
		return counted;
	return common ? __atomic_load_n(&member->levels[common - 1].node, __ATOMIC_RELAXED)
	              : member->root;
}

/* ended.c: what one thread counted that has ended. The caller holds the profile's lock. */
struct ps__ended_thread {
	struct ps__ended_thread *next;
	pid_t tid;
	struct ps_paths *paths;
};
/* ps__paths_add_member, or ps__rest_add_member for what is not in the nodes, too. */
typedef int ps__add_member(struct ps_paths *paths, const struct ps__member *member);
/* 0, or -1 for lack of memory: nothing is kept then. */
int ps__ended_add(struct ps_profile *profile, const struct ps__member *member, ps__add_member *add);
struct ps__ended_thread *ps__ended_find(const struct ps_profile *profile, pid_t tid);
void ps__ended_free_all(struct ps_profile *profile);

/* join.c: ends the members of threads that are gone and didn't say so: that ended by exit(2), or
 * with a mark in the last of their destructors. */
void ps__gone_end_all(struct ps_profile *profile);

/* ended.c: a set that counts the calling thread, a spare one or a clone of the model; *out may be
 * NULL or not after an error. */
int ps__spare_start(struct ps_profile *profile, struct ps_eventset **out);
/* Takes over a set that was stopped, and whose counts were taken. */
void ps__spare_put(struct ps_profile *profile, struct ps_eventset *set);
void ps__spare_free_all(struct ps_profile *profile);

/* node.c: the node below, made if need be; NULL for lack of memory. parent NULL: the root path. */
struct ps__node *ps__node_search(struct ps__member *member, struct ps__node *parent,
                                 const struct ps_region *region, const struct ps__rate *rate);
static inline bool ps__node_is(const struct ps__node *node, const struct ps__node *parent,
                               const struct ps__rate *rate)
{
	return node && node->rate == rate && node->parent == parent;
}
/* Programs enter the same regions in the same order again and again. So it is the one that was
 * entered last below the parent, or the one that was made after the one entered last. */
static inline struct ps__node *ps__node_get(struct ps__member *member, struct ps__node *parent,
                                            const struct ps_region *region,
                                            const struct ps__rate *rate)
{
	struct ps__node *node = parent->last_child;

	if (!ps__node_is(node, parent, rate)) {
		node = atomic_load_explicit(&member->entered->next, memory_order_relaxed);
		if (!ps__node_is(node, parent, rate))
			node = ps__node_search(member, parent, region, rate);
		if (!node)
			return NULL;
		parent->last_child = node;
	}
	member->entered = node;
	return node;
}
void ps__node_free_all(struct ps__member *member);

/* A visit that isn't counted: that there was one is all that is known. */
static inline int ps__member_leave_uncounted(struct ps__member *member)
{
	size_t depth = member->depth - 1;
	struct ps__visits *visits = &member->levels[depth].node->visits;

	ps__add_word(member->seen == depth ? &visits->unchosen : &visits->skipped, 1);
	ps__member_set_depth(member, depth);
	return PS_OK;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structs inside a profile.
 *
 * Each thread that is counted has a member: its event set, its stack of open regions, and its
 * nodes, one for each path that it has entered. At a boundary, where a counted visit begins or
 * ends, the thread reads its counters, and adds the counts since its last boundary to a node. Only
 * the thread itself writes its member, without a lock. A reader (paths.c) holds the profile's lock,
 * so that no member is freed. It reads a node again if the node's sequence shows that the node was
 * being changed. When a thread ends, its nodes are added to the profile's paths of ended threads.
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
	const struct ps__rate *rate; /* the region's rate when it was entered */
	struct ps__node *node;
	uint64_t entered_ns;
};

/* A measurement of what all counted visits of a thread cost, in all its paths: see review.c. */
struct ps__spent {
	double visit_ns;             /* cost of a visit; 0: no budget, or not known */
	uint64_t since_ns;           /* when this measurement began */
	unsigned reviews;            /* number of reviews since then */
	const struct ps__node *node; /* the node of the last review */
	bool is_shared;              /* true if the reviews were of several paths */
};

struct ps__member {
	struct ps__member *next; /* in the profile's list; under the profile's lock */
	struct ps__member **link;
	struct ps_profile *profile;
	pid_t tid;
	uint64_t thread;            /* ps__thread_number of the counted thread */
	struct ps_eventset *set;    /* NULL: the thread has ended */
	struct ps__fast_path *fast; /* the set's fast path */
	struct ps__level *levels;
	size_t room; /* number of elements of levels */
	/* Other threads (rest.c) read depth, seen, the node of each level, and all of last but
	 * mark. So the thread writes these with atomic stores, and replaces levels under the
	 * profile's lock. */
	size_t depth;
	size_t seen; /* number of outermost levels that are counted; the levels inside are not */
	struct ps__node *root;
	struct ps__node *newest;
	struct ps__node *entered; /* the node that was entered last; at first the root */
	/* Finds the node below a node, at one rate; see also group.c, mark_value.c */
	struct ps__links links;
	struct ps__watches watches;
	/* True while counts, visits or numbers of a node are being changed */
	volatile bool is_changing;
	uint64_t random;
	struct ps__spent spent;
	struct {
		uint64_t ns;
		uint16_t mark;   /* of all takes (take.h) since it was set to 0 */
		bool has_failed; /* this boundary failed, and a region was entered or left there */
		/* Number of outermost levels that were open all the time since the last reading */
		size_t common;
		uint64_t given_up; /* see rest_begin (rest.c); under the profile's lock */
	} last;                    /* the last boundary */
};

/* An event set that counts no thread now. */
struct ps__spare {
	struct ps__spare *next;
	struct ps_eventset *set;
};

struct ps_region {
	struct ps_profile *profile;
	struct ps_region *next; /* in the same slot of the hash table */
	/* Rate of the visits that begin now: all, or one of chosen or of powers */
	_Atomic(const struct ps__rate *) rate;
	_Atomic(struct ps__slow *) slow; /* which visits are reported; NULL: none */
	_Atomic uint64_t uncounted;      /* visits of threads that could not be counted */
	struct ps__rate all;             /* each visit is counted */
	struct ps__rate *chosen;         /* list of the rates that the program has set */
	struct ps__rate *powers; /* rates that a budget chooses from; NULL: there is no budget */
	/* For "smooth[level=3]" the region "smooth" (group.c); NULL: no number. Stored once */
	_Atomic(const struct ps_region *) base;
	char name[];
};

/* Returns the number of the region's visits in threads that could not be counted. The paths and the
 * numbers of these visits aren't known. So the visits of its base are included: they may have had
 * this region's number. */
static inline uint64_t ps__region_uncounted(const struct ps_region *region)
{
	const struct ps_region *base = atomic_load_explicit(&region->base, memory_order_acquire);

	return atomic_load_explicit(&region->uncounted, memory_order_relaxed) +
	       (base ? atomic_load_explicit(&base->uncounted, memory_order_relaxed) : 0);
}

/* Finds or makes a region. Takes the profile's lock. NULL if out of memory. */
struct ps_region *ps__region_get(struct ps_profile *profile, const char *name);

/* For marks: leaves the region, and all regions that are open inside it, for example after a
 * longjmp. Leaving a region that isn't the innermost one is nevertheless counted as a fault. */
void ps__region_leave_through(struct ps_region *region);

/* Kinds of faults. PS__FAULT_INSIDE_ELSEWHERE is noted for each thread whose last counts can't be
 * read, because it is gone (join.c), or because another process saved its paths. */
enum ps__fault {
	PS__FAULT_UNMATCHED,
	PS__FAULT_CROSSED,
	PS__FAULT_LEFT_OPEN,
	PS__FAULT_IN_HANDLER,
	/* `failed` in struct ps_profile_faults is the sum from here to PS__FAULT_UNREPORTED. */
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
	struct {
		pthread_key_t id;   /* of a thread's member; its destructor ends the member */
		bool is_of_earlier; /* see ps__profile_create_after */
	} key;
	pthread_mutex_t lock; /* of all below, except unlisten and atomic fields */
	struct ps__member *members;
	struct ps__spare *spares;
	struct {
		struct ps_paths *all;             /* sum of all ended threads */
		struct ps__ended_thread *threads; /* each ended thread by itself, if are_kept */
		struct ps__links links; /* from a tid to the element of threads; see ended.c */
		bool are_kept;
		long long *residual;     /* for each event: counts that are in no path */
		struct ps__member *gone; /* members of gone threads, already cleared: see join.c */
	} ended;
	struct ps_region **regions; /* a hash table */
	size_t region_count;
	size_t region_room; /* a power of two */
	/* Stops hearing marks; NULL: it never heard any */
	void (*unlisten)(struct ps_profile *profile);
	/* The name under which a visit's number is given (group.c); NULL: visits have no numbers */
	_Atomic(struct ps_region *) group;
	_Atomic uint64_t faults[PS__FAULTS];
	double budget;   /* the fraction of the time that visits may cost; 0: no limit */
	uint64_t seed;   /* of the choice of visits */
	uint64_t joined; /* how often a thread has joined */
	struct {
		_Atomic uint64_t all;   /* number of threads that joined, or could not be counted */
		_Atomic uint64_t first; /* number of those that no profile knew before */
		size_t joining;         /* number of threads whose members are being made */
		bool is_over;           /* no thread may join: a later profile has the key */
	} threads;
	/* Why the first of the uncounted threads could not be counted; NULL: there is none */
	_Atomic(char *) uncounted_why;
};

/* The state of the calling thread: its member, and whether it is inside a call of any profile. */
struct ps__own {
	uint64_t number; /* number of the member's profile; 0: none */
	struct ps__member *member;
	volatile bool is_inside;
	/* A jump has left a call of this thread. From then on each member that is found anew is
	 * repaired: the call may have been of any profile, and that profile may be destroyed. */
	bool has_jumped;
	int refusal;      /* why the profile `refused` can't count the thread: an error code */
	uint64_t refused; /* number of a profile that can't count the thread; 0: none */
	/* Number of the last profile that the thread came to, counted or not; 0: none */
	uint64_t known;
};
extern _Thread_local struct ps__own ps__own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Each public call that uses the calling thread's state begins with ps__profile_begin and ends with
 * ps__profile_end. ps__profile_begin returns PS_ECLOST in a child of fork(), and PS_ECNFLCT in a
 * signal handler that interrupted another call. After a failure the public call doesn't call
 * ps__profile_end. */
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
/* As ps__profile_begin, for calls that a jump may leave: see base/stack.h. */
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

/* As ps_profile_create. earlier: NULL, or a profile that no thread may join from now on. It counts
 * a thread on until the thread joins the new profile. Both have one key: the new one is destroyed
 * first. */
int ps__profile_create_after(struct ps_profile **out, const struct ps_eventset *model,
                             struct ps_component *root, struct ps_profile *earlier);
/* Frees what a profile that is over has counted. Its regions stay; its topology may be destroyed.
 * False if it still counts a thread. */
bool ps__profile_release(struct ps_profile *profile);

/* Returns the number of threads that have joined, or could not be counted. A thread that joins
 * again is counted once, unless it came to another profile in between. */
uint64_t ps__profile_threads(struct ps_profile *profile);
/* Returns the number of those threads that had come to no other profile before. */
uint64_t ps__profile_new_threads(struct ps_profile *profile);

static inline void ps__profile_note(struct ps_profile *profile, enum ps__fault fault)
{
	atomic_fetch_add_explicit(&profile->faults[fault], 1, memory_order_relaxed);
}

/* As ps__member_find, but slower, and changes nothing. */
struct ps__member *ps__member_look_up(const struct ps_profile *profile) __attribute__((cold));

/* The calling thread's member; NULL if it has none. ps__own.member may be of a profile that another
 * thread has destroyed, so it is used only if the number is that of `profile`. */
struct ps__member *ps__member_find_anew(struct ps_profile *profile) __attribute__((cold));
static inline struct ps__member *ps__member_find(struct ps_profile *profile)
{
	return __builtin_expect(ps__own.number == profile->number, 1)
	           ? ps__own.member
	           : ps__member_find_anew(profile);
}
/* Makes the calling thread's member; ps__member_get finds it or makes it. After a failure both
 * return the same code in this thread, until ps_profile_join tries again. */
int ps__member_create(struct ps_profile *profile, struct ps__member **out) __attribute__((cold));
static inline int ps__member_get(struct ps_profile *profile, struct ps__member **out)
{
	*out = ps__member_find(profile);
	return __builtin_expect(*out != NULL, 1) ? PS_OK : ps__member_create(profile, out);
}
/* Makes a boundary: adds the counts since the last one to the innermost counted path. Always sets
 * *now_ns. */
int ps__member_boundary(struct ps__member *member, uint64_t *now_ns);
/* Completes a boundary after the fast path has returned `result`. *now_ns: the time that the fast
 * path has read, or 0. */
int ps__member_boundary_slowly(struct ps__member *member, int result, uint64_t *now_ns);
/* As ps__member_boundary_slowly, for a boundary that ends a visit. Afterwards member->is_changing
 * is true, and the caller sets it to false. */
int ps__member_leave_slowly(struct ps__member *member, int result, uint64_t *now_ns);
/* Adds the counts of the fast path's present take to the watched visits (slow.h). */
void ps__member_tell_watches(struct ps__member *member, uint64_t now_ns) __attribute__((cold));
/*
 * Notes that a region was entered or left, and that the counters could not be read. common: number
 * of outermost levels that stay open. The counts of the next reading then belong to several paths.
 * They are added to the innermost path that was open all the time. So the inclusive counts of that
 * path and of the paths around it are right.
 */
void ps__member_lose(struct ps__member *member, size_t common) __attribute__((cold));
static inline void ps__level_set_node(struct ps__level *level, struct ps__node *node)
{
	__atomic_store_n(&level->node, node, __ATOMIC_RELAXED);
}

/* Pairs with ps__member_counted_by_other: the innermost node is stored before the depth. */
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

/* Notes that a jump left a call of the thread (ps__stack_was_left): members are found anew. */
void ps__own_note_jump(void);
/* For the end of the process, of the thread, or of a profile: a visit's call that the thread has
 * begun never goes on, because a jump left it, or because a handler that interrupted it ends the
 * process. Notes this as a jump. Does nothing if the call can't be repaired. */
void ps__member_give_up_call(void);

int ps__member_check(struct ps__member *member, long long *residual);
/* Leaves the innermost region. */
int ps__member_leave(struct ps__member *member);
/* Ends the calling thread's member. Its counts are added to the paths of ended threads. */
int ps__member_end(struct ps__member *member);
/* Ends the calling thread's member of an earlier profile with the same key, if it has one. */
void ps__member_end_earlier(const struct ps_profile *profile);
void ps__member_thread_ends(void *member); /* for pthread_key_create */
/* Frees all that the member has; ps__member_free also frees the struct. */
void ps__member_clear(struct ps__member *member);
void ps__member_free(struct ps__member *member);
/* Makes the calling thread's member. The thread must have none. */
int ps__member_make(struct ps_profile *profile, struct ps__member **out);
/* The caller holds the profile's lock. */
void ps__member_unlink(struct ps__member *member);

/* Returns the node of the innermost open region; the root if none is open. */
static inline struct ps__node *ps__member_innermost(const struct ps__member *member)
{
	return member->depth ? member->levels[member->depth - 1].node : member->root;
}

/* Returns the node to which counts are added: the innermost counted region's node, or the root. */
static inline struct ps__node *ps__member_counted(const struct ps__member *member)
{
	return member->seen ? member->levels[member->seen - 1].node : member->root;
}

/* As ps__member_counted, but for another thread, which holds the profile's lock. NULL while the
 * member's own thread changes its levels. */
static inline const struct ps__node *ps__member_counted_by_other(const struct ps__member *member)
{
	size_t depth = __atomic_load_n(&member->depth, __ATOMIC_ACQUIRE);
	size_t seen = __atomic_load_n(&member->seen, __ATOMIC_RELAXED);

	if (seen > depth)
		return NULL;
	return seen ? __atomic_load_n(&member->levels[seen - 1].node, __ATOMIC_RELAXED)
	            : member->root;
}

/* Returns the node that will get the next counts if the last boundary failed: the innermost one
 * that was open all the time since the last reading. NULL if the last boundary did not fail.
 * counted: the result of ps__member_counted_by_other. */
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

/* ended.c: the counts of an ended thread. Callers of add and find hold the profile's lock. */
struct ps__ended_thread {
	struct ps__ended_thread *next;
	pid_t tid;
	struct ps_paths *paths;
};
/* ps__paths_add_member, or ps__rest_add_member, which also adds counts that are in no node yet. */
typedef int ps__add_member(struct ps_paths *paths, struct ps__member *member);
/* Adds a member's counts to those kept for its tid. 0, or -1 if out of memory: nothing is added. */
int ps__ended_add(struct ps_profile *profile, struct ps__member *member, ps__add_member *add);
struct ps__ended_thread *ps__ended_find(const struct ps_profile *profile, pid_t tid);
void ps__ended_free_all(struct ps_profile *profile);

/* join.c: ends the members of gone threads for which ps__member_thread_ends was not called. Such a
 * thread ended by exit(2), or had a mark in the last of its destructors. */
void ps__gone_end_all(struct ps_profile *profile);
void ps__gone_free_all(struct ps_profile *profile);

/* ended.c: starts a set that counts the calling thread, a spare one or a clone of the model. After
 * an error *out is NULL, or a set that the caller must destroy. */
int ps__spare_start(struct ps_profile *profile, struct ps_eventset **out);
/* Keeps a stopped set as a spare. All its counts must be in nodes already. */
void ps__spare_put(struct ps_profile *profile, struct ps_eventset *set);
void ps__spare_free_all(struct ps_profile *profile);

/* node.c: finds or makes the node below parent (NULL: the root). NULL if out of memory. */
struct ps__node *ps__node_search(struct ps__member *member, struct ps__node *parent,
                                 const struct ps_region *region, const struct ps__rate *rate);
static inline bool ps__node_is(const struct ps__node *node, const struct ps__node *parent,
                               const struct ps__rate *rate)
{
	return node && node->rate == rate && node->parent == parent;
}
/* As ps__node_search. Programs enter the same regions in the same order again and again. So this
 * function first tries the parent's child that was found last. Then it tries the node that was made
 * after the node entered last. */
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

/* Leaves the innermost region, whose visit isn't counted: only counts the visit itself. */
static inline int ps__member_leave_uncounted(struct ps__member *member)
{
	size_t depth = member->depth - 1;
	struct ps__visits *visits = &member->levels[depth].node->visits;

	ps__add_word(member->seen == depth ? &visits->unchosen : &visits->skipped, 1);
	ps__member_set_depth(member, depth);
	return PS_OK;
}

#endif

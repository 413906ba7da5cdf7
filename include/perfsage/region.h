/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: counts of named pieces of a program's work.
 *
 * A profile counts the threads of the process, each by an event set of its own.
 * A region is a named piece of the program's work. The regions that are open in
 * a thread, outermost first, are a path. What a thread counts between two
 * boundaries (ps_region_enter, ps_region_leave) belongs to its innermost open
 * region, on the hardware threads where the event set's attribution puts it. So
 * counts are kept exclusively, by path and hardware thread; those outside any
 * region belong to the root path. The sum over all paths is what the event sets
 * counted. For threads that have ended, or have called ps_profile_leave, the
 * topology's tree shows the same totals; for other threads it shows less.
 * Numbers that the program gives are summed by path and name.
 *
 * The idea of a calling-context tree of marked regions is that of TAU and
 * Caliper, and of LIKWID's marker API. See ps_region(3).
 */
#ifndef PERFSAGE_REGION_H
#define PERFSAGE_REGION_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>
#include <perfsage/paths.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A named region of a profile. It lives as long as the profile. */
struct ps_region;

/** Numbers of what went wrong in a profile. */
struct ps_profile_faults {
	size_t size;        /* sizeof(struct ps_profile_faults), set by the caller */
	uint64_t unmatched; /* calls and marks that should leave a region that wasn't open */
	/* Calls and marks that should leave an open region that wasn't the innermost one */
	uint64_t crossed;
	uint64_t left_open;  /* regions that were open at a thread's end or at ps_profile_leave */
	uint64_t in_handler; /* calls and marks in a signal handler that interrupted a call */
	/* Boundaries without a reading, or cut short by a jump out of a signal handler; requests
	   that found no memory; marks without a name; visits that could not be reported */
	uint64_t failed;
	/* Visits in threads that could not be counted, and numbers that these threads gave. They
	   are in no path */
	uint64_t uncounted;
	/* Why the first of these threads wasn't counted, or NULL; lives as long as the profile */
	const char *uncounted_why;
	/* Other threads that are counted now, and whose counts since their last boundary can't be
	   read: see ps_paths_create() */
	uint64_t inside;
};

/**
 * Creates a profile. It counts no thread yet.
 *
 * out - receives the profile; release it with ps_profile_destroy
 * model - the events: each thread counts with a clone of this set. The caller
 *     can change or destroy the model afterwards
 * root - the root of the topology that is to have the counts. The topology must
 *     not be destroyed before the profile
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; root is no root; the model has no event
 *   PS_ENOSUPP - the model is attached to a target, or wraps a PAPI set: a
 *       profile counts its own threads
 *   PS_ENOMEM - out of memory, or no key for thread-specific data is left
 */
PS_PUBLIC int ps_profile_create(struct ps_profile **out, const struct ps_eventset *model,
                                struct ps_component *root);

/**
 * Ends the calling thread's part and releases the profile, its regions and its
 * paths.
 *
 * profile - NULL does nothing. All other threads that entered one of its
 *     regions must have ended, or have called ps_profile_leave. In a child of
 *     fork() the parent's counters are left alone
 *
 * The totals stay in the topology; the paths don't: take them before.
 */
PS_PUBLIC void ps_profile_destroy(struct ps_profile *profile);

/**
 * Counts the calling thread from now on, as the first ps_region_enter does.
 *
 * Use the call to count a thread before its first region, or to try again to
 * count a thread that could not be counted.
 *
 * profile - from ps_profile_create
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ECLOST - in a child of fork(): create a profile there
 *   PS_ECNFLCT - from a signal handler that interrupted a call of the profile
 *   as ps_eventset_clone, ps_start and ps_read
 *
 * Does nothing if the thread is counted already.
 */
PS_PUBLIC int ps_profile_join(struct ps_profile *profile);

/**
 * Stops counting the calling thread, as the thread's end does.
 *
 * Open regions are left, and ps_profile_faults counts them (left_open). The
 * counts stay. The thread is counted again from its next ps_region_enter or
 * ps_profile_join.
 *
 * profile - from ps_profile_create
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ENOTRUN - the calling thread isn't counted
 *   PS_ECLOST, PS_ECNFLCT - as ps_region_define
 *   as ps_stop
 */
PS_PUBLIC int ps_profile_leave(struct ps_profile *profile);

/**
 * Checks conservation: what the kernel counted in the threads that have ended
 * and in the calling thread, minus the counts of the paths in these threads.
 *
 * profile - from ps_profile_create
 * residual - receives n numbers, in the order of the model's events; each must
 *     be 0
 * n - the number of events
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or n is not the number of events
 *   PS_ESYS - as for ps_read
 *   PS_ECLOST, PS_ECNFLCT - as ps_region_define
 *
 * What happens in the calling thread during the check shows in the residual, as
 * instructions do.
 */
PS_PUBLIC int ps_profile_check(struct ps_profile *profile, long long *residual, int n);

/**
 * Keeps the counts of each thread that ends from now on, for
 * ps_paths_create_of_thread. Without this call, only the sum over all ended
 * threads is kept.
 *
 * profile - from ps_profile_create
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ECLOST - in a child of fork()
 *   PS_ECNFLCT - as ps_region_define
 *
 * Cost: memory for the paths of each thread that ends, until
 * ps_profile_destroy. If there is no memory for a thread, the thread isn't kept,
 * and ps_profile_faults counts it as failed. Its counts are nevertheless in the
 * sum.
 */
PS_PUBLIC int ps_profile_keep_threads(struct ps_profile *profile);

/**
 * Lists the threads that the profile counts, and those that it has kept.
 *
 * profile - from ps_profile_create
 * tids - receives their numbers, each once; may be NULL if room is 0
 * room - the number of elements of tids
 * count - receives the number of threads, which can be more than room
 *
 * Errors: those of ps_profile_keep_threads. Besides:
 *   PS_EINVAL - count is NULL, or tids is NULL and room isn't 0
 */
PS_PUBLIC int ps_profile_threads(struct ps_profile *profile, pid_t *tids, size_t room,
                                 size_t *count);

/**
 * Hears the marks of this process (<perfsage/marks.h>): from now on a marked
 * visit is a visit of the profile's region of that name, and a marked number is
 * added as by ps_region_add_value.
 *
 * profile - from ps_profile_create. A second call does nothing. ps_profile_destroy
 *     ends the listening: no other thread is allowed to be at a mark then
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ECNFLCT - another profile of this process listens: destroy it first; or
 *       the collector listens (ps_collect_start, perfsage stat --regions); or as
 *       ps_region_define
 *   PS_ECLOST - in a child of fork()
 *
 * A process without marks is no error. ps_profile_faults tells what a mark could
 * not do. Any thread may call it at any time, but no signal handler.
 * It takes a lock, and looks at each module of the process.
 */
PS_PUBLIC int ps_profile_listen(struct ps_profile *profile);

struct ps_marks_listener;

/**
 * Tells the listener that a shared object with marks was loaded. The constructor
 * in <perfsage/marks.h> makes this call; programs don't.
 *
 * slot - of the shared object; filled if there is a listener. NULL does nothing
 */
PS_PUBLIC void ps_marks_announce(const struct ps_marks_listener **slot);

/**
 * Tells visits apart by a number, such as the level of a multigrid cycle.
 *
 * profile - from ps_profile_create
 * name - of the number (ps_region_add_value, PS_MARK_VALUE); copied
 *
 * From now on a number, 3 for example, moves the visit of the innermost region,
 * "smooth", to the path "smooth[name=3]", together with the counts since its last
 * boundary. A different number in the same visit makes a boundary. These numbers
 * are not added up, unless they are given outside any region.
 *
 * Errors:
 *   PS_ECNFLCT - the profile has another such name already
 *   as ps_region_define
 *
 * Any thread may call it at any time. Each different number makes a path: there
 * should be few of them.
 */
PS_PUBLIC int ps_profile_set_group(struct ps_profile *profile, const char *name);

/**
 * Tells what went wrong in all threads until now.
 *
 * profile - from ps_profile_create
 * out - its size is set by the caller
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; out->size is not set
 *   PS_ECNFLCT - from a signal handler that interrupted a call of the profile
 *
 * Any thread. It takes a lock.
 */
PS_PUBLIC int ps_profile_faults(struct ps_profile *profile, struct ps_profile_faults *out);

/**
 * Defines a region, or finds it if it is defined already.
 *
 * out - receives the region, which belongs to the profile
 * profile - from ps_profile_create
 * name - any bytes but 0; copied. "" is the name of the root path and refused
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or the name is empty
 *   PS_ENOMEM - out of memory
 *   PS_ECLOST - in a child of fork()
 *   PS_ECNFLCT - from a signal handler that interrupted a call of a profile
 *
 * Any thread may call it at any time. It takes a lock and hashes the name: call
 * it once for each call site, and keep the region.
 */
PS_PUBLIC int ps_region_define(struct ps_region **out, struct ps_profile *profile,
                               const char *name);

/**
 * Begins a visit of a region by the calling thread.
 *
 * A thread's first visit clones the profile's model, and starts the clone. When
 * the thread ends, its counts stay, and the set is kept for a later thread.
 *
 * region - from ps_region_define. It may be open already: regions recurse
 *
 * Errors after which the region isn't open, so that the following counts belong
 * to the region around it:
 *   PS_EINVAL - region is NULL
 *   PS_ECLOST - in a child of fork(): create a profile there. Elsewhere the
 *       region is open: see below
 *   PS_ECNFLCT - from a signal handler that interrupted a call of a profile
 *   PS_ENOMEM - out of memory for a path, or for the counts up to here: these
 *       counts are added at a later boundary
 *   as ps_profile_join, if the thread could not be counted: this call fails in
 *       the thread from then on, until ps_profile_join counts the thread
 *
 * Errors after which the region is open:
 *   as ps_read, except PS_ENOMEM - the counts up to here are added at the next
 *       boundary that succeeds, to the region that was innermost until then
 *   PS_ECLOST - not in a child: the program has closed the thread's descriptors
 *
 * ps_region_level tells after any error how many regions are open.
 *
 * Costs about one reading. Takes no lock. Allocates only for a new path or a new
 * hardware thread. Safe in a signal handler if nothing must be allocated.
 */
PS_PUBLIC int ps_region_enter(struct ps_region *region);

/**
 * Ends the visit of the calling thread's innermost region.
 *
 * region - the one that was entered last
 *
 * Errors:
 *   PS_EINVAL - region is NULL, or isn't open, or isn't the innermost one
 *       (ps_error_detail() names both): nothing is left then
 *   PS_ECNFLCT - as ps_region_enter: nothing is left
 *   PS_ECLOST - in a child of fork(): no region is open there. Elsewhere the
 *       program has closed the thread's descriptors, and the region is left
 *   as ps_read - the region is left
 *
 * Costs about one reading.
 */
PS_PUBLIC int ps_region_leave(struct ps_region *region);

/**
 * Adds a number to the sum of its name in the calling thread's path.
 *
 * named - from ps_region_define: the number's name. It is not visited
 * value - the number
 *
 * Counts the calling thread from now on, as ps_profile_join does. If the name is
 * that of ps_profile_set_group, the number tells visits apart instead.
 *
 * Errors after which the number is lost:
 *   PS_EINVAL - named is NULL
 *   PS_ENOMEM - out of memory for a name that is new in the path
 *   as ps_profile_join
 *
 * Errors after which the visit is nevertheless told apart:
 *   as ps_read
 *
 * Reads no counter. Exception: a second number that tells a visit apart. Takes no
 * lock and allocates nothing, unless the name or the number is new in the
 * thread's path. Safe in a signal handler if nothing is new.
 */
PS_PUBLIC int ps_region_add_value(struct ps_region *named, int64_t value);

/**
 * Returns the number of regions that are open in the calling thread; 0 for NULL.
 */
PS_PUBLIC size_t ps_region_level(const struct ps_profile *profile);

/**
 * Leaves the innermost regions until only `level` regions are open, for example
 * after a longjmp.
 *
 * profile - from ps_profile_create
 * level - from ps_region_level; nothing is left if no more regions are open
 *
 * Errors:
 *   as ps_region_leave
 */
PS_PUBLIC int ps_region_close(struct ps_profile *profile, size_t level);

#ifdef __cplusplus
}
#endif

#endif

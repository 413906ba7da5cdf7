/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions: what was counted, not only where.
 *
 * A profile counts the threads of the process, each by an event set of its own.
 * A region is a named piece of the program's work. The regions that are open in
 * a thread, outermost first, are a path. What a thread counts between two
 * boundaries (ps_region_enter, ps_region_leave) belongs to its innermost open
 * region, on the hardware threads where the event set's attribution puts it. So
 * counts are kept exclusively, by path and hardware thread; those outside any
 * region belong to the root path. The sum over all paths is what the event sets
 * counted. The topology's tree shows the same totals of threads that have
 * ended, or have called ps_profile_leave; of others it shows less. Numbers that
 * the program gives are summed by path and name.
 *
 * The idea of a calling-context tree of marked regions is that of TAU and
 * Caliper, and of LIKWID's marker API. See ps_region(3).
 */
#ifndef PERFSAGE_REGION_H
#define PERFSAGE_REGION_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>
#include <perfsage/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The regions of a program, and what was counted in them. */
struct ps_profile;

/** A named region of a profile. It lives as long as the profile. */
struct ps_region;

/** What a profile had counted at one point, as a tree of paths. It must be released before the
 * profile. */
struct ps_paths;

/** One of the paths; it lives as long as the ps_paths that it is of. */
struct ps_path;

/** In which part of a path. */
enum ps_share {
	PS_SHARE_EXCLUSIVE, /* in the innermost region itself */
	PS_SHARE_INCLUSIVE  /* and in the regions inside it */
};

/** Histogram: visits that took [2^n, 2^(n+1)) ns; the last one, all longer ones. */
#define PS_VISIT_TIMES 48

/**
 * The visits of a path, of all threads together. Times are nanoseconds.
 *
 * A visit is counted when it ends. Times and counts of open visits are there
 * up to their last boundary.
 */
struct ps_visits {
	size_t size;        /* sizeof(struct ps_visits), set by the caller */
	uint64_t count;     /* visits that have ended */
	uint64_t wall_ns;   /* exclusive: CLOCK_MONOTONIC in the region itself */
	uint64_t on_cpu_ns; /* of these, so long the thread was on a CPU; see ps_path_visits */
	uint64_t inside_ns; /* in the regions inside it */
	uint64_t
	    shortest_ns;     /* visit, the regions inside it included; UINT64_MAX: none has ended */
	uint64_t longest_ns; /* 0: none has ended */
	uint64_t times[PS_VISIT_TIMES]; /* visits by their time, see PS_VISIT_TIMES */
};

/**
 * The numbers that were given under one name in a path, of all threads together.
 * A sum that doesn't fit into 64 bits is the largest (or least) number.
 */
struct ps_mark_value {
	size_t size;    /* sizeof(struct ps_mark_value), set by the caller */
	uint64_t count; /* how often a number was given; 0: never */
	int64_t sum;    /* exact, if flags is 0 */
	uint32_t flags; /* 0 or PS_VALUE_SATURATED */
};

/** What a profile could not keep as it should be. */
struct ps_profile_faults {
	size_t size;         /* sizeof(struct ps_profile_faults), set by the caller */
	uint64_t unmatched;  /* regions that were left though they weren't open */
	uint64_t crossed;    /* regions that were left while another one was innermost */
	uint64_t left_open;  /* regions that were open when their thread ended */
	uint64_t in_handler; /* boundaries and numbers of a handler that interrupted a call */
	uint64_t failed;     /* boundaries without a reading; what found no memory */
};

/**
 * Creates a profile. It counts no thread yet.
 *
 * out - receives the profile; release it with ps_profile_destroy
 * model - the events: each thread counts with a clone of this set. It may be
 *     changed or destroyed afterwards
 * root - the root of the topology that is to have the counts. The topology must
 *     not be destroyed before the profile
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; root is no root; the model has no event
 *   PS_ENOSUPP - the model is attached to a target, or wraps a PAPI set: a
 *       profile counts its own threads
 *   PS_ENOMEM - no memory, or no key for thread-specific data is left
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
 * For a thread whose counts before its first region are wanted, too.
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
 * Stops counting the calling thread: as its end does.
 *
 * Regions that are open are left, and told by ps_profile_faults. The counts
 * stay. The thread is counted again from its next ps_region_enter or
 * ps_profile_join.
 *
 * profile - from ps_profile_create
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ENOTRUN - the calling thread isn't counted
 *   PS_ECLOST - in a child of fork()
 *   as ps_stop
 */
PS_PUBLIC int ps_profile_leave(struct ps_profile *profile);

/**
 * Hears the marks of this process (<perfsage/marks.h>): from now on they are
 * visits of the profile's regions, and numbers of ps_region_add_value.
 *
 * profile - from ps_profile_create. Twice does nothing. Its ps_profile_destroy
 *     ends it: no other thread may be at a mark then
 *
 * Errors:
 *   PS_EINVAL - profile is NULL
 *   PS_ECNFLCT - another profile of this process listens: destroy it first; or
 *       the collector (ps_collect_start) does; or as ps_region_define
 *   PS_ECLOST - in a child of fork()
 *
 * A process without marks is no error. What a mark could not do is told by
 * ps_profile_faults. Any thread may call it at any time, but no signal handler.
 * It takes a lock, and looks at each module of the process.
 */
PS_PUBLIC int ps_profile_listen(struct ps_profile *profile);

struct ps_marks_listener;

/**
 * For <perfsage/marks.h>: a shared object with marks was loaded. Its
 * constructor calls it; programs don't.
 *
 * slot - of the shared object; filled if a profile listens. NULL does nothing
 */
PS_PUBLIC void ps_marks_announce(const struct ps_marks_listener **slot);

/**
 * Tells visits apart by a number, such as the level of a multigrid cycle.
 *
 * profile - from ps_profile_create
 * name - of the number (ps_region_add_value, PS_MARK_VALUE); copied
 *
 * From now on a number, 3 for example, moves the visit of the innermost region,
 * "smooth", to the path "smooth[name=3]", with what it counted since its last
 * boundary. Another number in the same visit is a boundary. These numbers are in
 * no sum, unless they are given outside any region.
 *
 * Errors:
 *   PS_ECNFLCT - the profile has another such name already
 *   as ps_region_define
 *
 * Any thread may call it at any time. Each number is a path: they should be few.
 */
PS_PUBLIC int ps_profile_set_group(struct ps_profile *profile, const char *name);

/**
 * Tells what went wrong, of all threads until now.
 *
 * profile - from ps_profile_create
 * out - its size is set by the caller
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; size is none that was ever this struct's
 */
PS_PUBLIC int ps_profile_faults(struct ps_profile *profile, struct ps_profile_faults *out);

/**
 * Defines a region, or finds it if it is defined already.
 *
 * out - receives the region; the profile's
 * profile - from ps_profile_create
 * name - any bytes but 0; copied. "" is the name of the root path and refused
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or the name is empty
 *   PS_ENOMEM - no memory
 *   PS_ECLOST - in a child of fork()
 *
 * Any thread may call it at any time. It takes a lock and hashes the name: a
 * call site does that once.
 */
PS_PUBLIC int ps_region_define(struct ps_region **out, struct ps_profile *profile,
                               const char *name);

/**
 * Begins a visit of a region by the calling thread.
 *
 * A thread's first one clones the profile's model, and starts it. The set is
 * released when the thread ends; its counts stay.
 *
 * region - from ps_region_define. It may be open already: regions recurse
 *
 * Errors after which the region isn't open, so that what follows is counted to
 * the one around it:
 *   PS_EINVAL - region is NULL
 *   PS_ECLOST - in a child of fork(): create a profile there
 *   PS_ECNFLCT - from a signal handler that interrupted a call of a profile
 *   PS_ENOMEM - no memory for a path that is new
 *   as ps_profile_join
 *
 * Errors after which it is open:
 *   as ps_read - the counts up to here come at a later boundary, and belong to
 *       the region that is innermost then
 *
 * Costs about one reading. No lock, and no allocation but for a path or a
 * hardware thread that is new. In a signal handler it is safe without these.
 */
PS_PUBLIC int ps_region_enter(struct ps_region *region);

/**
 * Ends a visit: of the calling thread's innermost region.
 *
 * region - the one that was entered last
 *
 * Errors:
 *   PS_EINVAL - region is NULL, or isn't open, or isn't the innermost one (the
 *       detail names both): nothing is left then
 *   as ps_region_enter - the region is left, but for PS_ECLOST and PS_ECNFLCT
 *
 * Costs about one reading.
 */
PS_PUBLIC int ps_region_leave(struct ps_region *region);

/**
 * Gives a number: adds it to the sum of its name in the calling thread's path.
 *
 * named - from ps_region_define: the number's name. It is not visited
 * value - the number
 *
 * Counts the calling thread from now on, as ps_profile_join does. The name of
 * ps_profile_set_group tells visits apart instead.
 *
 * Errors after which the number is lost:
 *   PS_EINVAL - named is NULL
 *   PS_ENOMEM - no memory for a name that is new in the path
 *   as ps_profile_join
 *
 * Errors after which the visit is told apart all the same:
 *   as ps_read
 *
 * Reads no counter, but for a second number that tells a visit apart. No lock and
 * no allocation, but for what is new in the thread's path. In a signal handler
 * it is safe without these.
 */
PS_PUBLIC int ps_region_add_value(struct ps_region *named, int64_t value);

/**
 * The number of regions that are open in the calling thread. 0 for NULL.
 */
PS_PUBLIC size_t ps_region_level(const struct ps_profile *profile);

/**
 * Leaves the innermost regions until so many are open: after a longjmp.
 *
 * profile - from ps_profile_create
 * level - from ps_region_level; a number that isn't lower than it is now does
 *     nothing
 *
 * Errors:
 *   as ps_region_leave
 */
PS_PUBLIC int ps_region_close(struct ps_profile *profile, size_t level);

/**
 * Takes the paths of all threads together, as they stand now.
 *
 * Other threads may go on: of each, what it had counted up to its last boundary
 * is there. The calling thread's counts come up to this call.
 *
 * out - receives the paths; release them with ps_paths_destroy
 * profile - from ps_profile_create
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOMEM - no memory
 *   PS_ECLOST - in a child of fork()
 *   as ps_read
 *
 * The copy is the caller's: other threads may read it at the same time.
 */
PS_PUBLIC int ps_paths_create(struct ps_paths **out, struct ps_profile *profile);

/** Releases paths. NULL does nothing. */
PS_PUBLIC void ps_paths_destroy(struct ps_paths *paths);

/** The root path: outside any region. NULL for NULL. */
PS_PUBLIC const struct ps_path *ps_paths_root(const struct ps_paths *paths);

/** The name of a path's innermost region; "" for the root path. NULL for NULL. */
PS_PUBLIC const char *ps_path_name(const struct ps_path *path);

/** The path without its innermost region; NULL for the root path. */
PS_PUBLIC const struct ps_path *ps_path_parent(const struct ps_path *path);

/** The first of the paths that have one region more; NULL if there is none. */
PS_PUBLIC const struct ps_path *ps_path_child(const struct ps_path *path);

/** The next path that has the same parent; NULL after the last. */
PS_PUBLIC const struct ps_path *ps_path_next(const struct ps_path *path);

/**
 * Finds a path by the names of its regions.
 *
 * from - begin here; as a rule the root path
 * names, count - the regions below it, outermost first
 *
 * Returns NULL if there is no such path, or an argument is NULL.
 */
PS_PUBLIC const struct ps_path *ps_path_find(const struct ps_path *from, const char *const *names,
                                             size_t count);

/**
 * What was counted in a path, on the hardware threads below a component.
 *
 * path - of ps_paths
 * component - of the profile's topology
 * event - a name that the model's events have
 * out - receives the value; its timestamp is that of the last boundary
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, share is unknown, or the component is of
 *       another topology
 *   PS_ENOEVNT - the profile has no such event
 *   PS_ENOEVST - the path was never on a hardware thread of the component
 *   PS_EINVAL_DOM - one count of the event covers more than the component
 */
PS_PUBLIC int ps_path_value(const struct ps_path *path, const struct ps_component *component,
                            const char *event, enum ps_share share, struct ps_value *out);

/**
 * The same for all events at once, in the model's order.
 *
 * values, count - an array with room for at least as many as the model has
 *
 * Errors:
 *   PS_EBUF - the array is too small
 *   as ps_path_value
 */
PS_PUBLIC int ps_path_values(const struct ps_path *path, const struct ps_component *component,
                             enum ps_share share, struct ps_value *values, size_t count);

/**
 * The visits of a path, and their times.
 *
 * path - of ps_paths
 * out - its size is set by the caller. on_cpu_ns is the time in which the
 *     thread's first group of events was enabled, which goes on only while the
 *     thread is on a CPU; UINT64_MAX if no event could be opened. What is left
 *     of wall_ns the thread waited, or another had its CPU. The clock is looked
 *     at after the counters: in short visits either may be a microsecond more
 *     than the other.
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; size is none that was ever this struct's
 */
PS_PUBLIC int ps_path_visits(const struct ps_path *path, struct ps_visits *out);

/**
 * The name of numbers that were given (ps_region_add_value, PS_MARK_VALUE).
 *
 * index - 0 is the first name of all paths together
 *
 * Returns NULL beyond the last, or if paths is NULL.
 */
PS_PUBLIC const char *ps_paths_mark_value_name(const struct ps_paths *paths, size_t index);

/**
 * The sum of the numbers that were given in a path under a name.
 *
 * path - of ps_paths
 * name - as that of ps_region_define
 * out - its size is set by the caller. Where none was given, count is 0
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, share is unknown, or size is none that was
 *       ever this struct's
 *   PS_ENOEVNT - nothing was given under this name in any path
 */
PS_PUBLIC int ps_path_mark_value(const struct ps_path *path, const char *name, enum ps_share share,
                                 struct ps_mark_value *out);

/**
 * What was counted in a region, whatever the path that leads to it.
 *
 * Inclusively, what a region that recurses counted is in the sum once.
 *
 * paths - from ps_paths_create
 * name - the region's
 *
 * Errors:
 *   PS_ENOEVST - there is no path with such a region, or none was ever on a
 *       hardware thread of the component
 *   as ps_path_value
 */
PS_PUBLIC int ps_paths_region_value(const struct ps_paths *paths, const char *name,
                                    const struct ps_component *component, const char *event,
                                    enum ps_share share, struct ps_value *out);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths: a copy of what was counted in the regions of a program
 * (<perfsage/region.h>), as a tree. See ps_paths(3).
 */
#ifndef PERFSAGE_PATHS_H
#define PERFSAGE_PATHS_H

#include <perfsage/component.h>
#include <perfsage/value.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The regions of a program, and what was counted in them. */
struct ps_profile;

/** The counts of a profile at one point, as a tree of paths. It must be released before the
 * profile. */
struct ps_paths;

/** One of the paths; it lives as long as its ps_paths. */
struct ps_path;

/** Which regions of a path a value counts. */
enum ps_share {
	PS_SHARE_EXCLUSIVE, /* the innermost region itself */
	PS_SHARE_INCLUSIVE  /* the innermost region, and the regions inside it */
};

/** The number of classes of a histogram of times. Class n has the visits that took
 * [2^n, 2^(n+1)) ns; the last class also has all longer visits. */
#define PS_VISIT_TIMES 48

/**
 * The visits of a path, of all threads together. Times are nanoseconds.
 *
 * The number of visits grows when a visit ends. The times grow at each boundary:
 * where the thread enters or leaves a region, or its counts are asked for.
 */
struct ps_visits {
	size_t size;        /* sizeof(struct ps_visits), set by the caller */
	uint64_t count;     /* visits that have ended */
	uint64_t counted;   /* visits that were counted; less than count if the region is sampled */
	uint64_t wall_ns;   /* time in the region itself (exclusive), by CLOCK_MONOTONIC */
	uint64_t on_cpu_ns; /* the part of wall_ns that the thread was on a CPU; see ps_paths(3) */
	uint64_t inside_ns; /* time in the regions inside it */
	uint64_t shortest_ns; /* the shortest counted visit, with the regions inside it; UINT64_MAX:
	                         none */
	uint64_t longest_ns;  /* the longest counted visit; 0: none */
	uint64_t times[PS_VISIT_TIMES]; /* counted visits by their time, see PS_VISIT_TIMES */
};

/**
 * The numbers that were given under one name in a path, of all threads together.
 * Numbers of threads that could not be counted are missing (ps_profile_faults): such a
 * sum is no lower bound, because these numbers can be below 0. A sum that doesn't fit
 * into 64 bits is INT64_MAX or INT64_MIN.
 */
struct ps_mark_value {
	size_t size;    /* sizeof(struct ps_mark_value), set by the caller */
	uint64_t count; /* how often a number was given; 0: never */
	int64_t sum;    /* exact of the threads in the copy, if flags is 0 */
	uint32_t flags; /* 0 or PS_VALUE_SATURATED */
};

/**
 * Takes the paths of all threads together, as they stand now.
 *
 * Other threads can go on meanwhile. The copy has the counts of all threads up to
 * this call. In two cases the counts of another thread since its last boundary are
 * missing until its next boundary: the thread passes boundaries all the time; or
 * the model has several groups of hardware events, or events of PAPI. In both
 * cases the thread's counts can be smaller than in an earlier copy. If a thread
 * stands still in a boundary, this call waits, about 100 ms at most. If the thread
 * still stands there, its innermost path has PS_STATUS_INCOMPLETE.
 *
 * Cost: for each other thread a copy of its paths, and four system calls for
 * each group and hardware thread where it is counted; up to four times that if
 * the thread is at a boundary. Meanwhile no thread can start or stop being
 * counted.
 *
 * out - receives the paths; release them with ps_paths_destroy
 * profile - from ps_profile_create
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOMEM - out of memory
 *   PS_ECLOST - in a child of fork()
 *   PS_ECNFLCT - from a signal handler that interrupted a call of a profile
 *   as ps_read
 *
 * The copy is the caller's: several threads are allowed to read it at the same time.
 */
PS_PUBLIC int ps_paths_create(struct ps_paths **out, struct ps_profile *profile);

/**
 * Takes the paths of one software thread, as they stand now: its visits, their
 * times, and its counts.
 *
 * The paths of an ended thread are kept if ps_profile_keep_threads was called
 * before the thread's end. The counts of threads that had the same number, one
 * after the other, are added up. The counts of a sampled region are extrapolated
 * from the thread's own visits.
 *
 * out, profile - as for ps_paths_create
 * tid - of gettid(2), or from ps_profile_threads
 *
 * Errors: those of ps_paths_create. Besides:
 *   PS_EINVAL - tid isn't positive
 *   PS_ENOEVST - the profile doesn't count such a thread, and has kept none
 */
PS_PUBLIC int ps_paths_create_of_thread(struct ps_paths **out, struct ps_profile *profile,
                                        pid_t tid);

/** Releases paths. NULL does nothing. */
PS_PUBLIC void ps_paths_destroy(struct ps_paths *paths);

/** The root path: outside any region. NULL for NULL. */
PS_PUBLIC const struct ps_path *ps_paths_root(const struct ps_paths *paths);

/** The name of a path's innermost region; "" for the root path. NULL for NULL. */
PS_PUBLIC const char *ps_path_name(const struct ps_path *path);

/** The path without its innermost region; NULL for the root path. */
PS_PUBLIC const struct ps_path *ps_path_parent(const struct ps_path *path);

/** The first path directly below this one; NULL if there is none. */
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
 * Gives the count of a path, on the hardware threads below a component.
 *
 * path - of ps_paths
 * component - of the profile's topology
 * event - the name of one of the model's events
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
 * As ps_path_value, for all events at once, in the model's order.
 *
 * values - an array of `count` values
 * count - at least the number of the model's events
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
 *     thread is on a CPU; UINT64_MAX if no event could be opened or a reading
 *     failed. Both times are UINT64_MAX if visits have ended and none of them was
 *     counted, or if the first visit is still open and no counter was read in it
 *     yet. In the rest of wall_ns the thread waited, or another thread had its
 *     CPU. The clock is read after the counters: in short visits each of the two
 *     times can be a microsecond more than the other.
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; out->size is not set
 */
PS_PUBLIC int ps_path_visits(const struct ps_path *path, struct ps_visits *out);

/**
 * One of the names under which numbers were given (ps_region_add_value,
 * PS_MARK_VALUE).
 *
 * index - from 0; the names of all paths together, each once
 *
 * Returns NULL beyond the last, or if paths is NULL.
 */
PS_PUBLIC const char *ps_paths_mark_value_name(const struct ps_paths *paths, size_t index);

/**
 * The count and the sum of the numbers that were given in a path under a name, over all threads
 * that are in the copy.
 *
 * path - of ps_paths
 * name - the name of ps_region_add_value or PS_MARK_VALUE
 * share - PS_SHARE_EXCLUSIVE: given in the path itself; PS_SHARE_INCLUSIVE: also
 *     in the paths below it
 * out - its size is set by the caller. If no number was given in these paths, count
 *     is 0
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, share is unknown, or out->size is not set
 *   PS_ENOEVNT - no path of the copy has a number of that name
 */
PS_PUBLIC int ps_path_mark_value(const struct ps_path *path, const char *name, enum ps_share share,
                                 struct ps_mark_value *out);

/**
 * Gives the count of a region, on all paths that lead to it.
 *
 * The inclusive sum contains the counts of a recursive region only once. If
 * numbers tell visits apart (ps_profile_set_group), the sum of "smooth" contains
 * the counts of "smooth[level=3]" and of all other numbers. The sum of
 * "smooth[level=3]" contains only its own counts.
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

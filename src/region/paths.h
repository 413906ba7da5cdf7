/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths in which the counts of several threads are added up: for a profile's ended threads, and for
 * ps_paths_create. */
#ifndef PS_REGION_PATHS_H
#define PS_REGION_PATHS_H

#include "region/links.h"

#include <perfsage/region.h>
#include <stdbool.h>

struct ps__member;
struct ps__node;
struct ps__rate;

/* The counts of a path on one hardware thread. */
struct ps__part {
	struct ps__part *next;
	const struct ps_thread *thread;
	size_t threads;           /* number of threads whose counts are in it */
	struct ps_value values[]; /* one for each event; ps__value_finish completes a copy */
};

/* Visits of a path in processes that counted none of its visits (pool.c): the share of one hardware
 * thread, for each event. The counts of these visits are in the path around. So the visits of such
 * a process are divided among hardware threads in proportion to its counts in the path around. */
struct ps__other_visits {
	struct ps__other_visits *next;
	const struct ps_thread *thread;
	enum ps_attribution attribution;
	double visits[];
};

/* The numbers that were given under one name in a path. */
struct ps__value_sum {
	struct ps__value_sum *next;
	const struct ps_region *name;
	uint64_t count;
	__int128 sum;
};

struct ps_path {
	struct ps_paths *paths;
	const struct ps_region *region; /* NULL: the root path */
	struct ps_path *parent;
	struct ps_path *child; /* the child that was made first */
	struct ps_path *last_child;
	struct ps_path *next;
	struct ps_path *next_made; /* next of all paths; a parent comes before its children */
	struct ps__part *parts;
	struct ps_path *path; /* this path is added to it, as in struct ps__node */
	/* Rate of the path's visits; NULL: the root path, or all rates together */
	const struct ps__rate *rate;
	unsigned doubt;    /* bits of enum ps__doubt, of all threads */
	uint64_t unchosen; /* number of visits, as in struct ps__visits */
	uint64_t open;     /* as unchosen, for visits that have not ended yet */
	/* Visits of its region, in any path, in threads that could not be counted; 0 if none of
	 * them can be of this path. In the root path: visits of all regions, and numbers.
	 * UINT64_MAX: not known, because processes are missing */
	uint64_t uncounted;
	uint64_t pooled; /* only loaded paths: visits in processes that counted some */
	struct ps__other_visits *others; /* only loaded paths: visits in other processes */
	struct ps_visits visits;
	/* See estimate.c. A raw path is at one rate. It uses factor (f), and whole: the product of
	 * f and the factors of the paths around. An estimated path is at all rates. It uses the
	 * times and has_others. same is an estimated path's first raw path, or the next raw path
	 * after a raw path */
	struct {
		struct ps_path *same;
		double factor;
		double whole;
		double wall_ns;
		double on_cpu_ns;
		bool has_others; /* some visits of a path below are in its counts */
	} estimate;
	struct ps__value_sum *values; /* in the order in which they were made */
	struct ps__value_sum *last_value;
};

struct ps_paths {
	struct ps_profile *profile;
	size_t events;
	bool is_sampled; /* some path is not counted at each visit */
	/* Only loaded paths: the paths of some processes are missing; it isn't known which */
	bool lacks_processes;
	struct ps_path *root;
	struct ps_path *newest;
	/* Finds a path's child by the path and a region or rate; a sum by `values` of a path and a
	 * name; and this struct by itself and a name, if the name is in names */
	struct ps__links links;
	const struct ps_region **names; /* names of numbers that were given */
	size_t name_count;
	size_t name_room;
};

/* Makes paths that have only the root path. NULL if out of memory. */
struct ps_paths *ps__paths_make(struct ps_profile *profile, size_t events);

/* Finds or makes the path below a parent, at one rate of a region, or at all rates if rate is NULL.
 * parent NULL: the root path. NULL if out of memory. */
struct ps_path *ps__paths_get_path(struct ps_paths *paths, struct ps_path *parent,
                                   const struct ps_region *region, const struct ps__rate *rate);
struct ps__part *ps__paths_get_part(struct ps_path *path, const struct ps_thread *thread);
void ps__paths_merge(struct ps__part *part, size_t event, const struct ps_value *value);
/* Adds the visits and the doubts, without wall_ns and on_cpu_ns. */
void ps__paths_add_visits(struct ps_path *to, const struct ps_path *from);

/* estimate.c: returns paths with one path for each region, at all rates; the counts of sampled
 * regions are extrapolated. NULL if out of memory. */
struct ps_paths *ps__paths_estimate(struct ps_paths *raw);
/* pool.c: extrapolates loaded paths, after all have been loaded. If a process counted none of a
 * path's visits, their counts are estimated from those of the other processes. PS_ENOMEM: nothing
 * has changed. */
int ps__paths_pool(struct ps_paths **paths);
/* pool.c: adds the paths that a process saved. PS_ENOMEM: a part may have been added. */
int ps__paths_add_process(struct ps_paths *paths, struct ps_paths *process);
/* Marks the paths that may lack visits of threads that could not be counted, or of processes that
 * are missing. The root path lacks what these did outside any region. Used before ps__paths_settle,
 * and only for paths of all threads. */
void ps__paths_doubt_uncounted(struct ps_paths *paths);
/* The last step: labels the values that may lack counts, or may have too many. */
void ps__paths_settle(struct ps_paths *paths);

/* Adds the contents of a thread's nodes. The caller holds the profile's lock. 0, or -1 for lack of
 * memory: nothing is added then. */
int ps__paths_add_member(struct ps_paths *paths, struct ps__member *member);
int ps__paths_add(struct ps_paths *paths, const struct ps_paths *others);
/* Adds a watched visit's node (slow.c) to node->path. If has_counts is false, the node's counts
 * aren't known, and are left out. 0, or -1 if out of memory. */
int ps__paths_add_node(struct ps__node *node, bool has_counts);

/* Returns the visits of a path. The times are unknown (UINT64_MAX) if the first visit is still open
 * and no counter was read in it yet. */
struct ps_visits ps__path_known_visits(const struct ps_path *path);

/* Returns the next path in a walk over `top` and all paths below it; NULL after the last. */
const struct ps_path *ps__path_next_below(const struct ps_path *top, const struct ps_path *path);

/* mark_sums.c: the sum of a name in a path. _get finds or makes it; NULL if out of memory. _find
 * returns NULL if there is none. */
struct ps__value_sum *ps__value_sum_get(struct ps_path *path, const struct ps_region *name);
struct ps__value_sum *ps__value_sum_find(const struct ps_path *path, const struct ps_region *name);
void ps__value_sum_free_all(struct ps_path *path);
/* Writes the sum to out, limited to 64 bits. */
void ps__value_sum_show(__int128 sum, uint64_t count, struct ps_mark_value *out);

#endif

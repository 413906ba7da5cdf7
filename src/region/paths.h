/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of several threads, added up: those of a profile's ended threads, and what ps_paths_create
 * gives. */
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
	size_t threads;           /* whose counts are in it */
	struct ps_value values[]; /* sums that aren't finished, of the events in their order */
};

/* Visits of processes that counted none of them, on one hardware thread: their counts are in the
 * path around, so they are where that process's counts in it are. For each event. */
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
	struct ps_path *child; /* in the order in which they were made */
	struct ps_path *last_child;
	struct ps_path *next;
	struct ps_path *next_made; /* the parent comes first */
	struct ps__part *parts;
	struct ps_path *path;        /* as that of struct ps__node */
	const struct ps__rate *rate; /* at which it was counted; NULL: the root path, or any */
	unsigned doubt;              /* of enum ps__doubt, of all threads */
	uint64_t unchosen;           /* visits, as those of struct ps__visits */
	uint64_t open;               /* the same, of those that are not over yet */
	/* In threads that could not be counted: visits of its region, in whatever path; 0 if none
	 * can have been in this one. The root path: of all regions. UINT64_MAX: not known, as
	 * processes are missing */
	uint64_t uncounted;
	uint64_t pooled; /* of loaded paths: visits of processes that counted some */
	struct ps__other_visits *others; /* of loaded paths: the other processes' visits */
	struct ps_visits visits;
	/* See estimate.c. Of a path at one rate: f, and the product with those around it. Of one at
	 * any rate: times. same: of the latter, a path at one rate; of that, the next one */
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
	/* Of loaded paths: those of other processes are missing, which may have had any */
	bool lacks_processes;
	struct ps_path *root;
	struct ps_path *newest;
	/* From a path and a region to the path below; from `values` of a path and a name to its
	 * sum; from this and a name to itself */
	struct ps__links links;
	const struct ps_region **names; /* of numbers that were given */
	size_t name_count;
	size_t name_room;
};

/* Empty, with a root path. NULL for lack of memory. */
struct ps_paths *ps__paths_make(struct ps_profile *profile, size_t events);

/* The path below, made if need be: for a rate of a region, or with NULL for the region at any rate.
 * parent NULL: the root path. NULL for lack of memory. */
struct ps_path *ps__paths_get_path(struct ps_paths *paths, struct ps_path *parent,
                                   const struct ps_region *region, const struct ps__rate *rate);
struct ps__part *ps__paths_get_part(struct ps_path *path, const struct ps_thread *thread);
void ps__paths_merge(struct ps__part *part, size_t event, const struct ps_value *value);
/* All but the sums of times; and the doubts. */
void ps__paths_add_visits(struct ps_path *to, const struct ps_path *from);

/* estimate.c: what rates were applied is extrapolated: one path for each region. NULL for lack of
 * memory. */
struct ps_paths *ps__paths_estimate(struct ps_paths *raw);
/* The same for paths that were loaded, once all are: where a process counted none of its visits,
 * those of the others stand for them. PS_ENOMEM: nothing has changed. */
int ps__paths_pool(struct ps_paths **paths);
/* Adds what a process saved. PS_ENOMEM: some of it may be there. */
int ps__paths_add_process(struct ps_paths *paths, struct ps_paths *process);
/* Before the last step, for paths of all threads: a path lacks the counts of visits that it may
 * have had in threads that could not be counted, or in processes that are missing, and the root
 * path what these did outside. */
void ps__paths_doubt_uncounted(struct ps_paths *paths);
/* The last step: what may lack counts, or have too many, says so. */
void ps__paths_settle(struct ps_paths *paths);

/* Adds what a thread's nodes have. The caller holds the profile's lock. 0, or -1 for lack of
 * memory: nothing is added then. */
int ps__paths_add_member(struct ps_paths *paths, const struct ps__member *member);
int ps__paths_add(struct ps_paths *paths, const struct ps_paths *others);
/* The same for one node that has a path, and is no thread's. Its counts are left out if they aren't
 * known. */
int ps__paths_add_node(struct ps__node *node, bool has_counts);

/* Its visits, with unknown times where the first one goes on and nothing was read in it yet. */
struct ps_visits ps__path_known_visits(const struct ps_path *path);

/* The next path of those below `top`, itself the first; NULL after the last. */
const struct ps_path *ps__path_next_below(const struct ps_path *top, const struct ps_path *path);

/* mark_sums.c. Sums by name: made if need be, NULL for lack of memory; or found, NULL if there is
 * none. */
struct ps__value_sum *ps__value_sum_get(struct ps_path *path, const struct ps_region *name);
struct ps__value_sum *ps__value_sum_find(const struct ps_path *path, const struct ps_region *name);
void ps__value_sum_free_all(struct ps_path *path);
/* The sum in 64 bits. */
void ps__value_sum_show(__int128 sum, uint64_t count, struct ps_mark_value *out);

#endif

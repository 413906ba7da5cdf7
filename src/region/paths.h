/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of several threads, added up: those of a profile's ended threads, and what ps_paths_create
 * gives. */
#ifndef PS_REGION_PATHS_H
#define PS_REGION_PATHS_H

#include "region/links.h"

#include <perfsage/region.h>

struct ps__member;

/* The counts of a path on one hardware thread. */
struct ps__part {
	struct ps__part *next;
	const struct ps_thread *thread;
	size_t threads;           /* whose counts are in it */
	struct ps_value values[]; /* sums that aren't finished, of the events in their order */
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
	struct ps_path *path; /* as that of struct ps__node */
	struct ps_visits visits;
};

struct ps_paths {
	struct ps_profile *profile;
	size_t events;
	struct ps_path *root;
	struct ps_path *newest;
	struct ps__links links;
};

/* Empty, with a root path. NULL for lack of memory. */
struct ps_paths *ps__paths_make(struct ps_profile *profile, size_t events);

/* The caller holds the profile's lock. 0, or -1 for lack of memory: nothing is added then. */
int ps__paths_add_member(struct ps_paths *paths, const struct ps__member *member);
int ps__paths_add(struct ps_paths *paths, const struct ps_paths *others);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile in the scene, and short functions to query its paths. */
#ifndef PS_TESTS_REGIONS_H
#define PS_TESTS_REGIONS_H

#include "scene.h"

#define EVENT "page-faults"

/* The objects of a test; regions_end frees them. */
struct regions {
	struct ps_eventset *model;
	struct ps_profile *profile;
	struct ps_paths *paths;
};
extern struct regions regions;

void regions_begin(const char *event, ...) __attribute__((sentinel)); /* names, then NULL */
void regions_end(void);

struct ps_region *region(const char *name);
void visit_counting(struct ps_region *region, unsigned faults); /* causes page faults in a visit */
void *visit_often(void *region);                                /* for pthread_create: 100 visits */
void take_paths(void);
const struct ps_path *path_of(const char *names); /* of "outer/inner"; the path must exist */

/* Returns a value of EVENT; cpu -1: of all CPUs. A missing one is 0. */
struct ps_value value_of(const char *names, int cpu, enum ps_share share);
#define own(names, cpu) value_of(names, cpu, PS_SHARE_EXCLUSIVE).value
#define all(names, cpu) value_of(names, cpu, PS_SHARE_INCLUSIVE).value

struct ps_visits visits_of(const char *names);
struct ps_profile_faults faults_of_profile(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile in the scene, and short ways to what its paths say. */
#ifndef PS_TESTS_REGIONS_H
#define PS_TESTS_REGIONS_H

#include "scene.h"

#define EVENT "page-faults"

/* What a test works with; regions_end releases it. */
struct regions {
	struct ps_eventset *model;
	struct ps_profile *profile;
	struct ps_paths *paths;
};
extern struct regions regions;

void regions_begin(const char *event, ...) __attribute__((sentinel)); /* names, then NULL */
void regions_end(void);

struct ps_region *region(const char *name);
void visit_counting(struct ps_region *region, unsigned faults); /* page faults */
void take_paths(void);
const struct ps_path *path_of(const char *names); /* "outer/inner"; it must be there */

/* EVENT's; on all CPUs for -1. An absent one is 0. */
struct ps_value value_of(const char *names, int cpu, enum ps_share share);
#define own(names, cpu) value_of(names, cpu, PS_SHARE_EXCLUSIVE).value
#define all(names, cpu) value_of(names, cpu, PS_SHARE_INCLUSIVE).value

struct ps_visits visits_of(const char *names);
struct ps_profile_faults faults_of_profile(void);

#endif

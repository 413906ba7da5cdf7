/* SPDX-License-Identifier: BSD-3-Clause */
/* See regions.h. */
#include "regions.h"
#include "support/unmarked.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct regions regions;

void regions_begin(const char *event, ...)
{
	va_list names;

	regions.model = scene_set(event, NULL);
	va_start(names, event);
	for (const char *name = va_arg(names, const char *); name;
	     name = va_arg(names, const char *))
		check_ok(ps_eventset_add(regions.model, name));
	va_end(names);
	check_ok(ps_profile_create(&regions.profile, regions.model, scene.root));
}

void regions_end(void)
{
	ps_paths_destroy(regions.paths);
	ps_profile_destroy(regions.profile);
	ps_eventset_destroy(regions.model);
	regions = (struct regions){0};
}

struct ps_region *region(const char *name)
{
	struct ps_region *out = NULL;

	check_ok(ps_region_define(&out, regions.profile, name));
	return out;
}

void visit_counting(struct ps_region *region, unsigned faults)
{
	check_ok(ps_region_enter(region));
	fake_advance(PAGE_FAULTS, faults);
	check_ok(ps_region_leave(region));
}

void *visit_often(void *region)
{
	for (int i = 0; i < 100; i++) {
		if (ps_region_enter(region) != PS_OK || ps_region_leave(region) != PS_OK)
			abort();
	}
	return NULL;
}

void take_paths(void)
{
	ps_paths_destroy(regions.paths);
	regions.paths = NULL;
	check_ok(ps_paths_create(&regions.paths, regions.profile));
}

const struct ps_path *path_of(const char *names)
{
	char copy[64];
	const char *list[8];
	size_t count = 0;
	char *rest = NULL;

	snprintf(copy, sizeof copy, "%s", names);
	for (char *name = strtok_r(copy, "/", &rest); name; name = strtok_r(NULL, "/", &rest))
		list[count++] = name;
	const struct ps_path *path = ps_path_find(ps_paths_root(regions.paths), list, count);
	ck_assert_msg(path != NULL, "there is no path %s", names);
	return path;
}

struct ps_value value_of(const char *names, int cpu, enum ps_share share)
{
	const struct ps_component *component =
	    cpu < 0 ? scene.root : ps_thread_component(ps_topology_thread(scene.topology, cpu));
	struct ps_value value = {0};
	int result = ps_path_value(path_of(names), component, EVENT, share, &value);

	ck_assert_msg(result == PS_OK || result == PS_ENOEVST, "%s", ps_error_detail());
	return value;
}

struct ps_visits visits_of(const char *names)
{
	struct ps_visits visits = {.size = sizeof visits};

	check_ok(ps_path_visits(path_of(names), &visits));
	return visits;
}

struct ps_profile_faults faults_of_profile(void)
{
	struct ps_profile_faults out = {.size = sizeof out};

	check_ok(ps_profile_faults(regions.profile, &out));
	return out;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The scene of the tests of PAPI event sets; see papi_scene.h. */
#include "papi_scene.h"

#define MOST_SETS 16

static struct ps_eventset *sets[MOST_SETS];
static size_t set_count;

void papi_scene_setup(void)
{
	scene_setup();
	fake_papi_install();
	set_count = 0;
}

void papi_scene_teardown(void)
{
	while (set_count > 0)
		ps_eventset_destroy(sets[--set_count]);
	fake_papi_remove();
	scene_teardown();
}

TCase *papi_scene_case(Suite *suite, const char *name)
{
	return scene_case_of(suite, name, papi_scene_setup, papi_scene_teardown);
}

struct ps_eventset *papi_scene_wrap(int papi)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_from_papi(&set, papi));
	ck_assert_uint_lt(set_count, MOST_SETS);
	sets[set_count++] = set;
	return set;
}

void papi_scene_destroy(struct ps_eventset *set)
{
	for (size_t i = 0; i < set_count; i++) {
		if (sets[i] == set)
			sets[i] = NULL;
	}
	ps_eventset_destroy(set);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of snapshots have in common. */
#ifndef PS_TESTS_TEST_SNAPSHOT_H
#define PS_TESTS_TEST_SNAPSHOT_H

#include "support/scene.h"
#include "support/unmarked.h"

#define EVENT "page-faults"

static inline struct ps_snapshot *taken(struct ps_eventset *set)
{
	struct ps_snapshot *snapshot = NULL;

	check_ok(ps_snapshot_take(set, &snapshot));
	return snapshot;
}

static inline struct ps_value difference(const struct ps_eventset *set,
                                         const struct ps_snapshot *from,
                                         const struct ps_snapshot *to,
                                         const struct ps_component *component)
{
	struct ps_value values[8] = {0};

	check_ok(ps_snapshot_difference(set, from, to, component, values, 8));
	return values[0];
}

/* 0 where the task was not. */
static inline long long count_between(const struct ps_eventset *set, const struct ps_snapshot *from,
                                      const struct ps_snapshot *to, int cpu)
{
	struct ps_value values[8] = {0};
	int result = ps_snapshot_difference(set, from, to, scene_thread(cpu), values, 8);

	ck_assert(result == PS_OK || result == PS_ENOEVST);
	return values[0].value;
}

#endif

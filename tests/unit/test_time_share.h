/* SPDX-License-Identifier: BSD-3-Clause */
/* A process whose counts are shared out by clocks, for the suites of what these prove and of the
 * choice of the method. */
#ifndef PS_TEST_TIME_SHARE_H
#define PS_TEST_TIME_SHARE_H

#include "eventset/eventset.h"
#include "eventset/parts.h"
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>

#define EVENT "page-faults"
#define MS    UINT64_C(1000000)

/* A process of one thread, on CPU 1. */
static inline struct ps_eventset *attached(const char *cpus)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	fake_task(500, "solver", 1);
	fake_task_affinity(500, cpus);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(ps_eventset_attach_process(set, 500));
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_TIME_SHARE));
	return set;
}

static inline uint64_t take(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	return timestamp;
}

static inline void check_part(int cpu, uint64_t timestamp, long long count,
                              enum ps_attribution attribution)
{
	struct ps_value part = scene_part(cpu, EVENT, timestamp);

	ck_assert_int_eq(part.value, count);
	ck_assert_str_eq(ps_attribution_name(part.attribution), ps_attribution_name(attribution));
}

#endif

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

#define take(set) scene_accum(set)
#define check_part(cpu, timestamp, count, attribution) \
	scene_check_part_at(cpu, EVENT, timestamp, count, attribution)

#endif

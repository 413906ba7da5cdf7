/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites of attribution by BPF share this: a process of two threads, and a set that counts it.
 */
#ifndef PS_TESTS_TEST_BPF_H
#define PS_TESTS_TEST_BPF_H

#include "support/scene.h"

#define EVENT   "page-faults"
#define PROCESS 500

/* Two maps, two programs, and what keeps them running; the map of processes is closed again. */
#define OBJECTS 6

static inline struct ps_eventset *attached_with(struct ps_eventset *set)
{
	fake_bpf_offer();
	fake_task(PROCESS, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) S");
	fake_file("/proc/500/task/501/stat", "501 (solver) S");
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_BPF));
	check_ok(ps_eventset_attach_process(set, PROCESS));
	return set;
}

static inline struct ps_eventset *attached(void)
{
	return attached_with(scene_set(EVENT, "context-switches", NULL));
}

static inline struct ps_eventset *started(void)
{
	struct ps_eventset *set = attached();

	check_ok(ps_start(set));
	return set;
}

#endif

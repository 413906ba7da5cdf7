/* SPDX-License-Identifier: BSD-3-Clause */
/* What the suites of hybrid machines share: P cores on CPU 0 and 1, E cores on CPU 2 and 3, and
 * work on them. */
#ifndef PS_TESTS_TEST_HYBRID_H
#define PS_TESTS_TEST_HYBRID_H

#include "support/scene.h"

#define CORE(config) PERF_TYPE_HARDWARE, (uint64_t)FAKE_CPU_CORE << 32 | PERF_COUNT_HW_##config
#define ATOM(config) PERF_TYPE_HARDWARE, (uint64_t)FAKE_CPU_ATOM << 32 | PERF_COUNT_HW_##config
#define ATOM_EVENT   "cpu_atom/event=0x21/"
#define ATOM_RAW     FAKE_CPU_ATOM, 0x21

static inline void setup(void)
{
	scene_setup();
	fake_add_hybrid(4, "0-1", 3, "2-3");
}

static inline void setup_last_cpu(void)
{
	scene_setup_last_cpu();
	fake_add_hybrid(4, "0-1", 3, "2-3");
}

/* A millisecond on a CPU with this many instructions there. */
static inline void work(int cpu, uint64_t instructions)
{
	fake_set_cpu(cpu);
	fake_run(1000000, 1000000);
	fake_advance(CORE(INSTRUCTIONS), instructions);
	fake_advance(ATOM(INSTRUCTIONS), instructions);
	fake_advance(ATOM_RAW, instructions / 10);
	fake_advance(PAGE_FAULTS, 1);
}

static inline void check_part(int cpu, const char *event, long long value, enum ps_status status)
{
	struct ps_value part = scene_part(cpu, event, 0);

	ck_assert_msg(part.status == status &&
	                  (status == PS_STATUS_NOT_SUPPORTED || part.value == value),
	              "%s on CPU %d: %lld, %s, %llu of %llu ns", event, cpu, part.value,
	              ps_status_name(part.status), (unsigned long long)part.running_ns,
	              (unsigned long long)part.enabled_ns);
}

#endif

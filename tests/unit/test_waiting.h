/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that wait for the hardware, for the suites of threads and of processes. */
#ifndef PS_TESTS_TEST_WAITING_H
#define PS_TESTS_TEST_WAITING_H

#include "support/scene.h"

#include "eventset/eventset.h"

#define MS       UINT64_C(1000000)
#define FIRST    PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES
#define IN_FIRST "cycles"

static inline void check_value(struct ps_value value, enum ps_status status, uint64_t running_ns,
                               uint64_t enabled_ns)
{
	ck_assert_int_eq((int)value.status, (int)status);
	ck_assert_uint_eq(value.running_ns, running_ns);
	ck_assert_uint_eq(value.enabled_ns, enabled_ns);
	ck_assert_uint_eq(value.raw, running_ns);
	if (status == PS_STATUS_SCALED)
		ck_assert_int_eq(value.value, (long long)enabled_ns);
}

#endif

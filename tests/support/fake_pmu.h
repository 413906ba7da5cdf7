/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake kernel's PMUs, for fake_counters.c; the functions need the lock. The checks return 0, or
 * the errno as a positive number. */
#ifndef PS_TESTS_FAKE_PMU_H
#define PS_TESTS_FAKE_PMU_H

#include "fake_internal.h"

void fake__pmus_reset(void);
int fake__pmu_check_paranoid(const struct perf_event_attr *attr, pid_t pid);
int fake__pmu_check_refused(const struct perf_event_attr *attr, pid_t pid, int cpu);
int fake__pmu_check_event(const struct perf_event_attr *attr, pid_t pid, int cpu);
int fake__pmu_check_group(const struct perf_event_attr *attr, const struct fake_counter *leader);
bool fake__pmu_is_on(const struct perf_event_attr *attr, int cpu); /* true if this CPU has the
                                                                    * PMU */
bool fake__pmu_is_software(uint32_t type);
/* True if the event counts anything with its exclude bits. */
bool fake__pmu_counts(const struct perf_event_attr *attr);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI counts on machines where it would switch itself off. A program that is linked with
 * PAPI and with this file gets it.
 *
 * Where libpfm4 knows no PMU of the processor, PAPI switches its whole perf_event component off,
 * software events included. It is then told that perf's generic PMU is the processor's own. Where
 * the kernel has no PMU, as in most virtual machines, PAPI refuses to attach or to multiplex a set,
 * because its probe with a hardware event fails. Its probe then gets a software event. These two
 * differ: a virtual machine often has a processor that libpfm4 knows. What PAPI counts after that
 * is real.
 */
#ifndef PS_TESTS_SUPPORT_PAPI_PMU_H
#define PS_TESTS_SUPPORT_PAPI_PMU_H

#include <stdbool.h>

/* True once PAPI was told that perf's generic PMU is the processor's own. */
bool papi_pmu_is_generic(void);

#endif

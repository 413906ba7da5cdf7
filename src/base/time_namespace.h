/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A time namespace (time_namespaces(7)) sets the clocks of its processes forward or back. The
 * kernel's records have the machine's own CLOCK_MONOTONIC, also if a process of such a namespace
 * reads them.
 */
#ifndef PS_BASE_TIME_NAMESPACE_H
#define PS_BASE_TIME_NAMESPACE_H

#include <stdint.h>

/* Returns the nanoseconds to add, modulo 2^64, to a record's time of CLOCK_MONOTONIC to get this
 * process's time; 0 outside of a time namespace, and without /proc. Reads a file that has the
 * offset of the process's children. After unshare(2) a process stays in its old namespace, on older
 * kernels after an exec, too (unshare -T); the old one is taken for the machine's. */
uint64_t ps__time_namespace_shift_ns(void);

#endif

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
 * process's time; 0 outside of a time namespace, and without /proc. Reads the file with the offset
 * of the process's children. After unshare(2) the children's namespace is a new one, and the
 * process stays in the old one (on older kernels even after an exec). The old namespace is then
 * taken for the machine's: 0. */
uint64_t ps__time_namespace_shift_ns(void);

#endif

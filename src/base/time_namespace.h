/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A time namespace (time_namespaces(7)) sets the clocks of its processes forward or back. The
 * kernel's records have the machine's own CLOCK_MONOTONIC, also if a process of such a namespace
 * reads them.
 */
#ifndef PS_BASE_TIME_NAMESPACE_H
#define PS_BASE_TIME_NAMESPACE_H

#include <stdint.h>

/* Nanoseconds to add, modulo 2^64, to a time of CLOCK_MONOTONIC in a record: that is then this
 * process's time. 0 outside of a time namespace, and without /proc. Reads a file, which tells what
 * children get. A process that has unshared its namespace stays in the one that it had, on older
 * kernels after an exec, too (unshare -T): that is taken for the machine's. */
uint64_t ps__time_namespace_shift_ns(void);

#endif

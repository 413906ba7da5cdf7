/* SPDX-License-Identifier: BSD-3-Clause */
/* What the preloaded library tells the collector, which it loads. */
#ifndef PS_COLLECT_THREADS_H
#define PS_COLLECT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* True while the preloaded library itself calls ps_collect_start in this thread. NULL as below. */
__attribute__((weak, visibility("default"))) bool ps_preload_is_starting(void);

/* Returns the number of threads that this process has made, without its first one. NULL where the
 * library is not preloaded: the program has begun the collector itself. */
__attribute__((weak, visibility("default"))) uint64_t ps_preload_threads(void);

/* Returns the CPU time that this process used before the program began, in programs that it
 * replaced (execve). 0 in a forked child. NULL as above. */
__attribute__((weak, visibility("default"))) uint64_t ps_preload_earlier_cpu_ns(void);

#endif

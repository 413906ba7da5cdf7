/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector asks the preloaded library, which has loaded it, by these calls. */
#ifndef PS_COLLECT_THREADS_H
#define PS_COLLECT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* True while the preloaded library itself calls ps_collect_start in this thread. NULL if not
 * preloaded. */
__attribute__((weak, visibility("default"))) bool ps_preload_is_starting(void);

/* Returns the number of threads that this process has made, without its first one. The function is
 * NULL if the library is not preloaded: then the program has started the collector itself. */
__attribute__((weak, visibility("default"))) uint64_t ps_preload_threads(void);

/* Returns the CPU time that this process used in earlier programs, which it replaced by execve. 0
 * in a forked child. NULL if not preloaded. */
__attribute__((weak, visibility("default"))) uint64_t ps_preload_earlier_cpu_ns(void);

#endif

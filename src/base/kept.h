/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library keeps the program from closing descriptors of events: perfsage opened them
 * in a process that knows nothing of it.
 */
#ifndef PS_BASE_KEPT_H
#define PS_BASE_KEPT_H

#include <stdatomic.h>
#include <stdint.h>

/* Takes over the descriptor of an event that was just opened, and returns its number from now on: a
 * high one if there is room. Before the program puts something else there it adds 1 to *losses. The
 * function is NULL where the library is not preloaded. */
__attribute__((weak, visibility("default"))) int ps_preload_keep(int fd, _Atomic uint64_t *losses);

/* Counts how often a descriptor of this library's may have been lost so. */
extern _Atomic uint64_t ps__os_losses __attribute__((visibility("hidden")));

#endif

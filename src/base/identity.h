/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is this still the process that made an event set, and the thread that it
 * counts? Asked at every reading, without a system call. A child of fork()
 * shares its parent's events.
 */
#ifndef PS_BASE_IDENTITY_H
#define PS_BASE_IDENTITY_H

#include <stdatomic.h>
#include <stdint.h>

/* The calling process's generation: never 0, and another number in each forked
 * process. */
uint64_t ps__fork_generation(void);

/* Where it stands, for the hot path: 0 in a child that did not ask yet. Valid
 * after ps__fork_generation. */
extern const _Atomic uint64_t *ps__fork_mark __attribute__((visibility("hidden")));

/* True if what was made in `generation` belongs to this process. No system
 * call. */
static inline _Bool ps__fork_is_same(uint64_t generation)
{
	return atomic_load_explicit(ps__fork_mark, memory_order_relaxed) == generation;
}

/*
 * A number for the calling thread: never 0, and never given twice in a process,
 * as pthread_t and tids are. No system call but the first time a thread asks.
 */
extern _Thread_local uint64_t ps__own_thread_number
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* Its tid, once it has a number. */
extern _Thread_local int ps__own_tid
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
uint64_t ps__thread_number_create(void);

static inline uint64_t ps__thread_number(void)
{
	uint64_t number = ps__own_thread_number;

	return __builtin_expect(number != 0, 1) ? number : ps__thread_number_create();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Identifies processes and threads without a system call: each reading checks
 * that the caller is the process that made the event set, and the thread that
 * the set counts. A child of fork() shares its parent's events.
 */
#ifndef PS_BASE_IDENTITY_H
#define PS_BASE_IDENTITY_H

#include <stdatomic.h>
#include <stdint.h>

/* Returns the calling process's generation: never 0, and different from that of
 * every ancestor. */
uint64_t ps__fork_generation(void);

/* Address of the generation, for the hot path. The generation is 0 in a child that hasn't called
 * ps__fork_generation yet. The address is valid after ps__fork_generation. */
extern const _Atomic uint64_t *ps__fork_mark __attribute__((visibility("hidden")));

/* True if what was made in `generation` belongs to this process. No system
 * call. */
static inline _Bool ps__fork_is_same(uint64_t generation)
{
	return atomic_load_explicit(ps__fork_mark, memory_order_relaxed) == generation;
}

/*
 * The calling thread's number; 0 until it is first asked for. Unlike pthread_t
 * and tids, numbers are not used again in a process. ps__thread_number makes a
 * system call only the first time.
 */
extern _Thread_local uint64_t ps__own_thread_number
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* The thread's tid, once it has a number. */
extern _Thread_local int ps__own_tid
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
uint64_t ps__thread_number_create(void);

static inline uint64_t ps__thread_number(void)
{
	uint64_t number = ps__own_thread_number;

	return __builtin_expect(number != 0, 1) ? number : ps__thread_number_create();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may call an event set, and which call is in progress. */
#ifndef PS_EVENTSET_CALLS_H
#define PS_EVENTSET_CALLS_H

#include <stdint.h>
#include <sys/types.h>

struct ps__calls {
	uint64_t fork_generation;
	uint64_t owner; /* ps__thread_number of the thread that a set counts by itself, once open */
	/* Inside a call: a signal handler must not enter. Where that call's stack is, which tells
	 * whether it was left; 0: none. */
	volatile uintptr_t busy;
	/* The number of the thread that calls: ps__thread_number; on the fast path, the owner's */
	uint64_t busy_thread;
	pid_t busy_tid;
	pid_t owner_tid;
};

#endif

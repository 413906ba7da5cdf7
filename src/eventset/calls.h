/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may call an event set, and which call is in progress. */
#ifndef PS_EVENTSET_CALLS_H
#define PS_EVENTSET_CALLS_H

#include <stdint.h>
#include <sys/types.h>

struct ps__calls {
	uint64_t fork_generation;
	/* ps__thread_number of the thread that the set counts; set when the events are opened */
	uint64_t owner;
	/* Not 0 during a call: a signal handler must not begin another one. The value is the call's
	 * stack address. It shows whether the call was left without a return */
	volatile uintptr_t busy;
	/* ps__thread_number of the thread that is in the call; on the fast path it is the owner */
	uint64_t busy_thread;
	pid_t busy_tid;
	pid_t owner_tid;
};

#endif

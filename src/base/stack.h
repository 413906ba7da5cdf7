/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects calls that were left unfinished: a signal handler interrupted the call and left it by
 * siglongjmp.
 *
 * A call notes its stack address (ps__arch_note_stack). A later call of the same thread that finds
 * the note compares it with its own stack address. If the later call is no deeper on the stack, the
 * first call was left. Code that can't be repaired afterwards, because it holds a lock or is inside
 * malloc, blocks signals.
 */
#ifndef PS_BASE_STACK_H
#define PS_BASE_STACK_H

#include "arch/arch.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stacks grow downwards. The kernel's frame between an interrupted call and the handler takes more
 * than a kilobyte, so the handler's frame is more than this number of bytes below the call. Calls
 * that are made one after the other from one place differ by less. */
#define PS__FRAME_BYTES ((uintptr_t)768)

/* The note of a call that is known to be left. No stack is as low as this. */
#define PS__STACK_LEFT ((uintptr_t)16)

/* True if the call of this thread that noted `noted` was left, when another call runs at `stack`.
 * Addresses can be compared only within one stack. So the result is false on a signal stack, and if
 * `stack` is beyond the end of the thread's own stack. Two more cases look like a call that was
 * left: a handler on a stack with SS_AUTODISARM that lies inside the thread's own stack, and a
 * handler that interrupted a call on a lower stack that the program made. */
bool ps__stack_was_left(uintptr_t noted, uintptr_t stack) __attribute__((cold));

/* The note of the call that this thread is in, if a handler may leave that call; otherwise
 * UINTPTR_MAX. */
extern _Thread_local volatile uintptr_t ps__stack_noted
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct ps__held {
	sigset_t signals;
	uintptr_t noted;
};

/* Blocks signals until ps__signals_release, but not the signals of the program's own faults, which
 * can't wait. Also clears the note of the outer call. Otherwise a call of the library in between,
 * from malloc for example, could find that the outer call was left. */
static inline void ps__signals_hold(struct ps__held *before)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	sigset_t all;

	sigfillset(&all);
	for (size_t index = 0; index < sizeof own / sizeof own[0]; index++)
		sigdelset(&all, own[index]);
	pthread_sigmask(SIG_BLOCK, &all, &before->signals);
	before->noted = ps__stack_noted;
	ps__stack_noted = UINTPTR_MAX;
}

static inline void ps__signals_release(const struct ps__held *before)
{
	ps__stack_noted = before->noted;
	pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are left in their midst, by siglongjmp out of a handler that interrupted them.
 *
 * A call notes where its stack is (ps__arch_note_stack). A later call of the same thread that finds
 * the note compares it with its own place: if it stands no deeper, the first one is over. Where a
 * call can't be made whole again, as it holds a lock or is in the midst of malloc, signals wait.
 */
#ifndef PS_BASE_STACK_H
#define PS_BASE_STACK_H

#include "arch/arch.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stacks grow downwards. A handler's frame is further below the call that it interrupted than so
 * many bytes: what the kernel keeps there takes more than a kilobyte. Calls that are made one after
 * the other from one place differ by less. */
#define PS__FRAME_BYTES ((uintptr_t)768)

/* The note of a call that is known to be left. No stack is as low as this. */
#define PS__STACK_LEFT ((uintptr_t)16)

/* Tells whether the call of this thread that noted `noted` was left, if another one comes from
 * `stack`. Only on one stack do the addresses tell it. So the answer is no if `stack` is a signal
 * stack, or is beyond the end of the thread's own stack. Two more cases can't be told from a call
 * that was left: a handler on a stack with SS_AUTODISARM that lies inside the thread's own stack,
 * and one that interrupted a call on a stack that the program made and that is lower. */
bool ps__stack_was_left(uintptr_t noted, uintptr_t stack) __attribute__((cold));

/* The note of the call that this thread is in and may leave; UINTPTR_MAX: there is none. */
extern _Thread_local volatile uintptr_t ps__stack_noted
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct ps__held {
	sigset_t signals;
	uintptr_t noted;
};

/* Until ps__signals_release no handler comes: what is called meanwhile, malloc for example, is no
 * call that was left. Faults of the program's own can't wait. */
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

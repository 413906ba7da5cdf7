/* SPDX-License-Identifier: BSD-3-Clause */
/* See stack.h. This part runs only when a call finds the note of another call. */
#include "base/stack.h"

#include <sys/syscall.h>
#include <unistd.h>

_Thread_local volatile uintptr_t ps__stack_noted = UINTPTR_MAX;

/* True on a signal stack. In a handler on a stack with SS_AUTODISARM the kernel says that there is
 * no signal stack; stack_is_past_own finds such stacks. */
static bool stack_is_of_signals(void)
{
	stack_t stack = {.ss_flags = 0};

	return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK);
}

/* True if the two addresses are on two stacks. The C library keeps a thread's variables at the
 * upper end of the thread's stack, so a call below them and a call above them are on two stacks.
 * The main thread's variables are elsewhere, and its stack is above all that is mapped later. */
static bool stack_is_past_own(uintptr_t noted, uintptr_t stack)
{
	uintptr_t own = (uintptr_t)&ps__stack_noted;

	return noted < own && own <= stack && syscall(SYS_gettid) != getpid();
}

bool ps__stack_was_left(uintptr_t noted, uintptr_t stack)
{
	if (noted == UINTPTR_MAX || stack + PS__FRAME_BYTES <= noted)
		return false;
	if (noted != PS__STACK_LEFT && stack_is_past_own(noted, stack))
		return false;
	return !stack_is_of_signals();
}

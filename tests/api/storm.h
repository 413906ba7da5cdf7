/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer whose handler leaves the call that it interrupts, by siglongjmp, if it may. */
#ifndef PS_TESTS_STORM_H
#define PS_TESTS_STORM_H

#include <setjmp.h>
#include <signal.h>

extern sigjmp_buf storm_back;
extern volatile sig_atomic_t storm_may_jump; /* once; the handler clears it */
extern volatile sig_atomic_t storm_jumps;    /* since storm_begin */
extern volatile sig_atomic_t storm_calls;    /* of storm_let_jump */

/* A call begins that the handler may leave. */
static inline void storm_let_jump(void)
{
	storm_calls++;
	storm_may_jump = 1;
}

void storm_begin(void);
void storm_end(void);
/* SIGALRM; 0: none. It becomes slower where signals leave the program no time. */
void storm_set_timer(int every_us);
/* Calls it in a thread that gets the signals. Its signal stack is above its own stack, and has the
 * flag SS_AUTODISARM: in a handler the kernel doesn't tell of that stack. */
void storm_run_disarmed(void (*run)(void));

#endif

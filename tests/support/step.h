/* SPDX-License-Identifier: BSD-3-Clause */
/* Single-stepping: with the trap flag the processor sends SIGTRAP after each instruction. Only on
 * x86-64. */
#ifndef PS_TESTS_STEP_H
#define PS_TESTS_STEP_H

#include "support/skip.h"

#include <stdbool.h>

#if defined(__x86_64__) && !PS_TEST_HAS_SANITIZER
#define STEP_IS_POSSIBLE 1

#define STEP_TRAP_FLAG 0x100
/* Each instruction is a signal: a busy, emulated machine takes minutes for what takes another
 * seconds. */
#define STEP_LONGEST_S 900

/* Pushes below the red zone. */
#define STEP_WITH_FLAGS(change)                                    \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; " change \
	                 "; popfq; lea 128(%%rsp), %%rsp"          \
	                 :                                         \
	                 :                                         \
	                 : "cc", "memory")

static inline void step(bool on)
{
	if (on)
		STEP_WITH_FLAGS("orq $0x100, (%%rsp)");
	else
		STEP_WITH_FLAGS("andq $~0x100, (%%rsp)");
}
#endif

/* False, after a skip with the reason, if instructions can't be stepped through. */
#define step_is_possible() step_may_trap(__func__)
static inline bool step_may_trap(const char *test)
{
#ifdef STEP_IS_POSSIBLE
	if (!ps_test_is_in_valgrind())
		return true;
	ps__test_skip(test, "valgrind steps through instructions of its own");
#else
	ps__test_skip(test, "the instructions of this processor, or of a sanitizer's program, "
	                    "can't be stepped through here");
#endif
	return false;
}

#endif

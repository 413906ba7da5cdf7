/* SPDX-License-Identifier: BSD-3-Clause */
/* arm64: PMUv3's counters and the virtual counter. By way of arch/arch.h. */
#ifndef PS_ARCH_ARM64_H
#define PS_ARCH_ARM64_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's clocksource when it trusts the ticks: constant, and the same on all CPUs. */
#define PS__ARCH_CLOCKSOURCE "arch_sys_counter"

/* Where the kernel says who may read counters. */
#define PS__ARCH_COUNTERS_SETTING "/proc/sys/kernel/perf_user_access"

#define PS__READ(name)                                             \
	({                                                         \
		uint64_t value_;                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_)); \
		value_;                                            \
	})

static inline uint64_t ps__arch_ticks(void)
{
	return PS__READ(cntvct_el0);
}

/* Can ps__arch_counter read what a mapped page calls `index`? 0 is no counter, 32 the cycle counter. */
static inline bool ps__arch_has_counter(uint32_t index)
{
	return index - 1 < 32;
}

/*
 * By the counters' own names: through pmselr_el0 each would need an isb. A jump into a table of four instructions each, where
 * a switch would take twice as many. hint #36 is bti j, where a jump may land.
 */
static inline uint64_t ps__arch_counter(uint32_t index)
{
	uint64_t value;

	__asm__ volatile(
	    "	adr %0, 1f\n"
	    "	add %0, %0, %w1, uxtw #4\n"
	    "	br %0\n"
	    "1:\n"
	    "	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
	    "	hint #36\n"
	    "	mrs %0, pmevcntr\\n\\()_el0\n"
	    "	b 2f\n"
	    "	nop\n"
	    "	.endr\n"
	    "	hint #36\n"
	    "	mrs %0, pmccntr_el0\n"
	    "2:"
	    : "=&r"(value)
	    : "r"(index - 1));
	return value;
}

#undef PS__READ

/* All instructions before are done, and so in the counters. */
static inline void ps__arch_settle(void)
{
	__asm__ volatile("isb" : : : "memory");
}

#endif

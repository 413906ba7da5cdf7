/* SPDX-License-Identifier: BSD-3-Clause */
/* Other CPUs: no counter and no clock is read in user space. By way of arch/arch.h. */
#ifndef PS_ARCH_NONE_H
#define PS_ARCH_NONE_H

#include <stdbool.h>
#include <stdint.h>

#define PS__ARCH_CLOCKSOURCE      ""
#define PS__ARCH_COUNTERS_SETTING ""
#define PS__ARCH_HAS_SHORT_TICKS  0

static inline uint64_t ps__arch_ticks(void)
{
	return 0;
}

static inline bool ps__arch_has_counter(uint32_t index)
{
	(void)index;
	return false;
}

static inline uint64_t ps__arch_counter(uint32_t index)
{
	(void)index;
	return 0;
}

static inline void ps__arch_settle(void)
{
}

static inline bool ps__arch_is_valgrind(void)
{
	return false;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Other CPU families: no counter and no clock is read in user space. Included
 * by arch/arch.h. */
#ifndef PS_ARCH_NONE_H
#define PS_ARCH_NONE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PS__ARCH_CLOCKSOURCE      ""
#define PS__ARCH_COUNTERS_SETTING ""
#define PS__ARCH_HAS_SHORT_TICKS  0

static inline uint64_t ps__arch_ticks(void)
{
	return 0;
}

static inline uint64_t ps__arch_tick_hz(void)
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

/* read(2), without the C library's cancellation point. Returns bytes, or -errno. */
static inline long ps__arch_read(int fd, void *buffer, size_t size_bytes)
{
	long result = syscall(SYS_read, fd, buffer, size_bytes);

	return result < 0 ? -errno : result;
}

/* Stores the address of the calling function's stack. */
static inline void ps__arch_note_stack(volatile uintptr_t *place)
{
	*place = (uintptr_t)__builtin_frame_address(0);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CPU with counters and a tick register that a test scripts. A test includes this, and then a
 * source file of the library: this file's functions then use the fake CPU. All other code uses the
 * real one.
 */
#ifndef PS_TESTS_FAKE_ARCH_H
#define PS_TESTS_FAKE_ARCH_H

#ifdef PS_ARCH_ARCH_H
#error "fake_arch.h comes before every header of the library that includes arch/arch.h"
#endif
#define PS_ARCH_ARCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS__ARCH_CLOCKSOURCE      "fake-ticks"
#define PS__ARCH_COUNTERS_SETTING "/sys/fake/counters"
#define PS__ARCH_HAS_SHORT_TICKS  0

static struct {
	uint64_t (*ticks)(void);
	uint64_t (*counter)(uint32_t index);
	bool is_valgrind;
	uint32_t most_counters; /* valid indexes are 1 .. most_counters */
} fake_arch;

static inline uint64_t ps__arch_ticks(void)
{
	return fake_arch.ticks();
}

static inline bool ps__arch_has_counter(uint32_t index)
{
	return index - 1 < fake_arch.most_counters;
}

static inline uint64_t ps__arch_counter(uint32_t index)
{
	return fake_arch.counter(index);
}

static inline bool ps__arch_is_valgrind(void)
{
	return fake_arch.is_valgrind;
}

static inline void ps__arch_settle(void)
{
}

/* Fails, so that the code uses the hooks of the test. */
static inline long ps__arch_read(int fd, void *buffer, size_t size_bytes)
{
	(void)fd, (void)buffer, (void)size_bytes;
	return -ENOSYS;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives the time of CLOCK_MONOTONIC, mostly without a call of the kernel. The CPU's tick register
 * is read instead. The ticks since the last look at the kernel's clock are added to the time of
 * that look. After 100 us the kernel's clock is looked at again, so the error stays small where the
 * clock is being slewed (at most 500 ppm, 50 ns) or the register was stopped or set. An event set
 * has one clock; only one thread uses it at a time.
 */
#ifndef PS_BASE_CLOCK_H
#define PS_BASE_CLOCK_H

#include "arch/arch.h"

/* If the struct is zeroed, the kernel's clock is read each time. */
struct ps__clock {
	uint64_t span_ticks; /* ticks after the anchor for which time is predicted; 0: never */
	uint64_t anchor_ticks;
	uint64_t anchor_ns;
	uint64_t rate; /* nanoseconds of a tick, times 2^32 */
	/* Start of the base over which the rate is measured */
	uint64_t origin_ticks;
	uint64_t origin_ns;
	uint64_t origin_width; /* ticks between the reads before and after the clock's */
	bool has_origin;
	bool is_trusted;   /* true if the ticks are read */
	unsigned failures; /* number of looks in a row that failed */
};

/* Uses the ticks if the kernel's own clock is derived from them, unless a test has replaced the
 * clock. Reads a file, once in a second at most. */
void ps__clock_open(struct ps__clock *clock);

/* Begins to learn the ticks' rate. */
void ps__clock_trust(struct ps__clock *clock);

/* Reads the kernel's clock, and updates rate and anchor. */
uint64_t ps__clock_look(struct ps__clock *clock) __attribute__((cold));

/* Returns nanoseconds of CLOCK_MONOTONIC. The result can be some nanoseconds less than that of the
 * previous call. Hot; async-signal-safe. */
static inline uint64_t ps__clock_now_ns(struct ps__clock *clock)
{
	if (__builtin_expect(clock->span_ticks != 0, 1)) {
		uint64_t passed = ps__arch_ticks() - clock->anchor_ticks;
		/* If the ticks went back, this unsigned number is huge. */
		if (__builtin_expect(passed < clock->span_ticks, 1))
			return clock->anchor_ns + (passed * clock->rate >> 32);
	}
	return ps__clock_look(clock);
}

#endif

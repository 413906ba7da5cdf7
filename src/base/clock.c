/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of readings: decides when to read the kernel's clock, and converts ticks to nanoseconds
 * in between. See clock.h. */
#include "base/clock.h"

#include "base/os.h"

#include <stdatomic.h>
#include <string.h>

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* Time for which the answer about the clock source is kept. Reading its file costs microseconds, as
 * much as opening an event. */
#define SOURCE_NS 1000000000u

#define SPAN_NS 100000u

#define SHORTEST_BASE_NS 1000000u
/* After this time the rate is measured from a new origin, because the kernel changes its own rate,
 * too. */
#define LONGEST_BASE_NS 1000000000u

/*
 * The clock is read between two reads of the tick register, so the tick of the clock's time is
 * uncertain. If more time than WIDEST_LOOK_NS lies between the two, the look is too uncertain for
 * an anchor. The uncertainties of both ends of a base must be less than 1/VAGUE_PART of the base:
 * an error of 12 ns in a span.
 */
#define WIDEST_LOOK_NS 500u
#define VAGUE_PART     4096u

/* Largest difference between the clock and the prediction from the ticks. 1/1024 of the time that
 * passed is allowed in addition. */
#define TOLERANCE_NS 2000u

#define MOST_FAILURES 16u

void ps__clock_trust(struct ps__clock *clock)
{
	*clock = (struct ps__clock){.is_trusted = true};
}

static bool clock_read_source(void)
{
	char source[64];

	return ps__os_read_file(CLOCKSOURCE, source, sizeof source) > 0 &&
	       strcmp(source, PS__ARCH_CLOCKSOURCE) == 0;
}

/* True if the kernel's clock is derived from the tick register. The answer is kept for SOURCE_NS;
 * if a test replaced open(), the file is read each time. */
static bool clock_goes_by_ticks(void)
{
	static _Atomic uint64_t asked_ns;
	static _Atomic bool answer;
	uint64_t now_ns = ps__os_now_ns();
	uint64_t last_ns = atomic_load_explicit(&asked_ns, memory_order_acquire);

	if (ps__os.open != ps_hooks_default()->open)
		return clock_read_source();
	if (last_ns != 0 && now_ns - last_ns < SOURCE_NS)
		return atomic_load_explicit(&answer, memory_order_relaxed);
	bool goes = clock_read_source();
	atomic_store_explicit(&answer, goes, memory_order_relaxed);
	atomic_store_explicit(&asked_ns, now_ns, memory_order_release);
	return goes;
}

void ps__clock_open(struct ps__clock *clock)
{
	*clock = (struct ps__clock){0};
	if (ps__os.clock_gettime == ps_hooks_default()->clock_gettime && clock_goes_by_ticks())
		ps__clock_trust(clock);
}

/* Restarts learning the rate. After MOST_FAILURES failures in a row the ticks are no longer used,
 * because each attempt costs time. */
static void clock_restart(struct ps__clock *clock)
{
	clock->span_ticks = 0;
	clock->rate = 0;
	clock->has_origin = false;
	clock->is_trusted = ++clock->failures < MOST_FAILURES;
}

static uint64_t clock_to_ns(const struct ps__clock *clock, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * clock->rate >> 32);
}

/*
 * True if the clock shows the time that the ticks predicted. False after the ticks were set or
 * stopped, or after the program was moved to a machine whose ticks have another rate.
 */
static bool clock_is_as_predicted(const struct ps__clock *clock, uint64_t ticks, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - clock->anchor_ns;
	uint64_t predicted_ns = clock_to_ns(clock, ticks - clock->anchor_ticks);
	uint64_t off_ns =
	    predicted_ns > passed_ns ? predicted_ns - passed_ns : passed_ns - predicted_ns;

	return ticks >= clock->anchor_ticks && off_ns <= TOLERANCE_NS + passed_ns / 1024;
}

/* Measures the rate over a base that is long enough to be exact and short enough to be recent. */
static void clock_learn_rate(struct ps__clock *clock, uint64_t ticks, uint64_t width,
                             uint64_t now_ns)
{
	uint64_t base_ns = now_ns - clock->origin_ns;
	uint64_t base_ticks = ticks - clock->origin_ticks;

	if (!clock->has_origin || base_ns > LONGEST_BASE_NS || width < clock->origin_width / 4) {
		clock->has_origin = true;
		clock->origin_ticks = ticks;
		clock->origin_ns = now_ns;
		clock->origin_width = width;
		return;
	}
	if (base_ns < SHORTEST_BASE_NS || base_ticks / VAGUE_PART <= clock->origin_width + width)
		return;
	clock->rate = (base_ns << 32) / base_ticks;
}

static void clock_learn(struct ps__clock *clock, uint64_t before, uint64_t after, uint64_t now_ns)
{
	uint64_t ticks = before + (after - before) / 2;

	if (after < before) {
		clock_restart(clock);
		return;
	}
	if (clock->rate && clock_to_ns(clock, after - before) > WIDEST_LOOK_NS) {
		clock->is_trusted = ++clock->failures < MOST_FAILURES;
		clock->span_ticks = clock->is_trusted ? clock->span_ticks : 0;
		return;
	}
	if (clock->rate && !clock_is_as_predicted(clock, ticks, now_ns)) {
		clock_restart(clock);
		return;
	}
	/* A rate is trusted once it has predicted a look at the clock. */
	if (clock->rate) {
		clock->span_ticks = ((uint64_t)SPAN_NS << 32) / clock->rate;
		clock->failures = 0;
	}
	clock_learn_rate(clock, ticks, after - before, now_ns);
	clock->anchor_ticks = ticks;
	clock->anchor_ns = now_ns;
}

uint64_t ps__clock_look(struct ps__clock *clock)
{
	if (!clock->is_trusted)
		return ps__os_now_ns();
	uint64_t before = ps__arch_ticks();
	uint64_t now_ns = ps__os_now_ns();
	clock_learn(clock, before, ps__arch_ticks(), now_ns);
	return now_ns;
}

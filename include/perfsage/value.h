/* SPDX-License-Identifier: BSD-3-Clause */
/* One counted value, and how it was obtained. */
#ifndef PERFSAGE_VALUE_H
#define PERFSAGE_VALUE_H

#include <perfsage/visibility.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a value was obtained. */
enum ps_status {
	PS_STATUS_COUNTED = 0, /* counted all the time that the event was enabled */
	/* An estimate: multiplexed, raw * enabled_ns / running_ns; or sampled (PS_VALUE_SAMPLED) */
	PS_STATUS_SCALED,
	/* Enabled, but never on the hardware: the value is unknown, not 0 */
	PS_STATUS_NEVER_SCHEDULED,
	/* Not counted here, by the machine, kind of core, permission or PAPI's domain: unknown */
	PS_STATUS_NOT_SUPPORTED,
	PS_STATUS_INCOMPLETE /* a lower bound: see ps_value(3) */
};

/** How the hardware thread of a part is known, from the most certain down. */
enum ps_attribution {
	PS_ATTRIBUTION_EXACT = 0, /* the kernel split the counts by hardware thread */
	PS_ATTRIBUTION_PINNED,    /* the task could run on one hardware thread only, and did */
	PS_ATTRIBUTION_ATTACHED,  /* the event set counts on one CPU by definition */
	/* An estimate: split by the time that the task spent on each hardware
	 * thread; or groups of events took turns on the hardware while the task
	 * moved, and the part was scaled. */
	PS_ATTRIBUTION_MIXED,
	PS_ATTRIBUTION_LAST_CPU /* the count since the last reading went to the CPU seen at the
	                           reading */
};

/** More that is known about a value; ps_value.flags is an OR of these. */
enum ps_value_flag {
	PS_VALUE_USER_ONLY = 1 << 0, /* counted in user space only: permission, or PAPI's domain */
	PS_VALUE_MOVED = 1 << 1,     /* the thread changed its CPU while the reading was made */
	PS_VALUE_WENT_BACK = 1 << 2, /* a counter went backwards; counted from the lower number */
	PS_VALUE_ENDED = 1 << 3,     /* the counted task has ended; this is its final count */
	PS_VALUE_INTERRUPTED = 1 << 4, /* the counter was off: error state, CPU offline, prctl(2) */
	PS_VALUE_MERGED = 1 << 5,    /* a sum over parts; their status or attribution can differ */
	PS_VALUE_SATURATED = 1 << 8, /* too large for 64 bits: the largest (or least) number */
	PS_VALUE_SAMPLED =
	    1 << 9, /* an estimate, from the visits that were counted, or from samples */
	PS_VALUE_PAUSED = 1 << 10 /* not counted while paused: ps_eventset_pause_event */
};

/**
 * A value of one event.
 *
 * A sum over parts has the weakest status and attribution, the newest
 * timestamp, and the sums of the rest. If the sum is incomplete, value is raw. If some parts were
 * never scheduled and others counted, the sum is scaled: raw * enabled_ns / running_ns of the sums.
 * A number that doesn't fit into 64 bits is the largest number, with the flag PS_VALUE_SATURATED.
 */
struct ps_value {
	uint64_t timestamp; /* of the reading: nanoseconds of CLOCK_MONOTONIC */
	/* The count. SCALED: an estimate of the count. INCOMPLETE: raw, the least that the count
	 * can be. NEVER_SCHEDULED, NOT_SUPPORTED: means nothing */
	long long value;
	uint64_t raw;        /* what the counter counted, unscaled */
	uint64_t enabled_ns; /* how long the counter was enabled, nanoseconds */
	uint64_t running_ns; /* how long it was on the hardware; running / enabled: the coverage */
	enum ps_status status;
	enum ps_attribution attribution;
	uint32_t flags; /* of enum ps_value_flag */
};

/**
 * The coverage: the fraction of the enabled time that the counter was on the
 * hardware, 0.0 to 1.0.
 *
 * value - not NULL. A value that was never enabled (one of ps_store, for
 *     example) has coverage 1.0. The coverage of an estimate of PAPI's
 *     (ps_eventset_from_papi), and of an incomplete value whose counter was off
 *     (PS_VALUE_INTERRUPTED), isn't known: not a number.
 */
PS_PUBLIC double ps_value_coverage(const struct ps_value *value);

/**
 * "counted", "scaled", "never scheduled", "not supported" or "incomplete".
 *
 * Any other number gives "unknown". Never NULL.
 */
PS_PUBLIC const char *ps_status_name(enum ps_status status);

/**
 * The name of one of the flags that are set; NULL beyond the last.
 *
 * flags - of enum ps_value_flag
 * index - 0 is the first flag that is set
 *
 * Returns a constant string: "user-only", "moved", "went-back", "ended",
 * "interrupted", "merged", "saturated", "sampled" or "paused".
 */
PS_PUBLIC const char *ps_value_flag_name(uint32_t flags, size_t index);

/**
 * "exact", "pinned", "attached", "mixed" or "last-cpu".
 *
 * Any other number gives "unknown". Never NULL.
 */
PS_PUBLIC const char *ps_attribution_name(enum ps_attribution attribution);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What readings, takes and snapshots on the fast path have in common: they read the totals, if the
 * task is still on its CPU. */
#ifndef PS_EVENTSET_FAST_TOTALS_H
#define PS_EVENTSET_FAST_TOTALS_H

#include "base/hot.h"
#include "base/os.h"
#include "eventset/fast_path.h"

#include <perfsage/error.h>

#define PS__LIKELY(condition) __builtin_expect(!!(condition), 1)

/* True if no context switch has been recorded since the last read. */
static inline bool ps__fast_has_stayed(const struct ps__fast_path *fast)
{
	uint64_t seen = fast->switches.seen;

	/* Pairs with the kernel's store of data_head after it wrote a record. */
	return __atomic_load_n(fast->switches.head, __ATOMIC_ACQUIRE) == seen;
}

/* False if a group waited for the hardware since the last read: the slow path then assigns the
 * waiting time. Always true if split_times is 0. */
static inline bool ps__fast_is_resident(const struct ps__fast_path *fast)
{
	const uint64_t *current = fast->current, *previous = fast->previous;
	uint64_t waited = 0;

	for (size_t word = 0; word < fast->split_times; word += 2)
		waited |=
		    (current[word] - previous[word]) - (current[word + 1] - previous[word + 1]);
	return waited == 0;
}

/* Asks the kernel, for kernels that don't write the CPU to user memory. */
static __attribute__((cold, noinline)) bool
ps__fast_is_there_when_asked(const struct ps__fast_path *fast)
{
	return ps__os_getcpu() == fast->cpu;
}

static inline bool ps__fast_is_there(const struct ps__fast_path *fast)
{
	return PS__LIKELY(*fast->cpu_place == fast->cpu) || ps__fast_is_there_when_asked(fast);
}

/* Reads the totals into `current`. Returns PS__TRY_SLOW_PATH if the task has moved or was switched,
 * or a code with a detail. Checks the CPU after the counters are read, as code before that is
 * counted. */
PS__INLINE int ps__fast_read_totals(struct ps__fast_path *fast)
{
	if (!PS__LIKELY(ps__fast_has_stayed(fast)))
		return PS__TRY_SLOW_PATH;
	int result = fast->source.read(fast->source.backend, fast->source.instance, fast->current);
	if (!PS__LIKELY(result == PS_OK))
		return ps__fast_note_miss(fast, result);
	if (!PS__LIKELY(ps__fast_is_there(fast)) || !PS__LIKELY(ps__fast_has_stayed(fast)) ||
	    !PS__LIKELY(ps__fast_is_resident(fast)))
		return ps__fast_note_miss(fast, PS_OK);
	return PS_OK;
}

static inline void ps__fast_swap(uint64_t **one, uint64_t **other)
{
	uint64_t *swapped = *one;

	*one = *other;
	*other = swapped;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a group in user space. The kernel keeps a page for each event (struct
 * perf_event_mmap_page): on which counter it is now, what is to be added to that counter, and how
 * ticks become the group's times. It is looked at when it has changed, as its lock tells; else what
 * it said still holds. Called by perf.c.
 *
 * A page is written where its event is on the hardware: on the CPU of the thread that reads it,
 * which is interrupted meanwhile. So what has to be kept apart are the compiler's looks at the
 * page, not the CPU's.
 */
#include <config.h>

#include "arch/arch.h"
#include "backend/perf_user.h"

#include "base/hot.h"

#include <perfsage/error.h>
#include <stdatomic.h>

/* After so many failed attempts a group is read by read(2). */
#define MOST_ATTEMPTS 4

/* cap_user_time_short, which Linux has since 5.12. */
#define CAP_USER_TIME_SHORT (UINT64_C(1) << 5)

/* The kernel writes meanwhile; it asks for plain loads, each of them once. (__atomic_load_n takes
 * an instruction more.) */
#define LOAD(place) (*(const volatile __typeof__(place) *)&(place))

/* Locks only ever go up, so their sum is the same later only if each of them is. */
static inline uint32_t sum_locks(const struct ps__member *member, const struct ps__member *end)
{
	uint32_t sum = 0;

	do {
		sum += LOAD(member->page->lock);
	} while (++member < end);
	return sum;
}

/* Turns ticks into times. Those of a register with few bits, which goes round, are told from where
 * they were; else that is no more than their own value. */
static bool look_at_times(const struct perf_event_mmap_page *page, struct ps__user *user)
{
	const struct perf_event_mmap_page known = {.capabilities = LOAD(page->capabilities)};

	if (!known.cap_user_time)
		return false;
	user->from_ticks = 0;
	user->tick_mask = UINT64_MAX;
	if (known.capabilities & CAP_USER_TIME_SHORT) {
#ifdef HAVE_STRUCT_PERF_EVENT_MMAP_PAGE_TIME_CYCLES
		user->from_ticks = LOAD(page->time_cycles);
		user->tick_mask = LOAD(page->time_mask);
#else
		return false;
#endif
	}
	user->shift = LOAD(page->time_shift);
	user->factor = LOAD(page->time_mult);
	user->rest_mask = (UINT64_C(1) << user->shift) - 1;
	user->enabled_ns = LOAD(page->time_enabled) + LOAD(page->time_offset);
	user->running_ns = LOAD(page->time_running) + LOAD(page->time_offset);
	return true;
}

/* Looks at all pages. False if the group is not on the hardware, or its pages are being written. */
static __attribute__((cold)) bool look_at_pages(struct ps__group *group)
{
	struct ps__user *user = &group->user;
	struct ps__member *first = group->members, *end = first + group->count;
	uint32_t sum = 0, any = 0;

	user->leader_lock = PS__NO_LOCK;
	for (struct ps__member *member = first; member < end; member++) {
		uint32_t lock = LOAD(member->page->lock);
		atomic_signal_fence(memory_order_seq_cst);
		sum += lock;
		any |= lock;
		member->index = LOAD(member->page->index);
		member->offset = (uint64_t)LOAD(member->page->offset);
		if (!ps__arch_has_counter(member->index))
			return false;
	}
	if (!look_at_times(first->page, user))
		return false;
	user->locks = sum;
	atomic_signal_fence(memory_order_seq_cst);
	uint32_t leader_lock = LOAD(first->page->lock);
	/* An odd lock: the page is being written just now. */
	if ((any & 1) == 0 && sum_locks(first, end) == sum)
		user->leader_lock = leader_lock;
	return true;
}

/* Nanoseconds of the ticks, as the kernel reckons them: to the last digit. */
static inline uint64_t to_ns(const struct ps__user *user, uint64_t ticks)
{
	ticks = user->from_ticks + ((ticks - user->from_ticks) & user->tick_mask);
	return (ticks >> user->shift) * user->factor +
	       ((ticks & user->rest_mask) * user->factor >> user->shift);
}

/* The counter's value, of so many bits that shift is what is left of 64. It may be below 0. */
static inline uint64_t counter_extend(uint64_t counter, uint32_t shift)
{
	return (uint64_t)((int64_t)(counter << shift) >> shift);
}

/* Reads the counters if the pages are as they were when they were looked at, before and after. No
 * counter is read on the word of an old page: it might be another's by now, or none that may be
 * read. */
PS__INLINE bool read_counters(const struct ps__group *group, uint64_t *times, uint64_t *values,
                              bool is_in_order)
{
	const struct ps__member *member = group->members, *end = group->end;
	const struct ps__user *user = &group->user;
	uint32_t locks = 0;

	if (__builtin_expect(LOAD(member->page->lock) != user->leader_lock, 0))
		return false;
	atomic_signal_fence(memory_order_seq_cst);
	/* A lock is looked at behind its counter: what changes between two members changes the
	 * later one's. */
	uint64_t ticks = ps__arch_ticks();
	do {
		const struct perf_event_mmap_page *page = member->page;
		uint64_t offset = member->offset;
		uint32_t shift = member->shift;
		uint32_t index = member->index;
		atomic_signal_fence(memory_order_seq_cst);
		uint64_t counter = ps__arch_counter(index);
		*(is_in_order ? values++ : &values[member->event]) =
		    offset + counter_extend(counter, shift);
		atomic_signal_fence(memory_order_seq_cst);
		locks += LOAD(page->lock);
	} while (++member < end);
	if (__builtin_expect(locks != user->locks, 0))
		return false;
	uint64_t now_ns = to_ns(user, ticks);
	times[0] = user->enabled_ns + now_ns;
	times[1] = user->running_ns + now_ns;
	return true;
}

/* The pages have changed. */
static __attribute__((cold, noinline)) bool read_anew(struct ps__group *group, uint64_t *times,
                                                      uint64_t *values)
{
	for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
		if (!look_at_pages(group))
			return false;
		if (read_counters(group, times, values, false))
			return true;
	}
	return false;
}

bool ps__perf_user_read(struct ps__group *group, uint64_t *times, uint64_t *values)
{
	ps__arch_settle();
	return read_counters(group, times, values, false) || read_anew(group, times, values);
}

static __attribute__((cold, noinline)) int read_direct_anew(struct ps__backend *backend,
                                                            size_t instance, uint64_t *totals)
{
	const struct ps__perf *perf = (const struct ps__perf *)backend;
	struct ps__group *group = perf->instances[instance].direct_user;

	if (group && read_anew(group, totals, totals + 2))
		return PS_OK;
	return ps__perf_read_direct(backend, instance, totals);
}

PS__HOT int ps__perf_user_read_direct(struct ps__backend *backend, size_t instance,
                                      uint64_t *totals)
{
	const struct ps__perf *perf = (const struct ps__perf *)backend;
	const struct ps__group *group = perf->instances[instance].direct_user;

	ps__arch_settle();
	if (__builtin_expect(group && read_counters(group, totals, totals + 2, true), 1))
		return PS_OK;
	return read_direct_anew(backend, instance, totals);
}

void ps__perf_user_read_last(const struct ps__group *group, uint64_t *values)
{
	for (const struct ps__member *member = group->members;
	     member < group->members + group->count; member++) {
		if (LOAD(member->page->index) == 0)
			values[member->event] = (uint64_t)LOAD(member->page->offset);
	}
}

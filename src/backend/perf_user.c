/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a group in user space. The kernel keeps a page for each event (struct
 * perf_event_mmap_page): the index of its counter, what to add to the counter, and how ticks become
 * the group's times. A page is read again only if its lock shows that it has changed. Called by
 * perf.c.
 *
 * The kernel writes a page on the CPU where the event is on the hardware. This is the CPU of the
 * reading thread, which is interrupted meanwhile. So only the compiler's order of loads matters,
 * not the CPU's.
 */
#include <config.h>

#include "arch/arch.h"
#include "backend/perf_user.h"

#include "base/hot.h"

#include <perfsage/error.h>
#include <stdatomic.h>

/* After this many failed attempts a group is read by read(2). */
#define MOST_ATTEMPTS 4

/* cap_user_time_short, since Linux 5.12. */
#define CAP_USER_TIME_SHORT (UINT64_C(1) << 5)

/* The kernel may write to the page at any time. It asks readers for plain loads, each done once.
 * (__atomic_load_n takes one more instruction.) */
#define LOAD(place) (*(const volatile __typeof__(place) *)&(place))

/* Sums the locks. They only go up, so the sum is the same later only if each lock is. */
static inline uint32_t sum_locks(const struct ps__member *member, const struct ps__member *end)
{
	uint32_t sum = 0;

	do {
		sum += LOAD(member->page->lock);
	} while (++member < end);
	return sum;
}

/* Reads how ticks become times. False if the page doesn't tell it. A register with few bits wraps
 * around, so its ticks are relative to time_cycles; otherwise the ticks are used as they are. */
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

/* Reads all pages. False if the group is not on the hardware. If a page is being written,
 * leader_lock becomes PS__NO_LOCK. */
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
	/* An odd lock: the page is being written now. */
	if ((any & 1) == 0 && sum_locks(first, end) == sum)
		user->leader_lock = leader_lock;
	return true;
}

/* Converts ticks to nanoseconds exactly as the kernel does. */
static inline uint64_t to_ns(const struct ps__user *user, uint64_t ticks)
{
	ticks = user->from_ticks + ((ticks - user->from_ticks) & user->tick_mask);
	return (ticks >> user->shift) * user->factor +
	       ((ticks & user->rest_mask) * user->factor >> user->shift);
}

/* Sign-extends the counter's value; shift is 64 less its bits. The value may be negative. */
static inline uint64_t counter_extend(uint64_t counter, uint32_t shift)
{
	return (uint64_t)((int64_t)(counter << shift) >> shift);
}

/* Reads the counters. False if a page has changed since it was last read: this is checked before
 * and after. No counter is read by an outdated page: the counter could be another event's by now,
 * or one that must not be read. */
PS__INLINE bool read_counters(const struct ps__group *group, uint64_t *times, uint64_t *values,
                              bool is_in_order)
{
	const struct ps__member *member = group->members, *end = group->end;
	const struct ps__user *user = &group->user;
	uint32_t locks = 0;

	if (__builtin_expect(LOAD(member->page->lock) != user->leader_lock, 0))
		return false;
	atomic_signal_fence(memory_order_seq_cst);
	/* A lock is read after its counter: if the pages change between two members, the later
	 * member's lock has changed. */
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

/* Reads the group after its pages have changed. */
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

void ps__perf_user_read_last(const struct ps__group *group, uint64_t *times, uint64_t *values)
{
	const struct perf_event_mmap_page *first = group->members[0].page;
	uint64_t enabled_ns = LOAD(first->time_enabled) + group->carry_enabled;
	uint64_t running_ns = LOAD(first->time_running) + group->carry_running;

	for (const struct ps__member *member = group->members;
	     member < group->members + group->count; member++) {
		if (LOAD(member->page->index) == 0)
			values[member->event] = (uint64_t)LOAD(member->page->offset);
	}
	if (LOAD(first->index) != 0 || (int64_t)(running_ns - times[1]) <= 0)
		return;
	times[1] = running_ns;
	if ((int64_t)(enabled_ns - times[0]) > 0)
		times[0] = enabled_ns;
}

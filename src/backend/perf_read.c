/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an instance group by group. Puts the totals together if a group is in the error state, or
 * the group's CPU was offline. Drops at the next start what could not be read in that state. */
#include "backend/perf.h"
#include "backend/perf_user.h"
#include "base/error.h"
#include "base/os.h"
#include "base/stack.h"

#include <errno.h>

/* The kernel's clock of events and CLOCK_MONOTONIC may differ by this, and by 1/64 of the time. */
#define TOLERANCE_NS 2000000u

/* Adds time for which a group was off to its enabled time, so that its values show as scaled or
 * never scheduled, not as complete or 0. The caller holds signals: after a jump in between, the
 * time would be added again. */
static void add_missing(struct ps__group *group, uint64_t *times, uint64_t missing_ns)
{
	times[0] += missing_ns;
	group->carry_enabled += missing_ns;
}

/* Handles a group in the error state, for which the kernel tells no times. On a CPU all time that
 * is missing counts as enabled time. For tasks see account_for_error. */
static int fail_group_error(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                            uint64_t *values)
{
	struct ps__held held;

	if (group->is_user_read)
		ps__perf_user_read_last(group, times, values);
	ps__signals_hold(&held);
	group->is_off = true;
	perf->base.off.has_unread = true;
	if (perf->target.kind == PS__TARGET_CPU)
		add_missing(group, times, ps__perf_missing_ns(perf, group, times[0]));
	ps__signals_release(&held);
	return ps__fail(
	    PS_PARTIAL,
	    "'%s' and the %zu other events of its group could not be counted: the counter is in "
	    "the error state, as a pinned event is when no hardware counter is free for it",
	    perf->events[group->members[0].event].name, group->count - 1);
}

int ps__perf_store_group(struct ps__perf *perf, const struct ps__group *group, uint64_t *times,
                         uint64_t *values)
{
	if (__builtin_expect(perf->buffer[0] != group->count + group->extras, 0))
		return ps__fail(PS_PARTIAL, "'%s': of its group of %zu events the kernel read %llu",
		                perf->events[group->members[0].event].name, group->count,
		                (unsigned long long)perf->buffer[0]);
	for (size_t place = 0; place < group->count; place++)
		values[group->members[place].event] =
		    ps__perf_member_total(&group->members[place], perf->buffer[3 + place]);
	times[0] = perf->buffer[1] + group->carry_enabled;
	times[1] = perf->buffer[2] + group->carry_running;
	return PS_OK;
}

/* True if only the group's enabled time (its clock) tells whether the CPU was offline: it stands
 * still then. */
static bool is_known_by_clock(const struct ps__perf *perf, const struct ps__group *group)
{
	return perf->target.kind == PS__TARGET_CPU && group->count == 1;
}

/*
 * True if the group's CPU has been offline. The kernel then takes groups apart. A single event
 * shows it by its clock, which stood still while time passed. The time is measured from after the
 * last read to sure_ns, which is before this read. So if the thread has to wait between a read and
 * its look at the time, this is not taken for an offline CPU.
 */
static bool is_detached(const struct ps__perf *perf, struct ps__group *group, uint64_t sure_ns)
{
	/* A control group's clock can't be compared with the time: it stands still while none of
	 * its tasks runs. */
	if (perf->target.kind != PS__TARGET_CPU && perf->target.kind != PS__TARGET_CGROUP)
		return false;
	if (!is_known_by_clock(perf, group))
		return perf->buffer[0] != ps__perf_member_count(perf, group);
	int64_t passed = (int64_t)(sure_ns - group->last_ns);
	uint64_t enabled = perf->buffer[1] - group->last_enabled;
	group->last_ns = ps__os_now_ns();
	group->last_enabled = perf->buffer[1];
	return passed > 0 && enabled + TOLERANCE_NS + (uint64_t)passed / 64 < (uint64_t)passed;
}

/* Stores the totals of a detached group: what its earlier descriptors counted (carry). */
static int store_carried(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                         uint64_t *values)
{
	ps__perf_recover(perf, group);
	for (size_t place = 0; place < group->count; place++)
		values[group->members[place].event] =
		    ps__perf_member_total(&group->members[place], 0);
	times[0] = group->carry_enabled;
	times[1] = group->carry_running;
	return PS_OK;
}

/* True if the bytes read have the form of the group. */
static bool is_group(const struct ps__perf *perf, const struct ps__group *group, size_t length)
{
	uint64_t members = group->count + group->extras;

	return length == (3 + members) * sizeof *perf->buffer && perf->buffer[0] == members;
}

static int perf_read_group(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                           uint64_t *values)
{
	if (__builtin_expect(group->members[0].fd < 0, 0))
		return store_carried(perf, group, times, values);
	uint64_t sure_ns = 0;
	if (is_known_by_clock(perf, group))
		sure_ns = perf->counting ? ps__os_now_ns() : perf->base.run.stopped_ns;
	ssize_t length =
	    ps__os_read_retried(group->members[0].fd, perf->buffer, perf->buffer_bytes);
	if (__builtin_expect(length < 0, 0))
		return ps__perf_fail_read(perf, group);
	if (__builtin_expect(!is_group(perf, group, (size_t)length), 0) &&
	    !ps__os_is_event(group->members[0].fd))
		return ps__perf_fail_lost(perf);
	if (__builtin_expect(length < (ssize_t)(3 * sizeof(uint64_t)), 0))
		return fail_group_error(perf, group, times, values);
	if (__builtin_expect(is_detached(perf, group, sure_ns), 0))
		return store_carried(perf, group, times, values);
	return ps__perf_store_group(perf, group, times, values);
}

/* Reads for how long an instance's groups have been enabled, since the start of group->shift_ns.
 * They are enabled together, while the tasks run, so any group that can be read tells it. False if
 * there is none. */
static bool read_run_ns(struct ps__perf *perf, const struct ps__instance *instance,
                        uint64_t *run_ns)
{
	for (size_t index = 0; index < perf->base.groups; index++) {
		for (const struct ps__group *group = &instance->groups[index]; group;
		     group = group->next) {
			if (group->is_off || group->members[0].fd < 0)
				continue;
			ssize_t length = ps__os_read_retried(group->members[0].fd, perf->buffer,
			                                     perf->buffer_bytes);
			if (length < 0 || !is_group(perf, group, (size_t)length))
				continue;
			*run_ns = perf->buffer[1] + group->carry_enabled + group->shift_ns;
			return true;
		}
	}
	return false;
}

/* Accounts for the time for which a group of tasks is in the error state. If no group tells how
 * long the tasks ran, adds the least that it can be: then a group without counts is never
 * scheduled, and not 0. No time passes between two looks at stopped counters. */
static void account_for_error(struct ps__perf *perf, const struct ps__instance *instance,
                              struct ps__group *group, uint64_t *times)
{
	struct ps__held held;
	uint64_t run_ns = 0;

	ps__signals_hold(&held);
	uint64_t until_ns = perf->counting ? ps__os_now_ns() : perf->base.run.stopped_ns;
	bool is_known = read_run_ns(perf, instance, &run_ns);
	int64_t missing_ns =
	    is_known ? (int64_t)(run_ns - times[0] - group->shift_ns) : until_ns != group->last_ns;
	group->last_ns = until_ns;
	if (missing_ns > 0) {
		add_missing(group, times, (uint64_t)missing_ns);
		perf->base.off.is_time_unknown |= !is_known;
	}
	ps__signals_release(&held);
}

/* Notes that a group, or a link of its chain, could not be read: `one` is the result, and is
 * returned. A set with residencies knows by itself for how long its groups were off. */
static __attribute__((cold, noinline)) int note_failure(struct ps__perf *perf, size_t instance,
                                                        size_t index, uint64_t *times, int one)
{
	struct ps__group *group = &perf->instances[instance].groups[index];
	bool is_chain = group->next != NULL;

	if (one != PS_PARTIAL || perf->target.kind == PS__TARGET_CPU || perf->base.residency_ns)
		return one;
	for (; group; group = group->next) {
		uint64_t *own = is_chain ? group->own : times;
		if (group->is_off)
			account_for_error(perf, &perf->instances[instance], group, own);
		times[0] = own[0] > times[0] ? own[0] : times[0];
	}
	return one;
}

/* Reads a chain: one link for each kind of cores. A link counts while the task is on its kind, so
 * the links' counts add up. A link that can't be read now keeps its last totals. */
static int read_chain(struct ps__perf *perf, struct ps__group *first, uint64_t *times,
                      uint64_t *values)
{
	int result = PS_OK;

	times[0] = 0;
	times[1] = 0;
	for (size_t place = 0; place < first->count; place++)
		values[first->members[place].event] = 0;
	for (struct ps__group *group = first; group; group = group->next) {
		result = ps__result_join(result,
		                         perf_read_group(perf, group, group->own, group->own + 2));
		times[0] = group->own[0] > times[0] ? group->own[0] : times[0];
		times[1] += group->own[1];
		for (size_t place = 0; place < group->count; place++)
			values[group->members[place].event] +=
			    group->own[2 + group->members[place].event];
	}
	return result;
}

/* Reads a group in user space if it can be, and is on the hardware; otherwise by read(2). */
static int read_cheapest(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                         uint64_t *values)
{
	if (!group->is_user_read || !ps__perf_user_read(group, times, values))
		return perf_read_group(perf, group, times, values);
	times[0] += group->carry_enabled;
	times[1] += group->carry_running;
	return PS_OK;
}

int ps__perf_read_groups(struct ps__perf *perf, size_t instance, uint64_t *totals)
{
	const struct ps__backend *backend = &perf->base;
	uint64_t *values = totals + 2 * backend->groups;
	int result = ps__perf_read_residency(perf, instance);

	if (__builtin_expect(result != PS_OK, 0))
		return result;
	for (size_t index = 0; index < backend->groups; index++) {
		struct ps__group *group = &perf->instances[instance].groups[index];
		int one = __builtin_expect(group->next != NULL, 0)
		              ? read_chain(perf, group, totals + 2 * index, values)
		              : read_cheapest(perf, group, totals + 2 * index, values);
		if (__builtin_expect(one != PS_OK, 0))
			result = ps__result_join(
			    result, note_failure(perf, instance, index, totals + 2 * index, one));
	}
	return result;
}

/* Lets a group's totals go on from these, whatever the kernel counted in between. In user space its
 * counts could be read. Signals are held: the fields belong together. */
static void go_on_from(const struct ps__perf *perf, struct ps__group *group, const uint64_t *times,
                       const uint64_t *values)
{
	struct ps__held held;

	ps__signals_hold(&held);
	for (size_t place = 0; place < group->count && !group->is_user_read; place++) {
		struct ps__member *member = &group->members[place];
		member->carry = values[member->event] - perf->buffer[3 + place];
	}
	group->carry_enabled = times[0] - perf->buffer[1];
	group->carry_running = times[1] - perf->buffer[2];
	group->is_off = false;
	ps__signals_release(&held);
}

/* Begins a run of one group, after its start. A group that was in the error state is readable now,
 * unless it is in this state again. A control group's groups are read, too, because the set changes
 * the times in its totals (method_cgroup.c). */
static int begin_group(struct ps__perf *perf, struct ps__group *group, const uint64_t *times,
                       const uint64_t *values)
{
	bool must_read = group->is_off || perf->target.kind == PS__TARGET_CGROUP;
	int fd = group->members[0].fd;
	uint64_t enabled_ns = times[0];

	if (must_read && fd >= 0) {
		ssize_t length = ps__os_read_retried(fd, perf->buffer, perf->buffer_bytes);
		if (length < 0)
			return ps__perf_fail_read(perf, group);
		bool is_whole = is_group(perf, group, (size_t)length);
		if (!is_whole && !ps__os_is_event(fd))
			return ps__perf_fail_lost(perf);
		if (is_whole && group->is_off)
			go_on_from(perf, group, times, values);
		if (is_whole)
			enabled_ns = perf->buffer[1] + group->carry_enabled;
	}
	if (perf->target.kind != PS__TARGET_CPU)
		group->shift_ns = 0 - enabled_ns;
	perf->base.off.has_unread |= group->is_off;
	return PS_OK;
}

int ps__perf_begin_run(struct ps__backend *backend, size_t instance, const uint64_t *totals)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	const uint64_t *values = totals + 2 * backend->groups;
	int result = ps__perf_is_lost(perf) ? ps__perf_fail_lost(perf) : PS_OK;

	if (instance == 0)
		backend->off.has_unread = backend->off.is_time_unknown = false;
	for (size_t index = 0; index < backend->groups; index++) {
		struct ps__group *group = &perf->instances[instance].groups[index];
		bool is_chain = group->next != NULL;
		for (; group && result == PS_OK; group = group->next)
			result = is_chain ? begin_group(perf, group, group->own, group->own + 2)
			                  : begin_group(perf, group, totals + 2 * index, values);
	}
	backend->off.has_unread |= result != PS_OK;
	return result;
}

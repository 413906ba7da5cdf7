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

/* Handles a group in the error state, for which the kernel tells no times. The time that is missing
 * in its enabled time counts as enabled time without counting, so the values show as never
 * scheduled or scaled, not as 0. Signals are held: after a jump in between, the time would be added
 * again. */
static int fail_group_error(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                            uint64_t *values)
{
	struct ps__held held;

	if (group->is_user_read)
		ps__perf_user_read_last(group, times, values);
	ps__signals_hold(&held);
	group->is_off = true;
	perf->base.off.has_unread = true;
	uint64_t until_ns = perf->counting ? ps__os_now_ns() : perf->base.run.stopped_ns;
	uint64_t run_ns = until_ns - perf->started_ns;
	uint64_t missing_ns = ps__perf_missing_ns(perf, group, times[0]);
	/* A task's group may lack more than this run's time: the task slept in earlier runs. */
	if (perf->target.kind != PS__TARGET_CPU && missing_ns > run_ns) {
		group->offline_ns += missing_ns - run_ns;
		missing_ns = run_ns;
	}
	times[0] += missing_ns;
	group->carry_enabled += missing_ns;
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
		result = ps__result_join(result, one);
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
 * unless it is in this state again. */
static int begin_group(struct ps__perf *perf, struct ps__group *group, const uint64_t *times,
                       const uint64_t *values)
{
	int fd = group->members[0].fd;

	if (!group->is_off || fd < 0)
		return PS_OK;
	ssize_t length = ps__os_read_retried(fd, perf->buffer, perf->buffer_bytes);
	if (length < 0)
		return ps__perf_fail_read(perf, group);
	bool is_whole = is_group(perf, group, (size_t)length);
	if (!is_whole && !ps__os_is_event(fd))
		return ps__perf_fail_lost(perf);
	if (is_whole)
		go_on_from(perf, group, times, values);
	perf->base.off.has_unread |= group->is_off;
	return PS_OK;
}

int ps__perf_begin_run(struct ps__backend *backend, size_t instance, const uint64_t *totals)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	const uint64_t *values = totals + 2 * backend->groups;
	int result = ps__perf_is_lost(perf) ? ps__perf_fail_lost(perf) : PS_OK;

	if (instance == 0)
		backend->off.has_unread = false;
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

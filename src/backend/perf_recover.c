/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU hotplug. When a CPU goes offline, the kernel detaches its events. Their counts can still be
 * read, one descriptor at a time, but the events count no longer, even when the CPU is back. New
 * descriptors are opened, and what the old ones counted is kept in `carry`.
 */
#include "backend/perf.h"
#include "base/os.h"
#include "base/stack.h"

#include <errno.h>

/* CLOCK_MONOTONIC and the counter's clock differ by the time that starting and stopping took. */
#define SHORTEST_GAP_NS 1000000u

/* Adds what one descriptor counted to the carry. read(2) gives nr, enabled, running and the
 * member's value; or, if the group is still whole, the values of all members. */
static void save_member(struct ps__perf *perf, struct ps__group *group, size_t place)
{
	struct ps__member *member = &group->members[place];
	ssize_t length = ps__os_read_retried(member->fd, perf->buffer, perf->buffer_bytes);

	if (length < (ssize_t)(4 * sizeof(uint64_t)))
		return;
	if (place == 0) {
		group->carry_enabled += perf->buffer[1];
		group->carry_running += perf->buffer[2];
	}
	bool is_whole = perf->buffer[0] == ps__perf_member_count(perf, group);
	member->carry += perf->buffer[is_whole ? 3 + place : 3];
}

static void close_members(const struct ps__perf *perf, struct ps__group *group)
{
	for (size_t place = ps__perf_member_count(perf, group); place-- > 0;) {
		struct ps__member *member = &group->members[place];
		ps__os_close_event(member->fd, member->id, false);
		member->fd = -1;
	}
}

/* Returns whom, and where, the group counts. */
static struct ps__place recover_place_of(const struct ps__perf *perf, const struct ps__group *group)
{
	size_t instance = 0;

	while (instance + 1 < perf->base.instances &&
	       (group < perf->instances[instance].groups ||
	        group >= perf->instances[instance].groups + perf->base.groups))
		instance++;
	return perf->instances[instance].place;
}

/* Opens the members again. False if one can't be opened. */
static bool reopen_members(struct ps__perf *perf, struct ps__group *group)
{
	struct ps__place where = recover_place_of(perf, group);

	where.pmu_type = group->pmu_type;
	where.stands_in = group->stands_in;
	for (size_t place = 0; place < group->count; place++) {
		struct ps__member *member = &group->members[place];
		int leader = place == 0 ? -1 : group->members[0].fd;
		member->fd = ps__perf_open_event(&perf->events[member->event], where, leader);
		if (member->fd < 0)
			return false;
		member->id = ps__os_event_id(member->fd);
	}
	if (ps__perf_member_count(perf, group) > group->count &&
	    ps__perf_open_witness(perf, where, group) < 0)
		return false;
	ps__perf_pause_members(perf, group);
	return !perf->counting || ps__os.ioctl(group->members[0].fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

uint64_t ps__perf_missing_ns(const struct ps__perf *perf, const struct ps__group *group,
                             uint64_t enabled_ns)
{
	uint64_t due = ps__perf_due_ns(perf, ps__os_now_ns());
	uint64_t known = enabled_ns + group->shift_ns;

	return due > known ? due - known : 0;
}

/* Accounts for the gap. While the CPU is offline, nothing can be counted: the gap is added to
 * shift_ns. When the CPU is back, what ran there was missed, at most since it was last seen
 * offline. This time is added as enabled time, so the coverage shows it. For a control group not
 * even this is known, because its clock runs only while its tasks run. */
static void account_for_gap(struct ps__perf *perf, struct ps__group *group, bool is_back)
{
	if (perf->target.kind != PS__TARGET_CPU || group->next || perf->kind_count > 1)
		return;
	uint64_t missing = ps__perf_missing_ns(perf, group, group->carry_enabled);
	if (!is_back)
		group->shift_ns += missing;
	else if (missing > SHORTEST_GAP_NS)
		group->carry_enabled += missing;
}

/* Signals are held: after a jump in between, a repeated call would add the counts again. */
void ps__perf_recover(struct ps__perf *perf, struct ps__group *group)
{
	struct ps__held held;

	ps__signals_hold(&held);
	if (group->members[0].fd >= 0) {
		for (size_t place = 0; place < group->count; place++)
			save_member(perf, group, place);
		close_members(perf, group);
	}
	bool is_back = reopen_members(perf, group);
	if (!is_back)
		close_members(perf, group);
	account_for_gap(perf, group, is_back);
	group->last_enabled = 0;
	group->last_ns = ps__os_now_ns();
	perf->base.interrupted = true;
	ps__signals_release(&held);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU hotplug. When a CPU goes offline, the kernel detaches the events on it: their counts stay readable, one descriptor
 * at a time, but they count no longer, not even when the CPU is back. What they counted is carried over to
 * new descriptors.
 */
#include "backend/perf.h"
#include "base/os.h"

#include <errno.h>

/* What one descriptor still tells: nr, enabled, running and its value; or, of a group that is whole, those of all members,
 * whichever was asked. */
static void save_member(struct ps__perf *perf, struct ps__group *group, size_t place)
{
	struct ps__member *member = &group->members[place];
	ssize_t length;

	do {
		length = ps__os.read(member->fd, perf->buffer, perf->buffer_bytes);
	} while (length < 0 && errno == EINTR);
	if (length < (ssize_t)(4 * sizeof(uint64_t)))
		return;
	if (place == 0) {
		group->carry_enabled += perf->buffer[1];
		group->carry_running += perf->buffer[2];
	}
	member->carry += perf->buffer[perf->buffer[0] == group->count ? 3 + place : 3];
}

static void close_members(struct ps__group *group)
{
	for (size_t place = group->count; place-- > 0;) {
		if (group->members[place].fd >= 0)
			ps__os.close(group->members[place].fd);
		group->members[place].fd = -1;
	}
}

/* Where the group counts. */
static struct ps__place place_of(const struct ps__perf *perf, const struct ps__group *group)
{
	size_t lane = 0;

	while (lane + 1 < perf->base.lanes &&
	       (group < perf->lanes[lane].groups || group >= perf->lanes[lane].groups + perf->base.groups))
		lane++;
	return perf->lanes[lane].place;
}

/* Opens the members again, all or none. */
static bool reopen_members(struct ps__perf *perf, struct ps__group *group)
{
	struct ps__place where = place_of(perf, group);

	where.pmu_type = group->pmu_type;
	where.stands_in = group->stands_in;
	for (size_t place = 0; place < group->count; place++) {
		struct ps__member *member = &group->members[place];
		int leader = place == 0 ? -1 : group->members[0].fd;
		member->fd = ps__perf_open_event(&perf->events[member->event], where, leader);
		if (member->fd < 0)
			return false;
	}
	return !perf->counting || ps__os.ioctl(group->members[0].fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

void ps__perf_recover(struct ps__perf *perf, struct ps__group *group)
{
	if (group->members[0].fd >= 0) {
		for (size_t place = 0; place < group->count; place++)
			save_member(perf, group, place);
		close_members(group);
	}
	if (!reopen_members(perf, group))
		close_members(group);
	group->last_enabled = 0;
	group->last_ns = ps__perf_now_ns();
	perf->base.interrupted = true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses one event, while the others of its group go on. The kernel can disable any member except
 * the leader, which the whole group needs. A paused leader goes on counting: its total is held, and
 * what it counted meanwhile is subtracted when it is resumed. Before the resume, the set takes the
 * migration records that were written until then.
 *
 * The total of a software event whose leader is of another PMU is held, too: Linux 6.18 resumes
 * such an event only at the task's next switch (doc/measurements).
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"
#include "event/attr.h"
#include "store/recording.h"

#include <string.h>

static size_t place_of_event(const struct ps__group *group, size_t event)
{
	size_t place = 0;

	while (place < group->count && group->members[place].event != event)
		place++;
	return place;
}

static int fail_error_state(const struct ps__perf *perf, const struct ps__member *member)
{
	return ps__fail(PS_ESYS,
	                "'%s' can't be paused or resumed now: its group is in the error state, as "
	                "no hardware counter is free for it",
	                perf->events[member->event].name);
}

/* Reads one member by itself, if the kernel has taken the group apart. */
static int read_alone(struct ps__perf *perf, const struct ps__member *member, uint64_t *count)
{
	if (!ps__os_is_event_of(member->fd, member->id))
		return ps__perf_fail_lost(perf);
	ssize_t length = ps__os_read_retried(member->fd, perf->buffer, perf->buffer_bytes);
	if (length < (ssize_t)(4 * sizeof *perf->buffer) || perf->buffer[0] != 1)
		return fail_error_state(perf, member);
	*count = perf->buffer[3];
	return PS_OK;
}

/* Reads a member's count from the kernel. */
static int read_member(struct ps__perf *perf, const struct ps__group *group, size_t place,
                       uint64_t *count)
{
	const struct ps__member *member = &group->members[place];
	uint64_t members = group->count + group->extras;

	/* The CPU is offline: what the member counted is in its carry. */
	if (member->fd < 0) {
		*count = 0;
		return PS_OK;
	}
	ssize_t length =
	    ps__os_read_retried(group->members[0].fd, perf->buffer, perf->buffer_bytes);
	if (length < 0)
		return ps__perf_fail_read(perf, group);
	if ((size_t)length == (3 + members) * sizeof *perf->buffer && perf->buffer[0] == members) {
		*count = perf->buffer[3 + place];
		return PS_OK;
	}
	if (!ps__os_is_event(group->members[0].fd))
		return ps__perf_fail_lost(perf);
	if ((size_t)length < 4 * sizeof *perf->buffer)
		return fail_error_state(perf, member);
	return read_alone(perf, member, count);
}

/* Lets an instance be read group by group: only this way uses held totals. */
static void read_by_groups(struct ps__perf *perf, size_t instance, struct ps__group *group)
{
	perf->instances[instance].direct_fd = -1;
	perf->instances[instance].direct_user = NULL;
	group->is_user_read = false;
}

/* True if the member's total is held; otherwise the kernel disables the member. A member of another
 * PMU with sigtrap is disabled, because its signals must stop. */
static bool holds_member(const struct ps__perf *perf, const struct ps__group *group, size_t place)
{
	const struct ps__event *leader = &perf->events[group->members[0].event];
	const struct ps__event *event = &perf->events[group->members[place].event];

	return place == 0 ||
	       (ps__perf_is_foreign(leader, event) && !ps__event_has_flag(event, PS__FLAG_SIGTRAP));
}

static int hold_member(struct ps__perf *perf, size_t instance, struct ps__group *group,
                       size_t place, bool pauses)
{
	struct ps__member *member = &group->members[place];
	uint64_t count = 0;

	if (member->is_held == pauses)
		return PS_OK;
	int result = read_member(perf, group, place, &count);
	if (result != PS_OK)
		return result;
	read_by_groups(perf, instance, group);
	if (pauses)
		member->held = count + member->carry;
	else
		member->carry = member->held - count;
	member->is_held = pauses;
	return PS_OK;
}

static int switch_member(struct ps__perf *perf, const struct ps__member *member, bool pauses)
{
	unsigned long request = pauses ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE;

	if (member->fd < 0)
		return PS_OK;
	while (ps__os.ioctl(member->fd, request, 0) < 0) {
		int error = errno;
		if (error != EINTR && !ps__os_is_event(member->fd))
			return ps__perf_fail_lost(perf);
		if (error != EINTR)
			return ps__fail(PS_ESYS, "'%s' can't be %s: ioctl: %s",
			                perf->events[member->event].name,
			                pauses ? "paused" : "resumed", strerror(error));
	}
	return PS_OK;
}

static int pause_link(struct ps__perf *perf, size_t instance, struct ps__group *group, size_t event,
                      bool pauses)
{
	size_t place = place_of_event(group, event);

	if (place == group->count)
		return PS_OK;
	if (holds_member(perf, group, place))
		return hold_member(perf, instance, group, place, pauses);
	return switch_member(perf, &group->members[place], pauses);
}

/* Undoes a pause or resume of one link. If the total is held, only is_held is changed: the held
 * total and the carry are still right. Leaves the failure's sentence as it is. */
static void undo_link(const struct ps__perf *perf, struct ps__group *group, size_t event,
                      bool pauses)
{
	size_t place = place_of_event(group, event);

	if (place == group->count)
		return;
	if (holds_member(perf, group, place))
		group->members[place].is_held = !pauses;
	else if (group->members[place].fd >= 0)
		while (ps__os.ioctl(group->members[place].fd,
		                    pauses ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
		                    0) < 0 &&
		       errno == EINTR)
			;
}

static struct ps__group *first_link(struct ps__perf *perf, size_t instance, size_t event)
{
	return &perf->instances[instance].groups[perf->base.group_of[event]];
}

/* Pauses an event on each kind of cores. *at receives the link that failed; NULL: none. */
static int pause_in(struct ps__perf *perf, size_t instance, size_t event, bool pauses,
                    struct ps__group **at)
{
	struct ps__group *group = first_link(perf, instance, event);
	int result = PS_OK;

	while (group && result == PS_OK) {
		result = pause_link(perf, instance, group, event, pauses);
		if (result == PS_OK)
			group = group->next;
	}
	*at = group;
	return result;
}

/* Undoes the change in the instances up to this one, in the links before `end`, which failed. */
static void undo_before(struct ps__perf *perf, size_t instance, const struct ps__group *end,
                        size_t event, bool pauses)
{
	for (size_t i = 0; i <= instance; i++) {
		struct ps__group *group = first_link(perf, i, event);
		for (; group && group != end; group = group->next)
			undo_link(perf, group, event, pauses);
	}
}

/* Repeats the change for copies of the events. It succeeded once, so it can only fail for lost
 * descriptors, and the next call reports these. */
static void pause_copies(struct ps__perf *perf, size_t event, bool pauses)
{
	struct ps__group *failed;

	for (unsigned turn = 1; turn < PS__PROCESS_TURNS; turn++) {
		if (!pauses)
			ps__os.poll(NULL, 0, PS__TURN_MS);
		for (size_t instance = 0; instance < perf->base.instances; instance++)
			pause_in(perf, instance, event, pauses, &failed);
	}
}

int ps__perf_pause_event(struct ps__backend *backend, size_t event, bool pauses)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	struct ps__group *failed = NULL;
	int result = PS_OK;

	if (perf->base.group_of[event] == PS__NO_GROUP)
		return PS_OK;
	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		result = pause_in(perf, instance, event, pauses, &failed);
		if (result == PS_OK)
			continue;
		/* If the event was in this state before the call, nothing is undone. */
		if (perf->events[event].control.is_paused != pauses)
			undo_before(perf, instance, failed, event, pauses);
		break;
	}
	if (result == PS_OK && perf->target.kind == PS__TARGET_PROCESS)
		pause_copies(perf, event, pauses);
	return result;
}

int ps__perf_pause_events(struct ps__perf *perf)
{
	int result = PS_OK;

	for (size_t event = 0; result == PS_OK && event < perf->event_count; event++) {
		if (perf->events[event].control.is_paused)
			result = ps__perf_pause_event(&perf->base, event, true);
	}
	return result;
}

void ps__perf_pause_members(struct ps__perf *perf, const struct ps__group *group)
{
	for (size_t place = 1; place < group->count; place++) {
		const struct ps__member *member = &group->members[place];
		if (perf->events[member->event].control.is_paused &&
		    !holds_member(perf, group, place))
			ps__os.ioctl(member->fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens groups. An event leads or joins a group, on each kind of cores that it is for. Then the
 * other instances get the same groups. perf_plan.c decides which events are in which group. */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"
#include "event/attr.h"

/* Returns whom, and where, the members of an instance's group are to count. */
static struct ps__place place_of_group(const struct ps__instance *instance,
                                       const struct ps__group *group)
{
	struct ps__place place = instance->place;

	place.pmu_type = group->pmu_type;
	place.stands_in = group->stands_in;
	return place;
}

static void group_add(struct ps__group *group, size_t event, int fd)
{
	group->members[group->count++] =
	    (struct ps__member){.fd = fd, .id = ps__os_event_id(fd), .event = (uint32_t)event};
}

/* Opens an event as a group's leader. */
static int group_lead(struct ps__perf *perf, const struct ps__instance *instance,
                      struct ps__group *group, size_t event)
{
	struct ps__event *what = &perf->events[event];
	struct ps__place place = place_of_group(instance, group);

	/* An event with sigtrap doesn't count at once: its signals would come before the start. */
	place.counts_at_once |= group->is_planned && what->klass != PS__EVENT_CLASS_SOFTWARE &&
	                        !ps__event_has_flag(what, PS__FLAG_SIGTRAP);
	int fd = ps__perf_open_settled(what, place, -1);
	if (fd < 0) {
		int code = ps__perf_explain_event(perf, event, instance->place.pid, -fd);
		if (perf->base.ended_tid == PS__LOST_LEADER)
			perf->base.ended_tid = 0; /* the group had no leader that could be lost */
		return code;
	}
	group->members = ps__os_calloc(perf->event_count + 1, sizeof *group->members);
	if (!group->members) {
		ps__os.close(fd);
		return ps__fail_memory("a group of events");
	}
	group->klass = what->klass;
	group->type = what->attr.type;
	group_add(group, event, fd);
	return PS_OK;
}

/* Opens a group with the same members as the planned group, `model`. */
static int group_copy(struct ps__perf *perf, const struct ps__instance *instance,
                      struct ps__group *group, const struct ps__group *model)
{
	struct ps__place place = place_of_group(instance, group);
	int result = group_lead(perf, instance, group, model->members[0].event);

	for (size_t index = 1; result == PS_OK && index < model->count; index++) {
		size_t event = model->members[index].event;
		int fd = ps__perf_open_settled(&perf->events[event], place, group->members[0].fd);
		if (fd < 0)
			return ps__perf_explain_event(perf, event, instance->place.pid, -fd);
		group_add(group, event, fd);
	}
	return result;
}

/* Returns the instance in which groups of a kind are planned; NULL if no instance has it. */
static struct ps__instance *planning_instance(const struct ps__perf *perf, size_t kind)
{
	for (size_t index = 0; index < perf->base.instances; index++) {
		if (ps__perf_has_kind(perf, &perf->instances[index], kind))
			return &perf->instances[index];
	}
	return NULL;
}

/* Returns the instance in which a group's events of one kind are planned; NULL if the group's
 * events are not for this kind, or no instance has it. */
static struct ps__instance *planning_instance_of(const struct ps__perf *perf, size_t index,
                                                 size_t kind)
{
	return perf->instances[0].groups[index].kinds & UINT32_C(1) << kind
	           ? planning_instance(perf, kind)
	           : NULL;
}

/* Returns the link for one kind in a group's chain (ps__group.next); NULL if it isn't open yet. */
static struct ps__group *group_find(const struct ps__perf *perf,
                                    const struct ps__instance *instance, size_t index, size_t kind)
{
	struct ps__group *group = &instance->groups[index];

	while (group && (!group->members || group->pmu_type != perf->kinds[kind].pmu_type))
		group = group->next;
	return group;
}

/* Makes a group's link for one kind. In a chain each link keeps its own totals: if one can't be
 * read, the sum keeps the link's last totals. */
static struct ps__group *make_group(const struct ps__perf *perf,
                                    const struct ps__instance *instance, size_t index, size_t kind)
{
	struct ps__group *group = &instance->groups[index];

	if (group->pmu_type) {
		while (group->next)
			group = group->next;
		group->next = ps__os_calloc_apart(1, sizeof *group);
		group = group->next;
	}
	if (!group)
		return NULL;
	if (instance->place.cpu < 0 && kind != PS__KIND_ANY) {
		group->own = ps__os_calloc_apart(2 + perf->event_count, sizeof *group->own);
		if (!group->own)
			return NULL;
	}
	group->pmu_type = perf->kinds[kind].pmu_type;
	return group;
}

/* Opens an event as a member on one kind. PS_ENOCNTR if the PMU is full (EINVAL), or the group. */
static int join_kind(struct ps__perf *perf, const struct ps__instance *instance,
                     struct ps__group *group, size_t event)
{
	if (group->count >= PS__GROUP_MEMBERS)
		return PS_ENOCNTR;
	int fd = ps__perf_open_settled(&perf->events[event], place_of_group(instance, group),
	                               group->members[0].fd);
	if (fd == -EINVAL || fd == -E2BIG)
		return PS_ENOCNTR;
	if (fd < 0)
		return ps__perf_explain_event(perf, event, instance->place.pid, -fd);
	group_add(group, event, fd);
	return PS_OK;
}

/* Closes an event that joined on the kinds before `end`. */
static void leave_kinds(struct ps__perf *perf, size_t index, size_t end)
{
	for (size_t kind = 0; kind < end; kind++) {
		const struct ps__instance *instance = planning_instance_of(perf, index, kind);
		if (!instance)
			continue;
		struct ps__group *group = group_find(perf, instance, index, kind);
		ps__os.close(group->members[--group->count].fd);
	}
}

int ps__perf_join_group(struct ps__perf *perf, size_t index, size_t event)
{
	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		const struct ps__instance *instance = planning_instance_of(perf, index, kind);
		if (!instance)
			continue;
		int result =
		    join_kind(perf, instance, group_find(perf, instance, index, kind), event);
		if (result == PS_ENOCNTR)
			leave_kinds(perf, index, kind);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

int ps__perf_lead_group(struct ps__perf *perf, size_t event, uint32_t kinds)
{
	size_t index = perf->base.groups++;

	perf->base.group_of[event] = (uint32_t)index;
	perf->base.is_hardware[index] = perf->events[event].klass != PS__EVENT_CLASS_SOFTWARE;
	perf->instances[0].groups[index].kinds = kinds;
	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		const struct ps__instance *instance = planning_instance_of(perf, index, kind);
		if (!instance)
			continue;
		struct ps__group *group = make_group(perf, instance, index, kind);
		if (!group)
			return ps__fail_memory("a group of events");
		group->is_planned = true;
		int result = group_lead(perf, instance, group, event);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

bool ps__perf_is_planned_in(const struct ps__perf *perf, const struct ps__instance *instance)
{
	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		if (planning_instance(perf, kind) == instance)
			return true;
	}
	return false;
}

static int stand_in(struct ps__perf *perf, struct ps__instance *instance, size_t index)
{
	struct ps__group *group = &instance->groups[index];
	size_t event = 0;

	while (perf->base.group_of[event] != index)
		event++;
	group->stands_in = true;
	return group_lead(perf, instance, group, event);
}

/* Opens the links of a group that planning hasn't opened in this instance. */
static int complete_group(struct ps__perf *perf, struct ps__instance *instance, size_t index)
{
	bool is_there = false;

	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		const struct ps__instance *planned = planning_instance_of(perf, index, kind);
		if (!planned || !ps__perf_has_kind(perf, instance, kind))
			continue;
		is_there = true;
		if (group_find(perf, instance, index, kind))
			continue;
		struct ps__group *group = make_group(perf, instance, index, kind);
		if (!group)
			return ps__fail_memory("a group of events");
		int result =
		    group_copy(perf, instance, group, group_find(perf, planned, index, kind));
		if (result != PS_OK)
			return result;
	}
	return is_there ? PS_OK : stand_in(perf, instance, index);
}

static bool is_mixed(const struct ps__perf *perf, const struct ps__group *group)
{
	const struct ps__event *leader = &perf->events[group->members[0].event];

	for (size_t place = 1; place < group->count; place++) {
		if (ps__perf_is_foreign(leader, &perf->events[group->members[place].event]))
			return true;
	}
	return false;
}

/*
 * A software event that joins an enabled leader of another PMU does not count until the task's next
 * switch: Linux 6.18 schedules only the joining event's PMU anew, not the leader's. So another
 * event of the leader's PMU is opened, and closed again. doc/measurements has figures.
 */
static int wake_members(struct ps__perf *perf, const struct ps__instance *instance,
                        const struct ps__group *group)
{
	size_t event = group->members[0].event;
	struct ps__place place = place_of_group(instance, group);

	if (!place.counts_at_once || group->stands_in || !is_mixed(perf, group))
		return PS_OK;
	place.inherit = place.watches_execs = false;
	int fd = ps__perf_open_event(&perf->events[event], place, -1);
	if (fd >= 0)
		ps__os.close(fd);
	/* ESRCH: the task has ended. */
	if (fd >= 0 || fd == -ESRCH)
		return PS_OK;
	return ps__perf_explain_event(perf, event, place.pid, -fd);
}

/* Opens the witness of ps__perf_member_count. */
static int open_witness(struct ps__perf *perf, const struct ps__instance *instance,
                        struct ps__group *group)
{
	if (perf->target.kind != PS__TARGET_CGROUP || group->count > 1)
		return PS_OK;
	int fd = ps__perf_open_witness(perf, instance->place, group);
	if (fd < 0)
		return ps__perf_explain_event(perf, group->members[0].event, instance->place.pid,
		                              -fd);
	group->extras = 1;
	return PS_OK;
}

int ps__perf_complete_instance(struct ps__perf *perf, struct ps__instance *instance)
{
	for (size_t index = 0; index < perf->base.groups; index++) {
		int result = complete_group(perf, instance, index);
		if (result == PS_OK)
			result = wake_members(perf, instance, &instance->groups[index]);
		if (result == PS_OK)
			result = open_witness(perf, instance, &instance->groups[index]);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

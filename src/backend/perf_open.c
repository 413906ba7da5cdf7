/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening: from a list of events to groups of descriptors, all or none. */
#include "backend/perf.h"
#include "backend/perf_user.h"
#include "base/error.h"
#include "base/os.h"
#include "topology/series.h"

#include <errno.h>
#include <string.h>

/* Descriptors for the whole set. */
static size_t count_needed(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t index = 0; index < perf->event_count; index++)
		count += !perf->events[index].unsupported;
	count += perf->base.residency_ns != NULL;
	if (!perf->target.tells_tasks)
		return count * perf->base.lanes;
	/* And what perf_tasks.h adds. */
	return (count + 1 + perf->base.groups) * perf->base.lanes + perf->target.root_count;
}

int ps__perf_explain_event(const struct ps__perf *perf, size_t event, int error)
{
	return ps__perf_explain(&perf->events[event], perf->target, error, count_needed(perf));
}

/* Puts an opened descriptor into a group. */
void ps__perf_add_member(struct ps__group *group, size_t event, int fd)
{
	group->members[group->count++] = (struct ps__member){.fd = fd, .event = (uint32_t)event};
}

/* Where a group's members are opened. */
static struct ps__place place_of_group(const struct ps__lane *lane, const struct ps__group *group)
{
	struct ps__place place = lane->place;

	place.pmu_type = group->pmu_type;
	place.stands_in = group->stands_in;
	return place;
}

/* Gives a group its leader. */
int ps__perf_lead_group(struct ps__perf *perf, struct ps__lane *lane, struct ps__group *group, size_t event)
{
	struct ps__event *what = &perf->events[event];
	struct ps__place place = place_of_group(lane, group);

	place.counts_at_once = group->is_planned && what->klass != PS__EVENT_CLASS_SOFTWARE;
	int fd = ps__perf_open_settled(what, place, -1);
	if (fd < 0)
		return ps__perf_explain_event(perf, event, -fd);
	group->members = ps__os_calloc(perf->event_count, sizeof *group->members);
	if (!group->members) {
		ps__os.close(fd);
		return ps__fail_memory("a group of events");
	}
	group->klass = what->klass;
	group->type = what->attr.type;
	ps__perf_add_member(group, event, fd);
	return PS_OK;
}

static size_t count_core_groups(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t index = 0; index < perf->base.groups; index++)
		count += perf->lanes[0].groups[index].klass == PS__EVENT_CLASS_CORE;
	return count;
}

/* Can the event be asked to join? The PMU's limits only show when it is tried. */
static bool may_join(const struct ps__perf *perf, const struct ps__group *group, const struct ps__event *event)
{
	if (group->count >= PS__GROUP_MEMBERS || event->attr.pinned || perf->target.is_ungrouped || group->kinds)
		return false;
	if (event->klass == PS__EVENT_CLASS_SOFTWARE && group->klass == PS__EVENT_CLASS_CORE)
		return count_core_groups(perf) == 1;
	if (event->klass == PS__EVENT_CLASS_OTHER || group->klass == PS__EVENT_CLASS_OTHER)
		return event->klass == group->klass && event->attr.type == group->type;
	return true;
}

/* Joins the newest group that takes the event (PS_OK). A full PMU answers EINVAL: PS_ENOCNTR, if all groups are. */
static int join_group(struct ps__perf *perf, struct ps__lane *lane, size_t event)
{
	struct ps__event *what = &perf->events[event];

	for (size_t index = perf->base.groups; index-- > 0;) {
		struct ps__group *group = &lane->groups[index];
		if (!may_join(perf, group, what))
			continue;
		int fd = ps__perf_open_settled(what, lane->place, group->members[0].fd);
		if (fd < 0 && fd != -EINVAL && fd != -E2BIG)
			return ps__perf_explain_event(perf, event, -fd);
		if (fd < 0)
			continue;
		perf->base.group_of[event] = (uint32_t)index;
		ps__perf_add_member(group, event, fd);
		return PS_OK;
	}
	return PS_ENOCNTR;
}

static int plan_event(struct ps__perf *perf, struct ps__lane *lane, size_t event)
{
	size_t before = perf->base.groups;
	int result = before ? join_group(perf, lane, event) : PS_ENOCNTR;

	if (perf->base.group_of[event] != PS__NO_GROUP || result != PS_ENOCNTR)
		return result;
	perf->base.groups++;
	perf->base.group_of[event] = (uint32_t)before;
	perf->base.is_hardware[before] = perf->events[event].klass != PS__EVENT_CLASS_SOFTWARE;
	lane->groups[before].is_planned = true;
	return ps__perf_lead_group(perf, lane, &lane->groups[before], event);
}

static int plan_class(struct ps__perf *perf, struct ps__lane *lane, enum ps__event_class klass)
{
	for (size_t index = 0; index < perf->event_count; index++) {
		const struct ps__event *event = &perf->events[index];
		if (event->unsupported || event->klass != klass || event->variant_count)
			continue;
		int result = plan_event(perf, lane, index);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

/*
 * The first lane decides which events are a group. Core events first. Software events join them if they are one group;
 * when there are several, which take turns on the hardware, software events would miss counts for nothing,
 * and so get a group of their own, which always counts.
 */
int ps__perf_plan_rest(struct ps__perf *perf, struct ps__lane *lane)
{
	int result = plan_class(perf, lane, PS__EVENT_CLASS_CORE);

	if (result == PS_OK)
		result = plan_class(perf, lane, PS__EVENT_CLASS_SOFTWARE);
	if (result == PS_OK)
		result = plan_class(perf, lane, PS__EVENT_CLASS_OTHER);
	return result;
}

/* A group of another lane, member by member as in the one that was planned. */
int ps__perf_copy_group(struct ps__perf *perf, struct ps__lane *lane, struct ps__group *group,
                        const struct ps__group *model)
{
	struct ps__place place = place_of_group(lane, group);
	int result = ps__perf_lead_group(perf, lane, group, model->members[0].event);

	for (size_t index = 1; result == PS_OK && index < model->count; index++) {
		size_t event = model->members[index].event;
		int fd = ps__perf_open_settled(&perf->events[event], place, group->members[0].fd);
		if (fd < 0)
			return ps__perf_explain_event(perf, event, -fd);
		ps__perf_add_member(group, event, fd);
	}
	return result;
}

/*
 * Arm's drivers look at a group's size only while its leader is enabled: a disabled one takes members without end, and the
 * group is never on the hardware. So the first lane's groups count while they are planned; they are stopped here, and
 * what they counted is where their totals begin.
 */
int ps__perf_stop_planning(struct ps__perf *perf, const struct ps__group *group)
{
	int fd = group->members[0].fd;

	if (ps__os.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return ps__perf_explain_event(perf, group->members[0].event, errno);
	ssize_t length = ps__os_read_retried(fd, perf->buffer, perf->buffer_bytes);
	if (length < 0)
		return ps__fail(PS_ESYS, "'%s': read: %s", perf->events[group->members[0].event].name,
		                strerror(errno));
	/* A group in the error state reads nothing: it says so again when it was started. */
	if ((size_t)length < (3 + group->count) * sizeof *perf->buffer)
		memset(perf->buffer, 0, perf->buffer_bytes);
	return PS_OK;
}

static int end_planning(struct ps__perf *perf, size_t index)
{
	struct ps__group *group = &perf->lanes[0].groups[index];
	uint64_t *values = perf->base.origin + 2 * perf->base.groups;

	if (group->klass == PS__EVENT_CLASS_SOFTWARE || group->kinds)
		return PS_OK;
	int result = ps__perf_stop_planning(perf, group);
	if (result != PS_OK)
		return result;
	group->last_enabled = perf->buffer[1];
	perf->base.origin[2 * index] = perf->buffer[1];
	perf->base.origin[2 * index + 1] = perf->buffer[2];
	for (size_t place = 0; place < group->count; place++)
		values[group->members[place].event] = perf->buffer[3 + place];
	return PS_OK;
}

static int end_all_planning(struct ps__perf *perf)
{
	int result = PS_OK;

	perf->base.origin = ps__os_calloc(2 * perf->base.groups + perf->event_count, sizeof *perf->base.origin);
	if (!perf->base.origin)
		return ps__fail_memory("groups of events");
	for (size_t group = 0; result == PS_OK && group < perf->base.groups; group++)
		result = end_planning(perf, group);
	return result == PS_OK && perf->kind_count ? ps__perf_end_hybrid_planning(perf) : result;
}

/* Does a group read have the very shape of the totals, behind its first word? A CPU's must be looked at, see perf.c. */
static bool is_direct(const struct ps__perf *perf)
{
	const struct ps__group *group = &perf->lanes[0].groups[0];

	if (perf->base.groups != 1 || group->count != perf->event_count || perf->target.kind == PS__TARGET_CPU ||
	    perf->kind_count || perf->tasks)
		return false;
	for (size_t place = 0; place < group->count; place++) {
		if (group->members[place].event != place)
			return false;
	}
	return true;
}

static void find_direct_lanes(struct ps__perf *perf)
{
	bool direct = is_direct(perf);

	perf->direct_members = perf->event_count + perf->lanes[0].groups[0].extras;
	perf->direct_bytes = (3 + perf->direct_members) * sizeof *perf->buffer;
	for (size_t index = 0; index < perf->base.lanes; index++) {
		struct ps__lane *lane = &perf->lanes[index];
		lane->direct_fd = direct ? lane->groups[0].members[0].fd : -1;
		lane->direct_user = direct && lane->groups[0].is_user_read ? &lane->groups[0] : NULL;
	}
	if (direct && perf->base.read_path == PS_READ_PATH_USER)
		perf->base.ops = &ps__perf_user_ops;
}

struct ps__place ps__perf_place_of(const struct ps__target *target, size_t lane)
{
	size_t cpus = target->lane_count ? target->lane_count : 1;
	struct ps__place place = {.cpu = target->lane_count ? target->lane_cpus[lane % cpus] : target->cpu,
	                          .enables_on_exec = target->enables_on_exec,
	                          .tells_tasks = target->tells_tasks};

	if (target->kind == PS__TARGET_TID)
		place.pid = target->tid;
	if (target->kind == PS__TARGET_CPU)
		place.pid = -1;
	if (target->kind == PS__TARGET_CGROUP) {
		place.pid = target->cgroup_fd;
		place.is_cgroup = true;
	}
	if (target->kind == PS__TARGET_PROCESS) {
		place.pid = target->roots[lane / cpus];
		place.inherit = true;
		place.watches_execs = ps__perf_watches_execs(target);
	}
	return place;
}

static size_t count_lanes(const struct ps__target *target)
{
	size_t cpus = target->lane_count ? target->lane_count : 1;

	return target->kind == PS__TARGET_PROCESS ? target->root_count * cpus : cpus;
}

static int open_lane(struct ps__perf *perf, size_t index)
{
	struct ps__lane *lane = &perf->lanes[index];
	int result = PS_OK;

	lane->place = ps__perf_place_of(&perf->target, index);
	lane->place.user_config1 = perf->user_config1;
	lane->groups = ps__os_calloc_apart(index ? perf->base.groups : perf->event_count, sizeof *lane->groups);
	if (!lane->groups)
		return ps__fail_memory("groups of events");
	if (index == 0)
		return ps__perf_plan_rest(perf, lane);
	for (size_t group = 0; result == PS_OK && group < perf->base.groups; group++)
		result = ps__perf_copy_group(perf, lane, &lane->groups[group], &perf->lanes[0].groups[group]);
	return result;
}

static size_t most_members(const struct ps__lane *lane, size_t groups)
{
	size_t most = 0;

	for (size_t index = 0; index < groups; index++) {
		for (const struct ps__group *group = &lane->groups[index]; group; group = group->next)
			most = group->count > most ? group->count : most;
	}
	return most;
}

static int allocate_buffer(struct ps__perf *perf)
{
	size_t most = 0;

	for (size_t lane = 0; lane < perf->base.lanes; lane++) {
		size_t members = most_members(&perf->lanes[lane], perf->base.groups);
		most = members > most ? members : most;
	}
	/* nr, enabled, running, and a value for each member and those that write records. */
	perf->buffer_bytes = (3 + most + PS__EXTRAS_MAX) * sizeof *perf->buffer;
	perf->buffer = ps__os_calloc_apart(1, perf->buffer_bytes);
	return perf->buffer ? PS_OK : ps__fail_memory("reading a group");
}

static int open_all_lanes(struct ps__perf *perf)
{
	int result = ps__perf_find_kinds(perf);

	if (result == PS_OK && perf->kind_count)
		return ps__perf_open_hybrid(perf);
	for (size_t index = 0; result == PS_OK && index < perf->base.lanes; index++)
		result = open_lane(perf, index);
	return result;
}

int ps__perf_open_lanes(struct ps__perf *perf)
{
	int result = PS_OK;

	ps__perf_user_prepare(perf);
	perf->base.lanes = count_lanes(&perf->target);
	perf->lanes = ps__os_calloc(perf->base.lanes, sizeof *perf->lanes);
	perf->base.group_of = ps__os_calloc(perf->event_count, sizeof *perf->base.group_of);
	perf->base.is_hardware = ps__os_calloc(perf->event_count, sizeof *perf->base.is_hardware);
	if (!perf->lanes || !perf->base.group_of || !perf->base.is_hardware)
		result = ps__fail_memory("groups of events");
	for (size_t index = 0; result == PS_OK && index < perf->event_count; index++)
		perf->base.group_of[index] = PS__NO_GROUP;
	if (result == PS_OK)
		result = open_all_lanes(perf);
	if (result == PS_OK)
		result = allocate_buffer(perf);
	if (result == PS_OK)
		result = end_all_planning(perf);
	if (result == PS_OK)
		result = ps__perf_open_residency(perf);
	if (result == PS_OK && perf->target.tells_tasks)
		result = ps__perf_open_tasks(perf);
	if (result == PS_OK)
		result = ps__perf_open_execs(perf);
	if (result == PS_OK)
		result = ps__perf_open_records(perf);
	if (result == PS_OK) {
		ps__perf_user_map(perf);
		find_direct_lanes(perf);
	} else {
		ps__perf_close_lanes(perf, false);
	}
	return result;
}

static void close_group(struct ps__group *group, bool abandon)
{
	ps__perf_user_unmap(group, abandon);
	/* The leader last: closing it first would make its members lead themselves, one by one. */
	for (size_t index = group->count; index-- > 0;)
		ps__os_close_event(group->members[index].fd, abandon);
	ps__os_free(group->members);
	ps__os_free_apart(group->own);
}

static void close_chain(struct ps__group *group, bool abandon)
{
	while (group) {
		struct ps__group *next = group->next;
		close_group(group, abandon);
		ps__os_free_apart(group);
		group = next;
	}
}

static void close_lane(struct ps__perf *perf, struct ps__lane *lane, bool abandon)
{
	for (size_t index = 0; lane->groups && index < perf->base.groups; index++) {
		close_chain(lane->groups[index].next, abandon);
		close_group(&lane->groups[index], abandon);
	}
	ps__os_free_apart(lane->groups);
}

void ps__perf_close_lanes(struct ps__perf *perf, bool abandon)
{
	ps__perf_close_execs(perf, abandon);
	ps__perf_close_tasks(perf, abandon);
	ps__perf_close_records(perf, abandon);
	ps__perf_close_residency(perf, abandon);
	for (size_t index = 0; perf->lanes && index < perf->base.lanes; index++)
		close_lane(perf, &perf->lanes[index], abandon);
	ps__os_free(perf->lanes);
	ps__os_free(perf->base.group_of);
	ps__os_free(perf->base.is_hardware);
	ps__os_free(perf->base.origin);
	ps__os_free_apart(perf->buffer);
	perf->lanes = NULL;
	perf->base.group_of = NULL;
	perf->base.is_hardware = NULL;
	perf->base.origin = NULL;
	perf->buffer = NULL;
	perf->base.groups = 0;
	perf->base.lanes = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines with several kinds of cores, each with a PMU of its own. A group of core events has a group of descriptors for
 * each kind: a lane for one CPU has the one of that CPU's kind, a lane for any CPU all of them, in a chain. Where the
 * CPU's kind lacks the events, a dummy event stands in, so that all lanes tell how long the task was there. Software events
 * are groups of their own: with a kind's events they would count on its cores alone.
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "topology/series.h"

#include <errno.h>
#include <string.h>

void ps__perf_specialise(struct ps__event *event, struct ps__place place)
{
	struct perf_event_attr *attr = &event->attr;

	if (place.stands_in) {
		*attr = (struct perf_event_attr){
		    .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1, .exclude_hv = 1};
		memset(event->later, 0, sizeof event->later);
		return;
	}
	for (size_t index = 0; index < event->variant_count; index++) {
		const struct ps__variant *variant = &event->variants[index];
		if (variant->pmu_type != place.pmu_type)
			continue;
		attr->type = variant->type;
		attr->config = variant->config;
		attr->config1 = variant->config1;
		attr->config2 = variant->config2;
		memcpy(event->later, variant->later, sizeof event->later);
	}
}

/* The kernel's answers for an event that a PMU doesn't have. */
static bool is_absent(int error)
{
	return error == ENOENT || error == EINVAL || error == EOPNOTSUPP;
}

/* A kind of cores that lacks the event is left out, if another one has it. */
int ps__perf_probe_variants(struct ps__event *event)
{
	struct ps__target target = {.kind = PS__TARGET_SELF, .cpu = -1};

	for (size_t index = event->variant_count; index-- > 0;) {
		struct ps__place place = {.pid = 0, .cpu = -1, .pmu_type = event->variants[index].pmu_type};
		int fd = ps__perf_open_settled(event, place, -1);
		if (fd >= 0) {
			ps__os.close(fd);
			continue;
		}
		if (!is_absent(-fd) || event->variant_count == 1)
			return ps__perf_explain(event, target, -fd, 1);
		int result = ps__event_drop_variant(event, index);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

static ptrdiff_t kind_of_type(const struct ps__perf *perf, uint32_t pmu_type)
{
	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		if (perf->kinds[kind].pmu_type == pmu_type)
			return (ptrdiff_t)kind;
	}
	return -1;
}

int ps__perf_find_kinds(struct ps__perf *perf)
{
	for (size_t index = 0; index < perf->event_count; index++) {
		const struct ps__event *event = &perf->events[index];
		for (size_t i = 0; !event->unsupported && i < event->variant_count; i++) {
			const struct ps__variant *variant = &event->variants[i];
			if (kind_of_type(perf, variant->pmu_type) >= 0)
				continue;
			if (perf->kind_count == PS__KINDS_MAX)
				return ps__fail(PS_ENOSUPP, "'%s': this machine has more than %d kinds of cores",
				                event->name, PS__KINDS_MAX);
			perf->kinds[perf->kind_count++] = (struct ps__kind){variant->pmu_type, variant->cpus};
		}
	}
	return PS_OK;
}

static uint32_t kinds_of_event(const struct ps__perf *perf, const struct ps__event *event)
{
	uint32_t kinds = 0;

	for (size_t i = 0; i < event->variant_count; i++)
		kinds |= UINT32_C(1) << kind_of_type(perf, event->variants[i].pmu_type);
	return kinds;
}

static bool has_kind(const struct ps__perf *perf, const struct ps__lane *lane, size_t kind)
{
	return lane->place.cpu < 0 || ps__list_contains(perf->kinds[kind].cpus, lane->place.cpu);
}

/* The first lane of a kind, where its groups are planned; NULL if there is none. */
static struct ps__lane *planning_lane(struct ps__perf *perf, size_t kind)
{
	for (size_t index = 0; index < perf->base.lanes; index++) {
		if (has_kind(perf, &perf->lanes[index], kind))
			return &perf->lanes[index];
	}
	return NULL;
}

/* The kind's descriptors of a group in a lane; NULL if they aren't there yet. */
static struct ps__group *find_group(const struct ps__perf *perf, struct ps__lane *lane, size_t index, size_t kind)
{
	struct ps__group *group = &lane->groups[index];

	while (group && group->pmu_type != perf->kinds[kind].pmu_type)
		group = group->next;
	return group;
}

/* A place for them. In a chain each keeps its own totals, so that one that can't be read takes nothing from the sum. */
static struct ps__group *make_group(struct ps__perf *perf, struct ps__lane *lane, size_t index, size_t kind)
{
	struct ps__group *group = &lane->groups[index];

	if (group->pmu_type) {
		while (group->next)
			group = group->next;
		group->next = ps__os_calloc_apart(1, sizeof *group);
		group = group->next;
	}
	if (!group)
		return NULL;
	if (lane->place.cpu < 0) {
		group->own = ps__os_calloc_apart(2 + perf->event_count, sizeof *group->own);
		if (!group->own)
			return NULL;
	}
	group->pmu_type = perf->kinds[kind].pmu_type;
	return group;
}

/* The leader stays: an event that joined is taken back. */
static void drop_last(struct ps__group *group)
{
	struct ps__member *member = &group->members[--group->count];

	ps__os.close(member->fd);
}

/* An event joins a group on all of its kinds, or on none. */
static int join_everywhere(struct ps__perf *perf, size_t index, size_t event)
{
	uint32_t kinds = perf->lanes[0].groups[index].kinds;
	uint32_t joined = 0;
	int result = PS_OK;

	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		struct ps__lane *lane = kinds & UINT32_C(1) << kind ? planning_lane(perf, kind) : NULL;
		if (!lane)
			continue;
		struct ps__group *group = find_group(perf, lane, index, kind);
		struct ps__place place = lane->place;
		place.pmu_type = group->pmu_type;
		int fd = group->count < PS__GROUP_MEMBERS
		             ? ps__perf_open_settled(&perf->events[event], place, group->members[0].fd)
		             : -E2BIG;
		if (fd < 0) {
			result =
			    fd == -EINVAL || fd == -E2BIG ? PS_ENOCNTR : ps__perf_explain_event(perf, event, -fd);
			break;
		}
		ps__perf_add_member(group, event, fd);
		joined |= UINT32_C(1) << kind;
	}
	for (size_t kind = 0; result == PS_ENOCNTR && kind < perf->kind_count; kind++) {
		if (joined & UINT32_C(1) << kind)
			drop_last(find_group(perf, planning_lane(perf, kind), index, kind));
	}
	return result;
}

static int lead_everywhere(struct ps__perf *perf, size_t index, size_t event)
{
	uint32_t kinds = perf->lanes[0].groups[index].kinds;
	int result = PS_OK;

	for (size_t kind = 0; result == PS_OK && kind < perf->kind_count; kind++) {
		struct ps__lane *lane = kinds & UINT32_C(1) << kind ? planning_lane(perf, kind) : NULL;
		if (!lane)
			continue;
		struct ps__group *group = make_group(perf, lane, index, kind);
		if (!group)
			return ps__fail_memory("a group of events");
		group->is_planned = true;
		result = ps__perf_lead_group(perf, lane, group, event);
	}
	return result;
}

/* Events that the same kinds have are groups together. */
static int plan_event(struct ps__perf *perf, size_t event)
{
	const struct ps__event *what = &perf->events[event];
	uint32_t kinds = kinds_of_event(perf, what);
	bool is_alone = what->attr.pinned || perf->target.is_ungrouped;

	for (size_t index = perf->base.groups; !is_alone && index-- > 0;) {
		if (perf->lanes[0].groups[index].kinds != kinds)
			continue;
		int result = join_everywhere(perf, index, event);
		if (result == PS_ENOCNTR)
			continue;
		perf->base.group_of[event] = (uint32_t)index;
		return result;
	}
	size_t index = perf->base.groups++;
	perf->base.group_of[event] = (uint32_t)index;
	perf->base.is_hardware[index] = true;
	perf->lanes[0].groups[index].kinds = kinds;
	return lead_everywhere(perf, index, event);
}

static int stand_in(struct ps__perf *perf, struct ps__lane *lane, size_t index)
{
	struct ps__group *group = &lane->groups[index];
	size_t event = 0;

	while (perf->base.group_of[event] != index)
		event++;
	group->stands_in = true;
	return ps__perf_lead_group(perf, lane, group, event);
}

/* What planning hasn't opened of a group in a lane. */
static int complete_group(struct ps__perf *perf, struct ps__lane *lane, size_t index)
{
	uint32_t kinds = perf->lanes[0].groups[index].kinds;
	bool is_there = false;

	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		if (!(kinds & UINT32_C(1) << kind) || !has_kind(perf, lane, kind))
			continue;
		is_there = true;
		if (find_group(perf, lane, index, kind))
			continue;
		const struct ps__group *model = find_group(perf, planning_lane(perf, kind), index, kind);
		struct ps__group *group = make_group(perf, lane, index, kind);
		if (!group)
			return ps__fail_memory("a group of events");
		int result = ps__perf_copy_group(perf, lane, group, model);
		if (result != PS_OK)
			return result;
	}
	return is_there ? PS_OK : stand_in(perf, lane, index);
}

static int complete_lane(struct ps__perf *perf, struct ps__lane *lane)
{
	int result = PS_OK;

	for (size_t index = 0; result == PS_OK && index < perf->base.groups; index++) {
		if (perf->lanes[0].groups[index].kinds)
			result = complete_group(perf, lane, index);
		else if (lane != &perf->lanes[0])
			result = ps__perf_copy_group(perf, lane, &lane->groups[index], &perf->lanes[0].groups[index]);
	}
	return result;
}

static int prepare_lanes(struct ps__perf *perf)
{
	for (size_t index = 0; index < perf->base.lanes; index++) {
		struct ps__lane *lane = &perf->lanes[index];
		lane->place = ps__perf_place_of(&perf->target, index);
		lane->groups = ps__os_calloc_apart(perf->event_count, sizeof *lane->groups);
		if (!lane->groups)
			return ps__fail_memory("groups of events");
	}
	return PS_OK;
}

int ps__perf_open_hybrid(struct ps__perf *perf)
{
	int result = prepare_lanes(perf);

	for (size_t event = 0; result == PS_OK && event < perf->event_count; event++) {
		if (!perf->events[event].unsupported && perf->events[event].variant_count)
			result = plan_event(perf, event);
	}
	if (result == PS_OK)
		result = ps__perf_plan_rest(perf, &perf->lanes[0]);
	for (size_t index = 0; result == PS_OK && index < perf->base.lanes; index++)
		result = complete_lane(perf, &perf->lanes[index]);
	return result;
}

/* What planning counted is taken off by a carry of the opposite sign: here several lanes were planned in. */
static int end_planning(struct ps__perf *perf, struct ps__group *group)
{
	if (!group->is_planned || !group->pmu_type)
		return PS_OK;
	int result = ps__perf_stop_planning(perf, group);
	if (result != PS_OK)
		return result;
	group->last_enabled = perf->buffer[1];
	group->carry_enabled = 0 - perf->buffer[1];
	group->carry_running = 0 - perf->buffer[2];
	for (size_t place = 0; place < group->count; place++)
		group->members[place].carry = 0 - perf->buffer[3 + place];
	return PS_OK;
}

int ps__perf_end_hybrid_planning(struct ps__perf *perf)
{
	int result = PS_OK;

	for (size_t lane = 0; lane < perf->base.lanes; lane++) {
		for (size_t index = 0; index < perf->base.groups; index++) {
			struct ps__group *group = &perf->lanes[lane].groups[index];
			for (; result == PS_OK && group; group = group->next)
				result = end_planning(perf, group);
		}
	}
	return result;
}

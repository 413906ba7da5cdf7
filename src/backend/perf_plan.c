/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planning: which events are a group. The PMU's limits only show when an event is opened, so each
 * event is tried in the groups that are there.
 *
 * Where several kinds of cores have PMUs of their own, a group has descriptors for each kind that
 * its events are for. An instance for one CPU has those of that CPU's kind, an instance for any CPU
 * has all of them, in a chain. Each kind is planned in the first instance that has it. Where the
 * CPU's kind lacks the events, a dummy event stands in, so that all instances tell how long the
 * task was there. Events that are for no kind in particular (PS__KIND_ANY) are in groups of their
 * own, planned in the first instance: with a kind's events they would count on its cores alone.
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>

/* Where the members of an instance's group are opened. */
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
	group->members[group->count++] = (struct ps__member){.fd = fd, .event = (uint32_t)event};
}

/* Gives a group its leader. */
static int group_lead(struct ps__perf *perf, const struct ps__instance *instance,
                      struct ps__group *group, size_t event)
{
	struct ps__event *what = &perf->events[event];
	struct ps__place place = place_of_group(instance, group);

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
	group_add(group, event, fd);
	return PS_OK;
}

/* Opens a group member by member as in the one that was planned. */
static int group_copy(struct ps__perf *perf, const struct ps__instance *instance,
                      struct ps__group *group, const struct ps__group *model)
{
	struct ps__place place = place_of_group(instance, group);
	int result = group_lead(perf, instance, group, model->members[0].event);

	for (size_t index = 1; result == PS_OK && index < model->count; index++) {
		size_t event = model->members[index].event;
		int fd = ps__perf_open_settled(&perf->events[event], place, group->members[0].fd);
		if (fd < 0)
			return ps__perf_explain_event(perf, event, -fd);
		group_add(group, event, fd);
	}
	return result;
}

/* The instance in which the groups of a kind are planned; NULL if no instance has it. */
static struct ps__instance *planning_instance(const struct ps__perf *perf, size_t kind)
{
	for (size_t index = 0; index < perf->base.instances; index++) {
		if (ps__perf_has_kind(perf, &perf->instances[index], kind))
			return &perf->instances[index];
	}
	return NULL;
}

/* The instance in which one kind of a group's events is planned; NULL if they are not for this
 * kind, or no instance has it. */
static struct ps__instance *planning_instance_of(const struct ps__perf *perf, size_t index,
                                                 size_t kind)
{
	return perf->instances[0].groups[index].kinds & UINT32_C(1) << kind
	           ? planning_instance(perf, kind)
	           : NULL;
}

/* The kind's descriptors of a group in an instance; NULL if they aren't there yet. */
static struct ps__group *find_group(const struct ps__perf *perf,
                                    const struct ps__instance *instance, size_t index, size_t kind)
{
	struct ps__group *group = &instance->groups[index];

	while (group && (!group->members || group->pmu_type != perf->kinds[kind].pmu_type))
		group = group->next;
	return group;
}

/* A place for them. In a chain each keeps its own totals, so that one that can't be read takes
 * nothing from the sum. */
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

static size_t count_core_groups(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t index = 0; index < perf->base.groups; index++)
		count += perf->instances[0].groups[index].klass == PS__EVENT_CLASS_CORE;
	return count;
}

/* May the kernel be asked to add the event to this group? It can still refuse. */
static bool may_join(const struct ps__perf *perf, size_t index, const struct ps__event *event,
                     uint32_t kinds)
{
	const struct ps__group *group = &perf->instances[0].groups[index];

	if (event->attr.pinned || perf->target.is_ungrouped || group->kinds != kinds)
		return false;
	if (event->variant_count)
		return true;
	if (event->klass == PS__EVENT_CLASS_SOFTWARE && group->klass == PS__EVENT_CLASS_CORE)
		return count_core_groups(perf) == 1;
	if (event->klass == PS__EVENT_CLASS_OTHER || group->klass == PS__EVENT_CLASS_OTHER)
		return event->klass == group->klass && event->attr.type == group->type;
	return true;
}

/* A full PMU answers EINVAL: PS_ENOCNTR. */
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
		return ps__perf_explain_event(perf, event, -fd);
	group_add(group, event, fd);
	return PS_OK;
}

/* Takes back an event that joined on the kinds before this one. */
static void leave_kinds(struct ps__perf *perf, size_t index, size_t end)
{
	for (size_t kind = 0; kind < end; kind++) {
		const struct ps__instance *instance = planning_instance_of(perf, index, kind);
		if (!instance)
			continue;
		struct ps__group *group = find_group(perf, instance, index, kind);
		ps__os.close(group->members[--group->count].fd);
	}
}

/* An event joins a group on all of its kinds, or on none (PS_ENOCNTR). */
static int join_group(struct ps__perf *perf, size_t index, size_t event)
{
	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		const struct ps__instance *instance = planning_instance_of(perf, index, kind);
		if (!instance)
			continue;
		int result =
		    join_kind(perf, instance, find_group(perf, instance, index, kind), event);
		if (result == PS_ENOCNTR)
			leave_kinds(perf, index, kind);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

/* A new group, which the event leads on all of its kinds. */
static int lead_group(struct ps__perf *perf, size_t event, uint32_t kinds)
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

/* The event joins the newest group that takes it, or leads another. */
static int plan_event(struct ps__perf *perf, size_t event)
{
	const struct ps__event *what = &perf->events[event];
	uint32_t kinds = ps__perf_kinds_of(perf, what);

	for (size_t index = perf->base.groups; index-- > 0;) {
		if (!may_join(perf, index, what, kinds))
			continue;
		int result = join_group(perf, index, event);
		if (result == PS_ENOCNTR)
			continue;
		perf->base.group_of[event] = (uint32_t)index;
		return result;
	}
	return lead_group(perf, event, kinds);
}

/*
 * Events of the cores come first, those for kinds of cores before the others. Software events join
 * them if they are one group; when there are several, which take turns on the hardware, software
 * events would miss counts for nothing, and so get a group of their own, which always counts.
 */
int ps__perf_plan(struct ps__perf *perf)
{
	static const struct {
		enum ps__event_class klass;
		bool has_variants;
	} passes[] = {{PS__EVENT_CLASS_CORE, true},
	              {PS__EVENT_CLASS_CORE, false},
	              {PS__EVENT_CLASS_SOFTWARE, false},
	              {PS__EVENT_CLASS_OTHER, false}};

	for (size_t pass = 0; pass < sizeof passes / sizeof *passes; pass++) {
		for (size_t index = 0; index < perf->event_count; index++) {
			const struct ps__event *event = &perf->events[index];
			if (event->unsupported || event->klass != passes[pass].klass ||
			    (event->variant_count > 0) != passes[pass].has_variants)
				continue;
			int result = plan_event(perf, index);
			if (result != PS_OK)
				return result;
		}
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

/* Opens what planning hasn't opened of a group in an instance. */
static int complete_group(struct ps__perf *perf, struct ps__instance *instance, size_t index)
{
	bool is_there = false;

	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		const struct ps__instance *planned = planning_instance_of(perf, index, kind);
		if (!planned || !ps__perf_has_kind(perf, instance, kind))
			continue;
		is_there = true;
		if (find_group(perf, instance, index, kind))
			continue;
		struct ps__group *group = make_group(perf, instance, index, kind);
		if (!group)
			return ps__fail_memory("a group of events");
		int result =
		    group_copy(perf, instance, group, find_group(perf, planned, index, kind));
		if (result != PS_OK)
			return result;
	}
	return is_there ? PS_OK : stand_in(perf, instance, index);
}

int ps__perf_complete_instance(struct ps__perf *perf, struct ps__instance *instance)
{
	for (size_t index = 0; index < perf->base.groups; index++) {
		int result = complete_group(perf, instance, index);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

/*
 * Arm's drivers look at a group's size only while its leader is enabled: a disabled one takes
 * members without end, and the group is never on the hardware. So the first instance's groups count
 * while they are planned; they are stopped here, and what they counted is where their totals begin.
 */
static int stop_planning(struct ps__perf *perf, const struct ps__group *group)
{
	int fd = group->members[0].fd;

	if (ps__os.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return ps__perf_explain_event(perf, group->members[0].event, errno);
	ssize_t length = ps__os_read_retried(fd, perf->buffer, perf->buffer_bytes);
	if (length < 0)
		return ps__fail(PS_ESYS, "'%s': read: %s",
		                perf->events[group->members[0].event].name, strerror(errno));
	/* A group in the error state reads nothing: it says so again when it was started. */
	if ((size_t)length < (3 + group->count) * sizeof *perf->buffer)
		memset(perf->buffer, 0, perf->buffer_bytes);
	return PS_OK;
}

/*
 * What the first instance's totals begin with is what planning counted there. Kinds of cores are
 * planned in several instances, and there it is taken off by a carry of the opposite sign.
 */
static void note_planned(struct ps__perf *perf, struct ps__group *group, size_t index)
{
	uint64_t *values = perf->base.origin + 2 * perf->base.groups;

	group->last_enabled = perf->buffer[1];
	if (!group->pmu_type) {
		perf->base.origin[2 * index] = perf->buffer[1];
		perf->base.origin[2 * index + 1] = perf->buffer[2];
		for (size_t place = 0; place < group->count; place++)
			values[group->members[place].event] = perf->buffer[3 + place];
		return;
	}
	group->carry_enabled = 0 - perf->buffer[1];
	group->carry_running = 0 - perf->buffer[2];
	for (size_t place = 0; place < group->count; place++)
		group->members[place].carry = 0 - perf->buffer[3 + place];
}

static int end_planning_of(struct ps__perf *perf, struct ps__instance *instance, size_t index)
{
	for (struct ps__group *group = &instance->groups[index]; group; group = group->next) {
		if (!group->is_planned || group->klass == PS__EVENT_CLASS_SOFTWARE)
			continue;
		int result = stop_planning(perf, group);
		if (result != PS_OK)
			return result;
		note_planned(perf, group, index);
	}
	return PS_OK;
}

int ps__perf_end_planning(struct ps__perf *perf)
{
	perf->base.origin =
	    ps__os_calloc(2 * perf->base.groups + perf->event_count, sizeof *perf->base.origin);
	if (!perf->base.origin)
		return ps__fail_memory("groups of events");
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		for (size_t index = 0; index < perf->base.groups; index++) {
			int result = end_planning_of(perf, &perf->instances[instance], index);
			if (result != PS_OK)
				return result;
		}
	}
	return PS_OK;
}

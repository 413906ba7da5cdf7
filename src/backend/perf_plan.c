/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planning decides which events are in which group. The PMU's limits only show when an event is
 * opened, so each event is tried in the groups that exist.
 *
 * If several kinds of cores have PMUs of their own, a group has descriptors for each kind that its
 * events are for. An instance for one CPU has those of that CPU's kind. An instance for any CPU has
 * all of them, in a chain. Each kind is planned in the first instance that has it. If the CPU's
 * kind lacks the events, a dummy event stands in, so that all instances tell how long the task was
 * there. Events for no particular kind (PS__KIND_ANY) have groups of their own, planned in the
 * first instance: in a group of one kind they would count only on its cores.
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"
#include "store/recording.h"

#include <errno.h>
#include <string.h>

static size_t count_core_groups(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t index = 0; index < perf->base.groups; index++)
		count += perf->instances[0].groups[index].klass == PS__EVENT_CLASS_CORE;
	return count;
}

/* True if the group consists of one event that the user wants apart. */
static bool is_alone(const struct ps__perf *perf, size_t index)
{
	size_t event = 0;

	while (perf->base.group_of[event] != index)
		event++;
	return perf->events[event].control.grouping == PS_GROUP_APART;
}

/* True if an event of this class, PMU and kinds can be in the group at all. */
static bool is_alike(const struct ps__group *group, const struct ps__event *event, uint32_t kinds)
{
	if (group->kinds != kinds)
		return false;
	if (event->variant_count)
		return true;
	if (event->klass == PS__EVENT_CLASS_OTHER || group->klass == PS__EVENT_CLASS_OTHER)
		return event->klass == group->klass && event->attr.type == group->type;
	return true;
}

/* True if the event could take the last breakpoint register. In groups that count when they are
 * opened, a mixed group of software events opens its leader a second time (perf_join.c), and the
 * processor has few registers for breakpoints. */
static bool takes_last_register(const struct ps__perf *perf, const struct ps__group *group,
                                const struct ps__event *event)
{
	return perf->base.counts_when_open && group->klass == PS__EVENT_CLASS_SOFTWARE &&
	       (group->type == PERF_TYPE_BREAKPOINT) != (event->attr.type == PERF_TYPE_BREAKPOINT);
}

/* True if the kernel may be asked to add the event to this group. It can still refuse. */
static bool may_join(const struct ps__perf *perf, size_t index, const struct ps__event *event,
                     uint32_t kinds)
{
	const struct ps__group *group = &perf->instances[0].groups[index];

	if (event->attr.pinned || event->attr.exclusive || perf->target.is_ungrouped ||
	    is_alone(perf, index) || takes_last_register(perf, group, event))
		return false;
	if (event->klass == PS__EVENT_CLASS_SOFTWARE && group->klass == PS__EVENT_CLASS_CORE &&
	    count_core_groups(perf) > 1)
		return false;
	return is_alike(group, event, kinds);
}

/* One pass over the events handles those of this class. */
struct pass {
	enum ps__event_class klass;
	bool has_variants;
	bool is_unit;
};

/* True if the user wants the event together with others (a unit). */
static bool is_unit(const struct ps__event *event)
{
	return event->control.grouping == PS_GROUP_TOGETHER ||
	       event->control.grouping == PS_GROUP_WEAK;
}

static int fail_unit(const struct ps__perf *perf, size_t leader, size_t event, bool is_full)
{
	return ps__fail(
	    PS_ENOCNTR,
	    "'%s' can't be counted in one group with '%s': %s; leave it out of the group, or "
	    "permit to split it (PS_GROUP_WEAK; in a list of the command {...}:W)",
	    perf->events[event].name, perf->events[leader].name,
	    is_full ? "no counter of the hardware is left for it"
		    : "they are counted by different PMUs, or for different kinds of cores");
}

/* True if the event is in the unit of `what`, and not planned yet. */
static bool is_left_of_unit(const struct ps__perf *perf, size_t event, const struct ps__event *what)
{
	const struct ps__event *other = &perf->events[event];

	return !other->unsupported && perf->base.group_of[event] == PS__NO_GROUP &&
	       is_unit(other) && other->control.unit == what->control.unit;
}

/* Returns the unit's event that leads. Only a leader can be pinned or exclusive: a member would
 * lose this silently. The leader is chosen among the events of the first event's pass, because the
 * passes come in the order in which events may lead others. */
static size_t leader_of_unit(const struct ps__perf *perf, size_t first)
{
	const struct ps__event *what = &perf->events[first];

	for (size_t event = first; event < perf->event_count; event++) {
		const struct ps__event *other = &perf->events[event];
		if (is_left_of_unit(perf, event, what) && other->klass == what->klass &&
		    !other->variant_count == !what->variant_count &&
		    (other->attr.pinned || other->attr.exclusive))
			return event;
	}
	return first;
}

/* Plans a group of a unit: one event leads the others. In a weak unit, the events for which no
 * counter is left make another group later. */
static int plan_unit(struct ps__perf *perf, size_t first)
{
	size_t leader = leader_of_unit(perf, first);
	const struct ps__event *what = &perf->events[leader];
	size_t index = perf->base.groups;
	int result = ps__perf_lead_group(perf, leader, ps__perf_kinds_of(perf, what));

	for (size_t event = 0; result == PS_OK && event < perf->event_count; event++) {
		const struct ps__event *other = &perf->events[event];
		if (!is_left_of_unit(perf, event, what))
			continue;
		bool may = is_alike(&perf->instances[0].groups[index], other,
		                    ps__perf_kinds_of(perf, other));
		result = may ? ps__perf_join_group(perf, index, event) : PS_ENOCNTR;
		if (result == PS_OK)
			perf->base.group_of[event] = (uint32_t)index;
		else if (result == PS_ENOCNTR)
			result = what->control.grouping == PS_GROUP_WEAK
			             ? PS_OK
			             : fail_unit(perf, leader, event, may);
	}
	return result;
}

/* Plans groups of the event's unit until one of them has the event. In a weak unit, a group that
 * another event leads may have no counter left for this one. */
static int plan_units(struct ps__perf *perf, size_t event)
{
	int result = PS_OK;

	while (result == PS_OK && perf->base.group_of[event] == PS__NO_GROUP)
		result = plan_unit(perf, event);
	return result;
}

/* Plans an event: it joins the newest group that takes it, or leads a new one. */
static int plan_event(struct ps__perf *perf, size_t event)
{
	const struct ps__event *what = &perf->events[event];
	uint32_t kinds = ps__perf_kinds_of(perf, what);

	if (is_unit(what))
		return plan_units(perf, event);
	if (what->control.grouping == PS_GROUP_APART)
		return ps__perf_lead_group(perf, event, kinds);
	for (size_t index = perf->base.groups; index-- > 0;) {
		if (!may_join(perf, index, what, kinds))
			continue;
		int result = ps__perf_join_group(perf, index, event);
		if (result == PS_ENOCNTR)
			continue;
		perf->base.group_of[event] = (uint32_t)index;
		return result;
	}
	return ps__perf_lead_group(perf, event, kinds);
}

static bool is_of_pass(const struct ps__event *event, const struct pass *pass)
{
	return event->klass == pass->klass && (event->variant_count > 0) == pass->has_variants &&
	       is_unit(event) == pass->is_unit;
}

/*
 * The order of the passes. Events of the cores come first; among them, those for kinds of cores.
 * Software events join the core events if these are in one group. If there are several, which take
 * turns on the hardware, software events would miss counts needlessly; so they get a group of their
 * own, which always counts. Units come before single events, which join them if there is room.
 */
int ps__perf_plan(struct ps__perf *perf)
{
	static const struct pass passes[] = {
	    {PS__EVENT_CLASS_CORE, true, true},       {PS__EVENT_CLASS_CORE, false, true},
	    {PS__EVENT_CLASS_SOFTWARE, false, true},  {PS__EVENT_CLASS_OTHER, false, true},
	    {PS__EVENT_CLASS_CORE, true, false},      {PS__EVENT_CLASS_CORE, false, false},
	    {PS__EVENT_CLASS_SOFTWARE, false, false}, {PS__EVENT_CLASS_OTHER, false, false}};

	for (size_t pass = 0; pass < sizeof passes / sizeof *passes; pass++) {
		for (size_t index = 0; index < perf->event_count; index++) {
			const struct ps__event *event = &perf->events[index];
			if (event->unsupported || !is_of_pass(event, &passes[pass]) ||
			    perf->base.group_of[index] != PS__NO_GROUP)
				continue;
			int result = plan_event(perf, index);
			if (result != PS_OK)
				return result;
		}
	}
	return PS_OK;
}

/*
 * Stops a group that counted while it was planned, and reads its counts. Arm's drivers check a
 * group's size only while its leader is enabled: a disabled leader takes any number of members, and
 * the group is never on the hardware. So groups count while they are planned. What they counted is
 * where their totals begin.
 */
static int stop_planning(struct ps__perf *perf, struct ps__group *group)
{
	int fd = group->members[0].fd;

	if (!perf->base.counts_when_open && ps__os.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return ps__perf_explain_event(perf, group->members[0].event, perf->target.tid,
		                              errno);
	ssize_t length = ps__os_read_retried(fd, perf->buffer, perf->buffer_bytes);
	if (length < 0)
		return ps__fail(PS_ESYS, "'%s': read: %s",
		                perf->events[group->members[0].event].name, strerror(errno));
	if ((size_t)length >= (3 + group->count) * sizeof *perf->buffer)
		return PS_OK;
	/* A group in the error state gives no bytes. Reads report this after the start, which drops
	 * what the group counted. */
	memset(perf->buffer, 0, perf->buffer_bytes);
	group->is_off = true;
	perf->base.off.has_unread = true;
	return PS_OK;
}

/*
 * Leaves out what a group counted while it was planned. For events of no particular kind of cores,
 * this becomes the origin of the totals. Groups of a kind may be planned in several instances:
 * there a negative carry subtracts it.
 */
static void note_planned(struct ps__perf *perf, struct ps__group *group, size_t index)
{
	uint64_t *values = perf->base.origin + 2 * perf->base.groups;

	group->last_enabled = perf->buffer[1];
	if (!group->pmu_type) {
		group->shift_ns = 0 - perf->buffer[1];
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

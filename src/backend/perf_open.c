/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the instances of an event set: all or none. */
#include "backend/perf.h"
#include "backend/perf_user.h"
#include "base/error.h"
#include "base/os.h"
#include "event/attr.h"
#include "store/recording.h"

/* True if read(2) of a group gives the totals in their final form, after its first word. A CPU's
 * groups must be checked when they are read: see perf_read.c. */
static bool is_direct(const struct ps__perf *perf)
{
	const struct ps__group *group = &perf->instances[0].groups[0];

	if (perf->base.groups != 1 || group->count != perf->event_count ||
	    perf->target.kind == PS__TARGET_CPU || perf->kind_count > 1 || perf->tasks)
		return false;
	for (size_t place = 0; place < group->count; place++) {
		if (group->members[place].event != place)
			return false;
	}
	return true;
}

static void find_direct_instances(struct ps__perf *perf)
{
	bool direct = is_direct(perf);

	perf->direct_members = perf->event_count + perf->instances[0].groups[0].extras;
	perf->direct_bytes = (3 + perf->direct_members) * sizeof *perf->buffer;
	for (size_t index = 0; index < perf->base.instances; index++) {
		struct ps__instance *instance = &perf->instances[index];
		instance->direct_fd = direct ? instance->groups[0].members[0].fd : -1;
		instance->direct_user =
		    direct && instance->groups[0].is_user_read ? &instance->groups[0] : NULL;
	}
}

/*
 * True if the events are to be enabled when they are opened. This is so for a process: if an event
 * is enabled later, copies that are being made at that moment may stay disabled
 * (PS__PROCESS_TURNS). Exceptions: with tells_tasks the events have no rings yet; and signals
 * (sigtrap) must not come before the start.
 */
static bool counts_when_open(const struct ps__perf *perf)
{
	const struct ps__target *target = &perf->target;

	if (target->kind != PS__TARGET_PROCESS || target->enables_on_exec || target->tells_tasks)
		return false;
	for (size_t event = 0; event < perf->event_count; event++) {
		if (ps__event_has_flag(&perf->events[event], PS__FLAG_SIGTRAP))
			return false;
	}
	return true;
}

static struct ps__place instance_place(const struct ps__target *target, size_t instance)
{
	size_t cpus = target->instance_count ? target->instance_count : 1;
	struct ps__place place = {
	    .cpu = target->instance_count ? target->instance_cpus[instance % cpus] : target->cpu,
	    .enables_on_exec = target->enables_on_exec,
	    .tells_tasks = target->tells_tasks};

	if (target->kind == PS__TARGET_TID)
		place.pid = target->tid;
	if (target->kind == PS__TARGET_CPU || target->kind == PS__TARGET_CPUS)
		place.pid = -1;
	if (target->kind == PS__TARGET_CGROUP) {
		place.pid = target->cgroup.fd;
		place.is_cgroup = true;
	}
	if (target->kind == PS__TARGET_PROCESS) {
		place.pid = target->roots[instance / cpus];
		place.inherit = true;
		place.watches_execs = ps__perf_watches_execs(target);
	}
	return place;
}

static size_t count_instances(const struct ps__target *target)
{
	size_t cpus = target->instance_count ? target->instance_count : 1;

	return target->kind == PS__TARGET_PROCESS ? target->root_count * cpus : cpus;
}

static int make_groups(struct ps__instance *instance, size_t count)
{
	instance->groups = ps__os_calloc_apart(count, sizeof *instance->groups);
	return instance->groups ? PS_OK : ps__fail_memory("groups of events");
}

/* Makes the instances that plan. During planning there may be as many groups as events. */
static int make_planning_instances(struct ps__perf *perf)
{
	for (size_t index = 0; index < perf->base.instances; index++) {
		struct ps__instance *instance = &perf->instances[index];
		instance->place = instance_place(&perf->target, index);
		instance->place.counts_at_once = perf->base.counts_when_open;
		instance->place.user_config1 = perf->user_config1;
	}
	for (size_t index = 0; index < perf->base.instances; index++) {
		struct ps__instance *instance = &perf->instances[index];
		if (ps__perf_is_planned_in(perf, instance) &&
		    make_groups(instance, perf->event_count) != PS_OK)
			return PS_ENOMEM;
	}
	return PS_OK;
}

static size_t most_members(const struct ps__instance *instance, size_t groups)
{
	size_t most = 0;

	for (size_t index = 0; index < groups; index++) {
		for (const struct ps__group *group = &instance->groups[index]; group;
		     group = group->next)
			most = group->count > most ? group->count : most;
	}
	return most;
}

static int allocate_buffer(struct ps__perf *perf)
{
	size_t most = 0;

	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		size_t members = most_members(&perf->instances[instance], perf->base.groups);
		most = members > most ? members : most;
	}
	/* nr, enabled, running, and a value for each member, also for those that write records. */
	perf->buffer_bytes = (3 + most + PS__EXTRAS_MAX) * sizeof *perf->buffer;
	perf->buffer = ps__os_calloc_apart(1, perf->buffer_bytes);
	return perf->buffer ? PS_OK : ps__fail_memory("reading a group");
}

static int perf_open_groups(struct ps__perf *perf)
{
	int result = ps__perf_find_kinds(perf);

	if (result == PS_OK)
		result = make_planning_instances(perf);
	if (result == PS_OK)
		result = ps__perf_plan(perf);
	for (size_t index = 0; result == PS_OK && index < perf->base.instances; index++) {
		struct ps__instance *instance = &perf->instances[index];
		if (!instance->groups)
			result = make_groups(instance, perf->base.groups);
		if (result == PS_OK)
			result = ps__perf_complete_instance(perf, instance);
	}
	return result;
}

int ps__perf_open_instances(struct ps__perf *perf)
{
	int result = PS_OK;

	ps__perf_user_prepare(perf);
	perf->base.counts_when_open = counts_when_open(perf);
	perf->base.instances = count_instances(&perf->target);
	perf->instances = ps__os_calloc(perf->base.instances, sizeof *perf->instances);
	perf->base.group_of = ps__os_calloc(perf->event_count, sizeof *perf->base.group_of);
	perf->base.is_hardware = ps__os_calloc(perf->event_count, sizeof *perf->base.is_hardware);
	if (!perf->instances || !perf->base.group_of || !perf->base.is_hardware)
		result = ps__fail_memory("groups of events");
	for (size_t index = 0; result == PS_OK && index < perf->event_count; index++)
		perf->base.group_of[index] = PS__NO_GROUP;
	if (result == PS_OK && perf->target.tells_tasks)
		result = ps__perf_open_anchors(perf);
	if (result == PS_OK)
		result = ps__perf_open_clocks(perf);
	if (result == PS_OK)
		result = perf_open_groups(perf);
	if (result == PS_OK)
		result = allocate_buffer(perf);
	if (result == PS_OK)
		result = ps__perf_end_planning(perf);
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
		find_direct_instances(perf);
		result = ps__perf_pause_events(perf);
	}
	if (result != PS_OK) {
		ps__perf_close_instances(perf, false);
	}
	return result;
}

static void close_group(const struct ps__perf *perf, struct ps__group *group, bool abandon)
{
	ps__perf_user_unmap(group, abandon);
	/* Close the leader last: if it were closed first, each member would become a leader. */
	for (size_t index = ps__perf_member_count(perf, group); index-- > 0;)
		ps__os_close_event(group->members[index].fd, group->members[index].id, abandon);
	ps__os_free(group->members);
	ps__os_free_apart(group->own);
}

static void close_chain(const struct ps__perf *perf, struct ps__group *group, bool abandon)
{
	while (group) {
		struct ps__group *next = group->next;
		close_group(perf, group, abandon);
		ps__os_free_apart(group);
		group = next;
	}
}

static void close_instance(struct ps__perf *perf, struct ps__instance *instance, bool abandon)
{
	for (size_t index = 0; instance->groups && index < perf->base.groups; index++) {
		close_chain(perf, instance->groups[index].next, abandon);
		close_group(perf, &instance->groups[index], abandon);
	}
	ps__os_free_apart(instance->groups);
}

void ps__perf_close_instances(struct ps__perf *perf, bool abandon)
{
	ps__perf_close_execs(perf, abandon);
	ps__perf_close_tasks(perf, abandon);
	ps__perf_close_records(perf, abandon);
	ps__perf_close_residency(perf, abandon);
	ps__perf_close_clocks(perf, abandon);
	for (size_t index = 0; perf->instances && index < perf->base.instances; index++)
		close_instance(perf, &perf->instances[index], abandon);
	ps__os_free(perf->instances);
	ps__os_free(perf->base.group_of);
	ps__os_free(perf->base.is_hardware);
	ps__os_free(perf->base.origin);
	ps__os_free_apart(perf->buffer);
	perf->instances = NULL;
	perf->base.group_of = NULL;
	perf->base.is_hardware = NULL;
	perf->base.origin = NULL;
	perf->buffer = NULL;
	perf->base.groups = 0;
	perf->base.instances = 0;
}

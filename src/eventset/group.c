/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes which events of a set are to be in one group. perf_plan.c makes the groups. */
#include "base/error.h"
#include "base/os.h"
#include "eventset/control.h"

#include <perfsage/counter.h>
#include <string.h>

#define CALL "ps_eventset_group"

/* The arguments of ps_eventset_group. */
struct grouping {
	const size_t *events;
	size_t count;
	enum ps_grouping how;
};

static int group_check_indices(const struct ps_eventset *set, const struct grouping *grouping)
{
	for (size_t place = 0; place < grouping->count; place++) {
		size_t event = grouping->events[place];
		int result = ps__set_check_index(set, event, CALL);
		if (result != PS_OK)
			return result;
		for (size_t other = 0; other < place; other++) {
			if (grouping->events[other] == event)
				return ps__fail(PS_EINVAL, CALL ": event %zu is given twice",
				                event);
		}
	}
	return PS_OK;
}

static int group_check(const struct ps_eventset *set, const struct grouping *grouping)
{
	if (!grouping->events || grouping->count == 0)
		return ps__fail(PS_EINVAL, CALL ": no events are given");
	if (grouping->how < PS_GROUP_AUTO || grouping->how > PS_GROUP_APART)
		return ps__fail(PS_EINVAL, CALL ": there is no grouping %d", (int)grouping->how);
	return group_check_indices(set, grouping);
}

static uint32_t group_new_unit(const struct ps_eventset *set)
{
	uint32_t last = 0;

	for (size_t event = 0; event < set->events.count; event++) {
		uint32_t unit = set->events.list[event].control.unit;
		last = unit > last ? unit : last;
	}
	return last + 1;
}

/* Opens copies of the events with the new grouping, to know whether they fit. */
static int group_try(const struct ps_eventset *set, const struct grouping *grouping, uint32_t unit)
{
	struct ps__event *tried = ps__os_calloc(grouping->count, sizeof *tried);
	size_t count = 0;

	if (!tried)
		return ps__fail_memory("a group of events");
	for (size_t place = 0; place < grouping->count; place++) {
		const struct ps__event *event = &set->events.list[grouping->events[place]];
		if (event->unsupported)
			continue;
		tried[count] = *event;
		tried[count].control.grouping = grouping->how;
		tried[count++].control.unit = unit;
	}
	int result = count > 1 ? ps__perf_probe_groups(tried, count) : PS_OK;
	ps__os_free(tried);
	return result;
}

static int group_events(struct ps_eventset *set, const struct grouping *grouping)
{
	uint32_t unit = group_new_unit(set);
	int result = group_check(set, grouping);

	if (result == PS_OK && grouping->how == PS_GROUP_TOGETHER)
		result = group_try(set, grouping, unit);
	if (result != PS_OK)
		return result;
	ps__set_close(set);
	for (size_t place = 0; place < grouping->count; place++) {
		struct ps__event *event = &set->events.list[grouping->events[place]];
		event->control.grouping = grouping->how;
		event->control.unit = unit;
	}
	return PS_OK;
}

int ps_eventset_group(struct ps_eventset *set, const size_t *events, size_t n, enum ps_grouping how)
{
	const struct grouping grouping = {.events = events, .count = n, .how = how};
	int result = ps__set_enter_own(set, CALL, "PAPI groups its events as it does");

	if (result != PS_OK)
		return result;
	result = group_events(set, &grouping);
	ps__set_leave(set);
	return result;
}

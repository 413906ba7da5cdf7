/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens other events in the group of a sampler's event. The kernel reads them at each sample. */
#include "sample/sampler.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <errno.h>
#include <string.h>

/* Refuses a sampler that was started before: a member has the enabled time of its group, also from
 * before the member existed. */
static int check_never_started(struct ps_sampler *sampler)
{
	struct ps_sampler_count count = {0};
	int result = ps_sampler_read(sampler, &count);

	if ((result != PS_OK || !count.enabled_ns) && result != PS_ENOCNTR)
		return result;
	return ps__fail(PS_EISRUN,
	                "ps_sampler_add: the sampler of '%s' was started before, and the times of "
	                "a new event would have the times from before: make a new sampler",
	                sampler->attr->event.name);
}

static int check_leader(struct ps_sampler *sampler)
{
	const struct perf_event_attr *words = &sampler->attr->event.attr;
	const char *name = sampler->attr->event.name;

	if (!(words->sample_type & PERF_SAMPLE_READ) || !(words->read_format & PERF_FORMAT_GROUP))
		return ps__fail(PS_ECOMBO,
		                "ps_sampler_add: '%s': its samples hold no counts of a group: make "
		                "the sampler with PERF_SAMPLE_READ in sample_type and "
		                "PERF_FORMAT_GROUP in read_format",
		                name);
	if (atomic_load(&sampler->state) != PS__SAMPLER_STOPPED)
		return ps__fail(PS_EISRUN,
		                "ps_sampler_add: the sampler of '%s' is running: add events before "
		                "ps_sampler_start",
		                name);
	if (sampler->member_count + 1 >= PS_SAMPLER_MOST_EVENTS)
		return ps__fail(PS_ECNFLCT,
		                "ps_sampler_add: the group of '%s' has %d events already", name,
		                PS_SAMPLER_MOST_EVENTS);
	return check_never_started(sampler);
}

static int check_member(const struct ps_attr *attr)
{
	const struct perf_event_attr *words = &attr->event.attr;

	if (words->sample_period)
		return ps__fail(PS_ECOMBO,
		                "ps_sampler_add: '%s' would write records of its own, for which "
		                "there is no ring: leave sample_period and sample_freq at 0, or "
		                "make a sampler of it",
		                attr->event.name);
	if (words->pinned || words->exclusive)
		return ps__fail(PS_ECOMBO,
		                "ps_sampler_add: '%s': %s is for a whole group: set it for the "
		                "sampler's event",
		                attr->event.name, words->pinned ? "pinned" : "exclusive");
	return ps__sampler_check_fields(attr);
}

/* Copies the fields that the kernel wants to be equal in a whole group. */
static void member_follow(struct perf_event_attr *words, const struct perf_event_attr *leader)
{
	words->disabled = 0;
	words->enable_on_exec = 0;
	words->use_clockid = leader->use_clockid;
	words->clockid = leader->clockid;
	words->inherit = leader->inherit;
	words->inherit_thread = leader->inherit_thread;
	words->read_format = leader->read_format;
}

static int member_fail_open(const struct ps_sampler *sampler, const struct ps_attr *asked,
                            struct ps__event *event, struct ps__place place, int error)
{
	if (error == EINVAL) {
		struct ps__event alone = *event;
		int fd = ps__perf_open_settled(&alone, place, -1);
		if (fd >= 0) {
			ps__os.close(fd);
			return ps__fail(
			    PS_ENOCNTR,
			    "'%s' can be counted alone, and not together with '%s' and the %zu "
			    "events that were added before: there are not enough counters, or "
			    "their PMUs can't be in one group",
			    event->name, sampler->attr->event.name, sampler->member_count);
		}
	}
	return ps__attr_explain_open(asked, event, ps__sampler_target(sampler), error,
	                             sampler->member_count + 1);
}

static int open_member(struct ps_sampler *sampler, const struct ps_attr *asked,
                       struct ps_attr *attr)
{
	struct ps__place place = sampler->place;

	place.pmu_type = ps__sampler_kind(&attr->event, place.cpu);
	place.user_config1 = 0;
	if (!PS__VECTOR_GROW(&sampler->members, sampler->member_count, &sampler->member_room))
		return ps__fail_memory("the group of a sampler");
	int fd = ps__perf_open_settled(&attr->event, place, sampler->fd);
	if (fd < 0)
		return member_fail_open(sampler, asked, &attr->event, place, -fd);
	struct ps__sampler_member *member = &sampler->members[sampler->member_count];
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&member->id) < 0) {
		int error = errno;
		ps__os.close(fd);
		return ps__fail(PS_ESYS, "'%s': the event has no id: %s", attr->event.name,
		                strerror(error));
	}
	member->fd = fd;
	sampler->member_count++;
	return PS_OK;
}

int ps_sampler_add(struct ps_sampler *sampler, const struct ps_attr *attr)
{
	struct ps_attr *copy;
	int result = ps__sampler_refuse(sampler, "ps_sampler_add");

	if (result != PS_OK)
		return result;
	if (!attr)
		return ps__fail(PS_EINVAL, "ps_sampler_add: attr is NULL");
	result = check_leader(sampler);
	if (result == PS_OK)
		result = check_member(attr);
	if (result == PS_OK && sampler->place.cpu == -1)
		result = ps__sampler_check_kinds(attr);
	if (result == PS_OK)
		result = ps_attr_clone(&copy, attr);
	if (result != PS_OK)
		return result;
	member_follow(&copy->event.attr, &sampler->attr->event.attr);
	if (copy->event.attr.inherit && sampler->place.pid != -1)
		result = ps__sampler_check_probe(copy);
	if (result == PS_OK)
		result = open_member(sampler, attr, copy);
	ps_attr_destroy(copy);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the count of a sampler's event, and the number of its lost records. */
#include "sample/sampler.h"

#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>

/* The number of events and the two times; for each event its value, id and losses. */
#define MOST_NUMBERS (3 + 3 * PS_SAMPLER_MOST_EVENTS)

void ps__sampler_prepare_user(struct ps_sampler *sampler, struct ps__perf *perf)
{
	struct ps__event *event = &sampler->attr->event;

	perf->events = event;
	perf->event_count = 1;
	perf->target = (struct ps__target){.kind = PS__TARGET_SELF, .cpu = -1};
	ps__perf_user_prepare(perf);
	/* Only the kernel can add the counts of children. */
	if (sampler->place.pid == 0 && !event->attr.inherit)
		sampler->owner = ps__thread_number();
	if (sampler->owner)
		sampler->place.user_config1 = perf->user_config1;
}

void ps__sampler_adopt_user(struct ps_sampler *sampler, struct ps__perf *perf)
{
	sampler->group.members = &sampler->member;
	sampler->group.count = 1;
	if (sampler->owner)
		ps__perf_user_adopt(perf, &sampler->group, sampler->ring.page);
}

static bool can_read_in_user_space(const struct ps_sampler *sampler)
{
	return sampler->group.is_user_read && sampler->owner == ps__thread_number();
}

static uint64_t sampler_load(const _Atomic uint64_t *sum)
{
	return atomic_load_explicit(sum, memory_order_relaxed);
}

/* Reads the counter in user space. False: the event isn't on a counter now. */
static bool read_in_user_space(struct ps_sampler *sampler, struct ps_sampler_count *out)
{
	uint64_t times[2], value;

	if (!can_read_in_user_space(sampler) || !ps__perf_user_read(&sampler->group, times, &value))
		return false;
	*out = (struct ps_sampler_count){.value = value,
	                                 .enabled_ns = times[0],
	                                 .running_ns = times[1],
	                                 .lost = sampler_load(&sampler->lost_records),
	                                 .is_lost_known = 0};
	return true;
}

/* Unpacks the numbers, in the order in which the kernel writes them. */
static void sampler_unpack(const struct ps_sampler *sampler, const uint64_t *numbers,
                           struct ps_sampler_count *out, size_t count)
{
	uint64_t format = sampler->config.read_format;
	bool is_group = (format & PERF_FORMAT_GROUP) != 0;
	bool has_lost = (format & PS__FORMAT_LOST) != 0;
	const uint64_t *times = numbers + 1;
	const uint64_t *at = is_group ? times + 2 : numbers;

	for (size_t i = 0; i < count; i++) {
		out[i] = (struct ps_sampler_count){
		    .value = *at++, .enabled_ns = times[0], .running_ns = times[1]};
		at += is_group ? 0 : 2;
		at += (format & PERF_FORMAT_ID) != 0;
		out[i].is_lost_known = has_lost;
		out[i].lost = has_lost ? *at++ : sampler_load(&sampler->lost_records);
	}
}

int ps__sampler_fail_closed(const struct ps_sampler *sampler)
{
	return ps__fail(PS_ECLOST, "'%s': the program has closed the sampler's descriptor",
	                sampler->attr->event.name);
}

/* Reads the first `count` events of the group; the sampler's event is the first one. */
static int sampler_read_event(const struct ps_sampler *sampler, struct ps_sampler_count *out,
                              size_t count)
{
	uint64_t numbers[MOST_NUMBERS] = {0};

	/* If the descriptor is another file of the program now, a read would take bytes from that
	 * file. */
	if (!ps__os_is_event_of(sampler->fd, sampler->id))
		return ps__sampler_fail_closed(sampler);
	ssize_t length = ps__os_read_retried(sampler->fd, numbers, sizeof numbers);

	if (length == 0)
		return ps__fail(PS_ENOCNTR,
		                "'%s': the event is pinned, and there was no counter for it: it "
		                "counts no longer",
		                sampler->attr->event.name);
	if (length < 0)
		return ps__fail(PS_ESYS, "'%s': read: %s", sampler->attr->event.name,
		                strerror(errno));
	sampler_unpack(sampler, numbers, out, count);
	return PS_OK;
}

bool ps__sampler_lacks_counter(const struct ps_sampler *sampler)
{
	struct ps_sampler_count count;

	/* A read of a pinned event without a counter returns no bytes. */
	return sampler->attr->event.attr.pinned &&
	       sampler_read_event(sampler, &count, 1) == PS_ENOCNTR;
}

int ps__sampler_fail_ended(const struct ps_sampler *sampler)
{
	if (ps__sampler_lacks_counter(sampler))
		return PS_ENOCNTR;
	return ps__fail(PS_ESYS,
	                "'%s': the observed thread has ended, or an exec has removed the event: "
	                "no more records will come",
	                sampler->attr->event.name);
}

int ps_sampler_read(struct ps_sampler *sampler, struct ps_sampler_count *out)
{
	int result = ps__sampler_refuse(sampler, "ps_sampler_read");

	if (result != PS_OK)
		return result;
	if (!out)
		return ps__fail(PS_EINVAL, "ps_sampler_read: out is NULL");
	if (read_in_user_space(sampler, out))
		return PS_OK;
	return sampler_read_event(sampler, out, 1);
}

int ps_sampler_read_group(struct ps_sampler *sampler, struct ps_sampler_count *out, size_t count)
{
	int result = ps__sampler_refuse(sampler, "ps_sampler_read_group");

	if (result != PS_OK)
		return result;
	if (!out || count != sampler->member_count + 1)
		return ps__fail(
		    PS_EINVAL,
		    "ps_sampler_read_group: '%s': out has place for %zu counts, and the "
		    "group has %zu events",
		    sampler->attr->event.name, out ? count : 0, sampler->member_count + 1);
	return sampler_read_event(sampler, out, count);
}

uint64_t ps_sampler_lost(const struct ps_sampler *sampler)
{
	struct ps_sampler_count count = {0};

	if (!sampler)
		return 0;
	/* Starts with the losses that records reported, in case the kernel can't be asked. */
	uint64_t lost = sampler_load(&sampler->lost_records);
	int result = ps__fork_is_same(sampler->fork_generation)
	                 ? sampler_read_event(sampler, &count, 1)
	                 : PS_OK;
	if (result == PS_ECLOST)
		return UINT64_MAX;
	if (result == PS_OK && count.lost > lost)
		lost = count.lost;
	return lost + sampler_load(&sampler->lost_samples);
}

uint64_t ps_sampler_damaged(const struct ps_sampler *sampler)
{
	return sampler ? sampler_load(&sampler->damaged) : 0;
}

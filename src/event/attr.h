/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_event_attr as the newest kernels have it. The header that perfsage is
 * built with may end earlier: Debian 12's ends before config3 (Linux 6.3) and
 * config4 (6.19).
 */
#ifndef PS_EVENT_ATTR_H
#define PS_EVENT_ATTR_H

#include "event/event.h"

#include <string.h>

#define PS__ATTR_LATER 128 /* bytes before config3 */

union ps__attr {
	struct perf_event_attr attr;
	struct {
		unsigned char before[PS__ATTR_LATER];
		uint64_t later[PS__LATER_CONFIGS]; /* config3, config4 */
	};
};

/* Returns the size to give to the kernel: with config3 and config4 only if one of them is set. An
 * older kernel accepts fields that it doesn't know only if they are 0. */
static inline uint32_t ps__attr_size(const union ps__attr *attr)
{
	for (int i = 0; i < PS__LATER_CONFIGS; i++) {
		if (attr->later[i])
			return sizeof *attr;
	}
	return sizeof attr->attr;
}

/* Builds the attr with which the event is opened. config3 and config4 are those of event->later,
 * also where a newer header has them in attr. */
static inline union ps__attr ps__attr_of(const struct ps__event *event)
{
	union ps__attr attr = {.later = {0}};

	attr.attr = event->attr;
	for (int i = 0; i < PS__LATER_CONFIGS; i++)
		attr.later[i] = event->later[i];
	attr.attr.size = ps__attr_size(&attr);
	return attr;
}

/* Bit numbers of flags of Linux 5.13, which older headers lack. */
#define PS__FLAG_REMOVE_ON_EXEC 36
#define PS__FLAG_SIGTRAP        37

static inline bool ps__event_has_flag(const struct ps__event *event, unsigned bit)
{
	uint64_t flags;

	memcpy(&flags, (const unsigned char *)&event->attr + 40, sizeof flags);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bit = 63 - bit;
#endif
	return flags >> bit & 1;
}

/* Sets the event's fields from an attr: the reverse of ps__attr_of. */
static inline void ps__attr_store(struct ps__event *event, const union ps__attr *attr)
{
	event->attr = attr->attr;
	for (int i = 0; i < PS__LATER_CONFIGS; i++)
		event->later[i] = attr->later[i];
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files with the counters of perfsage timeline: timeline_counters.c opens them, and
 * timeline_counters_read.c reads them. */
#ifndef PS_TOOLS_TIMELINE_COUNTERS_H
#define PS_TOOLS_TIMELINE_COUNTERS_H

#include "tools/timeline.h"

/* A time from one sample of a CPU to the next in which counts are unknown. */
struct timeline_gap {
	uint64_t begin_ns, end_ns;
};

/* The counters of one CPU at its latest switch. */
struct timeline_switched {
	struct ps_sampler *sampler; /* NULL: the CPU was offline */
	int cpu;
	bool is_known; /* false: records were lost after the latest switch that is known */
	uint64_t time_ns;
	uint64_t enabled_ns, running_ns;
	uint64_t *values; /* of the group without its leader */
	uint64_t from_ns; /* when the counters had been started */
	/* Time up to which the counters are known; UINT64_MAX: to the end. A CPU that goes offline
	 * loses its counters for good. On a machine with many CPUs the first ones are stopped long
	 * before the end. */
	uint64_t until_ns;
	/* In the order of time. The group waited for the hardware, so switches have no samples; or
	 * a sample is damaged. */
	struct timeline_gap *gaps;
	size_t gap_count, gap_room;
};

struct timeline_counters {
	struct timeline_switched *cpus;
	size_t cpu_count;
	struct ps_attr **attrs; /* attributes of the events that are counted by these counters */
	size_t *events;         /* their indexes in timeline->events */
	size_t count;
	uint64_t *values; /* for all CPUs */
	uint64_t enabled_ns, running_ns;
	uint64_t stop_ns;
	int refusal;   /* error of the last event that could not be opened */
	bool has_gaps; /* the counters of at least one CPU began late, ended early or have a gap */
	int unknown_cpu; /* CPU of the first span with an unknown count; -1: none */
};

/* Complains that an event can't be counted by slice. others: number of further events that fail for
 * the same reason. code: PS_ENOSUPP if nothing on this machine can count the event. */
void timeline_counters_complain(const char *name, size_t others, int code, const char *why);
void timeline_counters_close_cpus(struct timeline_counters *counters);

#endif

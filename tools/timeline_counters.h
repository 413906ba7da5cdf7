/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of perfsage timeline inside: timeline_counters.c opens them, and
 * timeline_counters_read.c reads them. */
#ifndef PS_TOOLS_TIMELINE_COUNTERS_H
#define PS_TOOLS_TIMELINE_COUNTERS_H

#include "tools/timeline.h"

/* The counters of one CPU, as they were when it was switched last. */
struct timeline_switched {
	struct ps_sampler *sampler; /* NULL: the CPU was offline */
	int cpu;
	bool is_known; /* else a loss came between */
	uint64_t time_ns;
	uint64_t enabled_ns, running_ns;
	uint64_t *values; /* of the group but for its leader */
	/* A CPU that goes offline takes its counters with it, and they don't come back. */
	uint64_t until_ns;
};

struct timeline_counters {
	struct timeline_switched *cpus;
	size_t cpu_count;
	struct ps_attr **attrs; /* of events that are known by this */
	size_t *events;         /* their places in timeline->events */
	size_t count;
	uint64_t *values; /* of all CPUs */
	uint64_t enabled_ns, running_ns;
	uint64_t stop_ns;
	int refusal;     /* of the event that could not be opened last */
	bool has_gaps;   /* a CPU has an end before the others */
	int unknown_cpu; /* where a span isn't known; -1: none */
};

/* The event isn't known by slice; others: so many more have the same reason. code: PS_ENOSUPP if
 * nothing can count it here. */
void timeline_counters_complain(const char *name, size_t others, int code, const char *why);
void timeline_counters_close_cpus(struct timeline_counters *counters);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile of a counted process, and its reports. */
#ifndef PS_COLLECT_PROCESS_H
#define PS_COLLECT_PROCESS_H

#include "collect/report.h"
#include "collect/settings.h"

#include <perfsage/region.h>
#include <perfsage/topology.h>
#include <stdbool.h>
#include <stdint.h>

/* What earlier starts of the same process leave to the next one. */
struct collect_past {
	struct collect_reported reported;
	unsigned ends;         /* of them; 0: this is the first */
	uint64_t ended_cpu_ns; /* the process's CPU time at the last one's end */
	unsigned own_threads;  /* the collector's, that have ended */
	uint64_t marked_threads;
};

struct collect_process {
	struct collect_settings settings;
	struct ps_topology *topology;
	struct ps_profile *profile; /* NULL: nothing is counted */
	uint64_t started_ns;
	/* Not the program's: the CPU time that beginning took, and of programs before it */
	uint64_t begin_cpu_ns;
	unsigned own_threads; /* the collector's, which are none of the program's */
	struct collect_past past;
};

/* Begins to count the process as its environment says, and the calling thread. With settings in it,
 * which a forked child has from its parent, as these say. What is in `past` stays. */
int collect_process_begin(struct collect_process *out);

/* Writes the report, the last one of this start. Regions that are open in the calling thread end.
 * measures: also what a visit costs, here and now. */
int collect_process_report(struct collect_process *process, bool measures);

/* Writes what was counted until now to a file of its own, for the case that there is no report. A
 * failure isn't told: the next one may succeed. */
void collect_process_flush(const struct collect_process *process);

#endif

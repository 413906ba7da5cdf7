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

/* Data that earlier starts in the same process leave to the next one. */
struct collect_past {
	struct collect_earlier *earlier; /* what these starts have made, the newest first */
	struct collect_reported reported;
	unsigned ends;         /* number of earlier starts that have ended; 0: this is the first */
	uint64_t ended_cpu_ns; /* the process's CPU time when the last of these starts ended */
	unsigned own_threads;  /* number of the collector's own threads that have ended */
	uint64_t marked_threads;
};

struct collect_process {
	struct collect_settings settings;
	struct ps_topology *topology;
	struct ps_profile *profile; /* NULL: nothing is counted */
	uint64_t started_ns;
	/* CPU time that the report leaves out: spent to begin counting, used before an earlier
	 * start ended, and used by earlier programs of the process */
	uint64_t begin_cpu_ns;
	/* number of the collector's own threads, which are not the program's */
	unsigned own_threads;
	struct collect_past past;
};

/* Leaves what a start has made to the next collect_process_begin, because other threads may still
 * be inside a visit. Clears all but the past. */
void collect_process_retire(struct collect_process *process);

/* Begins to count the process and the calling thread, with the environment's settings. If *out has
 * settings already (a forked child has its parent's), uses these. Keeps out->past. */
int collect_process_begin(struct collect_process *out);

/* Writes the last report of this start. Ends the regions that are open in the calling thread.
 * measures: true to measure the cost of a visit, too. */
int collect_process_report(struct collect_process *process, bool measures);

/* Writes the counts until now to a separate file, in case the process ends without a report. A
 * failure is not reported, because the next call may succeed. */
void collect_process_flush(const struct collect_process *process);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a counted process: the paths of its regions, and how far they can be trusted. */
#ifndef PS_COLLECT_REPORT_H
#define PS_COLLECT_REPORT_H

#include "collect/settings.h"

#include <perfsage/region.h>
#include <stdbool.h>
#include <stdint.h>

struct collect_report {
	const struct collect_settings *settings;
	const struct ps_paths *paths;
	struct ps_component *root; /* of the topology */
	double elapsed_s;          /* since counting began */
	bool is_flushed;           /* the process goes on */
	double visit_ns;           /* what a visit costs, about; NaN if it isn't known */
	uint64_t visits;           /* of all paths */
	uint64_t counted;          /* of these, those that were counted */
	uint64_t on_cpu_ns;        /* of counted threads; UINT64_MAX: unknown */
	uint64_t cpu_ns;           /* of all threads */
};

/* Adds up the visits and the CPU time. */
void collect_report_sum(struct collect_report *report);

/* Writes it behind what is in the file, in one piece. PS_ESYS, PS_ENOMEM. */
int collect_report_write(const struct collect_report *report);

/* Writes it to a file of its own beside that one, whole, in the place of the one before:
 * OUTPUT.PID.part. collect_report_write takes it away. PS_ENOSUPP: the report goes to stderr. */
int collect_report_flush(const struct collect_report *report);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports between processes. The collector writes what a process counted to a file that perfsage
 * made. perfsage reads the reports of all processes, and shows them one by one or added up.
 */
#ifndef PS_COLLECT_EXCHANGE_H
#define PS_COLLECT_EXCHANGE_H

#include "collect/report.h"
#include "region/paths_file.h"

#include <stdio.h>

/* Writes a report. PS_ENOMEM. The caller checks the stream for errors. */
int collect_exchange_write(const struct collect_report *report, FILE *stream);

/* Finds the next complete report in a text, and moves text past it. Skips incomplete reports. False
 * after the last one. */
bool collect_exchange_next(struct ps__words *text, struct ps__words *report);

/* Several reports, added up. */
struct collect_sum {
	struct ps_paths *paths;
	struct collect_source source; /* of the last report; `processes` counts all of them */
	struct collect_metrics metrics;
	struct collect_report report; /* points at the members above */
};

/* Makes an empty sum. `paths` must belong to a profile with the same events as the reports. */
void collect_sum_create(struct collect_sum *sum, struct ps_paths *paths,
                        const struct collect_settings *settings);
void collect_sum_destroy(struct collect_sum *sum);

/* Adds a report. PS_EINVAL: the report is damaged, or has other events; a part of it may have been
 * added. PS_ENOMEM. */
int collect_sum_add(struct collect_sum *sum, struct ps__words report);

#endif

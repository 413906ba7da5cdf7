/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat --regions: the processes count themselves, by the collector that is preloaded into
 * them (collect/). perfsage itself counts their CPU time alone, which takes no hardware counter
 * from them: it tells how much of the run was heard.
 */
#ifndef PS_TOOLS_STAT_REGIONS_H
#define PS_TOOLS_STAT_REGIONS_H

#include "output/buffer.h"

#include <perfsage/eventset.h>

struct stat_output;
struct stat_count;

struct stat_regions {
	char *folder;        /* of these files, and of those that processes write beside them */
	char *reports;       /* of all processes, as they ended */
	char *journal;       /* which programs could be heard, and which processes were */
	const char *command; /* its first word */
	bool is_csv;         /* the reports' format */
};

/* What was heard. */
struct stat_heard {
	size_t programs;  /* that began with the collector */
	size_t processes; /* that had marks and left a report */
	size_t flushed;   /* of these, so many left only what they wrote before their end */
	size_t silent;    /* that had marks and left none */
	double visits;
	double cpu_s; /* of these processes; NaN: unknown */
};

/* Looks for the collector, and sets the environment that the command is to have. -1 after a
 * complaint. */
int stat_regions_create(struct stat_regions *regions, const struct stat_output *output,
                        const struct ps_eventset *model);
void stat_regions_destroy(struct stat_regions *regions);

/* The events that perfsage itself counts: CPU time. NULL after a complaint. */
struct ps_eventset *stat_regions_model(void);

/* stat_reports.c: adds the reports as they are. -1 after a complaint. */
int stat_regions_add_reports(const struct stat_regions *regions, struct ps__buffer *out);

void stat_regions_hear(const struct stat_regions *regions, struct stat_heard *out);

/* Removes all files. */
void stat_reports_remove(const struct stat_regions *regions);

/* Why nothing was heard, or how much of the run's CPU time was. */
void stat_regions_describe(const struct stat_regions *regions, const struct stat_heard *heard,
                           const struct stat_count *count, struct ps__buffer *out);

#endif

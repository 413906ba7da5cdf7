/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat --regions: the processes count themselves, by the collector that is preloaded into
 * them (collect/), and perfsage adds their reports up. perfsage itself counts their CPU time alone,
 * which takes no hardware counter from them: it tells how much of the run was heard.
 */
#ifndef PS_TOOLS_STAT_REGIONS_H
#define PS_TOOLS_STAT_REGIONS_H

#include "collect/settings.h"
#include "output/buffer.h"

#include <perfsage/eventset.h>
#include <perfsage/topology.h>
#include <stdbool.h>

struct stat_output;

/* The reports of a run's processes, one behind the other. */
struct stat_region_run {
	char *text;
	size_t length;
	long long number; /* of a command that is repeated; else 0 */
};

/* The numbers of programs and processes that were heard. */
struct stat_heard {
	size_t programs;  /* that began with the collector */
	size_t processes; /* that had marks and left a report */
	size_t reports;   /* of them: one for each start of the collector */
	size_t flushed;   /* of these, so many are only what was written before the end */
	size_t silent;    /* reports of processes that had marks, and left none */
	bool lacks_notes; /* the journal is gone, or a process could not write to it */
	size_t inner;     /* programs that were perfsage stat --regions themselves */
	double visits;
	double cpu_s; /* of these processes; NaN: unknown */
};

struct stat_regions {
	char *folder;        /* of these files, and of those that processes write beside them */
	char *reports;       /* of all processes, as they ended */
	char *journal;       /* which programs could be heard, and which processes were */
	const char *command; /* its first word */
	struct ps_eventset *model; /* the processes' events */
	struct ps_topology *topology;
	struct collect_settings settings; /* how they are shown */
	bool shows_processes;             /* each by itself, before their sums */
	struct stat_region_run *runs;
	size_t run_count, run_room;
	struct stat_heard heard; /* in all of these */
	bool lacks_region;       /* the last table is without one of settings.regions */
	bool has_reports;        /* the last table has a process */
	bool lacks_modes;        /* the journal's file system has none: all is executable */
};

/* Looks for the collector, and sets the environment that the command is to have. Takes over the
 * model. -1 after a complaint. */
int stat_regions_create(struct stat_regions *regions, const struct stat_output *output,
                        struct ps_eventset *model);
void stat_regions_destroy(struct stat_regions *regions);

/* The events that perfsage itself counts: CPU time. NULL after a complaint. */
struct ps_eventset *stat_regions_model(void);

/* stat_reports.c: takes what the processes of a run have written; number: 0 if there is only one
 * run. -1 after a complaint. */
int stat_regions_take(struct stat_regions *regions, long long number);
/* Makes the files of a run, under names of their own: a process that outlives its run doesn't write
 * to the next one's. -1 after a complaint. */
int stat_regions_begin(struct stat_regions *regions);
/* Takes them away. */
void stat_regions_drop(struct stat_regions *regions);
/* Removes all files. */
void stat_reports_remove(const struct stat_regions *regions);

/* stat_region_sums.c: adds the table of all processes together, behind those of each if they are
 * wanted. target: what was counted. -1 after a complaint. */
int stat_regions_add_reports(struct stat_regions *regions, const char *target,
                             struct ps__buffer *out);

/* Had processes marks, and is no report of them shown? Then it complains. */
bool stat_regions_lost_all(const struct stat_regions *regions);

/* Says why nothing was heard, or how much of the CPU time was; that is of all runs, NaN if it isn't
 * known. */
void stat_regions_describe(const struct stat_regions *regions, double cpu_s,
                           struct ps__buffer *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat --regions: the processes count themselves by the collector (collect/), which is
 * preloaded into them, and perfsage adds up their reports. perfsage itself counts only their CPU
 * time, which needs no hardware counter; it shows how much of the run the reports cover.
 */
#ifndef PS_TOOLS_STAT_REGIONS_H
#define PS_TOOLS_STAT_REGIONS_H

#include "collect/settings.h"
#include "output/buffer.h"

#include <perfsage/eventset.h>
#include <perfsage/topology.h>
#include <stdbool.h>

struct stat_output;

/* The reports of a run's processes, concatenated. */
struct stat_region_run {
	char *text;
	size_t length;
	long long number; /* number of the run if the command is repeated; else 0 */
};

/* Numbers of the programs and processes that reported. */
struct stat_heard {
	size_t programs;  /* programs that started with the collector */
	size_t processes; /* number of processes with marks that left a report */
	size_t reports;   /* number of their reports: one for each start of the collector */
	size_t flushed;   /* number of reports that lack what was counted after the last flush */
	size_t silent;    /* number of missing reports of processes with marks */
	bool lacks_notes; /* the journal is gone, or a process could not write to it */
	size_t inner;     /* number of programs that were themselves perfsage stat --regions */
	double visits;
	double cpu_s; /* CPU time of the processes that left a report; NaN: unknown */
};

struct stat_regions {
	char *folder;              /* has the two files below, and files that processes write */
	char *reports;             /* reports of all processes, in the order in which they ended */
	char *journal;             /* notes which programs had the collector, and which processes
	                            * reported */
	const char *command;       /* its first word */
	struct ps_eventset *model; /* the events that processes count */
	struct ps_topology *topology;
	struct collect_settings settings; /* how the reports are shown */
	bool shows_processes;             /* each process is shown before the sum */
	struct stat_region_run *runs;
	size_t run_count, run_room;
	struct stat_heard heard; /* sum over all runs */
	bool lacks_region;       /* the last table lacks one of settings.regions */
	bool has_reports;        /* the last table has a process */
	bool lacks_modes;        /* the journal's file system has no modes: every file is
	                          * executable */
};

/* Finds the collector, and sets the environment for the command. Takes ownership of the model.
 * Returns -1 after a complaint. */
int stat_regions_create(struct stat_regions *regions, const struct stat_output *output,
                        struct ps_eventset *model);
void stat_regions_destroy(struct stat_regions *regions);

/* Returns the events that perfsage itself counts: CPU time. NULL after a complaint. */
struct ps_eventset *stat_regions_model(void);

/* stat_reports.c: reads what the processes of a run have written. number: 0 if there is only one
 * run. Returns -1 after a complaint. */
int stat_regions_take(struct stat_regions *regions, long long number);
/* Makes the files of a run, with new names, so that a process that outlives its run doesn't write
 * into the next run's. Returns -1 after a complaint. */
int stat_regions_begin(struct stat_regions *regions);
/* Removes the files of a run. */
void stat_regions_drop(struct stat_regions *regions);
/* Removes all files. */
void stat_reports_remove(const struct stat_regions *regions);

/* stat_region_sums.c: adds the table of all processes together; if wanted, the tables of single
 * processes before it. target: describes what was counted. Returns -1 after a complaint. */
int stat_regions_add_reports(struct stat_regions *regions, const char *target,
                             struct ps__buffer *out);

/* Returns true, after a complaint, if processes had marks, but none of their reports is shown. */
bool stat_regions_lost_all(const struct stat_regions *regions);

/* Explains why no process reported, or which part of the CPU time the reports cover. cpu_s: CPU
 * time of all runs; NaN: unknown. */
void stat_regions_describe(const struct stat_regions *regions, double cpu_s,
                           struct ps__buffer *out);

#endif

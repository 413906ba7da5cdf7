/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a counted process: the paths of its regions, and how far they can be trusted. */
#ifndef PS_COLLECT_REPORT_H
#define PS_COLLECT_REPORT_H

#include "collect/settings.h"

#include <perfsage/region.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Source of a report: a process, or several processes together. */
struct collect_source {
	char *command;    /* command line, or what perfsage counted; "unknown command" */
	char *host;       /* collect_source_clear frees all strings */
	char *rank;       /* NULL: MPI gave none */
	pid_t process;    /* 0: several processes */
	size_t processes; /* number of processes in the report */
	/* number of the run if the command is repeated; 0: not repeated, or several runs
	 * together */
	long long run;
	long long runs; /* number of runs together; 0: not repeated, or one run */
};

/* The names of metrics, including metrics per second. */
struct collect_metrics {
	char **names;
	size_t count, room;
};

/* Earlier reports of the same process, if it started the collector before. They have the marks of
 * earlier starts, and count the same threads. */
struct collect_reported {
	uint64_t reports;
	double threads, unmarked_threads; /* as in the last earlier report */
};

struct collect_report {
	const struct collect_settings *settings;
	const struct collect_source *source;
	const struct collect_metrics *metrics;
	const struct ps_paths *paths;
	struct ps_component *root; /* of the topology */
	uint64_t began_ns;         /* CLOCK_MONOTONIC: tells apart the programs of a process */
	double elapsed_s;          /* since counting began; of several processes, the longest */
	bool is_flushed;           /* true for an interim report: the process went on */
	uint64_t visits;           /* number of visits of all paths */
	uint64_t counted;          /* number of these that were counted */
	uint64_t on_cpu_ns;        /* CPU time of counted threads; UINT64_MAX: unknown */
	double cpu_s;              /* CPU time of all threads */
	double unmarked_s;         /* CPU time in which no thread counted; NaN: not known */
	/* number of threads that the program had until now; NaN: not known */
	double threads;
	double unmarked_threads; /* number of these that passed no mark; NaN: not known */
	struct collect_reported reported;
	double cost_ns;       /* estimated cost of the measurement; NaN: not known */
	uint64_t cost_visits; /* number of visits whose cost is in cost_ns */
};

/* Describes the calling process. rank: NULL if there is none. PS_ENOMEM. */
int collect_source_find(struct collect_source *out, const char *rank);
/* Sets copies of command and rank, and this host's name. False if out of memory; then some strings
 * are missing. */
bool collect_source_name(struct collect_source *source, const char *command, const char *rank);
void collect_source_clear(struct collect_source *source);

/* Finds the metrics that can be computed from the events counted below the component. */
int collect_metrics_find(struct collect_metrics *out, struct ps_component *root);
/* Adds a name, unless it is there already. 0, or -1 for lack of memory. */
int collect_metrics_add(struct collect_metrics *metrics, const char *name);
void collect_metrics_clear(struct collect_metrics *metrics);

/* Writes the complete report. is_continued: true if the stream already has rows or trees. PS_ESYS,
 * PS_ENOMEM. */
int collect_report_make(const struct collect_report *report, bool is_continued, FILE *stream);

/* report_lines.c: adds the lines below the table, folded to the same width. */
void collect_report_add_lines(struct ps__buffer *out, const struct collect_report *report);

/* Sets the report's visits, counted and on_cpu_ns to the sums over its paths. */
void collect_report_sum(struct collect_report *report);

/* Appends the report to the output, with one write. PS_ESYS, PS_ENOMEM. */
int collect_report_write(const struct collect_report *report);

/* True if the output is a regular file, or will be one. Only beside such a file can an interim
 * report be written, not beside stderr, a terminal, a pipe or a device. */
bool collect_report_has_file(const struct collect_settings *settings);

/* Writes a complete interim report to a file beside the output: OUTPUT.PID.BEGAN.part. Replaces the
 * previous interim report; collect_report_write removes the last one. Call it only if
 * collect_report_has_file. PS_ESYS, PS_ENOMEM. */
int collect_report_flush(const struct collect_report *report);

#endif

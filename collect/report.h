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

/* A process, or several together. */
struct collect_source {
	char *command;    /* its words, or what perfsage counted; "unknown command" */
	char *host;       /* all of these are freed by collect_source_clear */
	char *rank;       /* NULL: MPI gave none */
	pid_t process;    /* 0: several */
	size_t processes; /* how many */
	long long run;    /* of a command that is repeated; 0: it isn't, or several together */
	long long runs;   /* so many runs together; 0: it isn't repeated, or one of them */
};

/* The names of metrics; those that happen in a second, too. */
struct collect_metrics {
	char **names;
	size_t count, room;
};

/* Earlier reports of a process that started the collector before: they are of its other marks, and
 * of the same threads. */
struct collect_reported {
	uint64_t reports;
	double threads, unmarked_threads; /* in the last of them */
};

struct collect_report {
	const struct collect_settings *settings;
	const struct collect_source *source;
	const struct collect_metrics *metrics;
	const struct ps_paths *paths;
	struct ps_component *root; /* of the topology */
	uint64_t began_ns;         /* CLOCK_MONOTONIC: tells programs of one process apart */
	double elapsed_s;          /* since counting began; of several, the longest */
	bool is_flushed;           /* the process went on */
	uint64_t visits;           /* of all paths */
	uint64_t counted;          /* of these, those that were counted */
	uint64_t on_cpu_ns;        /* of counted threads; UINT64_MAX: unknown */
	double cpu_s;              /* of all threads */
	double unmarked_s;         /* CPU time in which no thread counted; NaN: not known */
	double threads;            /* that the program had until now; NaN: not known */
	double unmarked_threads;   /* of these, those that passed no mark; NaN: not known */
	struct collect_reported reported;
	double cost_ns;       /* of the measurement, about; NaN: not known */
	uint64_t cost_visits; /* that cost_ns is of */
};

/* The calling process. rank: NULL if there is none. PS_ENOMEM. */
int collect_source_find(struct collect_source *out, const char *rank);
void collect_source_clear(struct collect_source *source);

/* Those that the events allow which were counted below the component. */
int collect_metrics_find(struct collect_metrics *out, struct ps_component *root);
/* Once, however often it is added. 0, or -1 for lack of memory. */
int collect_metrics_add(struct collect_metrics *metrics, const char *name);
void collect_metrics_clear(struct collect_metrics *metrics);

/* Writes all of it; is_continued: to a stream that has rows or trees already. PS_ESYS, PS_ENOMEM.
 */
int collect_report_make(const struct collect_report *report, bool is_continued, FILE *stream);

/* report_lines.c: the lines below the table, folded to the screen as the table is. */
void collect_report_add_lines(struct ps__buffer *out, const struct collect_report *report);

/* Adds up the visits and the CPU time. */
void collect_report_sum(struct collect_report *report);

/* Writes it behind what is in the file, in one piece. PS_ESYS, PS_ENOMEM. */
int collect_report_write(const struct collect_report *report);

/* False: it goes to stderr, a terminal, a pipe or a device, which have no place for a file beside
 * them. */
bool collect_report_has_file(const struct collect_settings *settings);

/* Writes it to a file of its own beside that one, whole, in the place of the one before:
 * OUTPUT.PID.BEGAN.part. collect_report_write takes it away. Only of one that has a file. PS_ESYS,
 * PS_ENOMEM. */
int collect_report_flush(const struct collect_report *report);

#endif

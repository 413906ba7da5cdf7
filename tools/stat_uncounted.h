/* SPDX-License-Identifier: BSD-3-Clause */
/* Missing counts: of programs that the kernel does not count, of children that ran before, of CPUs
 * that came online later. */
#ifndef PS_TOOLS_STAT_UNCOUNTED_H
#define PS_TOOLS_STAT_UNCOUNTED_H

#include "output/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stat_count;
struct stat_target;
struct tool_processes;

struct stat_uncounted {
	bool is_of_processes; /* false: whole CPUs are counted, whatever runs there */
	bool is_of_command;   /* counts a command, and tasks that it creates */
	size_t programs;      /* number of programs that the kernel stopped counting when they
	                       * started */
	pid_t pid;            /* of the first program */
	char name[16];
	char why_unknown[320]; /* why there may be more uncounted programs than these; "": there are
	                        * none */
	size_t children;       /* number of children that ran before the processes were attached */
	size_t began;          /* those of them that were created meanwhile: they may be counted */
	bool is_blind;         /* it is unknown whether there were children */
	long left;             /* number of the command's tasks that still ran when it ended */
	size_t late_cpus;      /* number of CPUs that came online after counting began, and have no
	                        * counters */
	int late_cpu;          /* the first of them */
};

/* Asks the event sets for uncounted programs. The caller must call this several times per second
 * while the sets count, because the kernel's buffers for records are small. */
void stat_uncounted_take(struct stat_count *count);

/* Finds running descendants of these processes. Complains about them, and tells how to count them.
 * A descendant that isn't in `before`, the list from before the sets were started, may be
 * counted. */
void stat_uncounted_find_children(struct stat_count *count, const struct stat_target *target,
                                  const struct tool_processes *before);

/* Notes children that were created while the sets were started, and complains about them. */
void stat_uncounted_note_began(struct stat_count *count, size_t began);

/* Complains if children and threads can't be found here, and notes it. */
void stat_uncounted_note_blind(struct stat_count *count);

/* Returns the number of children; NaN if it is unknown. */
double stat_uncounted_children(const struct stat_uncounted *uncounted);

/* Adds one run's numbers to a sum, which keeps the first program. */
void stat_uncounted_add(struct stat_uncounted *sum, const struct stat_uncounted *one);

/* Notes which CPUs are online now. CPUs that come online later have no counters. */
void stat_uncounted_note_online(struct stat_count *count);

/* Finds CPUs that came online after counting began, before a reading: without what ran there, its
 * counts are lower bounds. A CPU stays in the number after it went offline again. */
void stat_uncounted_find_late_cpus(struct stat_count *count);

/* Is true if there were uncounted programs, or may have been. */
bool stat_uncounted_is_any(const struct stat_uncounted *uncounted);
/* Returns the number of programs; NaN if there may be some but none was seen. */
double stat_uncounted_number(const struct stat_uncounted *uncounted);

/* Complains about uncounted programs on stderr, if there are any. */
void stat_uncounted_complain(const struct stat_uncounted *uncounted);

/* Adds a line for each kind of missing count, except for the tasks that still ran. */
void stat_uncounted_show(const struct stat_uncounted *uncounted, struct ps__buffer *out);
/* Adds a line about the tasks that still ran, if there are any. */
void stat_uncounted_show_left(const struct stat_uncounted *uncounted, struct ps__buffer *out);

#endif

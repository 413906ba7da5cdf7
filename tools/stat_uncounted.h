/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that are missing: of programs that the kernel does not count, children that ran before,
 * CPUs that came online later. */
#ifndef PS_TOOLS_STAT_UNCOUNTED_H
#define PS_TOOLS_STAT_UNCOUNTED_H

#include "output/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stat_count;
struct stat_target;

struct stat_uncounted {
	bool is_of_processes; /* else whole CPUs are counted, whatever runs there */
	bool is_of_command;   /* and of what it creates */
	size_t programs;      /* that began, and from which the kernel took the counters */
	pid_t pid;            /* of the first */
	char name[16];
	char why_unknown[320]; /* why there may be others; "" if there are none */
	size_t children;       /* that ran already when processes were attached */
	bool is_blind;         /* whether there were any is not known */
	long left;             /* tasks of the command that ran on when it had ended */
	size_t late_cpus;      /* that came online when counting had begun, and have no counters */
	int late_cpu;          /* the first */
};

/* Asks the event sets. To be called some times a second while they count, as
 * the kernel's records take room. */
void stat_uncounted_take(struct stat_count *count);

/* Looks for running children of these processes, and their children: says how
 * many there are, and how they are counted. */
void stat_uncounted_find_children(struct stat_count *count, const struct stat_target *target);

/* NaN: not known. */
double stat_uncounted_children(const struct stat_uncounted *uncounted);

/* Adds those of one run to a sum: the first program, and their number. */
void stat_uncounted_add(struct stat_uncounted *sum, const struct stat_uncounted *one);

/* CPUs that come online later are in no count from now on. */
void stat_uncounted_note_online(struct stat_count *count);

/* A sentence of the programs, or why it isn't known whether there were any;
 * nothing if there were none. */
bool stat_uncounted_is_any(const struct stat_uncounted *uncounted);
/* The number of programs; NaN if there may be some, and none was seen. */
double stat_uncounted_number(const struct stat_uncounted *uncounted);
void stat_uncounted_describe(const struct stat_uncounted *uncounted, struct ps__buffer *out);

/* Says it on stderr, if there is anything. */
void stat_uncounted_complain(const struct stat_uncounted *uncounted);

/* Adds a line of each that there is, but for the tasks that are left. */
void stat_uncounted_show(const struct stat_uncounted *uncounted, struct ps__buffer *out);
/* Adds a line of the tasks that are left, if there are any. */
void stat_uncounted_show_left(const struct stat_uncounted *uncounted, struct ps__buffer *out);

#endif

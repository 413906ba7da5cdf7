/* SPDX-License-Identifier: BSD-3-Clause */
/* How the runs of a command ended: what stands beside their means. */
#ifndef PS_TOOLS_STAT_RUNS_H
#define PS_TOOLS_STAT_RUNS_H

#include "tools/stat_show.h"

#define STAT_MOST_KINDS 8

/* Runs that ended with the same status. */
struct stat_run_kind {
	int status;
	long long count;
	long long first; /* its number, from 1 */
};

struct stat_runs {
	struct stat_run_kind kinds[STAT_MOST_KINDS]; /* those that are not 0 */
	size_t kind_count;
	long long others; /* runs of still other statuses */
	long long failed;
	long long counted;
	long long interrupted; /* the number of the run that is left out; 0: none */
	int signal;            /* by which it was */
};

/* A run that has ended. Returns whether it is to be counted: not if perfsage got a signal in it. */
bool stat_runs_add(struct stat_runs *runs, const struct stat_facts *facts);

/* A line for each status that isn't 0, and for the run that is left out. */
void stat_runs_show(const struct stat_runs *runs, struct ps__buffer *out);

#endif

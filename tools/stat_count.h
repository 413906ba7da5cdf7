/* SPDX-License-Identifier: BSD-3-Clause */
/* The event sets of one run, and the topology that they store their readings in. */
#ifndef PS_TOOLS_STAT_COUNT_H
#define PS_TOOLS_STAT_COUNT_H

#include "tools/stat_options.h"
#include "tools/stat_uncounted.h"

struct stat_count {
	struct ps_topology *topology;
	struct ps_component *root;
	const struct ps_eventset *model;
	struct ps_eventset **sets;
	size_t set_count;
	bool tells_tasks;
	bool has_intervals; /* each reading holds what was counted since the one before */
	bool has_complained;
	struct stat_uncounted uncounted;
};

/* Loads the topology. -1 after a complaint, as all here. model must outlive it. */
int stat_count_create(struct stat_count *count, const struct ps_eventset *model, const struct stat_options *options);
void stat_count_destroy(struct stat_count *count);

/* What is to be counted: a child that waits for its exec; running processes; or every CPU that is online. Opens the events
 * and starts; a command's counters wait for the exec. */
int stat_count_start_command(struct stat_count *count, pid_t pid);
int stat_count_start_processes(struct stat_count *count, const pid_t *pids, size_t pid_count);
int stat_count_start_cpus(struct stat_count *count);

/* Stores what was counted since the last time, as a reading of its own. */
void stat_count_take(struct stat_count *count);

/* Ends counting and stores the rest. */
void stat_count_stop(struct stat_count *count);

/* Of all sets the weakest attribution, and why it is no better. */
enum ps_attribution stat_count_attribution(const struct stat_count *count, const char **why);

/* The residual of each of the model's events, over all sets, into an array of theirs; -1 if it can't be told. */
int stat_count_check(struct stat_count *count, long long *residual);

/* The least part of the time that an event was on the hardware; 1.0 if none was multiplexed. */
double stat_count_coverage(const struct stat_count *count);

#endif

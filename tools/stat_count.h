/* SPDX-License-Identifier: BSD-3-Clause */
/* The model with the events, which every set clones; the event sets of one run, and
 * the topology for their readings. */
#ifndef PS_TOOLS_STAT_COUNT_H
#define PS_TOOLS_STAT_COUNT_H

#include "tools/cgroup.h"
#include "tools/stat_options.h"
#include "tools/stat_uncounted.h"

#include <perfsage.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>

/* Returns the model, for ps_eventset_destroy. NULL after complaints about all events that are
 * wrong, not only the first. */
struct ps_eventset *stat_events_create(const struct stat_options *options);
/* stat_notes.c: says on stderr which events count something else than their names promise. */
void stat_notes_show(const struct ps_eventset *model, const struct stat_options *options);

struct stat_count {
	struct ps_topology *topology;
	struct ps_component *root;
	const struct ps_eventset *model;
	struct ps_eventset **sets;
	size_t set_count;
	bool tells_tasks;
	bool has_intervals; /* each reading has the counts since the previous one */
	bool has_complained;
	bool has_doubt; /* something was attributed by an estimate, or to the CPU seen at a
	                 * reading */
	/* CLOCK_MONOTONIC before the first set of running processes was started, if each set counts
	 * from its own start on; 0: all sets count from the same time on */
	uint64_t began_ns;
	double delay_s; /* time from the command's start to the beginning of counting; 0: none */
	struct stat_uncounted uncounted;
	struct stat_how how;
	struct tool_cgroup cgroup;      /* the group made for the command */
	struct tool_cgroup_named named; /* the group of --cgroup */
	struct ps_eventset *times;      /* the set of stat_times_store; NULL: none */
	char *online; /* CPUs that were online at the start, if only they are counted; NULL: all */
};

/* Loads the topology. model must outlive count. Like the functions below, returns -1 after a
 * complaint. */
int stat_count_create(struct stat_count *count, const struct ps_eventset *model,
                      const struct stat_options *options);
void stat_count_destroy(struct stat_count *count);

/* Restarts counting at 0 and drops earlier counts. */
int stat_count_restart(struct stat_count *count);

/* Stores what was counted since the last call, as a new reading. */
void stat_count_take(struct stat_count *count);

/* Ends counting and stores the rest. usage: the ended command's; NULL if there is none. */
void stat_count_stop(struct stat_count *count, const struct rusage *usage);

/* stat_trust.c: stat_trust_note is called after each reading. */
void stat_trust_note(struct stat_count *count);
/* Returns the weakest attribution of all sets. *why gets the reason why the attribution is no
 * better. */
enum ps_attribution stat_count_attribution(const struct stat_count *count, const char **why);

/* Writes the residual of each of the model's events, over all sets, into an array. Returns -1 if it
 * is unknown. */
int stat_count_check(struct stat_count *count, long long *residual);

/* Returns the smaller coverage; NaN if one isn't known. */
double stat_least_coverage(double one, double other);
/* Returns the smallest coverage of an event; 1.0 if none was multiplexed. */
double stat_count_coverage(const struct stat_count *count);
bool stat_count_has_missed(const struct stat_count *count);

/* stat_start.c and stat_start_cpus.c: open the event sets. */

/* The target that a set is attached to: a control group, a process, or a CPU. */
struct stat_place {
	const char *cgroup; /* the group's folder; NULL: no group */
	pid_t pid;          /* 0: none */
	bool is_on_exec;    /* the process counts from its exec on */
	int cpu;            /* used if there is neither a group nor a process */
};

/* Makes room for so many sets. */
int stat_start_make_room(struct stat_count *count, size_t sets);

/* Starts a clone of the model for the target. The caller has made room in the array. The clone is
 * in the array even if it can't be attached or started. Returns the library's code. */
int stat_start_clone(struct stat_count *count, struct stat_place place);

/* Drops what the first sets have counted while the others were opened: no elapsed time has this
 * time. If tasks are told apart, it stays: the kernel tells a task's counts from the opening on.
 * Returns -1 after a complaint. */
int stat_start_together(struct stat_count *count);

/*
 * The functions below open the events and start them: for a child that waits for its exec (its
 * counters start at the exec), for running processes, for CPUs that are online, or for a control
 * group. stat_start_command blocks the signals of `held` from the time on when the child is in a
 * group of its own.
 */
int stat_start_command(struct stat_count *count, pid_t pid, const struct stat_target *target,
                       const sigset_t *held);
int stat_start_processes(struct stat_count *count, const struct stat_target *target);
int stat_start_cpus(struct stat_count *count, const char *cpus); /* NULL: all */
int stat_start_cgroup(struct stat_count *count, const char *path);

#endif

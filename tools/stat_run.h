/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by stat.c and stat_wait.c: a call of perfsage stat, its runs, and the waiting in them. */
#ifndef PS_TOOLS_STAT_RUN_H
#define PS_TOOLS_STAT_RUN_H

#include "tools/heat.h"
#include "tools/stat_aggregate.h"
#include "tools/watcher.h"

#include <stdint.h>

/* One call of perfsage stat. */
struct session {
	struct stat_options options;
	struct ps_eventset *model;
	struct stat_output output;
	struct tool_heat heat;
	struct tool_watcher watcher;
	struct stat_regions regions;
	struct stat_aggregate aggregate; /* of intervals or repetitions */
	bool has_aggregate;
	bool has_shown_uncounted;
	struct stat_runs runs; /* how the repetitions ended */
};

/* One run. */
struct run {
	struct session *session;
	struct stat_count count;
	uint64_t started_ns;
	uint64_t taken_ns; /* end of the last interval */
	uint64_t tick_ns;  /* end of the current interval; 0: none */
	uint64_t limit_ns; /* end by --timeout; 0: none */
	uint64_t beat_ns;  /* when the elapsed time is shown next; 0: never */
	/* When the records of tasks and programs are read next; 0: never */
	uint64_t take_ns;
	uint64_t look_ns;    /* when perfsage next looks where the tasks run; 0: never */
	long long intervals; /* number of intervals still to be shown; 0: unlimited */
	long long repetition;
	bool lacks_interval; /* an interval could not be shown */
	pid_t command;       /* the counted command; 0: none */
};

/* stat_wait.c: waiting in a run. */

/* Sets the times of a run; called when counting has begun. */
void stat_wait_set_clocks(struct run *run);

/* Tells the watcher that the run is over: the watcher must no longer look where its tasks run. */
void stat_wait_forget(struct run *run);

/* Waits for the time of --delay. Returns what ended the wait. */
enum tool_wakeup stat_wait_for_begin(struct run *run);

/* Waits for the end, and shows intervals. */
enum tool_wakeup stat_wait_for_end(struct run *run);

/* Removes the elapsed time from the terminal. */
void stat_wait_end_beat(struct run *run);

/* Adds the counts since the last interval, or of the whole run, to the sums. Returns what
 * stat_aggregate_add returns. */
int stat_wait_add_interval(struct run *run, bool has_ended);

/* Shows the counts since the last interval. ending: facts of the run if this is the last interval,
 * else NULL. */
int stat_wait_show_interval(struct run *run, const struct stat_facts *ending);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of perfsage stat, its runs, and the waiting in them: what stat.c and stat_wait.c share. */
#ifndef PS_TOOLS_STAT_RUN_H
#define PS_TOOLS_STAT_RUN_H

#include "tools/heat.h"
#include "tools/stat.h"
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
	struct stat_runs runs; /* how repetitions ended */
};

/* One run. */
struct run {
	struct session *session;
	struct stat_count count;
	uint64_t started_ns;
	uint64_t taken_ns; /* when the last interval ended */
	uint64_t tick_ns;  /* when this one does; 0: none */
	uint64_t limit_ns; /* of --timeout; 0: none */
	uint64_t beat_ns;  /* when the elapsed time is shown next; 0: it isn't */
	/* When the records of tasks and programs are taken next; 0: there are none */
	uint64_t take_ns;
	uint64_t look_ns;    /* when the tasks are looked at next; 0: they aren't */
	long long intervals; /* that are still to be shown; 0: any number */
	long long repetition;
	bool lacks_interval; /* one of them could not be shown */
	pid_t command;       /* that is counted; 0: none */
};

/* stat_wait.c: the time of a run. */

/* Counting begins now. */
void stat_wait_set_clocks(struct run *run);

/* The run is over: the watcher must not look at its tasks any more. */
void stat_wait_forget(struct run *run);

/* Waits until the time of --delay is over. Returns what ended the wait. */
enum tool_wakeup stat_wait_for_begin(struct run *run);

/* Waits for the end; shows the intervals. */
enum tool_wakeup stat_wait_for_end(struct run *run);

/* Takes the elapsed time off the terminal. */
void stat_wait_end_beat(struct run *run);

/* Adds the counts since the last interval, or of a run, to the sums. -1 after a
 * complaint. */
int stat_wait_add_interval(struct run *run, bool has_ended);

/* Shows the counts since the last interval; ending: of the last one, else
 * NULL. */
int stat_wait_show_interval(struct run *run, const struct stat_facts *ending);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracks of a log's trace: processes and tasks; hardware threads, with the tasks that ran
 * there; and counters below them. */
#ifndef PS_TOOLS_LOG_TRACKS_H
#define PS_TOOLS_LOG_TRACKS_H

#include "output/trace.h"
#include "tools/log.h"

/* Number of kinds of counters of an event. The kind depends on the value's status and attribution,
 * so that an estimate has another counter than a count. */
#define TOOL_COUNTER_KINDS 9

/* A stream's counts, in total or on one hardware thread. */
struct tool_branch {
	size_t stream;
	const struct ps_thread *thread; /* NULL: in total */
	uint64_t slices;                /* track of slices; 0: not made yet */
	uint64_t last_ns;               /* end of the last slice */
	uint64_t *counters;             /* tracks for each event and kind; 0: not made yet */
};

struct tool_stream_tracks {
	struct tool_branch all;
	struct tool_branch *branches; /* one for each hardware thread seen so far */
	size_t branch_count, branch_room;
	size_t places; /* number of the stream's hardware threads seen so far */
};

struct tool_tracks {
	const struct tool_log *log;
	struct ps__trace *trace;
	struct tool_stream_tracks *streams; /* one for each stream of the log */
	uint64_t *processes, *threads;      /* tracks for each stream; 0: not made yet */
	uint64_t hardware;
	uint64_t *cpus; /* by logical index; the last one is for unknown hardware threads */
	size_t cpu_count;
};

void tool_tracks_create(struct tool_tracks *tracks, const struct tool_log *log,
                        struct ps__trace *trace);
void tool_tracks_clear(struct tool_tracks *tracks);

/* Returns the stream's tracks. They have a branch for each hardware thread that occurred in the
 * records up to the reader's current one. NULL after a complaint. */
struct tool_stream_tracks *tool_tracks_of(struct tool_tracks *tracks, size_t stream);

/* Returns the branch's track of slices. */
uint64_t tool_tracks_slices(struct tool_tracks *tracks, struct tool_branch *branch);
/* Sets the counters of the log's events from this time on. */
void tool_tracks_count(struct tool_tracks *tracks, struct tool_branch *branch, uint64_t time_ns,
                       const struct ps_value *values);

#endif

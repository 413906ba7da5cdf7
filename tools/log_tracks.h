/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracks of a log's trace: processes and tasks; hardware threads, with the tasks that were
 * there; and counters below each of both. */
#ifndef PS_TOOLS_LOG_TRACKS_H
#define PS_TOOLS_LOG_TRACKS_H

#include "output/trace.h"
#include "tools/log.h"

/* A number of one event, by how it is known: an estimate is another counter than a count. */
#define TOOL_COUNTER_KINDS 9

/* The counts of a stream, everywhere or on one hardware thread. */
struct tool_branch {
	size_t stream;
	const struct ps_thread *thread; /* NULL: everywhere */
	uint64_t slices;                /* 0: not there yet */
	uint64_t last_ns;               /* the end of the last slice */
	uint64_t *counters;             /* tracks, of each event and kind; 0: not there yet */
};

struct tool_stream_tracks {
	struct tool_branch all;
	struct tool_branch *branches; /* of the hardware threads that it has met */
	size_t branch_count, branch_room;
	size_t places; /* of the stream's that were looked at */
};

struct tool_tracks {
	const struct tool_log *log;
	struct ps__trace *trace;
	struct tool_stream_tracks *streams; /* as many as the log has */
	uint64_t *processes, *threads;      /* of each stream; 0: not there yet */
	uint64_t hardware;
	uint64_t *cpus; /* by logical index; the last one is of those that aren't known */
	size_t cpu_count;
};

void tool_tracks_create(struct tool_tracks *tracks, const struct tool_log *log,
                        struct ps__trace *trace);
void tool_tracks_clear(struct tool_tracks *tracks);

/* The branches of a stream, with those of all hardware threads that it has met up to the reader's
 * record. NULL after a complaint. */
struct tool_stream_tracks *tool_tracks_of(struct tool_tracks *tracks, size_t stream);

/* The branch's track of slices. */
uint64_t tool_tracks_slices(struct tool_tracks *tracks, struct tool_branch *branch);
/* Values of the log's events, from this time on. */
void tool_tracks_count(struct tool_tracks *tracks, struct tool_branch *branch, uint64_t time_ns,
                       const struct ps_value *values);

#endif

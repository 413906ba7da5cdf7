/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a session, kept for slices.c. Each CPU has two streams, sorted by time: the session's
 * records, and what counters recorded of the CPU's switches. */
#ifndef PS_TOOLS_SLICE_RECORDS_H
#define PS_TOOLS_SLICE_RECORDS_H

#include <perfsage.h>
#include <stdbool.h>

enum tool_record_kind {
	TOOL_RECORD_IN,
	TOOL_RECORD_WAITS,     /* switched out because it waits */
	TOOL_RECORD_PREEMPTED, /* switched out although it could continue */
	TOOL_RECORD_FORK,      /* extra: the creator's tid */
	TOOL_RECORD_EXIT,
	TOOL_RECORD_NAME,     /* extra: index of the name */
	TOOL_RECORD_EXEC,     /* as NAME, and the task executes a new program */
	TOOL_RECORD_MAPPED,   /* code of a program was mapped */
	TOOL_RECORD_COUNT,    /* extra: number of events */
	TOOL_RECORD_READ,     /* extra: number of events since the CPU's previous switch */
	TOOL_RECORD_HOLE,     /* extra: the hole's end; tid: number of lost records, at most 2^32 -
	                       * 1 */
	TOOL_RECORD_THERE,    /* existed at the beginning; extra: when that was read */
	TOOL_RECORD_RUNNABLE, /* as THERE, and was runnable then */
	TOOL_RECORD_RAN       /* ran at some time on the CPU `extra`, even if no record tells so */
};

struct tool_slice_record {
	uint64_t time_ns;
	uint64_t extra;
	uint32_t pid, tid;
	int cpu;
	uint16_t kind;
	uint16_t event; /* COUNT, READ: index of the event */
};

/* The ring that a record came from. Rings are read, and lose records, independently: the newest
 * record of one says nothing about the other. */
enum tool_ring {
	TOOL_RING_COUNTERS,
	TOOL_RING_SESSION
};

/* Records in blocks, so that records never move in memory. */
struct tool_stream {
	struct tool_slice_record **blocks;
	size_t block_room;
	size_t count;
	size_t next;      /* index of the next record to play */
	uint64_t last_ns; /* time of the newest record */
};

struct tool_slice_records {
	struct tool_stream *streams; /* two for no CPU, two for CPU 0 and so on; of each pair the
	                              * counters' is first */
	size_t stream_count, stream_room;
	char **names;
	size_t name_count, name_room;
	size_t *heap; /* while records are played: the streams, as a heap by their next record's
	               * time */
	size_t heap_count;
	size_t block_count;
	size_t most_blocks; /* limit for all streams; 0: limited by memory only */
	uint64_t lost;      /* number of records that LOST records reported */
	bool is_full;       /* memory ran out, so no more records are kept */
	bool has_tail;      /* a hole follows each CPU's newest record, up to end_ns */
	uint64_t end_ns;
	struct tool_slice_record tail;
};

/* Limits the memory for records, in MiB. */
void tool_slice_records_limit(struct tool_slice_records *records, size_t mib);
/* Keeps a record; called by the listener's functions, too. Returns false if records is full. */
bool tool_slice_records_add(struct tool_slice_records *records,
                            const struct tool_slice_record *record);
/* Adds a hole: lost records of a CPU. Of their number at most 2^32 - 1 is kept. */
void tool_slice_records_add_hole(struct tool_slice_records *records, enum tool_ring ring, int cpu,
                                 uint64_t begin_ns, uint64_t end_ns, uint64_t lost);
/* Returns the sum of the event's COUNT records. Searches all records. */
uint64_t tool_slice_records_sum(const struct tool_slice_records *records, size_t event);
/* Keeps a copy of the name and returns its index; SIZE_MAX if memory runs out. */
size_t tool_slice_records_name(struct tool_slice_records *records, const char *name);
/* Begins to play: tool_slice_records_next then returns all records in the order of time. Holes end
 * at end_ns at the latest. No record may be added afterwards, but the play may begin again.
 * PS_ENOMEM. */
int tool_slice_records_begin(struct tool_slice_records *records, uint64_t end_ns);
/* Returns NULL at the end. */
const struct tool_slice_record *tool_slice_records_next(struct tool_slice_records *records);

void tool_slice_records_clear(struct tool_slice_records *records);

/* Returns a listener that keeps records; its context is `records`. */
struct ps_listener tool_slice_records_listener(struct tool_slice_records *records);

#endif

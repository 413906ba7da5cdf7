/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a session, kept for slices.c: a stream for each CPU, each in the order of time;
 * and another one for what counters told of the CPU's switches. */
#ifndef PS_TOOLS_SLICE_RECORDS_H
#define PS_TOOLS_SLICE_RECORDS_H

#include <perfsage.h>
#include <stdbool.h>

enum tool_record_kind {
	TOOL_RECORD_IN,
	TOOL_RECORD_WAITS,     /* switched out, to wait */
	TOOL_RECORD_PREEMPTED, /* switched out, and could go on */
	TOOL_RECORD_FORK,      /* extra: the creator's tid */
	TOOL_RECORD_EXIT,
	TOOL_RECORD_NAME,   /* extra: index of the name */
	TOOL_RECORD_EXEC,   /* as NAME, and a new program */
	TOOL_RECORD_MAPPED, /* code of a program */
	TOOL_RECORD_COUNT,  /* extra: how many events happened */
	TOOL_RECORD_READ,   /* extra: how many happened since the CPU's switch before */
	TOOL_RECORD_HOLE,   /* extra: its end; tid: how many records were lost, at most 2^32 - 1 */
	TOOL_RECORD_THERE,  /* was there at the beginning; extra: when it was read */
	TOOL_RECORD_RUNNABLE, /* so, and was runnable then */
	TOOL_RECORD_RAN       /* has run on the CPU `extra`, whatever other records tell */
};

struct tool_slice_record {
	uint64_t time_ns;
	uint64_t extra;
	uint32_t pid, tid;
	int cpu;
	uint16_t kind;
	uint16_t event; /* COUNT, READ: which */
};

/* Where a CPU's records come from. Each ring is read by itself, and loses its own records: so the
 * newest record of one tells nothing of the other. */
enum tool_ring {
	TOOL_RING_COUNTERS,
	TOOL_RING_SESSION
};

/* In blocks: what is there is never moved, whatever comes. */
struct tool_stream {
	struct tool_slice_record **blocks;
	size_t block_room;
	size_t count;
	size_t next;      /* to be played */
	uint64_t last_ns; /* of the newest one */
};

struct tool_slice_records {
	struct tool_stream *streams; /* two of no CPU, two of CPU 0 and so on; counters first */
	size_t stream_count, stream_room;
	char **names;
	size_t name_count, name_room;
	size_t *heap; /* while it is played: streams, the one with the earliest record first */
	size_t heap_count;
	size_t block_count;
	size_t most_blocks; /* of all streams; 0: as many as memory has room for */
	uint64_t lost;      /* records, as the kernel told in LOST records */
	bool is_full;       /* nothing is kept any more for lack of memory */
	bool has_tail;      /* behind the newest record of each CPU is a hole, up to end_ns */
	uint64_t end_ns;
	struct tool_slice_record tail;
};

/* Records take at most so much memory, in MiB. */
void tool_slice_records_limit(struct tool_slice_records *records, size_t mib);
/* The functions of a listener keep records by this. False: is_full. */
bool tool_slice_records_add(struct tool_slice_records *records,
                            const struct tool_slice_record *record);
/* Records of the CPU were lost in this time: so many, at most 2^32 - 1 of which are told. */
void tool_slice_records_add_hole(struct tool_slice_records *records, enum tool_ring ring, int cpu,
                                 uint64_t begin_ns, uint64_t end_ns, uint64_t lost);
/* Is there a COUNT of the event? Looks at all records. */
bool tool_slice_records_have_samples(const struct tool_slice_records *records, size_t event);
/* The index of a copy; SIZE_MAX for lack of memory. */
size_t tool_slice_records_name(struct tool_slice_records *records, const char *name);
/* From here on tool_slice_records_next gives all in the order of time; holes last until end_ns at
 * most. PS_ENOMEM. */
int tool_slice_records_begin(struct tool_slice_records *records, uint64_t end_ns);
/* NULL at the end. */
const struct tool_slice_record *tool_slice_records_next(struct tool_slice_records *records);

void tool_slice_records_clear(struct tool_slice_records *records);

/* `context` is the struct tool_slice_records. */
struct ps_listener tool_slice_records_listener(struct tool_slice_records *records);

#endif

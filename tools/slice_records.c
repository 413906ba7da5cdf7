/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the records of a session by CPU, and merges them by time when they are played. */
#include "tools/slice_records.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/slices.h"

#include <linux/perf_event.h>
#include <string.h>

#define BLOCK       4096u
#define BLOCK_BYTES (BLOCK * sizeof(struct tool_slice_record))
#define MIB         ((size_t)1 << 20)

_Static_assert(MIB % BLOCK_BYTES == 0, "a MiB has whole blocks");

static struct tool_slice_record *record_at(const struct tool_stream *stream, size_t index)
{
	return &stream->blocks[index / BLOCK][index % BLOCK];
}

/* The counters' stream comes first: at the same time a counter is read before its task leaves the
 * CPU. */
static size_t index_of(int cpu, enum tool_ring ring)
{
	return 2 * (size_t)(cpu + 1) + (ring == TOOL_RING_SESSION);
}

static int slice_cpu_of(size_t index)
{
	return (int)(index / 2) - 1;
}

static struct tool_stream *find_stream(struct tool_slice_records *records, int cpu,
                                       enum tool_ring ring)
{
	size_t index = index_of(cpu, ring);

	if (index >= records->stream_count) {
		if (!PS__VECTOR_RESERVE(&records->streams, records->stream_count, index + 1,
		                        &records->stream_room))
			return NULL;
		records->stream_count = index + 1;
	}
	return &records->streams[index];
}

static bool slice_make_room(struct tool_slice_records *records, struct tool_stream *stream)
{
	size_t count = stream->count / BLOCK;

	if (stream->count % BLOCK != 0)
		return true;
	if (records->most_blocks && records->block_count == records->most_blocks)
		return false;
	if (!PS__VECTOR_GROW(&stream->blocks, count, &stream->block_room))
		return false;
	stream->blocks[count] = ps__os_calloc(BLOCK, sizeof **stream->blocks);
	records->block_count += stream->blocks[count] != NULL;
	return stream->blocks[count] != NULL;
}

void tool_slice_records_limit(struct tool_slice_records *records, size_t mib)
{
	records->most_blocks = mib * (MIB / BLOCK_BYTES);
}

/* Inserts a record by its time. A record's time is taken before it is written, so an interrupt may
 * write a later one first. */
static void slice_append(struct tool_stream *stream, const struct tool_slice_record *record)
{
	size_t at = stream->count++;

	for (; at > 0 && record->time_ns < record_at(stream, at - 1)->time_ns; at--)
		*record_at(stream, at) = *record_at(stream, at - 1);
	*record_at(stream, at) = *record;
	if (record->time_ns > stream->last_ns)
		stream->last_ns = record->time_ns;
}

static bool add_of(struct tool_slice_records *records, enum tool_ring ring,
                   const struct tool_slice_record *record)
{
	if (records->is_full)
		return false;
	struct tool_stream *stream = find_stream(records, record->cpu, ring);
	if (stream && slice_make_room(records, stream)) {
		slice_append(stream, record);
		return true;
	}
	records->is_full = true;
	return false;
}

bool tool_slice_records_add(struct tool_slice_records *records,
                            const struct tool_slice_record *record)
{
	bool is_read = record->kind == TOOL_RECORD_READ;

	return add_of(records, is_read ? TOOL_RING_COUNTERS : TOOL_RING_SESSION, record);
}

uint64_t tool_slice_records_sum(const struct tool_slice_records *records, size_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < records->stream_count; i++) {
		const struct tool_stream *stream = &records->streams[i];
		for (size_t at = 0; at < stream->count; at++) {
			const struct tool_slice_record *record = record_at(stream, at);
			if (record->kind == TOOL_RECORD_COUNT && record->event == event)
				sum += record->extra;
		}
	}
	return sum;
}

size_t tool_slice_records_name(struct tool_slice_records *records, const char *name)
{
	if (!PS__VECTOR_GROW(&records->names, records->name_count, &records->name_room))
		return SIZE_MAX;
	records->names[records->name_count] = ps__os_strdup(name);
	if (!records->names[records->name_count])
		return SIZE_MAX;
	return records->name_count++;
}

/* Returns the time of the stream's next record; at the end, of the last record, where the tail
 * begins. */
static uint64_t next_ns(const struct tool_stream *stream)
{
	return stream->next < stream->count ? record_at(stream, stream->next)->time_ns
	                                    : stream->last_ns;
}

static bool is_earlier(const struct tool_slice_records *records, size_t one, size_t other)
{
	uint64_t first_ns = next_ns(&records->streams[records->heap[one]]);
	uint64_t second_ns = next_ns(&records->streams[records->heap[other]]);

	if (first_ns != second_ns)
		return first_ns < second_ns;
	/* Records without a CPU come first. */
	return records->heap[one] < records->heap[other];
}

/* Moves the stream down in the heap until no earlier stream is below it. */
static void slice_sink(struct tool_slice_records *records, size_t at)
{
	for (;;) {
		size_t first = at;
		for (size_t below = 2 * at + 1; below <= 2 * at + 2; below++) {
			if (below < records->heap_count && is_earlier(records, below, first))
				first = below;
		}
		if (first == at)
			return;
		size_t stream = records->heap[at];
		records->heap[at] = records->heap[first];
		records->heap[first] = stream;
		at = first;
	}
}

/* Returns the time of the first record after the exit that may show another task on the CPU. */
static uint64_t find_next_ns(const struct tool_stream *stream, size_t exit)
{
	for (size_t i = exit + 1; i < stream->count; i++) {
		const struct tool_slice_record *record = record_at(stream, i);
		if (record->kind == TOOL_RECORD_IN || record->kind == TOOL_RECORD_HOLE ||
		    record->kind == TOOL_RECORD_EXIT)
			return record->time_ns;
	}
	return UINT64_MAX;
}

/* True if the read may belong to the task with this tid. When an ended task leaves its CPU, the
 * kernel may no longer know its tid. */
static bool may_be_of(const struct tool_slice_record *read, uint32_t tid)
{
	return read->tid == tid || read->tid == 0 || read->tid == TOOL_TID_ON_CPU;
}

/*
 * Moves the reads of an ended task's last switch before its EXIT record, because the task leaves
 * its CPU only after that record. These are the reads of the first switch after the record; a CPU's
 * reads of one switch are adjacent. Returns the index of the first read after them.
 */
static size_t give_reads_to_ended(struct tool_stream *reads, size_t first,
                                  const struct tool_slice_record *ended, uint64_t next_ns)
{
	while (first < reads->count && record_at(reads, first)->time_ns <= ended->time_ns)
		first++;
	uint64_t time_ns = first < reads->count ? record_at(reads, first)->time_ns : UINT64_MAX;
	for (; time_ns <= next_ns && first < reads->count; first++) {
		struct tool_slice_record *read = record_at(reads, first);
		if (read->kind != TOOL_RECORD_READ || read->time_ns != time_ns ||
		    !may_be_of(read, ended->tid))
			break;
		read->time_ns = ended->time_ns;
		read->tid = ended->tid;
	}
	return first;
}

static void give_reads(const struct tool_stream *stream, struct tool_stream *reads)
{
	size_t read = 0;

	for (size_t i = 0; i < stream->count && read < reads->count; i++) {
		const struct tool_slice_record *record = record_at(stream, i);
		if (record->kind == TOOL_RECORD_EXIT)
			read = give_reads_to_ended(reads, read, record, find_next_ns(stream, i));
	}
}

int tool_slice_records_begin(struct tool_slice_records *records, uint64_t end_ns)
{
	bool is_again = records->heap != NULL;

	records->end_ns = end_ns;
	records->has_tail |= records->is_full;
	records->heap_count = 0;
	if (!is_again)
		records->heap = ps__os_calloc(records->stream_count + 1, sizeof *records->heap);
	if (!records->heap)
		return ps__fail_memory("the order of the records");
	for (size_t i = 0; i < records->stream_count; i++) {
		if (i % 2 == 1 && !is_again)
			give_reads(&records->streams[i], &records->streams[i - 1]);
		records->streams[i].next = 0;
		if (records->streams[i].count)
			records->heap[records->heap_count++] = i;
	}
	for (size_t i = records->heap_count; i > 0; i--)
		slice_sink(records, i - 1);
	return PS_OK;
}

const struct tool_slice_record *tool_slice_records_next(struct tool_slice_records *records)
{
	if (records->heap_count == 0)
		return NULL;
	size_t index = records->heap[0];
	struct tool_stream *stream = &records->streams[index];
	const struct tool_slice_record *record = &records->tail;
	if (stream->next < stream->count)
		record = record_at(stream, stream->next);
	else
		records->tail = (struct tool_slice_record){.time_ns = stream->last_ns,
		                                           .extra = records->end_ns,
		                                           .cpu = slice_cpu_of(index),
		                                           .kind = TOOL_RECORD_HOLE};
	stream->next++;
	if (stream->next >= stream->count + (records->has_tail && slice_cpu_of(index) >= 0))
		records->heap[0] = records->heap[--records->heap_count];
	slice_sink(records, 0);
	return record;
}

void tool_slice_records_clear(struct tool_slice_records *records)
{
	for (size_t i = 0; i < records->stream_count; i++) {
		struct tool_stream *stream = &records->streams[i];
		for (size_t block = 0; block < stream->block_room; block++)
			ps__os_free(stream->blocks[block]);
		ps__os_free(stream->blocks);
	}
	for (size_t i = 0; i < records->name_count; i++)
		ps__os_free(records->names[i]);
	ps__os_free(records->names);
	ps__os_free(records->streams);
	ps__os_free(records->heap);
}

static struct tool_slice_record begin_record(const struct ps_record *record,
                                             enum tool_record_kind kind)
{
	return (struct tool_slice_record){.time_ns = record->time,
	                                  .pid = record->pid,
	                                  .tid = record->tid,
	                                  .cpu = (int)record->cpu,
	                                  .kind = (uint16_t)kind};
}

static void slice_hear_switch(void *context, const struct ps_session_record *heard)
{
	uint16_t misc = heard->record->misc;
	struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_IN);

	if (misc & PERF_RECORD_MISC_SWITCH_OUT)
		record.kind = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TOOL_RECORD_PREEMPTED
		                                                         : TOOL_RECORD_WAITS;
	tool_slice_records_add(context, &record);
}

/* The FORK record has the time when the new task was created, and the CPU of its creator. */
static void slice_hear_fork(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_FORK);

	record.extra = heard->record->body.other.tid;
	tool_slice_records_add(context, &record);
}

static void slice_hear_exit(void *context, const struct ps_session_record *heard)
{
	const struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_EXIT);

	tool_slice_records_add(context, &record);
}

static void slice_hear_mapped(void *context, const struct ps_session_record *heard)
{
	const struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_MAPPED);

	tool_slice_records_add(context, &record);
}

static void slice_hear_name(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_records *records = context;
	bool is_exec = heard->record->misc & PERF_RECORD_MISC_COMM_EXEC;
	struct tool_slice_record record =
	    begin_record(heard->record, is_exec ? TOOL_RECORD_EXEC : TOOL_RECORD_NAME);
	size_t name = tool_slice_records_name(records, heard->record->text);

	record.extra = name;
	if (name == SIZE_MAX)
		records->is_full = true;
	tool_slice_records_add(records, &record);
}

static void slice_hear_sample(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_COUNT);

	record.extra = heard->period;
	record.event = (uint16_t)heard->event;
	tool_slice_records_add(context, &record);
}

void tool_slice_records_add_hole(struct tool_slice_records *records, enum tool_ring ring, int cpu,
                                 uint64_t begin_ns, uint64_t end_ns, uint64_t lost)
{
	const struct tool_slice_record record = {.time_ns = begin_ns,
	                                         .extra = end_ns,
	                                         .tid = lost < UINT32_MAX ? (uint32_t)lost
	                                                                  : UINT32_MAX,
	                                         .cpu = cpu,
	                                         .kind = TOOL_RECORD_HOLE};

	records->lost += lost;
	add_of(records, ring, &record);
}

static void slice_hear_lost(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_records *records = context;
	const struct ps_record *record = heard->record;
	const struct tool_stream *stream =
	    find_stream(records, (int)record->cpu, TOOL_RING_SESSION);

	tool_slice_records_add_hole(records, TOOL_RING_SESSION, (int)record->cpu,
	                            stream ? stream->last_ns : 0, record->time, record->body.lost);
}

struct ps_listener tool_slice_records_listener(struct tool_slice_records *records)
{
	return (struct ps_listener){.size = sizeof(struct ps_listener),
	                            .context = records,
	                            .sample = slice_hear_sample,
	                            .mmap = slice_hear_mapped,
	                            .comm = slice_hear_name,
	                            .fork = slice_hear_fork,
	                            .exit = slice_hear_exit,
	                            .switched = slice_hear_switch,
	                            .lost = slice_hear_lost};
}

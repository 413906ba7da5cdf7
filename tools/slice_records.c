/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the records of a session by CPU, and merges the CPUs by time. */
#include "tools/slice_records.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

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

static struct tool_stream *find_stream(struct tool_slice_records *records, int cpu)
{
	size_t index = (size_t)(cpu + 1);

	if (index >= records->stream_count) {
		struct tool_stream *streams =
		    ps__vector_reserve(records->streams, records->stream_count, index + 1,
		                       &records->stream_room, sizeof *streams);
		if (!streams)
			return NULL;
		records->streams = streams;
		records->stream_count = index + 1;
	}
	return &records->streams[index];
}

static bool make_room(struct tool_slice_records *records, struct tool_stream *stream)
{
	size_t count = stream->count / BLOCK;

	if (stream->count % BLOCK != 0)
		return true;
	if (records->most_blocks && records->block_count == records->most_blocks)
		return false;
	struct tool_slice_record **blocks = ps__vector_reserve(stream->blocks, count, count + 1,
	                                                       &stream->block_room, sizeof *blocks);
	if (!blocks)
		return false;
	stream->blocks = blocks;
	blocks[count] = ps__os_calloc(BLOCK, sizeof **blocks);
	records->block_count += blocks[count] != NULL;
	return blocks[count] != NULL;
}

void tool_slice_records_limit(struct tool_slice_records *records, size_t mib)
{
	records->most_blocks = mib * (MIB / BLOCK_BYTES);
}

/* A counter is read before its task leaves the CPU, if the clock tells that or not. */
static bool is_before(const struct tool_slice_record *record, const struct tool_slice_record *other)
{
	if (record->time_ns != other->time_ns)
		return record->time_ns < other->time_ns;
	return record->kind == TOOL_RECORD_READ;
}

/* A record is written a little after its time was taken, and an interrupt may write one between. */
static void append(struct tool_stream *stream, const struct tool_slice_record *record)
{
	size_t at = stream->count++;

	for (; at > 0 && is_before(record, record_at(stream, at - 1)); at--)
		*record_at(stream, at) = *record_at(stream, at - 1);
	*record_at(stream, at) = *record;
	if (record->time_ns > stream->last_ns)
		stream->last_ns = record->time_ns;
}

bool tool_slice_records_add(struct tool_slice_records *records,
                            const struct tool_slice_record *record)
{
	if (records->is_full)
		return false;
	struct tool_stream *stream = find_stream(records, record->cpu);
	if (stream && make_room(records, stream)) {
		append(stream, record);
		return true;
	}
	records->is_full = true;
	return false;
}

size_t tool_slice_records_name(struct tool_slice_records *records, const char *name)
{
	char **names =
	    ps__vector_reserve(records->names, records->name_count, records->name_count + 1,
	                       &records->name_room, sizeof *names);

	if (names)
		records->names = names;
	char *copy = names ? ps__os_strndup(name, strlen(name)) : NULL;
	if (!copy)
		return SIZE_MAX;
	names[records->name_count] = copy;
	return records->name_count++;
}

/* Behind its records a stream may have a tail, which begins at the last of them. */
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
	/* Records of no CPU come before. */
	return records->heap[one] < records->heap[other];
}

/* Puts the stream at this place of the heap below those that are earlier. */
static void sink(struct tool_slice_records *records, size_t at)
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

/*
 * A task that has ended leaves its CPU after the record of its end, without a number of its own. So
 * the first reads after that record are moved before it. A CPU's reads of one switch stand one
 * behind the other.
 */
static void give_reads_to_ended(struct tool_stream *stream, size_t exit)
{
	const struct tool_slice_record ended = *record_at(stream, exit);
	size_t at = exit + 1;

	for (; at < stream->count; at++) {
		uint16_t kind = record_at(stream, at)->kind;
		if (kind == TOOL_RECORD_READ)
			break;
		if (kind == TOOL_RECORD_IN || kind == TOOL_RECORD_HOLE || kind == TOOL_RECORD_EXIT)
			return;
	}
	uint64_t time_ns = at < stream->count ? record_at(stream, at)->time_ns : 0;
	for (size_t to = exit; at < stream->count; at++, to++) {
		struct tool_slice_record read = *record_at(stream, at);
		if (read.kind != TOOL_RECORD_READ || read.time_ns != time_ns)
			return;
		read.time_ns = ended.time_ns;
		read.tid = ended.tid;
		for (size_t i = at; i > to; i--)
			*record_at(stream, i) = *record_at(stream, i - 1);
		*record_at(stream, to) = read;
	}
}

static void give_reads(struct tool_stream *stream)
{
	for (size_t i = stream->count; i > 0; i--) {
		if (record_at(stream, i - 1)->kind == TOOL_RECORD_EXIT)
			give_reads_to_ended(stream, i - 1);
	}
}

int tool_slice_records_begin(struct tool_slice_records *records, uint64_t end_ns)
{
	records->end_ns = end_ns;
	records->has_tail |= records->is_full;
	records->heap_count = 0;
	records->heap = ps__os_calloc(records->stream_count + 1, sizeof *records->heap);
	if (!records->heap)
		return ps__fail_memory("the order of the records");
	for (size_t i = 0; i < records->stream_count; i++) {
		give_reads(&records->streams[i]);
		if (records->streams[i].count)
			records->heap[records->heap_count++] = i;
	}
	for (size_t i = records->heap_count; i > 0; i--)
		sink(records, i - 1);
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
		                                           .cpu = (int)index - 1,
		                                           .kind = TOOL_RECORD_HOLE};
	stream->next++;
	if (stream->next >= stream->count + (records->has_tail && index > 0))
		records->heap[0] = records->heap[--records->heap_count];
	sink(records, 0);
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

static void hear_switch(void *context, const struct ps_session_record *heard)
{
	uint16_t misc = heard->record->misc;
	struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_IN);

	if (misc & PERF_RECORD_MISC_SWITCH_OUT)
		record.kind = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TOOL_RECORD_PREEMPTED
		                                                         : TOOL_RECORD_WAITS;
	tool_slice_records_add(context, &record);
}

/* The time of the record is that of the new task's creation; the CPU is its creator's. */
static void hear_fork(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_FORK);

	record.extra = heard->record->body.other.tid;
	tool_slice_records_add(context, &record);
}

static void hear_exit(void *context, const struct ps_session_record *heard)
{
	const struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_EXIT);

	tool_slice_records_add(context, &record);
}

static void hear_mapped(void *context, const struct ps_session_record *heard)
{
	const struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_MAPPED);

	tool_slice_records_add(context, &record);
}

static void hear_name(void *context, const struct ps_session_record *heard)
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

static void hear_sample(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_record record = begin_record(heard->record, TOOL_RECORD_COUNT);

	record.extra = heard->period;
	record.event = (uint16_t)heard->event;
	tool_slice_records_add(context, &record);
}

void tool_slice_records_add_hole(struct tool_slice_records *records, int cpu, uint64_t begin_ns,
                                 uint64_t end_ns, uint64_t lost)
{
	const struct tool_slice_record record = {.time_ns = begin_ns,
	                                         .extra = end_ns,
	                                         .tid = lost < UINT32_MAX ? (uint32_t)lost
	                                                                  : UINT32_MAX,
	                                         .cpu = cpu,
	                                         .kind = TOOL_RECORD_HOLE};

	records->lost += lost;
	tool_slice_records_add(records, &record);
}

static void hear_lost(void *context, const struct ps_session_record *heard)
{
	struct tool_slice_records *records = context;
	const struct ps_record *record = heard->record;
	const struct tool_stream *stream = find_stream(records, (int)record->cpu);

	tool_slice_records_add_hole(records, (int)record->cpu, stream ? stream->last_ns : 0,
	                            record->time, record->body.lost);
}

struct ps_listener tool_slice_records_listener(struct tool_slice_records *records)
{
	return (struct ps_listener){.size = sizeof(struct ps_listener),
	                            .context = records,
	                            .sample = hear_sample,
	                            .mmap = hear_mapped,
	                            .comm = hear_name,
	                            .fork = hear_fork,
	                            .exit = hear_exit,
	                            .switched = hear_switch,
	                            .lost = hear_lost};
}

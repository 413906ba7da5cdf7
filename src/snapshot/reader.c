/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a log from block to block, and from record to record. The numbers of two records tell how
 * many records are missing between them. */
#include "snapshot/reader.h"

#include "base/advice.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int open_file(struct ps_log_reader *reader, const char *path)
{
	reader->path = ps__os_strdup(path);
	if (!reader->path)
		return ps__fail_memory("the name of a log");
	reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (reader->fd < 0 && (errno == EMFILE || errno == ENFILE))
		return ps__fail(PS_ECOUNT,
		                "the log '%s' can't be opened: %s: " PS__ADVICE_DESCRIPTORS, path,
		                strerror(errno));
	if (reader->fd < 0)
		return ps__fail(PS_ESYS, "the log '%s' can't be opened: %s", path, strerror(errno));
	ps__file_id_of(reader->fd, &reader->id);
	int result = ps__log_read_header(reader);
	if (result == PS_OK)
		result = ps__log_list_blocks(reader);
	if (result != PS_OK)
		return result;
	reader->buffer = ps__os_calloc(1, reader->header.block_bytes);
	return reader->buffer ? PS_OK : ps__fail_memory("a block of a log");
}

int ps_log_open(struct ps_log_reader **out, const char *path)
{
	if (!out || !path)
		return ps__fail(PS_EINVAL, "ps_log_open: the %s is NULL",
		                out ? "path" : "pointer for the reader");
	struct ps_log_reader *reader = ps__os_calloc(1, sizeof *reader);
	if (!reader)
		return ps__fail_memory("the reader of a log");
	reader->fd = -1;
	int cancel = ps__cancel_hold();
	int result = open_file(reader, path);
	if (result == PS_OK)
		*out = reader;
	else
		ps_log_close(reader);
	ps__cancel_release(cancel);
	return result;
}

static void clear_states(struct ps__log_state *states)
{
	for (size_t index = 0; index < PS_LOG_MOST_POINTS; index++) {
		ps__os_free(states[index].parts);
		ps__os_free(states[index].places);
	}
	memset(states, 0, PS_LOG_MOST_POINTS * sizeof *states);
}

void ps_log_close(struct ps_log_reader *reader)
{
	if (!reader)
		return;
	clear_states(reader->cursor.now);
	clear_states(reader->cursor.before);
	for (size_t index = 0; index < reader->source_count; index++)
		ps__log_source_clear(&reader->sources[index]);
	ps_topology_destroy(reader->topology);
	int cancel = ps__cancel_hold();
	if (reader->fd >= 0 && ps__file_id_is(reader->fd, &reader->id))
		close(reader->fd);
	ps__cancel_release(cancel);
	ps__os_free(reader->sources);
	ps__os_free(reader->entries);
	ps__os_free(reader->buffer);
	ps__os_free(reader->path);
	ps__os_free(reader);
}

struct ps_component *ps_log_root(const struct ps_log_reader *reader)
{
	return reader ? ps_topology_root(reader->topology) : NULL;
}

size_t ps_log_stream_count(const struct ps_log_reader *reader)
{
	return reader ? reader->source_count : 0;
}

size_t ps_log_damaged_blocks(const struct ps_log_reader *reader)
{
	return reader ? reader->damaged : 0;
}

enum ps_log_end ps_log_end(const struct ps_log_reader *reader)
{
	return reader ? reader->end : PS_LOG_END_UNKNOWN;
}

static const struct ps__log_source *source_at(const struct ps_log_reader *reader, size_t stream)
{
	return reader && stream < reader->source_count ? &reader->sources[stream] : NULL;
}

int ps_log_describe(const struct ps_log_reader *reader, size_t stream, struct ps_log_info *info)
{
	const struct ps__log_source *source = source_at(reader, stream);

	if (!source || !info)
		return ps__fail(PS_EINVAL,
		                info ? "ps_log_describe: there is no stream %zu"
		                     : "ps_log_describe: the place for stream %zu is NULL",
		                stream);
	if (info->size != sizeof *info)
		return ps__fail(PS_EINVAL,
		                "ps_log_describe: info->size is %zu, not %zu: set it to "
		                "sizeof(struct ps_log_info)",
		                info->size, sizeof *info);
	*info = source->info;
	info->size = sizeof *info;
	return PS_OK;
}

const char *ps_log_event_name(const struct ps_log_reader *reader, size_t stream, size_t index)
{
	const struct ps__log_source *source = source_at(reader, stream);

	return source && index < source->info.event_count ? source->recording->column[index].name
	                                                  : NULL;
}

const char *ps_log_point_name(const struct ps_log_reader *reader, size_t stream, size_t index)
{
	const struct ps__log_source *source = source_at(reader, stream);

	return source && index < source->info.point_count ? source->points[index] : NULL;
}

const char *ps_log_field_name(const struct ps_log_reader *reader, size_t stream, size_t index)
{
	const struct ps__log_source *source = source_at(reader, stream);

	return source && index < source->info.field_count ? source->fields[index] : NULL;
}

/* True if the writer may overwrite blocks: only the writer of a ring that isn't closed does. */
static bool may_be_reused(const struct ps_log_reader *reader)
{
	return reader->header.ring_blocks && reader->end != PS_LOG_END_CLOSED;
}

/* True if the stream's previous block was overwritten while the blocks were listed, or since then.
 * A block that is missing in the list was overwritten then, not damaged. */
static bool is_behind_reused(const struct ps_log_reader *reader, const struct ps__log_entry *entry)
{
	return reader->cursor.is_behind_reused ||
	       (may_be_reused(reader) && reader->damaged == 0 &&
	        entry->block.sequence > entry[-1].block.sequence + 1);
}

/* Counts records that are missing before a block. In a ring, records before a stream's oldest block
 * were overwritten, unless this is the stream's first block. The number of lost records in the
 * overwritten blocks isn't known. */
static void note_gap(struct ps_log_reader *reader, const struct ps__log_entry *entry,
                     bool is_oldest)
{
	struct ps__log_source *source = reader->cursor.source;
	uint64_t count = reader->cursor.block.first - source->expected;
	bool is_overwritten =
	    is_oldest ? entry->block.sequence > 0 : is_behind_reused(reader, entry);

	if (reader->header.ring_blocks && is_overwritten)
		source->info.dropped += count;
	else
		source->info.missing += count;
}

/* Returns the stream's block after the current one; NULL if the next block of the list is of
 * another stream, or there is none. */
static const struct ps__log_entry *next_of_stream(const struct ps_log_reader *reader)
{
	const struct ps__log_entry *next = &reader->entries[reader->cursor.next_entry];

	return reader->cursor.next_entry < reader->entry_count &&
	               next->block.stream == next[-1].block.stream
	           ? next
	           : NULL;
}

static void note_damage(struct ps_log_reader *reader)
{
	reader->damaged++;
	reader->counted += next_of_stream(reader) ? 1 : 0;
}

/* True if `records` and `lost` of a block are possible: no checksum covers them. Compares them with
 * the records that were read, the room behind those, and the number of the next block's first
 * record. In a stream's last block, a 0 behind the records that were read means that no more
 * follow. */
static bool has_possible_end(const struct ps_log_reader *reader, const struct ps__log_entry *next)
{
	const struct ps__log_cursor *cursor = &reader->cursor;
	const struct ps__log_block *block = &cursor->block;
	uint64_t read = cursor->source->expected - block->first;
	uint64_t wanted = block->records - read;

	if (block->records < read || wanted > (uint64_t)(cursor->end - cursor->at))
		return false;
	/* If the next block begins before the end of this one, the next block is damaged. */
	if (next && next->block.sequence == block->sequence + 1 &&
	    next->block.first >= cursor->source->expected)
		return next->block.first - block->first == block->records + block->lost;
	if (block->lost > PS__LOG_MOST_LOST)
		return false;
	return next || wanted == 0 || *cursor->at != 0 || reader->end == PS_LOG_END_CUT;
}

/* Ends a block: counts records that are missing in it or after it. */
static void end_block(struct ps_log_reader *reader)
{
	struct ps__log_cursor *cursor = &reader->cursor;
	const struct ps__log_block *block = &cursor->block;
	struct ps__log_source *source = cursor->source;
	const struct ps__log_entry *next = next_of_stream(reader);
	bool is_ended = block->records != PS__LOG_OPEN;

	if (is_ended && !has_possible_end(reader, next))
		note_damage(reader);
	/* If there is a next block, the number of its first record tells how many are missing. */
	else if (is_ended && !next)
		source->info.missing +=
		    block->first + block->records + block->lost - source->expected;
	cursor->at = NULL;
	cursor->is_at_record = false;
}

static void reader_forget(struct ps__log_cursor *cursor)
{
	for (size_t point = 0; point < PS_LOG_MOST_POINTS; point++) {
		cursor->now[point].time = cursor->before[point].time = 0;
		cursor->now[point].count = cursor->before[point].count = 0;
		cursor->now[point].paused = cursor->before[point].paused = 0;
	}
	memset(cursor->fields, 0, sizeof cursor->fields);
	memset(cursor->masks, 0, sizeof cursor->masks);
}

static struct ps__log_source *source_of(const struct ps_log_reader *reader,
                                        const struct ps__log_block *block)
{
	struct ps__log_source *source = reader->sources;

	while (source->number != block->stream)
		source++;
	return source;
}

static void begin_block(struct ps_log_reader *reader, const struct ps__log_entry *entry)
{
	struct ps__log_cursor *cursor = &reader->cursor;
	struct ps__log_source *source = source_of(reader, &entry->block);
	bool is_oldest = cursor->source != source;
	if (is_oldest) {
		/* Parts of another stream may have another width. */
		clear_states(cursor->now);
		clear_states(cursor->before);
		reader_forget(cursor);
	}
	cursor->source = source;
	/* If records are missing before the block, there is no previous record. */
	if (cursor->block.first > source->expected) {
		note_gap(reader, entry, is_oldest);
		reader_forget(cursor);
	}
	cursor->is_behind_reused = false;
	source->expected = cursor->block.first;
	cursor->number = cursor->block.first;
	cursor->at =
	    (uint64_t *)((char *)reader->buffer + sizeof cursor->block + source->description_bytes);
	cursor->end = reader->buffer + reader->header.block_bytes / sizeof(uint64_t);
}

/* Notes that a block has changed since the blocks were listed. */
static void note_change(struct ps_log_reader *reader)
{
	if (may_be_reused(reader))
		reader->cursor.is_behind_reused = true;
	else
		note_damage(reader);
}

/* True if the block's records come after those that were read: record numbers grow from block to
 * block, and no record is read twice. */
static bool is_in_order(const struct ps_log_reader *reader, const struct ps__log_block *block)
{
	return block->first >= source_of(reader, block)->expected;
}

/* Reads the next block that is still there. PS_ENOEVST if there is none. */
static int reader_next_block(struct ps_log_reader *reader)
{
	struct ps__log_cursor *cursor = &reader->cursor;

	while (cursor->next_entry < reader->entry_count) {
		const struct ps__log_entry *entry = &reader->entries[cursor->next_entry++];
		bool is_cut, is_changed;
		int result = ps__log_read_block(reader, entry, &is_cut, &is_changed);
		if (result != PS_OK)
			return result;
		if (is_cut)
			reader->end = PS_LOG_END_CUT;
		if (!is_changed && is_in_order(reader, &entry->block)) {
			memcpy(&cursor->block, reader->buffer, sizeof cursor->block);
			begin_block(reader, entry);
			return PS_OK;
		}
		if (!is_changed)
			note_damage(reader);
		else if (!is_cut)
			note_change(reader);
	}
	return PS_ENOEVST;
}

/* Copies the current points to those of the previous record, before a record is read. */
static int keep_states(struct ps__log_cursor *cursor)
{
	size_t width = cursor->source->width;

	for (size_t point = 0; point < cursor->source->info.point_count; point++) {
		struct ps__log_state *now = &cursor->now[point], *before = &cursor->before[point];
		if (before->room < now->count) {
			ps__os_free(before->parts);
			ps__os_free(before->places);
			before->room = 0;
			before->parts =
			    ps__os_calloc(now->room * (1 + width), sizeof *before->parts);
			before->places = ps__os_calloc(now->room, sizeof *before->places);
			if (!before->parts || !before->places)
				return ps__fail_memory("a snapshot of a log");
			before->room = now->room;
		}
		before->time = now->time;
		before->count = now->count;
		before->paused = now->paused;
		if (now->count == 0)
			continue;
		memcpy(before->parts, now->parts, now->count * (1 + width) * sizeof *now->parts);
		memcpy(before->places, now->places, now->count * sizeof *now->places);
	}
	return PS_OK;
}

static int next_record(struct ps_log_reader *reader, uint32_t changed[2])
{
	struct ps__log_cursor *cursor = &reader->cursor;
	int result = PS_OK;

	for (;;) {
		if (!cursor->at)
			result = reader_next_block(reader);
		if (result == PS_OK)
			result = keep_states(cursor);
		if (result != PS_OK)
			return result;
		result = ps__log_read_record(reader, changed);
		if (result != PS_ENOEVST)
			return result;
		end_block(reader);
		result = PS_OK;
	}
}

int ps_log_next(struct ps_log_reader *reader, struct ps_log_record *record)
{
	uint32_t changed[2];

	if (!reader || (record && record->size != sizeof *record))
		return ps__fail(PS_EINVAL, reader ? "ps_log_next: record->size isn't set to "
		                                    "sizeof(struct ps_log_record)"
		                                  : "ps_log_next: the reader is NULL");
	struct ps__log_cursor *cursor = &reader->cursor;
	int result = next_record(reader, changed);
	cursor->is_at_record = result == PS_OK;
	if (result == PS_ENOEVST)
		return ps__fail(PS_ENOEVST, "ps_log_next: there is no further record");
	if (result != PS_OK)
		return result;
	struct ps__log_source *source = cursor->source;
	source->info.records++;
	source->expected = cursor->number + 1;
	if (record)
		*record = (struct ps_log_record){.size = sizeof *record,
		                                 .stream = (size_t)(source - reader->sources),
		                                 .number = cursor->number,
		                                 .points = changed[0],
		                                 .fields = changed[1]};
	cursor->number++;
	return PS_OK;
}

int ps_log_value(const struct ps_log_reader *reader, unsigned field, struct ps_log_value *out)
{
	if (!reader || !out)
		return ps__fail(PS_EINVAL, "ps_log_value: the %s is NULL",
		                out ? "reader" : "place for the value");
	if (!reader->cursor.is_at_record)
		return ps__fail(PS_ENOEVST, "ps_log_value: the reader is at no record");
	if (field >= reader->cursor.source->info.field_count)
		return ps__fail(PS_EINVAL, "ps_log_value: there is no field %u: the type has %zu",
		                field, reader->cursor.source->info.field_count);
	*out = reader->cursor.fields[field];
	out->kind = reader->cursor.source->kinds[field];
	return PS_OK;
}

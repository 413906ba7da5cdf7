/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the parts of a log's file other than its records: the header, the topology, and the list of
 * blocks. The file may have any bytes. */
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "snapshot/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LOOKS 4 /* reads of a block before it counts as damaged */

static int reader_fail_read(const struct ps_log_reader *reader)
{
	return ps__fail(PS_ESYS, "the log '%s' can't be read: %s", reader->path, strerror(errno));
}

int ps__log_read_at(const struct ps_log_reader *reader, uint64_t offset, void *to,
                    size_t size_bytes)
{
	size_t done = 0;

	if (!ps__file_id_is(reader->fd, &reader->id))
		return ps__fail(PS_ECLOST,
		                "the program has closed the descriptor of the log '%s', which is "
		                "its reader's: open the log again",
		                reader->path);
	while (done < size_bytes) {
		int cancel = ps__cancel_hold();
		ssize_t got =
		    pread(reader->fd, (char *)to + done, size_bytes - done, (off_t)(offset + done));
		ps__cancel_release(cancel);
		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return reader_fail_read(reader);
		done += got > 0 ? (size_t)got : 0;
	}
	memset((char *)to + done, 0, size_bytes - done);
	return PS_OK;
}

uint64_t ps__log_block_offset(const struct ps_log_reader *reader, size_t index)
{
	return reader->header.first_block + index * reader->header.block_bytes;
}

static int note_cut(const struct ps_log_reader *reader, size_t index, bool *is_cut)
{
	struct stat status;

	if (fstat(reader->fd, &status) < 0)
		return reader_fail_read(reader);
	/* A writer on a full disk may shorten the file, but never by a block in use. */
	*is_cut = (uint64_t)status.st_size < ps__log_block_offset(reader, index + 1) &&
	          (uint64_t)status.st_size < reader->size_bytes;
	return PS_OK;
}

int ps__log_read_block(struct ps_log_reader *reader, const struct ps__log_entry *entry,
                       bool *is_cut, bool *is_changed)
{
	const size_t checked = offsetof(struct ps__log_block, records);
	uint64_t offset = ps__log_block_offset(reader, entry->index);
	struct ps__log_block behind;
	int result = ps__log_read_at(reader, offset, reader->buffer, reader->header.block_bytes);

	/* A ring's writer clears a block from the front on: if the header is still there after the
	 * reading, the block was read whole. */
	if (result == PS_OK)
		result = ps__log_read_at(reader, offset, &behind, sizeof behind);
	if (result != PS_OK)
		return result;
	*is_changed = memcmp(reader->buffer, &entry->block, checked) != 0 ||
	              memcmp(&behind, &entry->block, checked) != 0;
	return note_cut(reader, entry->index, is_cut);
}

static int fail_header(const struct ps_log_reader *reader, const char *what)
{
	return ps__fail(PS_EINVAL, "the log '%s' %s", reader->path, what);
}

static int check_kind(const struct ps_log_reader *reader)
{
	const struct ps__log_header *header = &reader->header;

	if (memcmp(header->magic, PS__LOG_MAGIC, sizeof header->magic) != 0)
		return ps__fail(PS_EINVAL, "'%s' is no log of perfsage", reader->path);
	if (reader->size_bytes < sizeof *header)
		return fail_header(reader, "was cut off in its header: use the whole file");
	if (header->byte_order == __builtin_bswap32(PS__LOG_BYTE_ORDER))
		return ps__fail(PS_EINVAL,
		                "the log '%s' was written on a machine of the other byte order: "
		                "read it on such a machine",
		                reader->path);
	if (header->byte_order != PS__LOG_BYTE_ORDER)
		return fail_header(reader, "is damaged: no byte order is known that it has");
	if (header->version != PS__LOG_VERSION)
		return ps__fail(PS_EINVAL,
		                "the log '%s' has version %u of the format, and this perfsage "
		                "reads version %u: use the one that wrote it",
		                reader->path, (unsigned)header->version, PS__LOG_VERSION);
	return PS_OK;
}

static int reader_check_sizes(const struct ps_log_reader *reader)
{
	const struct ps__log_header *header = &reader->header;

	if (header->block_bytes == 0 || header->block_bytes % PS__LOG_ALIGNMENT ||
	    header->block_bytes > PS__LOG_MOST_BLOCK)
		return fail_header(reader, "is damaged: its blocks have an impossible size");
	if (header->xml_bytes > PS__LOG_MOST_XML || header->first_block % PS__LOG_ALIGNMENT ||
	    header->first_block < sizeof *header + header->xml_bytes ||
	    header->first_block > PS__LOG_MOST_XML + 2 * PS__LOG_ALIGNMENT)
		return fail_header(reader, "is damaged: its topology has an impossible size");
	if (reader->size_bytes < sizeof *header + header->xml_bytes)
		return fail_header(reader, "was cut off in its topology: use the whole file");
	return PS_OK;
}

static int load_topology(struct ps_log_reader *reader, char *xml)
{
	size_t words = (reader->header.xml_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	char subject[512];
	int result = ps__log_read_at(reader, sizeof reader->header, xml, reader->header.xml_bytes);

	if (result != PS_OK)
		return result;
	if (reader->header.check != ps__log_check(&reader->header,
	                                          offsetof(struct ps__log_header, check),
	                                          (const uint64_t *)xml, words))
		return fail_header(reader,
		                   "is damaged: its header or topology has another checksum");
	snprintf(subject, sizeof subject, "the topology in the log '%.400s'", reader->path);
	return ps__topology_load_text(&reader->topology, xml, reader->header.xml_bytes, subject);
}

int ps__log_read_header(struct ps_log_reader *reader)
{
	struct stat status;

	if (fstat(reader->fd, &status) < 0)
		return reader_fail_read(reader);
	if (!S_ISREG(status.st_mode))
		return ps__fail(PS_EINVAL, "'%s' is no regular file, so it is no log",
		                reader->path);
	reader->size_bytes = (uint64_t)status.st_size;
	int result = ps__log_read_at(reader, 0, &reader->header, sizeof reader->header);
	if (result == PS_OK)
		result = check_kind(reader);
	if (result == PS_OK)
		result = reader_check_sizes(reader);
	if (result != PS_OK)
		return result;
	/* Room for whole words, and for a NUL. */
	char *xml = ps__os_calloc(1, reader->header.xml_bytes + 2 * sizeof(uint64_t));
	if (!xml)
		return ps__fail_memory("the topology of a log");
	result = load_topology(reader, xml);
	ps__os_free(xml);
	return result;
}

static struct ps__log_source *find_source(struct ps_log_reader *reader, uint64_t number)
{
	for (size_t index = 0; index < reader->source_count; index++) {
		if (reader->sources[index].number == number)
			return &reader->sources[index];
	}
	return NULL;
}

/* Takes ownership of the description. */
static int add_source(struct ps_log_reader *reader, const struct ps__log_block *block,
                      char *description)
{
	size_t count = reader->source_count;
	struct ps__log_source *sources = reader->sources;

	if ((count & (count - 1)) == 0) {
		sources = ps__os_calloc(count ? 2 * count : 1, sizeof *sources);
		if (!sources) {
			ps__os_free(description);
			return ps__fail_memory("the streams of a log");
		}
		if (count)
			memcpy(sources, reader->sources, count * sizeof *sources);
		ps__os_free(reader->sources);
		reader->sources = sources;
	}
	int result = ps__log_source_init(&sources[count], block->stream, description,
	                                 block->description_bytes);
	reader->source_count += result == PS_OK ? 1 : 0;
	return result;
}

/* All blocks of a stream have the same description. */
static int join_source(struct ps_log_reader *reader, const struct ps__log_block *block,
                       char *description)
{
	const struct ps__log_source *source = find_source(reader, block->stream);

	if (!source)
		return add_source(reader, block, description);
	bool is_same = source->description_bytes == block->description_bytes &&
	               memcmp(source->original, description, source->description_bytes) == 0;
	ps__os_free(description);
	return is_same ? PS_OK : PS_EINVAL;
}

/* PS_EINVAL, without a detail: the block is damaged. */
static int check_block(struct ps_log_reader *reader, size_t index,
                       const struct ps__log_block *block)
{
	size_t size_bytes = block->description_bytes;

	if (size_bytes == 0 || size_bytes % sizeof(uint64_t) ||
	    size_bytes > reader->header.block_bytes - sizeof *block)
		return PS_EINVAL;
	char *description = ps__os_calloc(1, size_bytes);
	if (!description)
		return ps__fail_memory("the description of a log's stream");
	int result = ps__log_read_at(reader, ps__log_block_offset(reader, index) + sizeof *block,
	                             description, size_bytes);
	if (result == PS_OK &&
	    (description[size_bytes - 1] != '\0' ||
	     block->check != ps__log_check(block, offsetof(struct ps__log_block, check),
	                                   (const uint64_t *)description,
	                                   size_bytes / sizeof(uint64_t))))
		result = PS_EINVAL;
	if (result == PS_OK)
		return join_source(reader, block, description);
	ps__os_free(description);
	return result;
}

static int add_entry(struct ps_log_reader *reader, size_t *room, size_t index,
                     const struct ps__log_block *block)
{
	if (!PS__VECTOR_GROW(&reader->entries, reader->entry_count, room))
		return ps__fail_memory("the list of a log's blocks");
	reader->entries[reader->entry_count++] = (struct ps__log_entry){index, *block};
	return PS_OK;
}

/* Orders entries by stream, then by number, then by their order in the file. */
static int compare_entries(const void *one, const void *other)
{
	const struct ps__log_block *a = &((const struct ps__log_entry *)one)->block;
	const struct ps__log_block *b = &((const struct ps__log_entry *)other)->block;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	size_t one_index = ((const struct ps__log_entry *)one)->index;
	size_t other_index = ((const struct ps__log_entry *)other)->index;
	return (one_index > other_index) - (one_index < other_index);
}

/* Sorts the entries. If two blocks have one number, the second is a copy that overwrote another
 * block: it counts as damaged. */
static void sort_entries(struct ps_log_reader *reader)
{
	struct ps__log_entry *entries = reader->entries;
	size_t kept = 0;

	if (reader->entry_count)
		qsort(entries, reader->entry_count, sizeof *entries, compare_entries);
	for (size_t index = 0; index < reader->entry_count; index++) {
		const struct ps__log_block *block = &entries[index].block;
		if (kept && entries[kept - 1].block.stream == block->stream &&
		    entries[kept - 1].block.sequence == block->sequence)
			reader->damaged++;
		else
			entries[kept++] = entries[index];
	}
	reader->entry_count = kept;
}

/* True behind the last block of a closed file or of a ring, where nothing is written. */
static bool is_behind_last(const struct ps_log_reader *reader, size_t index)
{
	if (reader->header.ring_blocks)
		return index >= reader->header.ring_blocks;
	return reader->end == PS_LOG_END_CLOSED && index >= reader->closed_blocks;
}

/* Reads a block's header and description. PS_OK with magic 0 or PS__LOG_EMPTY_MAGIC: the block
 * isn't in use. PS_EINVAL, without a detail: the block is damaged. */
static int read_entry(struct ps_log_reader *reader, size_t index, struct ps__log_block *block)
{
	int result =
	    ps__log_read_at(reader, ps__log_block_offset(reader, index), block, sizeof *block);

	if (result != PS_OK)
		return result;
	/* No stream has used the block yet, or a ring's writer is overwriting it. */
	if ((block->magic == 0 && index >= reader->closed_blocks) ||
	    block->magic == PS__LOG_EMPTY_MAGIC)
		return PS_OK;
	if (block->magic != PS__LOG_BLOCK_MAGIC || is_behind_last(reader, index))
		return PS_EINVAL;
	return check_block(reader, index, block);
}

/* True if the file ends inside the block's header or description: the block was cut off, not
 * damaged. reader_find_end notices the cut. */
static bool is_block_cut(const struct ps_log_reader *reader, size_t index,
                         const struct ps__log_block *block)
{
	uint64_t there = reader->size_bytes - ps__log_block_offset(reader, index);
	bool is_part = there < reader->header.block_bytes && block->magic == PS__LOG_BLOCK_MAGIC;

	return !is_behind_last(reader, index) &&
	       (there < sizeof *block ||
	        (is_part && there - sizeof *block < block->description_bytes));
}

static int look_at_block(struct ps_log_reader *reader, size_t *room, size_t index)
{
	struct ps__log_block block;
	int result = read_entry(reader, index, &block);

	/* The writer may have been taking or filling the block: look again. */
	for (int look = 1;
	     look < MOST_LOOKS && result == PS_EINVAL && reader->end != PS_LOG_END_CLOSED; look++)
		result = read_entry(reader, index, &block);
	if (result == PS_EINVAL && is_block_cut(reader, index, &block))
		return PS_OK;
	if (result == PS_EINVAL) {
		reader->damaged++;
		/* Behind the last block no record can be missing. */
		reader->counted += is_behind_last(reader, index) ? 1 : 0;
		return PS_OK;
	}
	return result == PS_OK && block.magic == PS__LOG_BLOCK_MAGIC
	           ? add_entry(reader, room, index, &block)
	           : result;
}

/* Finds the state of the file's end. A ring has all its blocks from the beginning on. The size of
 * another file is only known once it is closed; while it is written, it may end inside a block. */
static enum ps_log_end reader_find_end(struct ps_log_reader *reader,
                                       const struct ps__log_close *close, uint64_t size_bytes)
{
	const struct ps__log_header *header = &reader->header;
	const struct ps__log_close expected = ps__log_close_of(close->blocks);
	bool is_known = memcmp(close, &expected, sizeof expected) == 0;
	bool is_closed = is_known && close->blocks != PS__LOG_OPEN;
	uint64_t behind = size_bytes > header->first_block ? size_bytes - header->first_block : 0;
	uint64_t needed = header->ring_blocks ? header->ring_blocks : is_closed ? close->blocks : 0;

	reader->ends_in_block = behind % header->block_bytes != 0;
	reader->closed_blocks = header->ring_blocks || !is_closed ? 0 : close->blocks;
	if (behind / header->block_bytes < needed || (!is_known && reader->ends_in_block))
		return PS_LOG_END_CUT;
	if (!is_known)
		return PS_LOG_END_UNKNOWN;
	return is_closed ? PS_LOG_END_CLOSED : PS_LOG_END_OPEN;
}

/* True if more records may come into each stream's last block. This is so after a kill, too. If a
 * last block has ended, there may have been another block after it. */
static bool are_last_blocks_open(const struct ps_log_reader *reader)
{
	for (size_t index = 0; index < reader->entry_count; index++) {
		const struct ps__log_entry *entry = &reader->entries[index];
		if (entry->block.records != PS__LOG_OPEN &&
		    (index + 1 == reader->entry_count ||
		     entry[1].block.stream != entry->block.stream))
			return false;
	}
	return reader->entry_count > 0;
}

bool ps__log_may_lack_end(const struct ps_log_reader *reader)
{
	/* A shorter ring would be cut, also without a note of its end. */
	if (reader->end == PS_LOG_END_UNKNOWN && reader->header.ring_blocks)
		return false;
	return reader->end == PS_LOG_END_CUT ||
	       (reader->end != PS_LOG_END_CLOSED &&
	        (reader->ends_in_block || !are_last_blocks_open(reader)));
}

/* In a ring a missing number is no damage, because a ring drops blocks. */
bool ps__log_counts_damage(const struct ps_log_reader *reader)
{
	uint64_t gaps = 0, expected = 0;

	if (reader->damaged == reader->counted || reader->header.ring_blocks)
		return reader->damaged == reader->counted;
	for (size_t index = 0; index < reader->entry_count; index++) {
		const struct ps__log_block *block = &reader->entries[index].block;
		if (index == 0 || reader->entries[index - 1].block.stream != block->stream)
			expected = 0;
		gaps += block->sequence > expected ? block->sequence - expected : 0;
		expected = block->sequence + 1;
	}
	return gaps >= reader->damaged - reader->counted;
}

/* True, too, if a stream's oldest block isn't its first one: not all blocks need to be in use,
 * because a block that is being overwritten is empty for a moment. */
bool ps__log_is_overwritten(const struct ps_log_reader *reader)
{
	const struct ps__log_entry *entries = reader->entries;

	if (reader->header.ring_blocks == 0)
		return false;
	for (size_t index = 0; index < reader->entry_count; index++) {
		bool is_oldest =
		    index == 0 || entries[index - 1].block.stream != entries[index].block.stream;
		if (is_oldest && entries[index].block.sequence > 0)
			return true;
	}
	return reader->entry_count + reader->damaged >= reader->header.ring_blocks;
}

int ps__log_list_blocks(struct ps_log_reader *reader)
{
	size_t room = 0;
	struct ps__log_close close;
	struct stat status;
	/* The end mark is read before the size, because only a closed file stops growing. */
	int result = ps__log_read_at(reader, ps__log_close_offset(reader->header.xml_bytes), &close,
	                             sizeof close);

	if (result != PS_OK)
		return result;
	if (fstat(reader->fd, &status) < 0)
		return reader_fail_read(reader);
	reader->size_bytes = (uint64_t)status.st_size;
	reader->end = reader_find_end(reader, &close, reader->size_bytes);
	for (size_t index = 0;
	     result == PS_OK && ps__log_block_offset(reader, index) < reader->size_bytes; index++)
		result = look_at_block(reader, &room, index);
	if (result == PS_OK)
		sort_entries(reader);
	return result;
}

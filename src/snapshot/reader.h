/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the reader of logs. The reader trusts nothing in a file: each length is compared with the
 * bytes that are there, and an impossible length ends its block.
 */
#ifndef PS_SNAPSHOT_READER_H
#define PS_SNAPSHOT_READER_H

#include "base/file_id.h"
#include "eventset/parts.h"
#include "snapshot/format.h"
#include "store/recording.h"
#include "topology/tree.h"

#include <perfsage/log_reader.h>

/* A CPU and a place (store/recording.h), with a history that tells how to read the words of a part
 * for them. */
struct ps__log_place {
	int cpu;
	uint32_t place;
	struct ps__history *history;
};

/* The snapshot of a point. A part has its label (eventset/parts.h), then the counts. */
struct ps__log_state {
	uint64_t time; /* 0: not known */
	size_t count, room;
	uint32_t *places; /* for each part: an index of the stream's list of places */
	uint64_t *parts;
	uint16_t paused; /* events that were paused before: bits of ps__log_paused_bit */
};

struct ps__log_source {
	uint64_t number;
	struct ps_log_info info;
	char *description; /* its lines are cut into entries */
	char *original;    /* the description as in the blocks */
	size_t description_bytes;
	struct ps__recording *recording;
	size_t width; /* words of a part, without the label */
	const char **points, **fields;
	enum ps_log_kind *kinds;
	struct ps__log_place *places;
	size_t place_count, place_room;
	uint64_t expected; /* the number of the next record */
};

/* A block with a valid header. */
struct ps__log_entry {
	size_t index; /* number of the block in the file */
	struct ps__log_block block;
};

struct ps__log_cursor {
	size_t next_entry; /* index in the list of blocks */
	struct ps__log_source *source;
	struct ps__log_block block; /* the header of the block in the buffer */
	/* Words in the buffer that aren't read yet; at NULL: there is no block */
	uint64_t *at, *end;
	uint64_t number;
	bool is_at_record;
	/* The stream's previous block was overwritten while the log was read. */
	bool is_behind_reused;
	uint32_t masks[2]; /* points and fields of a record without masks of its own */
	struct ps__log_state now[PS_LOG_MOST_POINTS], before[PS_LOG_MOST_POINTS];
	struct ps_log_value fields[PS_LOG_MOST_FIELDS];
};

struct ps_log_reader {
	char *path;
	int fd;
	struct ps__file_id id; /* of the file that fd was opened for */
	struct ps__log_header header;
	struct ps_topology *topology;
	struct ps__log_entry *entries;
	size_t entry_count, damaged;
	/* Number of damaged blocks whose loss is known: a block of the same stream follows, or the
	 * block is behind the last block of the file */
	size_t counted;
	/* Number of blocks of a closed file, all written to; 0: not known, or a ring */
	uint64_t closed_blocks;
	enum ps_log_end end;
	bool ends_in_block;  /* the file ends inside a block */
	uint64_t size_bytes; /* of the file, when its blocks were listed */
	struct ps__log_source *sources;
	size_t source_count;
	uint64_t *buffer; /* a block */
	struct ps__log_cursor cursor;
};

/* reader_file.c: read the header, the topology and the list of blocks. A code with a detail. */
int ps__log_read_header(struct ps_log_reader *reader);
int ps__log_list_blocks(struct ps_log_reader *reader);
/* Reads bytes; bytes behind the end of the file are 0. PS_ESYS or PS_ECLOST. */
int ps__log_read_at(const struct ps_log_reader *reader, uint64_t offset, void *to,
                    size_t size_bytes);
/* Reads a block into the buffer. *is_cut: the file has become shorter since the blocks were listed,
 * and ends before the block's end. *is_changed: the block is no longer the one in the list, or was
 * overwritten while it was read. PS_ESYS or PS_ECLOST. */
int ps__log_read_block(struct ps_log_reader *reader, const struct ps__log_entry *entry,
                       bool *is_cut, bool *is_changed);
uint64_t ps__log_block_offset(const struct ps_log_reader *reader, size_t index);

/* True if records may be missing at the end, and their number isn't known, also if the file has no
 * note of its end. False after a kill of the writer, which loses no record. */
bool ps__log_may_lack_end(const struct ps_log_reader *reader);
/* True if each damaged block's records are counted as missing, because a good block of the same
 * stream follows. */
bool ps__log_counts_damage(const struct ps_log_reader *reader);
/* True for a ring that may have overwritten blocks. Such blocks may have had numbers of lost
 * records, or may have been the only blocks of a stream. */
bool ps__log_is_overwritten(const struct ps_log_reader *reader);

/* reader_stream.c: makes a stream from its description, and takes ownership of the description.
 * PS_EINVAL, without a detail, if the description is wrong; PS_ENOMEM. */
int ps__log_source_init(struct ps__log_source *source, uint64_t number, char *description,
                        size_t size_bytes);
void ps__log_source_clear(struct ps__log_source *source);
/* Finds or makes an entry of the stream's list of places; returns its index. -1 if out of memory;
 * -2 if it would have more places than any machine. */
ptrdiff_t ps__log_source_place(struct ps__log_source *source, const struct ps_topology *topology,
                               int cpu, uint32_t place);

/* reader_record.c: reads the record at the cursor, and goes behind it. changed: masks of the points
 * and fields that the record has set. PS_OK; PS_ENOEVST if the block has no further record;
 * PS_ENOMEM with a detail. */
int ps__log_read_record(struct ps_log_reader *reader, uint32_t changed[2]);
static inline uint64_t *ps__log_part(const struct ps__log_state *state, size_t index, size_t width)
{
	return state->parts + index * (1 + width);
}

#endif

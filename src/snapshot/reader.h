/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside the reader of logs. Nothing of a file is believed: each length is compared with what is
 * there, and what doesn't fit ends its block.
 */
#ifndef PS_SNAPSHOT_READER_H
#define PS_SNAPSHOT_READER_H

#include "base/file_id.h"
#include "eventset/parts.h"
#include "snapshot/format.h"
#include "store/recording.h"
#include "topology/tree.h"

#include <perfsage/log_reader.h>

/* Where a stream has been: how the words of such a part are read. */
struct ps__log_place {
	int cpu;
	uint32_t place;
	struct ps__history *history;
};

/* The snapshot of a point. A part: the label (eventset/parts.h), then the counts. */
struct ps__log_state {
	uint64_t time; /* 0: not known */
	size_t count, room;
	uint32_t *places; /* of the parts: in the stream's list */
	uint64_t *parts;
};

struct ps__log_source {
	uint64_t number;
	struct ps_log_info info;
	char *description; /* whose lines were cut into entries */
	char *original;    /* as it stands in the blocks */
	size_t description_bytes;
	struct ps__recording *recording;
	size_t width; /* words of a part, without the label */
	const char **points, **fields;
	enum ps_log_kind *kinds;
	struct ps__log_place *places;
	size_t place_count, place_room;
	uint64_t expected; /* the number of the next record */
};

/* A block whose header is in order. */
struct ps__log_entry {
	size_t index; /* in the file */
	struct ps__log_block block;
};

struct ps__log_cursor {
	size_t next_entry; /* in the list of blocks */
	struct ps__log_source *source;
	struct ps__log_block block; /* the header of what is in the buffer */
	uint64_t *at, *end;         /* in the buffer; at NULL: there is no block */
	uint64_t number;
	bool is_at_record;
	/* The stream's block before was taken again while the log was read. */
	bool is_behind_reused;
	uint32_t masks[2]; /* points and fields that records have, unless they say more */
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
	/* Damaged ones of the list, behind which a block of the stream follows; and those behind
	 * the last block of the file */
	size_t counted;
	uint64_t closed_blocks; /* all of them were written to; 0: not known, or a ring */
	enum ps_log_end end;
	bool ends_in_block;  /* in the midst of one */
	uint64_t size_bytes; /* of the file, when its blocks were listed */
	struct ps__log_source *sources;
	size_t source_count;
	uint64_t *buffer; /* a block */
	struct ps__log_cursor cursor;
};

/* reader_file.c: the header, the topology and the list of blocks. A code with a detail. */
int ps__log_read_header(struct ps_log_reader *reader);
int ps__log_list_blocks(struct ps_log_reader *reader);
/* Reads bytes; what is behind the end of the file is 0. PS_ESYS. */
int ps__log_read_at(const struct ps_log_reader *reader, uint64_t offset, void *to,
                    size_t size_bytes);
/* Reads a block into the buffer. *is_cut: the file has become shorter than the block, since the
 * blocks were listed. *is_changed: the block isn't the one of the list any more, or ceased to be it
 * while it was read. PS_ESYS. */
int ps__log_read_block(struct ps_log_reader *reader, const struct ps__log_entry *entry,
                       bool *is_cut, bool *is_changed);
uint64_t ps__log_block_offset(const struct ps_log_reader *reader, size_t index);

/* May records at the end be missing that nobody has counted? Not so after a kill. */
bool ps__log_may_lack_end(const struct ps_log_reader *reader);
/* Are the records of each damaged block counted as missing, as a good block of its stream follows?
 */
bool ps__log_counts_damage(const struct ps_log_reader *reader);
/* Is it a ring whose blocks were all used? Those that were overwritten may have told of lost
 * records, or have been all that there was of a stream. */
bool ps__log_is_overwritten(const struct ps_log_reader *reader);

/* reader_stream.c: makes a stream of a description, which it takes over. PS_EINVAL, without a
 * detail, if it is none; PS_ENOMEM. */
int ps__log_source_init(struct ps__log_source *source, uint64_t number, char *description,
                        size_t size_bytes);
void ps__log_source_clear(struct ps__log_source *source);
/* How parts of a CPU are read: an index of the list; -1 for lack of memory, -2 if there are more
 * than any machine has. */
ptrdiff_t ps__log_source_place(struct ps__log_source *source, const struct ps_topology *topology,
                               int cpu, uint32_t place);

/* reader_record.c: reads the record at the cursor, and goes behind it: which points and fields it
 * has set. PS_OK; PS_ENOEVST if there is none in this block any more; PS_ENOMEM with a detail. */
int ps__log_read_record(struct ps_log_reader *reader, uint32_t changed[2]);
static inline uint64_t *ps__log_part(const struct ps__log_state *state, size_t index, size_t width)
{
	return state->parts + index * (1 + width);
}

#endif

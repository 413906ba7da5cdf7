/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of a log's file, for the writer and the reader. doc/log-format.md describes it
 * completely.
 *
 * The file has a header with the topology, then blocks of equal size. A block has its own header,
 * the description of its stream, then records. Each block can be read without the others.
 */
#ifndef PS_SNAPSHOT_FORMAT_H
#define PS_SNAPSHOT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define PS__LOG_MAGIC       "\211PSLOG\r\n"
#define PS__LOG_BYTE_ORDER  0x01020304u
#define PS__LOG_VERSION     1u
#define PS__LOG_BLOCK_MAGIC 0x4b434f4c42475350u /* "PSGBLOCK" */
#define PS__LOG_EMPTY_MAGIC 0x5954504d45475350u /* "PSGEMPTY": the block is never used */
#define PS__LOG_CLOSE_MAGIC 0x45534f4c43475350u /* "PSGCLOSE" */
/* Blocks begin at multiples of this: no kernel has larger pages. */
#define PS__LOG_ALIGNMENT  ((size_t)64 * 1024)
#define PS__LOG_MOST_BLOCK ((size_t)64 * 1024 * 1024)
#define PS__LOG_MOST_XML   ((size_t)64 * 1024 * 1024)
/* Value of `records` in struct ps__log_block, and of `blocks` in struct ps__log_close, as long as
 * more may come. */
#define PS__LOG_OPEN UINT64_MAX
/* The most events, and the most groups, of a stream. */
#define PS__LOG_MOST_EVENTS ((size_t)4096)
/* The largest possible `lost` of a block: to lose more records would take years. */
#define PS__LOG_MOST_LOST (UINT64_C(1) << 48)

/* The beginning of the file. The topology follows, as hwloc's XML. */
struct ps__log_header {
	char magic[8];
	uint32_t byte_order;
	uint32_t version;
	uint64_t block_bytes;
	uint64_t ring_blocks; /* number of blocks of a ring; 0: no ring, the file grows */
	uint64_t first_block; /* offset of the first block */
	uint64_t xml_bytes;
	uint64_t monotonic_ns; /* when the log was made, by CLOCK_MONOTONIC and CLOCK_REALTIME */
	uint64_t realtime_ns;
	uint64_t check; /* checksum of all members before it, and of the XML */
};

/* Comes after the topology. The files of older writers have zeros there. */
struct ps__log_close {
	uint64_t magic;
	uint64_t blocks; /* number of blocks once the file is closed; until then PS__LOG_OPEN */
	uint64_t check;  /* checksum of all members before it */
};

/* The beginning of a block. The description of the stream follows. */
struct ps__log_block {
	uint64_t magic;
	uint64_t stream;            /* number of the stream in the file */
	uint64_t sequence;          /* number of the block in its stream, from 0 */
	uint64_t first;             /* number of the block's first record in its stream, from 0 */
	uint64_t description_bytes; /* a multiple of 8; filled up with NULs */
	uint64_t check;             /* checksum of all members before it, and of the description */
	uint64_t records; /* number of records once no more come; until then PS__LOG_OPEN */
	uint64_t lost;    /* number of records after the last one for which the file had no space */
};

/* The first word of a record. No record has length 0. */
#define PS__LOG_LENGTH    0xffffu    /* words, with this one */
#define PS__LOG_HAS_MASKS (1u << 16) /* the next word has masks: which points and fields follow */
#define PS__LOG_IS_FULL   (1u << 17) /* one more word has masks: which are new in this record */
#define PS__LOG_CHECK     32         /* the upper 32 bits: a checksum of all other bits */
#define PS__LOG_KNOWN     0x3ffffu

/* The first word of a snapshot's part */
#define PS__LOG_MARK  32 /* the mark has 16 bits from here; the bits below are the CPU, signed */
#define PS__LOG_PLACE 48 /* the place (store/recording.h) has 15 bits from here */
/* If this bit of the mark is set, another word comes before the counts: the part's label from bit
 * 16 on (eventset/parts.h). Without this bit the label's two marks are the same. */
#define PS__LOG_HAS_LABEL (1ull << (PS__LOG_MARK + 14))
#define PS__LOG_MORE      (1ull << 63) /* another part of the same snapshot follows */

/* The word with a part's label has the events that were paused from this bit on. */
#define PS__LOG_PAUSED 48

/* Returns the bit of a paused event. There are 16 bits: the last one is for all further events. */
static inline uint16_t ps__log_paused_bit(size_t event)
{
	return (uint16_t)(1u << (event < 15 ? event : 15));
}

/* Two sums: the sum of the words, and the sum of all values that the first sum has had. Words that
 * are all 0, or that are left from an earlier record, have another checksum, except in one of 2^32
 * cases. */
struct ps__log_sums {
	uint64_t plain, weighted;
};

static inline void ps__log_sum_word(struct ps__log_sums *sums, uint64_t word)
{
	sums->plain += word;
	sums->weighted += sums->plain;
}

static inline void ps__log_sum(struct ps__log_sums *sums, const uint64_t *words, size_t count)
{
	struct ps__log_sums local = *sums;

	for (size_t index = 0; index < count; index++)
		ps__log_sum_word(&local, words[index]);
	*sums = local;
}

static inline uint64_t ps__log_fold(const struct ps__log_sums *sums)
{
	uint64_t mixed =
	    (sums->plain ^ (sums->weighted << 23 | sums->weighted >> 41)) * 0x9e3779b97f4a7c15u;

	return mixed ^ mixed >> 32;
}

/* Returns the sums with which the checksum of each record of a block begins. So a record that is
 * left from another block, or from an earlier lap of the ring, has another checksum. */
static inline struct ps__log_sums ps__log_seed(const struct ps__log_block *block)
{
	return (struct ps__log_sums){block->check, block->first + 1};
}

/* Returns a record's first word with its checksum, which covers `start` and the rest. */
static inline uint64_t ps__log_seal(struct ps__log_sums sums, uint64_t start, const uint64_t *rest,
                                    size_t count)
{
	ps__log_sum(&sums, &start, 1);
	ps__log_sum(&sums, rest, count);
	return start | (ps__log_fold(&sums) & 0xffffffffu) << PS__LOG_CHECK;
}

/* As ps__log_seal, but for a first word that is known only after the rest was summed. sums: the
 * sums of a 0 instead of the first word, and of the rest. Now the word is added once to the first
 * sum, and once for each word of the record to the second sum. */
static inline uint64_t ps__log_seal_late(struct ps__log_sums sums, uint64_t start)
{
	sums.plain += start;
	sums.weighted += start * (start & PS__LOG_LENGTH);
	return start | (ps__log_fold(&sums) & 0xffffffffu) << PS__LOG_CHECK;
}

/* Returns the checksum of a header and of the bytes behind it, filled up with NULs to words. */
static inline uint64_t ps__log_check(const void *header, size_t header_bytes, const uint64_t *rest,
                                     size_t rest_words)
{
	struct ps__log_sums sums = {1, 1};

	ps__log_sum(&sums, header, header_bytes / sizeof(uint64_t));
	ps__log_sum(&sums, rest, rest_words);
	return ps__log_fold(&sums);
}

/* Returns the offset of struct ps__log_close: after the topology's last word. */
static inline size_t ps__log_close_offset(size_t xml_bytes)
{
	size_t words = (xml_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);

	return sizeof(struct ps__log_header) + words * sizeof(uint64_t);
}

static inline struct ps__log_close ps__log_close_of(uint64_t blocks)
{
	struct ps__log_close close = {PS__LOG_CLOSE_MAGIC, blocks, 0};

	close.check = ps__log_check(&close, offsetof(struct ps__log_close, check), NULL, 0);
	return close;
}

#endif

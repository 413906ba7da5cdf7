/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside a stream: the next record, and the counts that a reader knows from earlier records. */
#ifndef PS_SNAPSHOT_STREAM_H
#define PS_SNAPSHOT_STREAM_H

#include "base/stack.h"
#include "eventset/parts.h"
#include "snapshot/log.h"
#include "store/recording.h"

#include <perfsage/error.h>

struct ps__fast_path;

struct ps__log_point {
	struct ps_snapshot *snapshot;
	/* The parts of the last record, in the snapshot's order, and the snapshot's `opening` at
	 * that time */
	uint64_t *written;
	size_t written_count, written_room;
	uint64_t written_opening;
	/* The part of the task's hardware thread in the last record: its index, and its first word
	 * without the mark */
	size_t own;
	uint64_t own_place;
	/* The events that were paused before the last record's snapshot, as the label's word has
	 * them */
	uint64_t paused;
};

/* True if only the part of the task's hardware thread can differ from `written`. The result stays
 * true until the point is taken again. */
static inline bool ps__log_point_has_stayed(const struct ps__log_point *point)
{
	return point->snapshot->opening && point->snapshot->opening == point->written_opening;
}

struct ps__log_field {
	enum ps_log_kind kind;
	size_t words;
	uint64_t word[1 + PS_LOG_TEXT_BYTES / sizeof(uint64_t)];
};

/* A mask has the bits of points, and above them the bits of fields. It is one word, because a
 * processor waits when it loads a word that was just stored in two halves. */
#define PS__LOG_FIELDS_SHIFT 32

static inline uint64_t ps__log_point_bit(unsigned point)
{
	return UINT64_C(1) << point;
}

static inline uint64_t ps__log_field_bit(unsigned field)
{
	return UINT64_C(1) << PS__LOG_FIELDS_SHIFT << field;
}

static inline uint32_t ps__log_points_of(uint64_t mask)
{
	return (uint32_t)mask;
}

static inline uint32_t ps__log_fields_of(uint64_t mask)
{
	return (uint32_t)(mask >> PS__LOG_FIELDS_SHIFT);
}

/* The place of the next record in a stream's page. */
struct ps__log_next {
	uint64_t *at;
	uint64_t *end; /* end of the page; NULL: there is none */
	/* A usual record has one part of each point, and isn't the first of the block. There is
	 * room for a usual record if `at` is before this. NULL: the next record isn't a usual
	 * one */
	const uint64_t *usual_until;
	uint64_t moved;     /* mask of points that have not stayed: the record isn't a usual one */
	size_t usual_words; /* the most words of a usual record */
	struct ps__log_sums seed; /* start of the page's checksums */
};

struct ps_log_stream {
	struct ps_log *log;
	struct {
		struct ps_eventset *set;
		struct ps__fast_path *fast; /* the set's fast path */
		uint64_t of;                /* `of` of the set's snapshots */
	} source;
	uint64_t number; /* number of the stream in the file */
	size_t point_count, field_count;
	struct ps__log_point *points;
	struct ps__log_field *fields;
	/* Masks. `known` and `changed` are not neighbours: compilers would load such a pair at
	 * once, and the processor would wait until both stores of the previous record are done. */
	uint64_t known;   /* points and fields that had a value in the last record */
	uint64_t latest;  /* points and fields of the last record in the block */
	uint64_t changed; /* points and fields that were taken or set since the last record */
	char *description;
	size_t description_bytes; /* a multiple of 8 */
	struct ps__log_page page;
	struct ps__log_next next;
	uint64_t sequence; /* number of the next block */
	uint64_t records;  /* number of records in the page */
	uint64_t attempts; /* number of all records that were written or lost */
	/* A call was left by a jump: it isn't known which parts were written last */
	bool is_broken;
	volatile uintptr_t busy; /* not 0 while a call is under way: base/stack.h */
};

/* describe.c: makes a stream's description: lines as in doc/log-format.md, then NULs up to a
 * multiple of 8 bytes. PS_ENOMEM. */
int ps__log_describe_type(const struct ps__recording *recording, const struct ps_log_type *type,
                          char **out, size_t *size_bytes);
/* Returns the events that were paused at some time before the point was taken, in the bits from
 * PS__LOG_PAUSED on. */
uint64_t ps__log_find_paused(const struct ps_log_stream *stream, const struct ps__log_point *point);
/* Checks the names and numbers of a type. PS_OK, or PS_EINVAL with a detail. */
int ps__log_check_type(const struct ps_log_type *type);

/* stream.c: makes a stream. A higher layer fills the stream's points by ps__log_fill_point, not by
 * ps_log_take. The set must be started, and ps__log_check_type must have accepted the type. The
 * stream gets a block when its first record is written. PS_EBUF, PS_ENOMEM. */
int ps__log_stream_make(struct ps_log_stream **out, struct ps_log *log, struct ps_eventset *set,
                        const struct ps_log_type *type);
/* Makes room for a point of the next record, and returns the point's snapshot. It has this number
 * of parts, which are all 0. NULL if out of memory. */
struct ps_snapshot *ps__log_fill_point(struct ps_log_stream *stream, unsigned point, size_t parts);

/* record.c: counts a record that can't be written, and returns the code. */
int ps__log_lose(struct ps_log_stream *stream, int code);

/* record.c: begins a block, and ends the previous one. On failure the stream is as before. */
int ps__log_next_block(struct ps_log_stream *stream);
/* Ends the stream's block: no more records are written into it. */
void ps__log_end_block(struct ps_log_stream *stream);

/* record.c: repairs a stream after a jump out of a call: counts the written records anew. */
void ps__log_recover(struct ps_log_stream *stream) __attribute__((cold));

/* record.c: the slow path of ps__log_enter, with which each call begins that changes the next
 * record. PS_EINVAL or PS_ECNFLCT with a detail. */
int ps__log_enter_slowly(struct ps_log_stream *stream, const char *call, uintptr_t stack)
    __attribute__((cold));
static inline int ps__log_enter(struct ps_log_stream *stream, const char *call)
{
	if (__builtin_expect(!stream || stream->busy, 0)) {
		uintptr_t stack;
		ps__arch_note_stack(&stack);
		int result = ps__log_enter_slowly(stream, call, stack);
		if (result != PS_OK)
			return result;
	}
	ps__arch_note_stack(&stream->busy);
	atomic_signal_fence(memory_order_seq_cst);
	return PS_OK;
}

static inline void ps__log_leave(struct ps_log_stream *stream)
{
	atomic_signal_fence(memory_order_seq_cst);
	stream->busy = 0;
}

#endif

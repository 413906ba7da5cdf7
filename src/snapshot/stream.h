/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside a stream: what the next record holds, and what the reader knows of the last ones. */
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
	/* The parts as they were written last, in this order; and the snapshot's `opening` */
	uint64_t *written;
	size_t written_count, written_room;
	uint64_t written_opening;
	/* The task's part then; and the word for its place, without the mark */
	size_t own;
	uint64_t own_place;
};

/* Does only the part of the task's hardware thread differ from what was written? Once that is so,
 * it is until the point is taken again. */
static inline bool ps__log_point_has_stayed(const struct ps__log_point *point)
{
	return point->snapshot->opening && point->snapshot->opening == point->written_opening;
}

struct ps__log_field {
	enum ps_log_kind kind;
	size_t words;
	uint64_t word[1 + PS_LOG_TEXT_BYTES / sizeof(uint64_t)];
};

/* Masks have bits of points, and above them of fields. They are one word, as a processor waits
 * where it loads a word that was stored in two halves just before. */
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
	uint64_t *end; /* of the page; NULL: there is none */
	/* Before it a usual record has room: one part of each point, and not the first of the
	 * block. NULL: the next one is another */
	const uint64_t *usual_until;
	uint64_t moved;           /* mask: points that have not stayed: the record isn't usual */
	size_t usual_words;       /* the most that a usual record has */
	struct ps__log_sums seed; /* of the page's checks */
};

struct ps_log_stream {
	struct ps_log *log;
	struct {
		struct ps_eventset *set;
		struct ps__fast_path *fast; /* the set's */
		uint64_t of;                /* what its snapshots are of */
	} source;
	uint64_t number; /* in the file */
	size_t point_count, field_count;
	struct ps__log_point *points;
	struct ps__log_field *fields;
	/* Masks. `known` and `changed` don't stand side by side: compilers load such a pair at
	 * once, and the processor then waits until both stores of the record before are done. */
	uint64_t known;   /* they had a value when a record was written last */
	uint64_t latest;  /* those of the last record in the block */
	uint64_t changed; /* taken or set since the last record */
	char *description;
	size_t description_bytes; /* a multiple of 8 */
	struct ps__log_page page;
	struct ps__log_next next;
	uint64_t sequence; /* of the next block */
	uint64_t records;  /* in the page */
	uint64_t attempts; /* in all: records that were written, or lost */
	bool is_broken;    /* a call was left in its midst: what was written last is not known */
	volatile uintptr_t busy; /* a call is under way: base/stack.h */
};

/* describe.c: the lines of doc/log-format.md, with NULs up to a multiple of 8 bytes. PS_ENOMEM. */
int ps__log_describe_type(const struct ps__recording *recording, const struct ps_log_type *type,
                          char **out, size_t *size_bytes);
/* Are its names and numbers such as a description can have? PS_EINVAL. */
int ps__log_check_type(const struct ps_log_type *type);

/* stream.c: a stream whose points are filled by a room above, not by ps_log_take. The set was
 * started; the type is one that ps__log_check_type accepts. It takes a block when it is written to.
 * PS_EBUF, PS_ENOMEM. */
int ps__log_stream_make(struct ps_log_stream **out, struct ps_log *log, struct ps_eventset *set,
                        const struct ps_log_type *type);
/* A point of the next record of such a stream, for so many of the set's parts, which are 0. NULL
 * for lack of memory. */
struct ps_snapshot *ps__log_fill_point(struct ps_log_stream *stream, unsigned point, size_t parts);

/* record.c: counts a record that can't be written, and returns the code. */
int ps__log_lose(struct ps_log_stream *stream, int code);

/* record.c: begins a block, and ends the one before. On failure the stream is as it was. */
int ps__log_next_block(struct ps_log_stream *stream);
/* No more records come into its block. */
void ps__log_end_block(struct ps_log_stream *stream);

/* record.c: a call was left in its midst. What was written is counted again. */
void ps__log_recover(struct ps_log_stream *stream) __attribute__((cold));

/* record.c: the beginning of a call that changes what the next record holds. PS_ECNFLCT. */
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

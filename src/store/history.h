/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A history: the rows that one event set stored for one hardware thread, ordered by timestamp.
 *
 * A row is a timestamp followed by the recording's counts: for each group enabled and running
 * nanoseconds, then one value for each event. Each row has a 16-bit mark beside it. Rows [first,
 * count) exist. A row keeps its number, unless rows are moved (history_update.c). Chunks of 64 rows
 * come from the recording's pool. When a bounded history has dropped all rows of a chunk, the chunk
 * goes back to the pool. The pool's memory is freed with the topology, or by
 * ps_topology_clear_readings, which runs while nobody reads. So a reader never follows a dangling
 * pointer.
 *
 * A look-up by timestamp misses the cache twice at most. A binary search among the chunks' starts,
 * which are few enough to stay in the cache, finds the chunk. The chunk's entry then predicts the
 * row. Starts and entries are written when the next chunk begins, not with each row, so the newest
 * chunk is searched without them.
 *
 * There is one writer. Readers look under the recording's sequence (recording.h), and discard a
 * result if a writer changed the history meanwhile.
 */
#ifndef PS_STORE_HISTORY_H
#define PS_STORE_HISTORY_H

#include <perfsage/value.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PS__CHUNK_ROWS 64

/* While a chunk is in the pool's list, its first word is the address of the next chunk. */
struct ps__chunk {
	_Atomic uint16_t marks[PS__CHUNK_ROWS];
	_Atomic uint64_t words[]; /* PS__CHUNK_ROWS * stride */
};

/* The source of chunks: extents of populated pages. Used by the writer alone. */
struct ps__pool {
	struct ps__extent *extents; /* newest first */
	struct ps__chunk *free;
	size_t chunk_bytes;
	size_t next_extent_bytes;
	bool is_reserved;
	size_t spare_chunks; /* in the free list and uncut at the end of the newest extent */
};

void ps__pool_init(struct ps__pool *pool, size_t stride);
void ps__pool_clear(struct ps__pool *pool);
int ps__pool_reserve(struct ps__pool *pool, size_t chunks); /* 0, or -1 for lack of memory */
void ps__pool_give_back(struct ps__pool *pool, struct ps__chunk *chunk);

/* A chunk of rows, and how to find one of them by its timestamp. */
struct ps__entry {
	_Atomic(struct ps__chunk *) chunk;
	_Atomic uint64_t curve; /* valid once the chunk is indexed */
};

/*
 * A curve predicts a row's place in its chunk from the time since the chunk's
 * first row. It consists of 7 straight pieces, equally long in time, and ends
 * where the next chunk is expected to start. A piece is divided into 256 units.
 * Bits 0 to 5 are a shift, bits 6 to 15 a factor: nanoseconds * factor >> shift
 * gives units. Each of the other 6 bytes says where a piece begins, in quarters
 * of a row. The first piece begins at 0 and the last one ends at 256.
 */
#define PS__CURVE_PIECES      7u
#define PS__CURVE_UNITS       256u
#define PS__CURVE_QUARTERS    4u
#define PS__CURVE_SHIFT_BITS  6
#define PS__CURVE_FACTOR_BITS 10

/* The chunks of a history, at (row number / 64) modulo capacity. A larger directory replaces a full
 * one; readers may still use the older one. */
struct ps__directory {
	struct ps__directory *older;
	size_t capacity; /* a power of two */
	/* The timestamps of the chunks' first rows, once the chunks are indexed */
	_Atomic uint64_t *starts;
	struct ps__entry entries[]; /* numbered as the starts */
};

struct ps__history {
	/* The release follows the entries; ps__history_chunk acquires. */
	_Atomic(struct ps__directory *) directory;
	_Atomic size_t first; /* the first row; released by the writer after the rows */
	_Atomic size_t count; /* released after the row's words; acquired by readers */
	size_t stride;        /* words in a row */
	/* Rows below this number have a chunk; all of these chunks but the last are indexed. room,
	 * gone and is_attached are used by the writer alone */
	size_t room;
	size_t gone;          /* number of rows with PS__MARK_GONE */
	_Atomic size_t swept; /* number of rows below `first` that were gone, not dropped */
	uint32_t place;       /* see struct ps__column; written before the first row */
	struct ps__pool *pool;

	struct ps__recording *recording;
	struct ps_thread *thread; /* NULL until attached to a Thread */
	bool is_attached;         /* true if it is in the Thread's list */
	/* Written before the history is published, never after */
	struct ps__history *next_in_recording;
	struct ps__history *next_in_thread; /* likewise */
};

/* Row marks. */
enum {
	PS__MARK_ATTRIBUTION = 0x0007, /* enum ps_attribution */
	PS__MARK_MOVED = 0x0010,
	PS__MARK_WENT_BACK = 0x0020,
	PS__MARK_ENDED = 0x0040,
	PS__MARK_INTERRUPTED = 0x0080,
	PS__MARK_STORED = 0x0008, /* stored by ps_store: counted, whatever the group's times are */
	PS__MARK_INCOMPLETE = 0x0400, /* something that should have been counted was not */
	PS__MARK_SATURATED = 0x0800,
	PS__MARK_TOOK_TURNS =
	    0x2000, /* groups took turns on the hardware, and the task was on several CPUs */
	/* the counts were divided by an estimate; some of them may belong to any other part */
	PS__MARK_UNPLACED = 0x8000,
	PS__MARK_FLAGS = 0xacf8,
	/* The reading was updated and has a new row at the end, so this row no longer counts */
	PS__MARK_GONE = 0x1000,
	/* Where the base of the row's reading is. Neither bit: the base is 0. VALUE: equal to the
	 * row. APART: in the set's history of bases. */
	PS__MARK_BASE_IS_VALUE = 0x0100,
	PS__MARK_BASE_APART = 0x0200
};

/* Joins the marks of two parts: the weaker attribution, and the flags of both. */
static inline uint16_t ps__mark_join(uint16_t one, uint16_t other)
{
	unsigned attribution = one & PS__MARK_ATTRIBUTION;

	if ((other & PS__MARK_ATTRIBUTION) > attribution)
		attribution = other & PS__MARK_ATTRIBUTION;
	return (uint16_t)(attribution | ((one | other) & PS__MARK_FLAGS));
}

/* Returns the attribution that this part's mark forces on all other parts of the reading, or 0.
 * Counts whose hardware thread isn't known can belong to any of the parts. */
static inline uint16_t ps__mark_doubt(uint16_t mark)
{
	if ((mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_LAST_CPU)
		return PS_ATTRIBUTION_LAST_CPU;
	return mark & PS__MARK_UNPLACED ? PS_ATTRIBUTION_MIXED : 0;
}

int ps__history_init(struct ps__history *history, struct ps__pool *pool,
                     size_t stride); /* 0, or -1 for lack of memory */
/* frees the directories; the pool owns the chunks */
void ps__history_clear(struct ps__history *history);
int ps__history_reserve(struct ps__history *history,
                        size_t rows); /* makes room for this many more rows in the directory */

/* Makes sure that a row can be appended. Returns 0, or -1 for lack of
 * memory. */
int ps__history_make_room(struct ps__history *history);

/* Appends a row whose words will be written later; there must be room. Returns its number. */
size_t ps__history_append(struct ps__history *history, uint64_t timestamp);

/* Appends the row behind the last one. The caller has already written its words. */
static inline void ps__history_publish(struct ps__history *history)
{
	size_t count = atomic_load_explicit(&history->count, memory_order_relaxed);

	atomic_store_explicit(&history->count, count + 1, memory_order_release);
}

/* Drops the oldest rows beyond `keep`. */
void ps__history_trim(struct ps__history *history, size_t keep);

/* history_update.c: moves a row that gets a new timestamp to the end, and each row after it one
 * place down. */
void ps__history_move_to_end(struct ps__history *history, size_t row);

/* Like ps__history_move_to_end, but moves no other rows: appends a copy, for which there must be
 * room, and retires the row. */
void ps__history_copy_to_end(struct ps__history *history, size_t row);

/*
 * Marks a row as gone. If many rows are gone, closes up the other rows, which then get new numbers.
 * So a history doesn't grow when its rows are updated over and over. Not for a bounded history.
 */
void ps__history_retire(struct ps__history *history, size_t row);
void ps__history_close_up(struct ps__history *history); /* closes up the rows that are not gone */

/* Indexes the chunks [begin, end), which are full. */
void ps__history_index(struct ps__history *history, size_t begin, size_t end);

/* Drops the newest row. The history must have no readers. */
void ps__history_pop(struct ps__history *history);

/* Returns the chunk of a row; NULL if a writer changed the history meanwhile. */
static inline struct ps__chunk *ps__history_chunk(const struct ps__history *history, size_t row)
{
	struct ps__directory *directory =
	    atomic_load_explicit(&history->directory, memory_order_acquire);

	return atomic_load_explicit(
	    &directory->entries[(row / PS__CHUNK_ROWS) & (directory->capacity - 1)].chunk,
	    memory_order_acquire);
}

/* The words of a row in its chunk; [0] is the timestamp. */
static inline _Atomic uint64_t *ps__history_words(const struct ps__history *history,
                                                  struct ps__chunk *chunk, size_t row)
{
	return &chunk->words[(row % PS__CHUNK_ROWS) * history->stride];
}

/* One word of a row that exists. */
static inline _Atomic uint64_t *ps__history_word(const struct ps__history *history, size_t row,
                                                 size_t word)
{
	return ps__history_words(history, ps__history_chunk(history, row), row) + word;
}

static inline _Atomic uint16_t *ps__history_mark(struct ps__chunk *chunk, size_t row)
{
	return &chunk->marks[row % PS__CHUNK_ROWS];
}

static inline bool ps__history_is_gone(const struct ps__history *history, size_t row)
{
	struct ps__chunk *chunk = ps__history_chunk(history, row);

	return chunk && (atomic_load_explicit(ps__history_mark(chunk, row), memory_order_acquire) &
	                 PS__MARK_GONE);
}

/* The addresses of a row. */
struct ps__history_row {
	_Atomic uint64_t *words; /* NULL: there is no such row */
	_Atomic uint16_t *mark;
};

#define PS__NO_ROW ((struct ps__history_row){NULL, NULL})

/* A row of a chunk; PS__NO_ROW if there is no chunk (NULL). */
static inline struct ps__history_row ps__history_row_of(const struct ps__history *history,
                                                        struct ps__chunk *chunk, size_t row)
{
	if (__builtin_expect(!chunk, 0))
		return PS__NO_ROW;
	return (struct ps__history_row){ps__history_words(history, chunk, row),
	                                ps__history_mark(chunk, row)};
}

/* Look-ups by timestamp, in search.c. Readers call them under the recording's
 * sequence. */

/* The first row that is newer than timestamp; the count if there is none. */
size_t ps__history_find_after(const struct ps__history *history, uint64_t timestamp);

/* The number of the row with this timestamp (not 0), or -1. Rows that are gone
 * are not found. */
ptrdiff_t ps__history_find(const struct ps__history *history, uint64_t timestamp);

/* The row with this timestamp (not 0), also if it is gone; or PS__NO_ROW. */
struct ps__history_row ps__history_row_at(const struct ps__history *history, uint64_t timestamp);

/* Steps of a look-up, which have tests of their own. */
/* The last of the indexed chunks [begin, end) that starts at the timestamp or
 * before it; begin if there is none. */
size_t ps__history_find_chunk(const struct ps__directory *directory, size_t begin, size_t end,
                              uint64_t timestamp);
/* Predicts where in its chunk a row is that came this many nanoseconds after the chunk's first
 * row. */
size_t ps__history_predict(const struct ps__entry *entry, uint64_t passed_ns);

#endif

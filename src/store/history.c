/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of counts in chunks. The set writes them (src/eventset); attribute maps and totals read
 * them. */
#include "store/history.h"

#include "base/os.h"

#include <string.h>

#define FIRST_EXTENT_BYTES   ((size_t)4 << 10)
#define LARGEST_EXTENT_BYTES ((size_t)256 << 10)
#define PAGE_BYTES           ((size_t)4096)
#define FIRST_CAPACITY       ((size_t)8)
/* A curve is made from the timestamps of every second row. The chunk's last row is left out,
 * because it may still get a new timestamp. */
#define SAMPLE_ROWS     ((size_t)2)
#define SAMPLES         (PS__CHUNK_ROWS / SAMPLE_ROWS)
#define SAMPLE_QUARTERS (SAMPLE_ROWS * PS__CURVE_QUARTERS)
/* Number of last samples that predict when the next chunk starts. */
#define TREND       ((size_t)4)
#define CURVE_UNITS ((uint64_t)PS__CURVE_PIECES * PS__CURVE_UNITS)
/* 100 days: the longest time for which 64 bits are enough to compute units. Later rows are found
 * without a prediction. */
#define LONGEST_NS ((UINT64_C(1) << 53) - 1)

/* The head of a run of pages; chunks follow. */
struct ps__extent {
	_Alignas(64) struct ps__extent *next;
	size_t size_bytes;
	size_t used_bytes;
};

void ps__pool_init(struct ps__pool *pool, size_t stride)
{
	size_t words_bytes = PS__CHUNK_ROWS * stride * sizeof(uint64_t);

	*pool = (struct ps__pool){.chunk_bytes = sizeof(struct ps__chunk) + words_bytes,
	                          .next_extent_bytes = FIRST_EXTENT_BYTES};
}

void ps__pool_clear(struct ps__pool *pool)
{
	while (pool->extents) {
		struct ps__extent *extent = pool->extents;
		pool->extents = extent->next;
		ps__os_pages_destroy(extent, extent->size_bytes);
	}
}

/* Returns the next chunk of the newest extent, or NULL when the extent is used up. */
static struct ps__chunk *history_cut_chunk(struct ps__pool *pool)
{
	struct ps__extent *extent = pool->extents;

	if (!extent || extent->size_bytes - extent->used_bytes < pool->chunk_bytes)
		return NULL;
	struct ps__chunk *chunk = (struct ps__chunk *)((char *)extent + extent->used_bytes);
	extent->used_bytes += pool->chunk_bytes;
	return chunk;
}

/* The first word becomes the address of the list's next chunk. A reader may read it as a timestamp.
 * The release pairs with the reader's acquire, so that its second look sees an odd sequence. */
void ps__pool_give_back(struct ps__pool *pool, struct ps__chunk *chunk)
{
	atomic_store_explicit(&chunk->words[0], (uint64_t)(uintptr_t)pool->free,
	                      memory_order_release);
	pool->free = chunk;
}

static int history_add_extent(struct ps__pool *pool, size_t size_bytes)
{
	size_t needed = sizeof(struct ps__extent) + pool->chunk_bytes;

	if (size_bytes < needed)
		size_bytes = needed;
	size_bytes = (size_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	struct ps__extent *extent = ps__os_pages_create(size_bytes);
	if (!extent)
		return -1;
	/* The chunks that are left in the present extent go to the free list, or they would be
	 * lost. */
	for (struct ps__chunk *rest = history_cut_chunk(pool); rest; rest = history_cut_chunk(pool))
		ps__pool_give_back(pool, rest);
	extent->next = pool->extents;
	extent->size_bytes = size_bytes;
	extent->used_bytes = sizeof *extent;
	pool->extents = extent;
	pool->spare_chunks += (size_bytes - sizeof *extent) / pool->chunk_bytes;
	return 0;
}

int ps__pool_reserve(struct ps__pool *pool, size_t chunks)
{
	size_t missing = chunks > pool->spare_chunks ? chunks - pool->spare_chunks : 0;
	size_t size_bytes;

	pool->is_reserved = true;
	if (missing == 0)
		return 0;
	if (__builtin_mul_overflow(missing, pool->chunk_bytes, &size_bytes) ||
	    __builtin_add_overflow(size_bytes, sizeof(struct ps__extent) + PAGE_BYTES, &size_bytes))
		return -1;
	return history_add_extent(pool, size_bytes - PAGE_BYTES);
}

static struct ps__chunk *history_take_chunk(struct ps__pool *pool)
{
	if (pool->spare_chunks == 0) {
		if (history_add_extent(pool, pool->next_extent_bytes) < 0)
			return NULL;
		if (pool->next_extent_bytes < LARGEST_EXTENT_BYTES)
			pool->next_extent_bytes *= 2;
	}
	pool->spare_chunks--;
	struct ps__chunk *chunk = pool->free;
	if (!chunk)
		return history_cut_chunk(pool);
	pool->free = (struct ps__chunk *)(uintptr_t)atomic_load_explicit(&chunk->words[0],
	                                                                 memory_order_relaxed);
	return chunk;
}

static struct ps__directory *history_directory_create(size_t capacity)
{
	size_t entries_bytes = capacity * sizeof(struct ps__entry);
	struct ps__directory *directory = ps__os_calloc_apart(
	    1, sizeof *directory + entries_bytes + capacity * sizeof *directory->starts);

	if (!directory)
		return NULL;
	directory->capacity = capacity;
	directory->starts = (_Atomic uint64_t *)(void *)&directory->entries[capacity];
	return directory;
}

int ps__history_init(struct ps__history *history, struct ps__pool *pool, size_t stride)
{
	struct ps__directory *directory = history_directory_create(FIRST_CAPACITY);

	if (!directory)
		return -1;
	history->stride = stride;
	history->pool = pool;
	atomic_init(&history->directory, directory);
	return 0;
}

void ps__history_clear(struct ps__history *history)
{
	struct ps__directory *directory =
	    atomic_load_explicit(&history->directory, memory_order_relaxed);

	while (directory) {
		struct ps__directory *older = directory->older;
		ps__os_free_apart(directory);
		directory = older;
	}
}

static struct ps__entry *history_entry_of(struct ps__directory *directory, size_t number)
{
	return &directory->entries[number & (directory->capacity - 1)];
}

static _Atomic uint64_t *history_start_of(struct ps__directory *directory, size_t number)
{
	return &directory->starts[number & (directory->capacity - 1)];
}

static void history_copy_word(_Atomic uint64_t *to, const _Atomic uint64_t *from)
{
	atomic_init(to, atomic_load_explicit(from, memory_order_relaxed));
}

static void history_copy_entry(struct ps__directory *grown, struct ps__directory *old,
                               size_t number)
{
	struct ps__entry *from = history_entry_of(old, number);
	struct ps__entry *to = history_entry_of(grown, number);

	atomic_init(&to->chunk, atomic_load_explicit(&from->chunk, memory_order_relaxed));
	history_copy_word(&to->curve, &from->curve);
	history_copy_word(history_start_of(grown, number), history_start_of(old, number));
}

/* Replaces the directory by one with room for `chunks` more chunks than are in use now. */
static int history_grow_directory(struct ps__history *history, size_t chunks)
{
	struct ps__directory *old = atomic_load_explicit(&history->directory, memory_order_relaxed);
	size_t first = atomic_load_explicit(&history->first, memory_order_relaxed) / PS__CHUNK_ROWS;
	size_t end = history->room / PS__CHUNK_ROWS;
	size_t capacity = old->capacity;

	while (capacity < end - first + chunks)
		capacity *= 2;
	if (capacity == old->capacity)
		return 0;
	struct ps__directory *grown = history_directory_create(capacity);
	if (!grown)
		return -1;
	for (size_t number = first; number < end; number++)
		history_copy_entry(grown, old, number);
	grown->older = old;
	atomic_store_explicit(&history->directory, grown, memory_order_release);
	return 0;
}

int ps__history_reserve(struct ps__history *history, size_t rows)
{
	return history_grow_directory(history, rows / PS__CHUNK_ROWS + 1);
}

/* The timestamps of every second row in a chunk; the last entry is the time when the next chunk is
 * expected to start. */
struct history_samples {
	uint64_t times[SAMPLES + 1];
};

static struct history_samples history_samples_of(const struct ps__history *history, size_t row)
{
	struct history_samples samples;
	uint64_t *times = samples.times;

	for (size_t index = 0; index < SAMPLES; index++)
		times[index] = atomic_load_explicit(
		    ps__history_word(history, row + index * SAMPLE_ROWS, 0), memory_order_relaxed);
	times[SAMPLES] =
	    times[SAMPLES - 1] + (times[SAMPLES - 1] - times[SAMPLES - 1 - TREND]) / TREND;
	/* Timestamps of readings rise, but the timestamps that a user stores may not. The curve's
	 * length must not be 0. */
	if (times[SAMPLES] < times[0] + PS__CHUNK_ROWS)
		times[SAMPLES] = times[0] + PS__CHUNK_ROWS;
	return samples;
}

/* Returns the position of a time between this sample and the next one, in quarters of a row. */
static uint64_t history_quarter_at(const struct history_samples *samples, size_t index,
                                   uint64_t time)
{
	uint64_t length = samples->times[index + 1] - samples->times[index];
	uint64_t passed = time - samples->times[index];

	return SAMPLE_QUARTERS * index + (SAMPLE_QUARTERS * passed + length / 2) / length;
}

/* Returns a curve's factor and shift: the finest scale that covers the length. */
static uint64_t history_scale_of(uint64_t length)
{
	unsigned shift = 62 - (unsigned)__builtin_clzll(length);
	uint64_t factor = (CURVE_UNITS << shift) / length;

	if (factor >> (PS__CURVE_FACTOR_BITS - 1) == 0)
		factor = (CURVE_UNITS << ++shift) / length;
	return factor << PS__CURVE_SHIFT_BITS | shift;
}

static uint64_t history_curve_of(const struct history_samples *samples)
{
	uint64_t length = samples->times[SAMPLES] - samples->times[0];
	uint64_t curve = history_scale_of(length < LONGEST_NS ? length : LONGEST_NS);
	uint64_t factor = curve >> PS__CURVE_SHIFT_BITS;
	unsigned shift = curve & ((1 << PS__CURVE_SHIFT_BITS) - 1);
	size_t index = 0;

	for (uint64_t piece = 1; piece < PS__CURVE_PIECES; piece++) {
		uint64_t time = samples->times[0] + (piece * PS__CURVE_UNITS << shift) / factor;
		while (samples->times[index + 1] <= time)
			index++;
		uint64_t quarter = history_quarter_at(samples, index, time);
		curve |= (quarter < UINT8_MAX ? quarter : UINT8_MAX) << 8 * (piece + 1);
	}
	return curve;
}

/*
 * Readers use the index of a chunk after they have seen a row of a later chunk; if rows were moved,
 * they use it under the sequence. The releases here pair with the acquires of search.c.
 */
void ps__history_index(struct ps__history *history, size_t begin, size_t end)
{
	struct ps__directory *directory =
	    atomic_load_explicit(&history->directory, memory_order_relaxed);

	for (size_t number = begin; number < end; number++) {
		struct history_samples samples =
		    history_samples_of(history, number * PS__CHUNK_ROWS);
		atomic_store_explicit(&history_entry_of(directory, number)->curve,
		                      history_curve_of(&samples), memory_order_release);
		atomic_store_explicit(history_start_of(directory, number), samples.times[0],
		                      memory_order_release);
	}
}

int ps__history_make_room(struct ps__history *history)
{
	if (__builtin_expect(
		atomic_load_explicit(&history->count, memory_order_relaxed) < history->room, 1))
		return 0;
	if (history_grow_directory(history, 1) < 0)
		return -1;
	struct ps__chunk *chunk = history_take_chunk(history->pool);
	if (!chunk)
		return -1;
	struct ps__directory *directory =
	    atomic_load_explicit(&history->directory, memory_order_relaxed);
	size_t number = history->room / PS__CHUNK_ROWS;
	atomic_store_explicit(&history_entry_of(directory, number)->chunk, chunk,
	                      memory_order_release);
	/* There is no chunk before it if all rows were dropped. */
	if (history->room > atomic_load_explicit(&history->first, memory_order_relaxed))
		ps__history_index(history, number - 1, number);
	history->room += PS__CHUNK_ROWS;
	return 0;
}

size_t ps__history_append(struct ps__history *history, uint64_t timestamp)
{
	size_t row = atomic_load_explicit(&history->count, memory_order_relaxed);
	struct ps__chunk *chunk = ps__history_chunk(history, row);

	atomic_store_explicit(ps__history_words(history, chunk, row), timestamp,
	                      memory_order_release);
	atomic_store_explicit(&history->count, row + 1, memory_order_release);
	return row;
}

void ps__history_trim(struct ps__history *history, size_t keep)
{
	size_t first = atomic_load_explicit(&history->first, memory_order_relaxed);
	size_t count = atomic_load_explicit(&history->count, memory_order_relaxed);
	size_t wanted = count > keep ? count - keep : 0;

	if (wanted <= first)
		return;
	/* Stored before the chunks are given back. A handler may leave the writer here by a jump
	 * (eventset/recover.c), and the chunks must not be given back twice. */
	atomic_store_explicit(&history->first, wanted, memory_order_release);
	for (size_t number = first / PS__CHUNK_ROWS; number < wanted / PS__CHUNK_ROWS; number++)
		ps__pool_give_back(history->pool,
		                   ps__history_chunk(history, number * PS__CHUNK_ROWS));
	history->pool->spare_chunks += wanted / PS__CHUNK_ROWS - first / PS__CHUNK_ROWS;
}

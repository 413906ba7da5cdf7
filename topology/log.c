/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of counts in chunks. The set writes them (src/set), the attribute maps and the roll-up read them. */
#include "topology/log.h"

#include "base/os.h"

#include <string.h>

#define FIRST_EXTENT_BYTES   ((size_t)16 << 10)
#define LARGEST_EXTENT_BYTES ((size_t)256 << 10)
#define PAGE_BYTES           ((size_t)4096)
#define FIRST_CAPACITY       ((size_t)8)

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

/* The next chunk of the newest extent, or NULL when it is used up. */
static struct ps__chunk *cut_chunk(struct ps__pool *pool)
{
	struct ps__extent *extent = pool->extents;

	if (!extent || extent->size_bytes - extent->used_bytes < pool->chunk_bytes)
		return NULL;
	struct ps__chunk *chunk = (struct ps__chunk *)((char *)extent + extent->used_bytes);
	extent->used_bytes += pool->chunk_bytes;
	return chunk;
}

static void give_back(struct ps__pool *pool, struct ps__chunk *chunk)
{
	chunk->next_free = pool->free;
	pool->free = chunk;
}

static int add_extent(struct ps__pool *pool, size_t size_bytes)
{
	size_t needed = sizeof(struct ps__extent) + pool->chunk_bytes;

	if (size_bytes < needed)
		size_bytes = needed;
	size_bytes = (size_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	struct ps__extent *extent = ps__os_pages_create(size_bytes);
	if (!extent)
		return -1;
	/* What is left of the present extent isn't lost when a new one takes its place. */
	for (struct ps__chunk *rest = cut_chunk(pool); rest; rest = cut_chunk(pool))
		give_back(pool, rest);
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

	if (missing == 0)
		return 0;
	if (__builtin_mul_overflow(missing, pool->chunk_bytes, &size_bytes) ||
	    __builtin_add_overflow(size_bytes, sizeof(struct ps__extent) + PAGE_BYTES, &size_bytes))
		return -1;
	return add_extent(pool, size_bytes - PAGE_BYTES);
}

static struct ps__chunk *take_chunk(struct ps__pool *pool)
{
	if (pool->spare_chunks == 0) {
		if (add_extent(pool, pool->next_extent_bytes) < 0)
			return NULL;
		if (pool->next_extent_bytes < LARGEST_EXTENT_BYTES)
			pool->next_extent_bytes *= 2;
	}
	pool->spare_chunks--;
	struct ps__chunk *chunk = pool->free;
	if (!chunk)
		return cut_chunk(pool);
	pool->free = chunk->next_free;
	return chunk;
}

static size_t directory_bytes(size_t capacity)
{
	return sizeof(struct ps__directory) + capacity * sizeof(_Atomic(struct ps__chunk *));
}

static struct ps__directory *directory_create(size_t capacity)
{
	struct ps__directory *directory = ps__os_calloc(1, directory_bytes(capacity));

	if (directory)
		directory->capacity = capacity;
	return directory;
}

int ps__log_init(struct ps__log *log, struct ps__pool *pool, size_t stride)
{
	struct ps__directory *directory = directory_create(FIRST_CAPACITY);

	if (!directory)
		return -1;
	log->stride = stride;
	log->pool = pool;
	atomic_init(&log->directory, directory);
	return 0;
}

void ps__log_clear(struct ps__log *log)
{
	struct ps__directory *directory = atomic_load_explicit(&log->directory, memory_order_relaxed);

	while (directory) {
		struct ps__directory *older = directory->older;
		ps__os_free(directory);
		directory = older;
	}
}

/* Replaces the directory by one that holds `chunks` more than are in use now. */
static int grow_directory(struct ps__log *log, size_t chunks)
{
	struct ps__directory *old = atomic_load_explicit(&log->directory, memory_order_relaxed);
	size_t first = atomic_load_explicit(&log->first, memory_order_relaxed) / PS__CHUNK_ROWS;
	size_t end = log->room / PS__CHUNK_ROWS;
	size_t capacity = old->capacity;

	while (capacity < end - first + chunks)
		capacity *= 2;
	if (capacity == old->capacity)
		return 0;
	struct ps__directory *grown = directory_create(capacity);
	if (!grown)
		return -1;
	for (size_t index = first; index < end; index++)
		atomic_init(&grown->chunks[index & (capacity - 1)],
		            atomic_load_explicit(&old->chunks[index & (old->capacity - 1)], memory_order_relaxed));
	grown->older = old;
	atomic_store_explicit(&log->directory, grown, memory_order_release);
	return 0;
}

int ps__log_reserve(struct ps__log *log, size_t rows)
{
	return grow_directory(log, rows / PS__CHUNK_ROWS + 1);
}

int ps__log_make_room(struct ps__log *log)
{
	if (__builtin_expect(atomic_load_explicit(&log->count, memory_order_relaxed) < log->room, 1))
		return 0;
	if (grow_directory(log, 1) < 0)
		return -1;
	struct ps__chunk *chunk = take_chunk(log->pool);
	if (!chunk)
		return -1;
	struct ps__directory *directory = atomic_load_explicit(&log->directory, memory_order_relaxed);
	size_t slot = (log->room / PS__CHUNK_ROWS) & (directory->capacity - 1);
	atomic_store_explicit(&directory->chunks[slot], chunk, memory_order_release);
	log->room += PS__CHUNK_ROWS;
	return 0;
}

size_t ps__log_append(struct ps__log *log, uint64_t timestamp)
{
	size_t row = atomic_load_explicit(&log->count, memory_order_relaxed);
	struct ps__chunk *chunk = ps__log_chunk(log, row);

	atomic_store_explicit(ps__log_words(log, chunk, row), timestamp, memory_order_release);
	atomic_store_explicit(&log->count, row + 1, memory_order_release);
	return row;
}

void ps__log_trim(struct ps__log *log, size_t keep)
{
	size_t first = atomic_load_explicit(&log->first, memory_order_relaxed);
	size_t count = atomic_load_explicit(&log->count, memory_order_relaxed);
	size_t wanted = count > keep ? count - keep : 0;

	if (wanted <= first)
		return;
	for (size_t chunk = first / PS__CHUNK_ROWS; chunk < wanted / PS__CHUNK_ROWS; chunk++)
		give_back(log->pool, ps__log_chunk(log, chunk * PS__CHUNK_ROWS));
	log->pool->spare_chunks += wanted / PS__CHUNK_ROWS - first / PS__CHUNK_ROWS;
	atomic_store_explicit(&log->first, wanted, memory_order_release);
}

static _Atomic uint64_t *word_at(const struct ps__log *log, size_t row, size_t word)
{
	return ps__log_words(log, ps__log_chunk(log, row), row) + word;
}

/* Word by word, so that a row of any width needs no room of its own: this may run in a signal handler. */
static void rotate_word(struct ps__log *log, size_t row, size_t last, size_t word)
{
	uint64_t saved = atomic_load_explicit(word_at(log, row, word), memory_order_relaxed);

	for (; row < last; row++)
		atomic_store_explicit(word_at(log, row, word),
		                      atomic_load_explicit(word_at(log, row + 1, word), memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(word_at(log, last, word), saved, memory_order_release);
}

static _Atomic uint16_t *mark_at(const struct ps__log *log, size_t row)
{
	return ps__log_mark(ps__log_chunk(log, row), row);
}

void ps__log_move_to_end(struct ps__log *log, size_t row)
{
	size_t last = atomic_load_explicit(&log->count, memory_order_relaxed) - 1;

	if (row == last)
		return;
	for (size_t word = 0; word < log->stride; word++)
		rotate_word(log, row, last, word);
	uint16_t saved = atomic_load_explicit(mark_at(log, row), memory_order_relaxed);
	for (; row < last; row++)
		atomic_store_explicit(mark_at(log, row),
		                      atomic_load_explicit(mark_at(log, row + 1), memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(mark_at(log, last), saved, memory_order_release);
}

void ps__log_pop(struct ps__log *log)
{
	size_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

	atomic_store_explicit(&log->count, count - 1, memory_order_release);
}

size_t ps__log_find_after(const struct ps__log *log, uint64_t timestamp)
{
	size_t low = atomic_load_explicit(&log->first, memory_order_acquire);
	size_t high = atomic_load_explicit(&log->count, memory_order_acquire);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct ps__chunk *chunk = ps__log_chunk(log, middle);
		if (!chunk)
			return high;
		if (atomic_load_explicit(ps__log_words(log, chunk, middle), memory_order_acquire) <= timestamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

ptrdiff_t ps__log_find(const struct ps__log *log, uint64_t timestamp)
{
	size_t row = ps__log_find_after(log, timestamp - 1);

	if (row >= atomic_load_explicit(&log->count, memory_order_acquire))
		return -1;
	struct ps__chunk *chunk = ps__log_chunk(log, row);
	if (!chunk || atomic_load_explicit(ps__log_words(log, chunk, row), memory_order_acquire) != timestamp)
		return -1;
	return (ptrdiff_t)row;
}

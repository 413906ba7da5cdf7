/* SPDX-License-Identifier: BSD-3-Clause */
/* A guide is made: from the index of the chunks, without a look at their rows. See guide.h. */
#include "topology/guide.h"

/* It is made when one search for every so many chunks was without it: so it takes no longer than those did. */
#define CHUNKS_OF_SEARCH 8

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t start_of(const struct ps__directory *directory, size_t number)
{
	return load(&ps__search_entry_of(directory, number)->start);
}

/* Of the chunks [begin, end), which are indexed. A writer may change the log meanwhile: then times are any, and so is the
 * guide. */
static void make(const struct ps__directory *directory, size_t begin, size_t end)
{
	struct ps__guide *guide = directory->guide;
	uint64_t start = start_of(directory, begin);
	uint64_t length = start_of(directory, end - 1) - start;
	unsigned digits = 1;
	size_t chunk = begin;

	/* As many spans as chunks, up to a power of two: so are those of the directory. */
	while ((size_t)1 << digits < end - begin)
		digits++;
	uint64_t spans = UINT64_C(1) << digits;
	if (spans > directory->capacity || length <= spans)
		return;
	store(&guide->count, 0);
	for (uint64_t span = 0; span <= spans; span++) {
		uint64_t time = start + (uint64_t)((unsigned __int128)length * span >> digits);
		while (chunk + 1 < end && start_of(directory, chunk + 1) <= time)
			chunk++;
		atomic_store_explicit(&guide->chunks[span], (uint32_t)(chunk - begin), memory_order_relaxed);
	}
	store(&guide->start, start);
	store(&guide->rate, UINT64_MAX / length * spans);
	store(&guide->first, begin);
	store(&guide->end, end);
	store(&guide->searches, 0);
	/* Pairs with the acquire of a lookup; what is seen half-made all the same is not believed. */
	atomic_store_explicit(&guide->count, spans, memory_order_release);
}

static void learn(const struct ps__log *log, uint64_t timestamp)
{
	struct ps__search search = ps__search_begin(log);
	struct ps__guide *guide = search.directory->guide;

	if (!search.chunk || ps__search_is_in_newest(log, &search, timestamp))
		return;
	size_t begin = search.first / PS__CHUNK_ROWS, end = search.newest;
	size_t known = load(&guide->count) ? load(&guide->end) : begin;
	uint64_t searches = load(&guide->searches) + 1;
	store(&guide->searches, searches);
	/* Where it knows nearly all and didn't help, times are too uneven. */
	if (searches * CHUNKS_OF_SEARCH < end - begin || known + (end - begin) / CHUNKS_OF_SEARCH > end ||
	    end - begin > UINT32_MAX)
		return;
	if (atomic_exchange_explicit(&guide->is_busy, true, memory_order_acquire))
		return;
	make(search.directory, begin, end);
	atomic_store_explicit(&guide->is_busy, false, memory_order_release);
}

struct ps__chunk *ps__guide_search(const struct ps__log *log, uint64_t timestamp, size_t *row)
{
	learn(log, timestamp);
	return ps__search_row(log, timestamp, row);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A guide is made: from the index of the chunks, without a look at their rows. See guide.h. */
#include "topology/guide.h"

/* It is made when one search for every so many chunks was without it: so it takes no longer than those did. */
#define CHUNKS_OF_SEARCH 8
/* For each chunk, if there is room. */
#define SPANS 2

static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t span_of(uint64_t passed, uint64_t rate)
{
	return (uint64_t)((unsigned __int128)passed * rate >> 64);
}

static uint64_t start_of(const struct ps__directory *directory, size_t number)
{
	return load(&ps__search_entry_of(directory, number)->start);
}

/* Spans up to this one begin in the chunk; and the room is not left, whatever a writer does meanwhile. */
static size_t fill(const struct ps__directory *directory, size_t span, uint64_t last, size_t chunk)
{
	uint32_t place = (uint32_t)ps__search_place(directory, chunk);

	for (; span <= last && span <= PS__GUIDE_ROOM(directory->capacity); span++)
		atomic_store_explicit(&directory->guide->places[span], place, memory_order_relaxed);
	return span;
}

/* Of the chunks [begin, end), which are indexed. A writer may change the log meanwhile: then times are any, and so is the
 * guide. */
static void make(const struct ps__directory *directory, size_t begin, size_t end)
{
	struct ps__guide *guide = directory->guide;
	size_t room = PS__GUIDE_ROOM(directory->capacity), spans = SPANS * (end - begin), span = 0;
	uint64_t start = start_of(directory, begin);
	uint64_t length = start_of(directory, end - 1) - start;

	if (spans > room)
		spans = room;
	/* UINT64_MAX: rows of the first one were dropped meanwhile. */
	if (start == UINT64_MAX || length <= spans)
		return;
	uint64_t rate = UINT64_MAX / length * spans;
	store(&guide->count, 0);
	/* A chunk may begin anywhere in a span, which then begins in the one before. */
	for (size_t chunk = begin + 1; chunk < end; chunk++)
		span = fill(directory, span, span_of(start_of(directory, chunk) - start, rate), chunk - 1);
	fill(directory, span, spans, end - 1);
	store(&guide->start, start);
	store(&guide->rate, rate);
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
	size_t begin = (search.first + PS__CHUNK_ROWS - 1) / PS__CHUNK_ROWS, end = search.newest;
	size_t known = load(&guide->count) ? load(&guide->end) : begin;
	uint64_t searches = load(&guide->searches) + 1;
	store(&guide->searches, searches);
	/* Where it knows nearly all and didn't help, times are too uneven. */
	if (searches * CHUNKS_OF_SEARCH < end - begin || known + (end - begin) / CHUNKS_OF_SEARCH > end ||
	    begin >= end || search.directory->capacity > UINT32_MAX)
		return;
	if (atomic_exchange_explicit(&guide->is_busy, true, memory_order_acquire))
		return;
	make(search.directory, begin, end);
	atomic_store_explicit(&guide->is_busy, false, memory_order_release);
}

/* The entry of the timestamp's chunk and its number, if the guide knows of it; or NULL. The log begins in the chunk `first`, and
 * the newest isn't indexed. */
static const struct ps__entry *find_entry(const struct ps__directory *directory, uint64_t timestamp, size_t first,
                                          size_t newest, size_t *number)
{
	const struct ps__guide *guide = directory->guide;
	uint64_t span = span_of(timestamp - load(&guide->start), load(&guide->rate));
	size_t mask = directory->capacity - 1;

	if (span >= load(&guide->count))
		return NULL;
	size_t place = atomic_load_explicit(&guide->places[span], memory_order_acquire);
	size_t next = atomic_load_explicit(&guide->places[span + 1], memory_order_acquire);
	size_t left = ((next - place) & mask) + 1;
	*number = first + ((place - first) & mask);
	if (*number + left > newest || place + left > directory->capacity)
		return NULL;
	const struct ps__entry *entry = &directory->entries[place];
	while (left > 1) {
		size_t half = left / 2;
		entry = ps__search_time_at(&entry[half].start) <= timestamp ? entry + half : entry;
		left -= half;
	}
	*number += (size_t)(entry - &directory->entries[place]);
	return entry;
}

struct ps__chunk *ps__guide_row(const struct ps__log *log, uint64_t timestamp, size_t *row)
{
	const struct ps__directory *directory = atomic_load_explicit(&log->directory, memory_order_acquire);
	size_t first = atomic_load_explicit(&log->first, memory_order_acquire);
	size_t newest = (atomic_load_explicit(&log->count, memory_order_acquire) - 1) / PS__CHUNK_ROWS;
	size_t number;
	const struct ps__entry *entry = find_entry(directory, timestamp, first / PS__CHUNK_ROWS, newest, &number);

	if (entry) {
		struct ps__chunk *chunk = atomic_load_explicit(&entry->chunk, memory_order_acquire);
		if (!chunk)
			return NULL;
		size_t found = ps__search_in_chunk(log, entry, chunk, timestamp);
		*row = number * PS__CHUNK_ROWS + found;
		if (found != SIZE_MAX && *row >= first)
			return chunk;
	}
	learn(log, timestamp);
	return ps__search_row(log, timestamp, row);
}

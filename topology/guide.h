/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guide: which chunk of a log a timestamp is in, in some tens of instructions. It knows in which chunk each of many equal
 * spans of time begins; where times are even enough, these are few, and a lookup is short enough that the processor begins
 * the next ones while this one waits for the memory.
 *
 * Readers make it themselves, from the index, when they have searched without it for long enough to pay for that; the
 * writer does nothing for it. It is a guess, and may be older than the log, or another reader's half-made one: the row
 * that comes of it is believed only if it has the timestamp. All else is for search.h.
 */
#ifndef PS_TOPOLOGY_GUIDE_H
#define PS_TOPOLOGY_GUIDE_H

#include "base/hot.h"
#include "topology/search.h"

/* In fewer chunks than this a span needs no steps. */
#define PS__GUIDE_CHUNKS 4

struct ps__guide {
	_Atomic uint64_t start;    /* where the first span begins, a timestamp */
	_Atomic uint64_t count;    /* spans that are known; 0: none */
	_Atomic uint64_t rate;     /* spans in 2^64 nanoseconds */
	_Atomic uint64_t first;    /* the chunk that is number 0 here */
	_Atomic uint64_t end;      /* chunks of which it knows are below this */
	_Atomic uint64_t searches; /* without it, since it was made */
	_Atomic bool is_busy;      /* someone makes it */
	_Atomic uint32_t
	    chunks[]; /* in which each span begins, and the last one ends: one more than the directory's */
};

/* guide.c: a search without it, which makes it anew if that were enough of them. */
struct ps__chunk *ps__guide_search(const struct ps__log *log, uint64_t timestamp, size_t *row);

/* The entry of the timestamp's chunk, and its number, if there is such a row; or NULL. It is indexed: of those of the log from
 * first on and below newest. */
PS__INLINE const struct ps__entry *ps__guide_entry(const struct ps__directory *directory, uint64_t timestamp,
                                                   size_t first, size_t newest, size_t *number)
{
	const struct ps__guide *guide = directory->guide;
	uint64_t passed = timestamp - ps__search_time_at(&guide->start);
	uint64_t span = (uint64_t)((unsigned __int128)passed * ps__search_time_at(&guide->rate) >> 64);

	if (__builtin_expect(span >= ps__search_time_at(&guide->count), 0))
		return NULL;
	uint32_t begin = atomic_load_explicit(&guide->chunks[span], memory_order_acquire);
	size_t left = atomic_load_explicit(&guide->chunks[span + 1], memory_order_acquire) - begin;
	size_t capacity = directory->capacity;
	*number = ps__search_time_at(&guide->first) + begin;
	size_t place = *number & (capacity - 1);
	if (__builtin_expect(
		*number < first || *number + left >= newest || place + left + PS__GUIDE_CHUNKS > capacity, 0))
		return NULL;
	const struct ps__entry *const origin = &directory->entries[place];
	const struct ps__entry *entry = origin;
	/* Times are uneven where it is many chunks. */
	while (__builtin_expect(left >= PS__GUIDE_CHUNKS, 0)) {
		size_t half = left / 2;
		entry = ps__search_time_at(&entry[half].start) <= timestamp ? entry + half : entry;
		left -= half;
	}
	size_t newer = 0;
#pragma GCC unroll 4
	for (size_t next = 1; next < PS__GUIDE_CHUNKS; next++)
		newer += ps__search_time_at(&entry[next].start) <= timestamp;
	entry += newer < left ? newer : left;
	*number += (size_t)(entry - origin);
	return entry;
}

/* As ps__search_row. */
PS__INLINE struct ps__chunk *ps__guide_row(const struct ps__log *log, uint64_t timestamp, size_t *row)
{
	const struct ps__directory *directory = atomic_load_explicit(&log->directory, memory_order_acquire);
	size_t first = atomic_load_explicit(&log->first, memory_order_acquire);
	size_t newest = (atomic_load_explicit(&log->count, memory_order_acquire) - 1) / PS__CHUNK_ROWS;
	size_t number, searched;
	const struct ps__entry *entry =
	    ps__guide_entry(directory, timestamp, first / PS__CHUNK_ROWS, newest, &number);

	if (__builtin_expect(entry != NULL, 1)) {
		struct ps__chunk *chunk = atomic_load_explicit(&entry->chunk, memory_order_acquire);
		if (__builtin_expect(!chunk, 0))
			return NULL;
		size_t found = ps__search_in_chunk(log, entry, chunk, timestamp);
		*row = number * PS__CHUNK_ROWS + found;
		if (__builtin_expect(found != SIZE_MAX && *row >= first, 1))
			return chunk;
	}
	struct ps__chunk *chunk = ps__guide_search(log, timestamp, &searched);
	*row = searched;
	return chunk;
}

#endif

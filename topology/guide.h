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

/* As many spans as there is room for in the guide of a directory; and what that takes. */
#define PS__GUIDE_ROOM(capacity) ((capacity) / 4 * 5)
#define PS__GUIDE_BYTES(capacity) \
	(sizeof(struct ps__guide) + (PS__GUIDE_ROOM(capacity) + 1) * sizeof(_Atomic uint32_t))

struct ps__guide {
	_Atomic uint64_t start;    /* where the first span begins, a timestamp */
	_Atomic uint64_t count;    /* spans that are known; 0: none */
	_Atomic uint64_t rate;     /* spans in 2^64 nanoseconds */
	_Atomic uint64_t end;      /* chunks of which it knows are below this number */
	_Atomic uint64_t searches; /* without it, since it was made */
	_Atomic bool is_busy;      /* someone makes it */
	/* Where in the directory the chunks stand in which each span begins, and the last one ends. */
	_Atomic uint32_t places[];
};

/* As ps__search_row: by the guide; or without, and then it is made anew if enough searches were so. */
struct ps__chunk *ps__guide_row(const struct ps__log *log, uint64_t timestamp, size_t *row);

/*
 * The same at the first go, if times are even enough around there; else no row, though there may be one. How many lookups
 * are under way at a time is a matter of how many registers each of them writes: nothing is looked at twice, and nothing
 * worked out that a rarer case needs.
 */
PS__INLINE struct ps__log_row ps__guide_guess(const struct ps__log *log, uint64_t timestamp)
{
	const struct ps__directory *directory = atomic_load_explicit(&log->directory, memory_order_acquire);
	const struct ps__guide *guide = directory->guide;
	uint64_t passed = timestamp - ps__search_time_at(&guide->start);
	uint64_t span = (uint64_t)((unsigned __int128)passed * ps__search_time_at(&guide->rate) >> 64);

	if (__builtin_expect(span >= ps__search_time_at(&guide->count), 0))
		return PS__NO_ROW;
	uint32_t place = atomic_load_explicit(&guide->places[span], memory_order_acquire);
	uint32_t next = atomic_load_explicit(&guide->places[span + 1], memory_order_acquire);
	const struct ps__entry *entry = &directory->entries[place];
	/* Times are uneven where it is many chunks. Those of a bounded history may go on at the table's beginning; then it is
	 * none. */
	for (int64_t left = (int64_t)next - place; __builtin_expect(left > PS__SPARE_ENTRIES, 0); left -= left / 2)
		entry = ps__search_time_at(&entry[left / 2].start) <= timestamp ? entry + left / 2 : entry;
	size_t newer = 0;
#pragma GCC unroll 4
	for (size_t after = 1; after <= PS__SPARE_ENTRIES; after++)
		newer += ps__search_time_at(&entry[after].start) <= timestamp;
	entry += newer;
	uint64_t start = ps__search_time_at(&entry->start);
	if (__builtin_expect(timestamp < start, 0))
		return PS__NO_ROW;
	/* What has a start has a chunk, and all of its rows. */
	struct ps__chunk *chunk = atomic_load_explicit(&entry->chunk, memory_order_acquire);
	struct ps__log_row row = ps__log_row_of(log, chunk, ps__search_foretell(entry, timestamp - start));
	return __builtin_expect(row.words && ps__search_time_at(row.words) == timestamp, 1) ? row : PS__NO_ROW;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log's row by its timestamp. Comparisons are summed up, not branched on: what decides here can't be predicted, and
 * comes from memory. What a guide's makers and readers need, too, is here; search.c has the rest.
 */
#ifndef PS_TOPOLOGY_SEARCH_H
#define PS_TOPOLOGY_SEARCH_H

#include "topology/log.h"

static inline uint64_t ps__search_time_at(const _Atomic uint64_t *words)
{
	return atomic_load_explicit(words, memory_order_acquire);
}

static inline uint64_t ps__search_time_of(const struct ps__log *log, struct ps__chunk *chunk, size_t row)
{
	return ps__search_time_at(ps__log_words(log, chunk, row));
}

/* The last of the groups [begin, end) that begins at the timestamp or before it; the first if there is none. Of as many
 * steps as there are binary digits in their number. */
static inline size_t ps__search_group(const struct ps__directory *directory, size_t begin, size_t end,
                                      uint64_t timestamp)
{
	const size_t capacity = directory->capacity / PS__GROUP_ENTRIES;
	const _Atomic uint64_t *const starts = directory->groups;
	size_t turn = begin & -capacity;

	/* Those of a bounded history may go on at the table's beginning: then it is one part, or the other. */
	if (__builtin_expect(end - turn > capacity, 0)) {
		if (ps__search_time_at(starts) <= timestamp)
			begin = turn += capacity;
		/* A writer who went on by more than the table between two looks at the log leaves bounds too far apart. What
		 * is found then is discarded, but it is looked for within the table. */
		end = end - turn > capacity ? turn + capacity : end;
	}
	size_t count = end - begin;
	size_t step = (size_t)1 << (63 - __builtin_clzll(count));
	const _Atomic uint64_t *found = starts + (begin - turn);
	const _Atomic uint64_t *middle = found + (count - step);
	found = ps__search_time_at(middle) <= timestamp ? middle : found;
	while (step /= 2) {
		middle = found + step;
		found = ps__search_time_at(middle) <= timestamp ? middle : found;
	}
	return turn + (size_t)(found - starts);
}

static inline size_t ps__search_place(const struct ps__directory *directory, size_t number)
{
	return number & (directory->capacity - 1);
}

static inline const struct ps__entry *ps__search_entry_of(const struct ps__directory *directory, size_t number)
{
	return &directory->entries[ps__search_place(directory, number)];
}

static inline struct ps__chunk *ps__search_chunk_of(const struct ps__directory *directory, size_t number)
{
	return atomic_load_explicit(&ps__search_entry_of(directory, number)->chunk, memory_order_acquire);
}

/* The same for chunks [begin, end). */
static inline size_t ps__search_chunk(const struct ps__directory *directory, size_t begin, size_t end,
                                      uint64_t timestamp)
{
	size_t number = PS__GROUP_ENTRIES * ps__search_group(directory, begin / PS__GROUP_ENTRIES,
	                                                     (end - 1) / PS__GROUP_ENTRIES + 1, timestamp);
	const struct ps__entry *entry = ps__search_entry_of(directory, number);
	size_t newer = 0;

	if (__builtin_expect(number >= begin && number + PS__GROUP_ENTRIES <= end, 1)) {
#pragma GCC unroll 4
		for (size_t next = 1; next < PS__GROUP_ENTRIES; next++)
			newer += ps__search_time_at(&entry[next].start) <= timestamp;
		return number + newer;
	}
	size_t last = number + PS__GROUP_ENTRIES < end ? number + PS__GROUP_ENTRIES : end;
	number = number > begin ? number : begin;
	for (size_t next = number + 1; next < last; next++)
		newer += ps__search_time_at(&ps__search_entry_of(directory, next)->start) <= timestamp;
	return number + newer;
}

/* What a search begins with. */
struct ps__search {
	const struct ps__directory *directory;
	size_t first;
	size_t count;
	size_t newest;           /* the number of the newest chunk */
	struct ps__chunk *chunk; /* the newest; NULL: there is none, or a writer changes the log */
};

static inline struct ps__search ps__search_begin(const struct ps__log *log)
{
	struct ps__search search = {.directory = atomic_load_explicit(&log->directory, memory_order_acquire),
	                            .first = atomic_load_explicit(&log->first, memory_order_acquire),
	                            .count = atomic_load_explicit(&log->count, memory_order_acquire)};

	search.newest = (search.count - 1) / PS__CHUNK_ROWS;
	if (__builtin_expect(search.first < search.count, 1))
		search.chunk = ps__search_chunk_of(search.directory, search.newest);
	return search;
}

/* Is what comes after the timestamp in the newest chunk, or nowhere? */
static inline bool ps__search_is_in_newest(const struct ps__log *log, const struct ps__search *search,
                                           uint64_t timestamp)
{
	size_t row = search->newest * PS__CHUNK_ROWS;

	return row <= search->first || ps__search_time_of(log, search->chunk, row) <= timestamp;
}

/* About where in its chunk a row should be so many nanoseconds after the first one. */
static inline size_t ps__search_foretell(const struct ps__entry *entry, uint64_t passed)
{
	const uint64_t row = PS__HINT_QUARTERS * PS__HINT_UNITS;
	uint64_t hint = ps__search_time_at(&entry->hint);
	uint64_t factor = hint >> PS__HINT_SHIFT_BITS & ((1 << PS__HINT_FACTOR_BITS) - 1);
	uint64_t units = passed * factor >> (hint & ((1 << PS__HINT_SHIFT_BITS) - 1));
	/* The first part begins at 0, which stands in no byte; and the last ends at 256, of which a byte holds 0. */
	uint64_t bounds = (hint & ~UINT64_C(0xffff)) >> ((units / PS__HINT_UNITS + 1) * 8 & 63);
	uint64_t begin = bounds & 0xff;
	uint64_t quarters = ((bounds >> 8) - begin) & 0xff;

	return (begin * PS__HINT_UNITS + quarters * (units % PS__HINT_UNITS) + row / 2) / row % PS__CHUNK_ROWS;
}

/* In a chunk that is indexed: the row with the timestamp, or SIZE_MAX. */
size_t ps__search_in_chunk(const struct ps__log *log, const struct ps__entry *entry, struct ps__chunk *chunk,
                           uint64_t timestamp);

/* As ps__log_find, with the row's chunk; NULL if there is no such row. */
struct ps__chunk *ps__search_row(const struct ps__log *log, uint64_t timestamp, size_t *row);

#endif

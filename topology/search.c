/* SPDX-License-Identifier: BSD-3-Clause */
/* A log's rows by their timestamps: in its newest chunk, in uneven ones, and in order. For the attribute maps' readers, and
 * for sets that update an older reading. */
#include "topology/search.h"

/* The first row newer than timestamp of [begin, end), which are in one chunk. */
static size_t find_in_rows(const struct ps__log *log, struct ps__chunk *chunk, size_t begin, size_t end,
                           uint64_t timestamp)
{
	size_t left = end - begin;

	while (left > 1) {
		size_t half = left / 2;
		begin = ps__search_time_of(log, chunk, begin + half - 1) <= timestamp ? begin + half : begin;
		left -= half;
	}
	return begin + (left && ps__search_time_of(log, chunk, begin) <= timestamp);
}

static inline size_t find_in_newest(const struct ps__log *log, const struct ps__search *search, uint64_t timestamp)
{
	size_t row = search->newest * PS__CHUNK_ROWS;

	return find_in_rows(log, search->chunk, row > search->first ? row : search->first, search->count, timestamp);
}

size_t ps__log_find_after(const struct ps__log *log, uint64_t timestamp)
{
	struct ps__search search = ps__search_begin(log);

	if (!search.chunk)
		return search.count;
	if (ps__search_is_in_newest(log, &search, timestamp))
		return find_in_newest(log, &search, timestamp);
	size_t number = ps__search_chunk(search.directory, search.first / PS__CHUNK_ROWS, search.newest, timestamp);
	struct ps__chunk *chunk = ps__search_chunk_of(search.directory, number);
	if (!chunk)
		return search.count;
	size_t row = number * PS__CHUNK_ROWS;
	row = find_in_rows(log, chunk, row, row + PS__CHUNK_ROWS, timestamp);
	return row > search.first ? row : search.first;
}

/* What isn't where it was foretold: the times in the chunk are too uneven. */
size_t ps__search_uneven(const struct ps__log *log, struct ps__chunk *chunk, uint64_t timestamp)
{
	return find_in_rows(log, chunk, 0, PS__CHUNK_ROWS, timestamp) - 1;
}

struct ps__chunk *ps__search_newest(const struct ps__log *log, uint64_t timestamp, size_t *row)
{
	struct ps__search search = ps__search_begin(log);

	if (!search.chunk)
		return NULL;
	size_t found = find_in_newest(log, &search, timestamp) - 1;
	if (found + 1 <= search.first || !ps__search_is_at(log, search.chunk, found, timestamp))
		return NULL;
	*row = found;
	return search.chunk;
}

ptrdiff_t ps__log_find(const struct ps__log *log, uint64_t timestamp)
{
	size_t row;

	return ps__search_row(log, timestamp, &row) ? (ptrdiff_t)row : -1;
}

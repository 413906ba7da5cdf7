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

static bool is_at(const struct ps__log *log, struct ps__chunk *chunk, size_t row, uint64_t timestamp)
{
	return ps__search_time_of(log, chunk, row) == timestamp;
}

/* In longer and longer steps away from where it was foretold, which is in lines beside those that were loaded; then between
 * the last two. */
static size_t find_near(const struct ps__log *log, struct ps__chunk *chunk, size_t row, uint64_t timestamp)
{
	size_t begin = row, end = row + 1;
	size_t step = 1;

	if (ps__search_time_of(log, chunk, row) < timestamp) {
		while (end < PS__CHUNK_ROWS && ps__search_time_of(log, chunk, end) <= timestamp) {
			begin = end;
			end = end + step < PS__CHUNK_ROWS ? end + step : PS__CHUNK_ROWS;
			step *= 2;
		}
	} else {
		while (begin > 0 && ps__search_time_of(log, chunk, begin) > timestamp) {
			end = begin;
			begin = begin > step ? begin - step : 0;
			step *= 2;
		}
	}
	/* What is sought is before the first row that is newer. */
	size_t found = find_in_rows(log, chunk, begin, end, timestamp) - 1;
	return found < PS__CHUNK_ROWS && is_at(log, chunk, found, timestamp) ? found : SIZE_MAX;
}

static struct ps__chunk *search_newest(const struct ps__log *log, const struct ps__search *search, uint64_t timestamp,
                                       size_t *row)
{
	*row = find_in_newest(log, search, timestamp) - 1;
	return *row + 1 > search->first && is_at(log, search->chunk, *row, timestamp) ? search->chunk : NULL;
}

size_t ps__search_in_chunk(const struct ps__log *log, const struct ps__entry *entry, struct ps__chunk *chunk,
                           uint64_t timestamp)
{
	size_t row = ps__search_foretell(entry, timestamp - ps__search_time_at(&entry->start));

	return is_at(log, chunk, row, timestamp) ? row : find_near(log, chunk, row, timestamp);
}

struct ps__chunk *ps__search_row(const struct ps__log *log, uint64_t timestamp, size_t *row)
{
	struct ps__search search = ps__search_begin(log);

	if (!search.chunk)
		return NULL;
	if (ps__search_is_in_newest(log, &search, timestamp))
		return search_newest(log, &search, timestamp, row);
	size_t number = ps__search_chunk(search.directory, search.first / PS__CHUNK_ROWS, search.newest, timestamp);
	struct ps__chunk *chunk = ps__search_chunk_of(search.directory, number);
	if (!chunk)
		return NULL;
	size_t found = ps__search_in_chunk(log, ps__search_entry_of(search.directory, number), chunk, timestamp);
	*row = number * PS__CHUNK_ROWS + found;
	return found != SIZE_MAX && *row >= search.first ? chunk : NULL;
}

ptrdiff_t ps__log_find(const struct ps__log *log, uint64_t timestamp)
{
	size_t row;

	return ps__search_row(log, timestamp, &row) && !ps__log_is_gone(log, row) ? (ptrdiff_t)row : -1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a history's rows by their timestamps, for look-ups and for sets that update an older
 * reading. The search among chunks has no branch that depends on a timestamp. The processor could
 * not predict such a branch, and would not begin the next look-up meanwhile.
 */
#include "base/hot.h"
#include "store/history.h"

static inline uint64_t search_time_at(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static inline uint64_t search_time_of(const struct ps__history *history, struct ps__chunk *chunk,
                                      size_t row)
{
	return search_time_at(ps__history_words(history, chunk, row));
}

static inline struct ps__chunk *search_entry_chunk(const struct ps__entry *entry)
{
	return atomic_load_explicit(&entry->chunk, memory_order_acquire);
}

/* Returns the last of `count` times, `stride` words apart, that is not later than the timestamp;
 * the first time if all are later. */
PS__INLINE const _Atomic uint64_t *search_last(const _Atomic uint64_t *times, size_t count,
                                               size_t stride, uint64_t timestamp)
{
	size_t step = stride << (63 - __builtin_clzll(count));
	const _Atomic uint64_t *middle = times + (count * stride - step);
	const _Atomic uint64_t *found = search_time_at(middle) <= timestamp ? middle : times;

	while (step > stride) {
		step /= 2;
		middle = found + step;
		found = search_time_at(middle) <= timestamp ? middle : found;
	}
	return found;
}

PS__INLINE size_t search_chunks(const struct ps__directory *directory, size_t begin, size_t end,
                                uint64_t timestamp)
{
	const size_t capacity = directory->capacity;
	const _Atomic uint64_t *const starts = directory->starts;
	size_t turn = begin & -capacity;

	/* A bounded history's chunks may continue at the beginning of the table: search one of the
	 * two parts. */
	if (__builtin_expect(end - turn > capacity, 0)) {
		if (search_time_at(starts) <= timestamp)
			begin = turn += capacity;
		/*
		 * If a writer appended more than a table of chunks between the
		 * reader's loads, the bounds are too far apart. The reader will
		 * discard the result, but must not leave the table.
		 */
		end = end - turn > capacity ? turn + capacity : end;
	}
	return turn +
	       (size_t)(search_last(starts + (begin - turn), end - begin, 1, timestamp) - starts);
}

size_t ps__history_find_chunk(const struct ps__directory *directory, size_t begin, size_t end,
                              uint64_t timestamp)
{
	return search_chunks(directory, begin, end, timestamp);
}

/* What one look-up has loaded of a history. */
struct search {
	const struct ps__directory *directory;
	size_t mask; /* the directory's capacity - 1 */
	size_t first;
	size_t count;
	size_t newest; /* the number of the newest chunk */
	/* The newest chunk; NULL if there is none, or if a writer changes the history */
	struct ps__chunk *chunk;
};

PS__INLINE struct search search_begin(const struct ps__history *history)
{
	struct search search = {
	    .directory = atomic_load_explicit(&history->directory, memory_order_acquire),
	    .first = atomic_load_explicit(&history->first, memory_order_acquire),
	    .count = atomic_load_explicit(&history->count, memory_order_acquire)};

	search.newest = (search.count - 1) / PS__CHUNK_ROWS;
	search.mask = search.directory->capacity - 1;
	if (__builtin_expect(search.first < search.count, 1))
		search.chunk =
		    search_entry_chunk(&search.directory->entries[search.newest & search.mask]);
	return search;
}

/* True if only the newest chunk can have a row with the timestamp, or a later row. */
PS__INLINE bool search_is_in_newest(const struct ps__history *history, const struct search *search,
                                    uint64_t timestamp)
{
	size_t row = search->newest * PS__CHUNK_ROWS;

	return row <= search->first || search_time_of(history, search->chunk, row) <= timestamp;
}

/* Returns the last of the rows [begin, end) of a chunk that is not newer than the timestamp; begin
 * if there is none. */
PS__INLINE size_t search_rows(const struct ps__history *history, struct ps__chunk *chunk,
                              size_t begin, size_t end, uint64_t timestamp)
{
	const _Atomic uint64_t *first = ps__history_words(history, chunk, begin);
	const _Atomic uint64_t *found = search_last(first, end - begin, history->stride, timestamp);

	/* The search works with addresses only, so it divides once, here. A chunk has less than
	 * 2^32 words. */
	return begin + (uint32_t)(found - first) / (uint32_t)history->stride;
}

PS__INLINE size_t search_newest(const struct ps__history *history, const struct search *search,
                                uint64_t timestamp)
{
	size_t row = search->newest * PS__CHUNK_ROWS;

	return search_rows(history, search->chunk, row > search->first ? row : search->first,
	                   search->count, timestamp);
}

PS__INLINE size_t search_older(const struct search *search, uint64_t timestamp)
{
	return search_chunks(search->directory, search->first / PS__CHUNK_ROWS, search->newest,
	                     timestamp);
}

size_t ps__history_find_after(const struct ps__history *history, uint64_t timestamp)
{
	struct search search = search_begin(history);
	struct ps__chunk *chunk = search.chunk;
	size_t row;

	if (!chunk)
		return search.count;
	if (search_is_in_newest(history, &search, timestamp)) {
		row = search_newest(history, &search, timestamp);
	} else {
		size_t number = search_older(&search, timestamp);
		chunk = search_entry_chunk(&search.directory->entries[number & search.mask]);
		if (!chunk)
			return search.count;
		row = number * PS__CHUNK_ROWS;
		row = search_rows(history, chunk, row, row + PS__CHUNK_ROWS, timestamp);
	}
	row += search_time_of(history, chunk, row) <= timestamp;
	return row > search.first ? row : search.first;
}

PS__INLINE size_t search_predict(const struct ps__entry *entry, uint64_t passed_ns)
{
	const uint64_t row = PS__CURVE_QUARTERS * PS__CURVE_UNITS;
	uint64_t curve = search_time_at(&entry->curve);
	uint64_t factor = curve >> PS__CURVE_SHIFT_BITS & ((1 << PS__CURVE_FACTOR_BITS) - 1);
	uint64_t units = passed_ns * factor >> (curve & ((1 << PS__CURVE_SHIFT_BITS) - 1));
	/* The first piece begins at 0, for which there is no byte. The last piece ends at 256; a
	 * byte of 0 means 256. */
	uint64_t bounds = (curve & ~UINT64_C(0xffff)) >> ((units / PS__CURVE_UNITS + 1) * 8 & 63);
	uint64_t begin = bounds & 0xff;
	uint64_t quarters = ((bounds >> 8) - begin) & 0xff;

	return (begin * PS__CURVE_UNITS + quarters * (units % PS__CURVE_UNITS) + row / 2) / row %
	       PS__CHUNK_ROWS;
}

size_t ps__history_predict(const struct ps__entry *entry, uint64_t passed_ns)
{
	return search_predict(entry, passed_ns);
}

static inline bool search_is_at(const struct ps__history *history, struct ps__chunk *chunk,
                                size_t row, uint64_t timestamp)
{
	return search_time_of(history, chunk, row) == timestamp;
}

/*
 * Finds a row that is not beside `row`. Returns its number in the chunk, or SIZE_MAX. Steps away
 * from `row`, each time twice as far, until it has passed the timestamp. Then searches between the
 * last two steps.
 */
static size_t search_far(const struct ps__history *history, struct ps__chunk *chunk, size_t row,
                         uint64_t timestamp)
{
	size_t begin = row, end = row + 1;
	size_t step = 1;

	if (search_time_of(history, chunk, row) < timestamp) {
		while (end < PS__CHUNK_ROWS && search_time_of(history, chunk, end) <= timestamp) {
			begin = end;
			end = end + step < PS__CHUNK_ROWS ? end + step : PS__CHUNK_ROWS;
			step *= 2;
		}
	} else {
		while (begin > 0 && search_time_of(history, chunk, begin) > timestamp) {
			end = begin;
			begin = begin > step ? begin - step : 0;
			step *= 2;
		}
	}
	size_t found = search_rows(history, chunk, begin, end, timestamp);
	return search_is_at(history, chunk, found, timestamp) ? found : SIZE_MAX;
}

/*
 * Like search_far, for any row that is not at the predicted place. Most predictions are off by one
 * row at most, so the two neighbours are compared first, without a branch between them.
 */
static __attribute__((noinline)) size_t search_near(const struct ps__history *history,
                                                    struct ps__chunk *chunk, size_t predicted,
                                                    uint64_t timestamp)
{
	size_t before = predicted > 1 ? predicted - 1 : 0;

	before = before < PS__CHUNK_ROWS - 3 ? before : PS__CHUNK_ROWS - 3;
	size_t row = before + (search_time_of(history, chunk, before + 1) <= timestamp) +
	             (search_time_of(history, chunk, before + 2) <= timestamp);
	return search_is_at(history, chunk, row, timestamp)
	           ? row
	           : search_far(history, chunk, row, timestamp);
}

/* Finds the row with the timestamp. Returns the row's chunk, and sets *row to the row's number in
 * the history; NULL if there is no such row. */
PS__INLINE struct ps__chunk *search_row(const struct ps__history *history, uint64_t timestamp,
                                        size_t *row)
{
	struct search search = search_begin(history);

	if (__builtin_expect(!search.chunk, 0))
		return NULL;
	if (search_is_in_newest(history, &search, timestamp)) {
		*row = search_newest(history, &search, timestamp);
		return search_is_at(history, search.chunk, *row, timestamp) ? search.chunk : NULL;
	}
	size_t number = search_older(&search, timestamp);
	const struct ps__entry *entry = &search.directory->entries[number & search.mask];
	struct ps__chunk *chunk = search_entry_chunk(entry);
	if (__builtin_expect(!chunk, 0))
		return NULL;
	size_t found = search_predict(
	    entry, timestamp - search_time_at(&search.directory->starts[number & search.mask]));
	if (__builtin_expect(!search_is_at(history, chunk, found, timestamp), 0))
		found = search_near(history, chunk, found, timestamp);
	*row = number * PS__CHUNK_ROWS + found;
	return found != SIZE_MAX && *row >= search.first ? chunk : NULL;
}

ptrdiff_t ps__history_find(const struct ps__history *history, uint64_t timestamp)
{
	size_t row;

	return search_row(history, timestamp, &row) && !ps__history_is_gone(history, row)
	           ? (ptrdiff_t)row
	           : -1;
}

struct ps__history_row ps__history_row_at(const struct ps__history *history, uint64_t timestamp)
{
	size_t row = 0;
	struct ps__chunk *chunk = search_row(history, timestamp, &row);

	return ps__history_row_of(history, chunk, row);
}

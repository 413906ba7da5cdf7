/* SPDX-License-Identifier: BSD-3-Clause */
/* A log's rows that get a new timestamp: they move to its end, and what they leave behind is closed up. */
#include "store/history.h"

/* Word by word, so that a row of any width needs no room of its own: this may run in a signal handler. */
static void rotate_word(struct ps__log *log, size_t row, size_t last, size_t word)
{
	uint64_t saved = atomic_load_explicit(ps__log_word(log, row, word), memory_order_relaxed);

	for (; row < last; row++)
		atomic_store_explicit(ps__log_word(log, row, word),
		                      atomic_load_explicit(ps__log_word(log, row + 1, word), memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(ps__log_word(log, last, word), saved, memory_order_release);
}

static _Atomic uint16_t *mark_at(const struct ps__log *log, size_t row)
{
	return ps__log_mark(ps__log_chunk(log, row), row);
}

void ps__log_move_to_end(struct ps__log *log, size_t row)
{
	size_t last = atomic_load_explicit(&log->count, memory_order_relaxed) - 1;
	size_t number = row / PS__CHUNK_ROWS;

	for (size_t word = 0; word < log->stride; word++)
		rotate_word(log, row, last, word);
	uint16_t saved = atomic_load_explicit(mark_at(log, row), memory_order_relaxed);
	for (; row < last; row++)
		atomic_store_explicit(mark_at(log, row),
		                      atomic_load_explicit(mark_at(log, row + 1), memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(mark_at(log, last), saved, memory_order_release);
	ps__log_index(log, number, log->room / PS__CHUNK_ROWS - 1);
}

static void copy_row(struct ps__log *log, size_t from, size_t to, uint16_t mark)
{
	const _Atomic uint64_t *source = ps__log_word(log, from, 0);
	_Atomic uint64_t *words = ps__log_word(log, to, 0);

	for (size_t word = 0; word < log->stride; word++)
		atomic_store_explicit(&words[word], atomic_load_explicit(&source[word], memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(mark_at(log, to), mark, memory_order_release);
}

/* Behind the last row. The last chunk that is left may change now: it is indexed when it is full again. */
static void drop_empty_chunks(struct ps__log *log)
{
	while (log->room - atomic_load_explicit(&log->count, memory_order_relaxed) >= PS__CHUNK_ROWS) {
		log->room -= PS__CHUNK_ROWS;
		ps__pool_give_back(log->pool, ps__log_chunk(log, log->room));
		log->pool->spare_chunks++;
	}
}

void ps__log_close_up(struct ps__log *log)
{
	size_t count = atomic_load_explicit(&log->count, memory_order_relaxed);
	size_t row = atomic_load_explicit(&log->first, memory_order_relaxed);

	while (row < count && !ps__log_is_gone(log, row))
		row++;
	size_t number = row / PS__CHUNK_ROWS, end = row;
	for (; row < count; row++) {
		uint16_t mark = atomic_load_explicit(mark_at(log, row), memory_order_relaxed);
		if (!(mark & PS__MARK_GONE))
			copy_row(log, row, end++, mark);
	}
	log->gone = 0;
	atomic_store_explicit(&log->count, end, memory_order_release);
	drop_empty_chunks(log);
	ps__log_index(log, number, log->room / PS__CHUNK_ROWS - 1);
}

/* In-order updates empty the oldest chunk: it is dropped whole, and no row has to be moved. */
static void drop_first_chunk(struct ps__log *log)
{
	size_t first = atomic_load_explicit(&log->first, memory_order_relaxed);
	size_t count = atomic_load_explicit(&log->count, memory_order_relaxed);

	for (size_t row = first; row < first + PS__CHUNK_ROWS; row++) {
		if (!ps__log_is_gone(log, row))
			return;
	}
	log->gone -= PS__CHUNK_ROWS;
	/* A release, as the stores of rows are: a reader who sees it, sees the odd sequence at the second look. */
	atomic_fetch_add_explicit(&log->swept, PS__CHUNK_ROWS, memory_order_release);
	ps__log_trim(log, count - first - PS__CHUNK_ROWS);
}

void ps__log_retire(struct ps__log *log, size_t row)
{
	size_t first = atomic_load_explicit(&log->first, memory_order_relaxed);
	size_t rows = atomic_load_explicit(&log->count, memory_order_relaxed) - first;
	uint16_t mark = atomic_load_explicit(mark_at(log, row), memory_order_relaxed);

	atomic_store_explicit(mark_at(log, row), mark | PS__MARK_GONE, memory_order_release);
	log->gone++;
	if (row == first + PS__CHUNK_ROWS - 1)
		drop_first_chunk(log);
	/* Each row is moved once for each update at most, unless the memory that was reserved is used up. */
	if (log->gone >= PS__CHUNK_ROWS &&
	    (log->gone > rows / 2 || (log->pool->is_reserved && !log->pool->spare_chunks)))
		ps__log_close_up(log);
}

void ps__log_copy_to_end(struct ps__log *log, size_t row)
{
	size_t last = atomic_load_explicit(&log->count, memory_order_relaxed) - 1;
	uint16_t mark = atomic_load_explicit(mark_at(log, row), memory_order_relaxed);

	if (row == last)
		return;
	ps__log_append(log, atomic_load_explicit(ps__log_word(log, last, 0), memory_order_relaxed));
	copy_row(log, row, last + 1, mark);
	ps__log_retire(log, row);
}

void ps__log_pop(struct ps__log *log)
{
	atomic_fetch_sub_explicit(&log->count, 1, memory_order_release);
	drop_empty_chunks(log);
}

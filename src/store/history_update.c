/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves rows that get a new timestamp to the end of their history, and closes
 * the gaps. */
#include "store/history.h"

/* Moves one word of a row to the last row, and the same word of the later rows one row down. It
 * needs no memory for a row, because it may run in a signal handler. */
static void history_rotate_word(struct ps__history *history, size_t row, size_t last, size_t word)
{
	uint64_t saved =
	    atomic_load_explicit(ps__history_word(history, row, word), memory_order_relaxed);

	for (; row < last; row++)
		atomic_store_explicit(ps__history_word(history, row, word),
		                      atomic_load_explicit(ps__history_word(history, row + 1, word),
		                                           memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(ps__history_word(history, last, word), saved, memory_order_release);
}

static _Atomic uint16_t *history_mark_at(const struct ps__history *history, size_t row)
{
	return ps__history_mark(ps__history_chunk(history, row), row);
}

void ps__history_move_to_end(struct ps__history *history, size_t row)
{
	size_t last = atomic_load_explicit(&history->count, memory_order_relaxed) - 1;
	size_t number = row / PS__CHUNK_ROWS;

	for (size_t word = 0; word < history->stride; word++)
		history_rotate_word(history, row, last, word);
	uint16_t saved = atomic_load_explicit(history_mark_at(history, row), memory_order_relaxed);
	for (; row < last; row++)
		atomic_store_explicit(
		    history_mark_at(history, row),
		    atomic_load_explicit(history_mark_at(history, row + 1), memory_order_relaxed),
		    memory_order_release);
	atomic_store_explicit(history_mark_at(history, last), saved, memory_order_release);
	ps__history_index(history, number, history->room / PS__CHUNK_ROWS - 1);
}

static void history_copy_row(struct ps__history *history, size_t from, size_t to, uint16_t mark)
{
	const _Atomic uint64_t *source = ps__history_word(history, from, 0);
	_Atomic uint64_t *words = ps__history_word(history, to, 0);

	for (size_t word = 0; word < history->stride; word++)
		atomic_store_explicit(&words[word],
		                      atomic_load_explicit(&source[word], memory_order_relaxed),
		                      memory_order_release);
	atomic_store_explicit(history_mark_at(history, to), mark, memory_order_release);
}

/* Gives back the chunks behind the last row. The last chunk that is left may change now, so it will
 * be indexed when it is full again. */
static void history_drop_empty_chunks(struct ps__history *history)
{
	while (history->room - atomic_load_explicit(&history->count, memory_order_relaxed) >=
	       PS__CHUNK_ROWS) {
		history->room -= PS__CHUNK_ROWS;
		ps__pool_give_back(history->pool, ps__history_chunk(history, history->room));
		history->pool->spare_chunks++;
	}
}

void ps__history_close_up(struct ps__history *history)
{
	size_t count = atomic_load_explicit(&history->count, memory_order_relaxed);
	size_t row = atomic_load_explicit(&history->first, memory_order_relaxed);

	while (row < count && !ps__history_is_gone(history, row))
		row++;
	size_t number = row / PS__CHUNK_ROWS, end = row;
	for (; row < count; row++) {
		uint16_t mark =
		    atomic_load_explicit(history_mark_at(history, row), memory_order_relaxed);
		if (!(mark & PS__MARK_GONE))
			history_copy_row(history, row, end++, mark);
	}
	history->gone = 0;
	atomic_store_explicit(&history->count, end, memory_order_release);
	history_drop_empty_chunks(history);
	ps__history_index(history, number, history->room / PS__CHUNK_ROWS - 1);
}

/* Drops the oldest chunk if all its rows are gone, as after updates in order. No row has to be
 * moved. */
static void history_drop_first_chunk(struct ps__history *history)
{
	size_t first = atomic_load_explicit(&history->first, memory_order_relaxed);
	size_t count = atomic_load_explicit(&history->count, memory_order_relaxed);

	for (size_t row = first; row < first + PS__CHUNK_ROWS; row++) {
		if (!ps__history_is_gone(history, row))
			return;
	}
	history->gone -= PS__CHUNK_ROWS;
	/* A release, like the stores of rows: a reader that sees the new number sees the odd
	 * sequence at its second look. */
	atomic_fetch_add_explicit(&history->swept, PS__CHUNK_ROWS, memory_order_release);
	ps__history_trim(history, count - first - PS__CHUNK_ROWS);
}

void ps__history_retire(struct ps__history *history, size_t row)
{
	size_t first = atomic_load_explicit(&history->first, memory_order_relaxed);
	size_t rows = atomic_load_explicit(&history->count, memory_order_relaxed) - first;
	uint16_t mark = atomic_load_explicit(history_mark_at(history, row), memory_order_relaxed);

	atomic_store_explicit(history_mark_at(history, row), mark | PS__MARK_GONE,
	                      memory_order_release);
	history->gone++;
	if (row == first + PS__CHUNK_ROWS - 1)
		history_drop_first_chunk(history);
	/* On average an update moves at most one row. It may move more if the reserved memory is
	 * used up. */
	if (history->gone >= PS__CHUNK_ROWS &&
	    (history->gone > rows / 2 ||
	     (history->pool->is_reserved && !history->pool->spare_chunks)))
		ps__history_close_up(history);
}

void ps__history_copy_to_end(struct ps__history *history, size_t row)
{
	size_t last = atomic_load_explicit(&history->count, memory_order_relaxed) - 1;
	uint16_t mark = atomic_load_explicit(history_mark_at(history, row), memory_order_relaxed);

	if (row == last)
		return;
	ps__history_append(history, atomic_load_explicit(ps__history_word(history, last, 0),
	                                                 memory_order_relaxed));
	history_copy_row(history, row, last + 1, mark);
	ps__history_retire(history, row);
}

void ps__history_pop(struct ps__history *history)
{
	atomic_fetch_sub_explicit(&history->count, 1, memory_order_release);
	history_drop_empty_chunks(history);
}

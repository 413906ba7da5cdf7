/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/rows.h"

#include "support/fake.h"

#include <stdlib.h>
#include <string.h>

#define STRIDE 3

struct rows_held held;
static struct ps__pool pool;

static uint64_t state = 88172645463325252u;

void rows_seed(unsigned seed)
{
	state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t rows_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void rows_setup(void)
{
	fake_install();
	held.history = (struct ps__history){.room = 0};
	ps__pool_init(&pool, STRIDE);
	ck_assert_int_eq(ps__history_init(&held.history, &pool, STRIDE), 0);
	held.first = held.count = 0;
	held.now = 1000;
}

void rows_teardown(void)
{
	ps__history_clear(&held.history);
	ps__pool_clear(&pool);
	fake_remove();
}

_Atomic uint64_t *rows_words(size_t row)
{
	return ps__history_words(&held.history, ps__history_chunk(&held.history, row), row);
}

void rows_append(uint64_t gap)
{
	held.now += gap;
	ck_assert_int_eq(ps__history_make_room(&held.history), 0);
	ck_assert_uint_eq(ps__history_append(&held.history, held.now), held.count);
	atomic_store(&rows_words(held.count)[1], held.now * 3);
	held.times[held.count++] = held.now;
}

void rows_restamp_last(uint64_t gap)
{
	held.now += gap;
	held.times[held.count - 1] = held.now;
	atomic_store(&rows_words(held.count - 1)[0], held.now);
	atomic_store(&rows_words(held.count - 1)[1], held.now * 3);
}

void rows_trim(size_t keep)
{
	ps__history_trim(&held.history, keep);
	/* What was dropped doesn't come back when the history gets longer. */
	if (held.count > keep && held.count - keep > held.first)
		held.first = held.count - keep;
}

void rows_move_to_end(size_t row)
{
	ps__history_move_to_end(&held.history, row);
	memmove(&held.times[row], &held.times[row + 1],
	        (held.count - row - 1) * sizeof held.times[0]);
	rows_restamp_last(17);
}

ptrdiff_t rows_find(uint64_t time)
{
	ptrdiff_t found = ps__history_find(&held.history, time);
	struct ps__history_row row = ps__history_row_at(&held.history, time);

	ck_assert_int_eq(row.words != NULL, found >= 0);
	if (row.words) {
		struct ps__chunk *chunk = ps__history_chunk(&held.history, (size_t)found);
		ck_assert_ptr_eq(row.words, ps__history_words(&held.history, chunk, (size_t)found));
		ck_assert_ptr_eq(row.mark, ps__history_mark(chunk, (size_t)found));
	}
	return found;
}

void rows_check_row(size_t row)
{
	uint64_t before = row > held.first ? held.times[row - 1] : 0;

	ck_assert_int_eq(rows_find(held.times[row]), (ptrdiff_t)row);
	ck_assert_uint_eq(atomic_load(&rows_words(row)[1]), held.times[row] * 3);
	ck_assert_uint_eq(ps__history_find_after(&held.history, held.times[row]), row + 1);
	ck_assert_uint_eq(ps__history_find_after(&held.history, held.times[row] - 1), row);
	if (held.times[row] - before > 1) {
		ck_assert_int_eq(rows_find(held.times[row] - 1), -1);
		ck_assert_uint_eq(ps__history_find_after(&held.history, before), row);
	}
}

void rows_check_all(void)
{
	for (size_t row = held.first; row < held.count; row++)
		rows_check_row(row);
	ck_assert_int_eq(rows_find(held.now + 1), -1);
	ck_assert_int_eq(rows_find(UINT64_MAX), -1);
	ck_assert_int_eq(rows_find(1), -1);
	ck_assert_uint_eq(ps__history_find_after(&held.history, 0), held.first);
	ck_assert_uint_eq(ps__history_find_after(&held.history, UINT64_MAX), held.count);
	for (size_t row = held.first < 200 ? 0 : held.first - 200; row < held.first; row++) {
		ck_assert_int_eq(rows_find(held.times[row]), -1);
		ck_assert_uint_eq(ps__history_find_after(&held.history, held.times[row]),
		                  held.first);
	}
}

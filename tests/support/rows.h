/* SPDX-License-Identifier: BSD-3-Clause */
/* A history of rows, and a plain array with the expected content. The second word of each row is
 * three times its timestamp. */
#ifndef SUPPORT_ROWS_H
#define SUPPORT_ROWS_H

#include "store/history.h"
#include "support/scene.h"
#include "support/unmarked.h"

#define ROWS_MOST 20000

struct rows_held {
	struct ps__history history;
	uint64_t times[ROWS_MOST]; /* indexed by row number */
	size_t first, count;
	uint64_t now; /* timestamp of the last row */
};
extern struct rows_held held;

void rows_setup(void);
void rows_teardown(void);

void rows_seed(unsigned seed);
uint64_t rows_random(void);
_Atomic uint64_t *rows_words(size_t row);

/* Adds a row, so many nanoseconds after the last one. */
void rows_append(uint64_t gap);
/* Changes the timestamp of the last row. */
void rows_restamp_last(uint64_t gap);
void rows_trim(size_t keep);
/* Moves a row, as a set does that updates an older reading. */
void rows_move_to_end(size_t row);

/* Finds a row by index and by address; both must agree. */
ptrdiff_t rows_find(uint64_t time);
/* Checks that a row is found, and that times next to it aren't. */
void rows_check_row(size_t row);
/* Checks all rows, and that dropped rows aren't found. */
void rows_check_all(void);

#endif

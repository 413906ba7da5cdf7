/* SPDX-License-Identifier: BSD-3-Clause */
/* A history of rows, and a plain array of what must be found in it. Each row's second word is three
 * times its timestamp. */
#ifndef SUPPORT_ROWS_H
#define SUPPORT_ROWS_H

#include "store/history.h"
#include "support/scene.h"
#include "support/unmarked.h"

#define ROWS_MOST 20000

struct rows_held {
	struct ps__history history;
	uint64_t times[ROWS_MOST]; /* by row number */
	size_t first, count;
	uint64_t now; /* the last row's */
};
extern struct rows_held held;

void rows_setup(void);
void rows_teardown(void);

void rows_seed(unsigned seed);
uint64_t rows_random(void);
_Atomic uint64_t *rows_words(size_t row);

/* A row, so many nanoseconds after the last one. */
void rows_append(uint64_t gap);
/* A new timestamp for the last one. */
void rows_restamp_last(uint64_t gap);
void rows_trim(size_t keep);
/* As a set does that updates an older reading. */
void rows_move_to_end(size_t row);

/* By number and by address, which must agree. */
ptrdiff_t rows_find(uint64_t time);
/* That a row is found, and nothing beside it. */
void rows_check_row(size_t row);
/* All rows; and none that were dropped. */
void rows_check_all(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The guide of a log: when it is made, what is found by it at the first go, and that nothing it says is believed. */
#include "support/rows.h"

/* Nanoseconds between readings, of several scales. */
static const uint64_t steps[] = {7,   28,   29,    33,      150,       152,
                                 400, 1000, 12345, 1000000, 987654321, UINT64_C(3600000000000)};
#define STEPS ((int)(sizeof steps / sizeof steps[0]))

static const struct ps__guide *guide(void)
{
	return atomic_load(&held.log.directory)->guide;
}

/* Looks rows up that are in chunks which are indexed; returns how many searches were without the guide. */
static size_t look_up(size_t begin, size_t end, size_t lookups)
{
	size_t searches = atomic_load(&guide()->searches);

	for (size_t lookup = 0; lookup < lookups; lookup++) {
		size_t row = begin + rows_random() % (end - begin);
		ck_assert_int_eq(rows_find(held.times[row]), (ptrdiff_t)row);
	}
	return atomic_load(&guide()->searches) - searches;
}

/* Rows, and a guide of nearly all of them. */
static void append_and_look_up(size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		rows_append(150);
	look_up(0, rows - rows / 10, 100);
}

START_TEST(searches_pay_for_a_guide_and_then_need_no_more)
{
	for (size_t row = 0; row < 10000; row++)
		rows_append(150 + rows_random() % 8);
	/* 157 chunks, of which 156 are indexed. */
	ck_assert_uint_eq(look_up(0, 9000, 19), 19);
	ck_assert_uint_eq(atomic_load(&guide()->count), 0);
	look_up(0, 9000, 2);
	ck_assert_uint_eq(atomic_load(&guide()->count), 312);
	ck_assert_uint_eq(look_up(0, 9000, 1000), 0);
	/* It grows with the log, when enough was looked up that it doesn't know. */
	for (size_t row = 0; row < 6000; row++)
		rows_append(150 + rows_random() % 8);
	ck_assert_uint_eq(look_up(0, 9000, 100), 0);
	ck_assert_uint_eq(look_up(10000, 15000, 20), 20);
	look_up(10000, 15000, 20);
	ck_assert_uint_eq(look_up(0, 15000, 1000), 0);
}
END_TEST

/* A bounded history leaves it behind. */
START_TEST(a_guide_moves_on_with_the_history)
{
	size_t made = 0;

	for (size_t row = 0; row < ROWS_MOST; row++) {
		uint64_t before = atomic_load(&guide()->end);
		rows_append(200);
		rows_trim(4096);
		if (row % 10 == 9 && row > 4096)
			look_up(held.first, held.count - 200, 5);
		made += atomic_load(&guide()->end) != before;
	}
	ck_assert_uint_ge(made, 10);
	look_up(held.first, held.count - 1000, 100);
	/* But for those at the end of the directory's circle. */
	ck_assert_uint_le(look_up(held.first + 200, held.count - 1000, 100), 25);
}
END_TEST

/* Of the rows that the guide knows nearly all are found at the first go, where times are even enough. */
START_TEST(most_rows_are_found_at_the_first_go)
{
	uint64_t step = steps[_i];
	size_t asked = 0;

	for (size_t row = 0; row < 20000; row++)
		rows_append(step < 28 ? step : step - step / 8 + rows_random() % (step / 4));
	look_up(0, 19000, 1000);
	held.guessed = 0;
	for (size_t row = 0; row < 19900; row += 7, asked++)
		ck_assert_int_eq(rows_find(held.times[row]), (ptrdiff_t)row);
	ck_assert_uint_ge(held.guessed, asked * 95 / 100);
	/* What was dropped isn't found any more, by whomever; and the others are. */
	rows_trim(held.count - 5000);
	held.guessed = asked = 0;
	for (size_t row = 0; row < 19900; row += 7) {
		ck_assert_int_eq(rows_find(held.times[row]), row < held.first ? -1 : (ptrdiff_t)row);
		asked += row >= held.first;
	}
	ck_assert_uint_ge(held.guessed, asked * 95 / 100);
}
END_TEST

/* Between bursts nothing is read for longer than they take: then many chunks are in one span. */
START_TEST(rows_in_bursts_are_found_at_the_first_go_too)
{
	for (size_t row = 0; row < 20000; row++)
		rows_append(row % 1000 == 999 ? 100000000 : 150 + rows_random() % 8);
	look_up(0, 19000, 1000);
	held.guessed = 0;
	ck_assert_uint_eq(look_up(0, 19000, 1000), 0);
	ck_assert_uint_ge(held.guessed, 800);
}
END_TEST

/* They are in chunks that the guide knows. */
START_TEST(rows_that_were_taken_off_are_not_found)
{
	append_and_look_up(2000);
	while (held.count > 1500) {
		ps__log_pop(&held.log);
		held.count--;
		ck_assert_int_eq(rows_find(held.times[held.count]), -1);
	}
	rows_check_all();
	while (held.count < 2000)
		rows_append(170);
	rows_check_all();
}
END_TEST

/* A chunk that has dropped some of its rows is indexed anew. */
START_TEST(rows_that_were_dropped_stay_so_when_others_are_moved)
{
	append_and_look_up(2000);
	rows_trim(1900);
	ck_assert_uint_ne(held.first % PS__CHUNK_ROWS, 0);
	rows_move_to_end(held.first + 5);
	rows_check_all();
}
END_TEST

/* What it says may be anything: of a log that changed since, or of another reader who is at it. */
START_TEST(a_guide_that_is_wrong_harms_nothing)
{
	append_and_look_up(10000);
	struct ps__guide *damaged = atomic_load(&held.log.directory)->guide;
	size_t capacity = atomic_load(&held.log.directory)->capacity;
	for (int round = 0; round < 200; round++) {
		uint64_t spans = atomic_load(&damaged->count);
		atomic_store(&damaged->places[rows_random() % (spans + 1)], (uint32_t)(rows_random() % capacity));
		if (round % 4 == 1)
			atomic_store(&damaged->count, rows_random() % (PS__GUIDE_ROOM(capacity)));
		if (round % 4 == 2)
			atomic_store(&damaged->start, held.times[0] + rows_random() % 1000000);
		if (round % 4 == 3)
			atomic_store(&damaged->rate, rows_random());
		look_up(0, held.count, 200);
	}
	rows_check_all();
}
END_TEST

/* What is foretold wrongly is found all the same, and only the time would tell. */
START_TEST(a_row_is_mostly_where_it_was_foretold)
{
	const size_t rows = 6400;
	uint64_t step = steps[_i];
	size_t right = 0, beside = 0;

	for (size_t row = 0; row <= rows; row++)
		rows_append(step < 28 ? step : step - step / 8 + rows_random() % (step / 4));
	const struct ps__directory *directory = atomic_load(&held.log.directory);
	for (size_t row = 0; row < rows; row++) {
		const struct ps__entry *entry = ps__search_entry_of(directory, row / PS__CHUNK_ROWS);
		size_t foretold =
		    ps__search_foretell(entry, held.times[row] - held.times[row - row % PS__CHUNK_ROWS]);
		right += foretold == row % PS__CHUNK_ROWS;
		beside += foretold + 1 == row % PS__CHUNK_ROWS || foretold == row % PS__CHUNK_ROWS + 1;
	}
	ck_assert_uint_ge(right, rows * 98 / 100);
	ck_assert_uint_eq(right + beside, rows);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guide");
	TCase *tests = tcase_create("rows");

	tcase_add_checked_fixture(tests, rows_setup, rows_teardown);
	tcase_add_test(tests, searches_pay_for_a_guide_and_then_need_no_more);
	tcase_add_test(tests, a_guide_moves_on_with_the_history);
	tcase_add_loop_test(tests, most_rows_are_found_at_the_first_go, 0, STEPS);
	tcase_add_test(tests, rows_in_bursts_are_found_at_the_first_go_too);
	tcase_add_test(tests, rows_that_were_taken_off_are_not_found);
	tcase_add_test(tests, rows_that_were_dropped_stay_so_when_others_are_moved);
	tcase_add_test(tests, a_guide_that_is_wrong_harms_nothing);
	tcase_add_loop_test(tests, a_row_is_mostly_where_it_was_foretold, 0, STEPS);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

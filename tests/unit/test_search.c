/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows by their timestamps: whatever the times between them, in bounded histories, after rows were
 * moved and dropped; each answer is compared with that of a plain array.
 */
#include "support/rows.h"
#include "support/small.h"
#include "support/unmarked.h"

/* Times between readings. */
static uint64_t steady(size_t row)
{
	(void)row;
	return 150;
}

static uint64_t without_a_gap(size_t row)
{
	(void)row;
	return 1;
}

static uint64_t noisy(size_t row)
{
	(void)row;
	return 1 + rows_random() % 300;
}

static uint64_t in_bursts(size_t row)
{
	return row % 100 == 37 ? UINT64_C(4000000000) : 100 + row % 7;
}

static uint64_t over_days(size_t row)
{
	return row % 900 == 5 ? UINT64_C(90000000000000) : 1 + (rows_random() & 0xffffffffff);
}

static uint64_t ever_slower(size_t row)
{
	return 1 + row * row;
}

static uint64_t (*const patterns[])(size_t row) = {steady,    without_a_gap, noisy,
                                                   in_bursts, over_days,     ever_slower};
#define PATTERNS ((int)(sizeof patterns / sizeof patterns[0]))

START_TEST(every_row_is_found_and_nothing_else)
{
	static const size_t looks[] = {0,   1,   2,   63,  64,  65,   127,  128,
	                               129, 255, 256, 257, 300, 4096, 4097, 20000};
	size_t look = 0;

	for (size_t row = 0; row <= ROWS_MOST; row++) {
		if (row == looks[look]) {
			look++;
			rows_check_all();
		}
		if (row < ROWS_MOST)
			rows_append(patterns[_i](row));
	}
}
END_TEST

START_TEST(a_bounded_history_finds_what_it_kept)
{
	static const size_t keeps[] = {64, 192, 512, 1024, 1088};

	for (size_t row = 0; row < ROWS_MOST; row++) {
		rows_append(patterns[_i](row));
		rows_trim(keeps[row / (ROWS_MOST / 5 + 1)]);
		if (row % 331 == 0)
			rows_check_all();
	}
	rows_check_all();
}
END_TEST

START_TEST(rows_that_were_moved_are_found)
{
	for (size_t row = 0; row < 3000; row++)
		rows_append(patterns[_i](row));
	for (int round = 0; round < 60; round++) {
		rows_move_to_end(held.first + rows_random() % (held.count - held.first));
		for (size_t more = rows_random() % 40; more > 0; more--)
			rows_append(patterns[_i](held.count));
		if (round > 30)
			rows_trim(2000);
		if (round % 10 == 9)
			rows_check_all();
	}
}
END_TEST

/* A reading that stays the latest for long, and is restamped all the while, also as the last row of
 * a chunk. */
START_TEST(a_row_that_was_restamped_is_found_when_others_follow)
{
	for (size_t row = 0; row < 1500; row++) {
		rows_append(patterns[_i](row));
		if (row % 64 == 63 || row % 64 == 0 || row % 5 == 0) {
			/* Room for the next row may have been made, and the row not appended for
			 * lack of memory elsewhere. */
			ck_assert_int_eq(ps__history_make_room(&held.history), 0);
			rows_restamp_last(1000 + rows_random() % 100000);
			rows_check_row(held.count - 1);
		}
	}
	rows_check_all();
}
END_TEST

/* Nobody should append those; but no row between others is lost by it, and no program ended. */
START_TEST(rows_of_one_time_harm_nothing)
{
	for (size_t row = 0; row < 1000; row++) {
		held.now += row % PS__CHUNK_ROWS > 50 ? 0 : 10;
		ck_assert_int_eq(ps__history_make_room(&held.history), 0);
		ps__history_append(&held.history, held.now);
		held.times[held.count++] = held.now;
	}
	for (size_t row = 0; row < 1000; row++) {
		ptrdiff_t found = ps__history_find(&held.history, held.times[row]);
		ck_assert_int_ge(found, 0);
		ck_assert_uint_eq(held.times[found], held.times[row]);
	}
}
END_TEST

/* The history of bases: rows are moved to the end and taken, others come. */
START_TEST(after_rows_were_taken_off_others_are_found)
{
	for (size_t row = 0; row < 300; row++)
		rows_append(patterns[_i](row));
	int rounds = ps_test_serial_size(400, 60);
	for (int round = 0; round < rounds; round++) {
		size_t taken = rows_random() % 70;
		for (; taken > 0 && held.count > 1; taken--) {
			rows_move_to_end(rows_random() % held.count);
			ps__history_pop(&held.history);
			held.count--;
		}
		for (size_t more = rows_random() % 75; more > 0; more--)
			rows_append(patterns[_i](held.count));
		if (round % 20 == 19)
			rows_check_all();
	}
}
END_TEST

/* A reader who has seen where the history began, and then where it ends after a writer has gone on
 * for long: none of the chunks in between need be there. What is found doesn't matter, it is
 * discarded; but it is looked for in the table alone. */
START_TEST(a_reader_who_was_overtaken_stays_within_the_table)
{
	for (size_t row = 0; row < ROWS_MOST; row++) {
		rows_append(150);
		rows_trim(64);
	}
	const struct ps__directory *directory = atomic_load(&held.history.directory);
	size_t capacity = directory->capacity;
	size_t end = (held.count - 1) / PS__CHUNK_ROWS;
	ck_assert_uint_gt(end, 20 * capacity);
	for (size_t begin = 0; begin < end; begin++) {
		size_t turn = begin - begin % capacity;
		for (int newer = 0; newer < 2; newer++) {
			size_t chunk =
			    ps__history_find_chunk(directory, begin, end, newer ? held.now : 1);
			ck_assert_uint_ge(chunk, begin);
			ck_assert_uint_lt(chunk, turn + 2 * capacity);
		}
		atomic_store(&held.history.first, begin * PS__CHUNK_ROWS);
		rows_find(held.times[held.count - 1000]);
		rows_find(1);
		ps__history_find_after(&held.history, held.times[held.count - 1000]);
	}
}
END_TEST

/* Down to where a bounded history begins; and then into a larger directory, which none of its
 * chunks is copied to. */
START_TEST(after_all_rows_were_taken_off_others_are_found)
{
	for (size_t row = 0; row < 128; row++) {
		rows_append(10);
		rows_trim(64);
	}
	for (; held.count > held.first; held.count--)
		ps__history_pop(&held.history);
	if (_i > 0)
		ck_assert_int_eq(ps__history_reserve(&held.history, 5000), 0);
	for (size_t row = 0; row < 1000; row++)
		rows_append(10);
	rows_check_all();
}
END_TEST

static void do_anything(void)
{
	static const size_t keeps[] = {64, 65, 200, 512, 1000};
	size_t kept = held.count - held.first;

	switch (rows_random() % 12) {
	case 0:
		rows_trim(keeps[rows_random() % (sizeof keeps / sizeof keeps[0])]);
		break;
	case 1:
		if (kept > 0)
			rows_move_to_end(held.first + rows_random() % kept);
		break;
	case 2:
		for (size_t taken = rows_random() % (kept + 1) / (1 + rows_random() % 4); taken > 0;
		     taken--) {
			ps__history_pop(&held.history);
			held.count--;
		}
		break;
	case 3:
		ck_assert_int_eq(ps__history_reserve(&held.history, rows_random() % 1000), 0);
		break;
	case 4:
		if (kept > 0)
			rows_restamp_last(1 + rows_random() % 1000);
		break;
	default:
		for (size_t more = rows_random() % 100; more > 0; more--)
			rows_append(patterns[rows_random() % PATTERNS](held.count));
	}
}

/* Also what no set does now. */
START_TEST(whatever_is_done_in_whatever_order_rows_are_found)
{
	rows_seed((unsigned)_i);
	for (int round = 0; held.count + 100 < ROWS_MOST && round < 300; round++) {
		do_anything();
		if (round % 5 == 0)
			rows_check_all();
	}
}
END_TEST

START_TEST(chunks_that_were_taken_off_are_used_again)
{
	for (size_t row = 0; row < 640; row++)
		rows_append(10);
	size_t bytes = fake_mapped_bytes();
	for (int round = 0; round < 200; round++) {
		for (int row = 0; row < 300; row++) {
			ps__history_pop(&held.history);
			held.count--;
		}
		for (int row = 0; row < 300; row++)
			rows_append(10);
	}
	rows_check_all();
	ck_assert_uint_eq(fake_mapped_bytes(), bytes);
}
END_TEST

START_TEST(rows_that_were_taken_off_are_not_found)
{
	for (size_t row = 0; row < 2000; row++)
		rows_append(150);
	while (held.count > 1500) {
		ps__history_pop(&held.history);
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
	for (size_t row = 0; row < 2000; row++)
		rows_append(150);
	rows_trim(1900);
	ck_assert_uint_ne(held.first % PS__CHUNK_ROWS, 0);
	rows_move_to_end(held.first + 5);
	rows_check_all();
}
END_TEST

/* Nanoseconds between readings, of several scales. */
static const uint64_t steps[] = {7,   28,   29,    33,      150,       152,
                                 400, 1000, 12345, 1000000, 987654321, UINT64_C(3600000000000)};
#define STEPS ((int)(sizeof steps / sizeof steps[0]))

/* A row that is predicted wrongly is found all the same, but it takes longer. */
START_TEST(a_row_is_mostly_where_it_is_predicted)
{
	const size_t rows = 6400;
	uint64_t step = steps[_i];
	size_t right = 0, beside = 0;

	for (size_t row = 0; row <= rows; row++)
		rows_append(step < 28 ? step : step - step / 8 + rows_random() % (step / 4));
	const struct ps__directory *directory = atomic_load(&held.history.directory);
	for (size_t row = 0; row < rows; row++) {
		const struct ps__entry *entry = &directory->entries[row / PS__CHUNK_ROWS];
		uint64_t passed_ns = held.times[row] - held.times[row - row % PS__CHUNK_ROWS];
		size_t predicted = ps__history_predict(entry, passed_ns);
		right += predicted == row % PS__CHUNK_ROWS;
		beside +=
		    predicted + 1 == row % PS__CHUNK_ROWS || predicted == row % PS__CHUNK_ROWS + 1;
	}
	ck_assert_uint_ge(right, rows * 98 / 100);
	ck_assert_uint_eq(right + beside, rows);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *tests = tcase_create("rows");

	tcase_add_checked_fixture(tests, rows_setup, rows_teardown);
	tcase_add_loop_test(tests, every_row_is_found_and_nothing_else, 0, PATTERNS);
	tcase_add_loop_test(tests, a_bounded_history_finds_what_it_kept, 0, PATTERNS);
	tcase_add_loop_test(tests, rows_that_were_moved_are_found, 0, PATTERNS);
	tcase_add_loop_test(tests, a_row_that_was_restamped_is_found_when_others_follow, 0,
	                    PATTERNS);
	tcase_add_test(tests, rows_of_one_time_harm_nothing);
	tcase_add_loop_test(tests, after_rows_were_taken_off_others_are_found, 0, PATTERNS);
	tcase_add_test(tests, a_reader_who_was_overtaken_stays_within_the_table);
	tcase_add_loop_test(tests, after_all_rows_were_taken_off_others_are_found, 0, 2);
	tcase_add_loop_test(tests, whatever_is_done_in_whatever_order_rows_are_found, 0, 8);
	tcase_add_test(tests, chunks_that_were_taken_off_are_used_again);
	tcase_add_test(tests, rows_that_were_taken_off_are_not_found);
	tcase_add_test(tests, rows_that_were_dropped_stay_so_when_others_are_moved);
	tcase_add_loop_test(tests, a_row_is_mostly_where_it_is_predicted, 0, STEPS);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

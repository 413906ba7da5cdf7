/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows by their timestamps: whatever the times between them, in bounded histories, after rows were moved and dropped; each
 * answer is compared with that of a plain array.
 */
#include "support/scene.h"
#include "topology/guide.h"

#include <stdlib.h>

#define MOST_ROWS 20000
#define STRIDE    3

static struct ps__pool pool;
static struct ps__log log_;
static uint64_t times[MOST_ROWS]; /* what the log must hold, by row number */
static size_t first, count;
static uint64_t now;

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void setup(void)
{
	fake_install();
	log_ = (struct ps__log){.room = 0};
	ps__pool_init(&pool, STRIDE);
	ck_assert_int_eq(ps__log_init(&log_, &pool, STRIDE), 0);
	first = count = 0;
	now = 1000;
}

static void teardown(void)
{
	ps__log_clear(&log_);
	ps__pool_clear(&pool);
	fake_remove();
}

static _Atomic uint64_t *words_of(size_t row)
{
	return ps__log_words(&log_, ps__log_chunk(&log_, row), row);
}

static void append(uint64_t gap)
{
	now += gap;
	ck_assert_int_eq(ps__log_make_room(&log_), 0);
	ck_assert_uint_eq(ps__log_append(&log_, now), count);
	atomic_store(&words_of(count)[1], now * 3);
	times[count++] = now;
}

static void restamp_last(uint64_t gap)
{
	now += gap;
	times[count - 1] = now;
	atomic_store(&words_of(count - 1)[0], now);
	atomic_store(&words_of(count - 1)[1], now * 3);
}

static void trim(size_t keep)
{
	ps__log_trim(&log_, keep);
	/* What was dropped doesn't come back when the history gets longer. */
	if (count > keep && count - keep > first)
		first = count - keep;
}

/* As a set does that updates an older reading. */
static void move_to_end(size_t row)
{
	ps__log_move_to_end(&log_, row);
	memmove(&times[row], &times[row + 1], (count - row - 1) * sizeof times[0]);
	restamp_last(17);
}

/* With the guide and without; each in its chunk. */
static ptrdiff_t find(uint64_t time)
{
	size_t row = 0;
	struct ps__chunk *chunk = ps__guide_row(&log_, time, &row);
	ptrdiff_t found = ps__log_find(&log_, time);

	ck_assert_int_eq(chunk ? (ptrdiff_t)row : -1, found);
	if (chunk)
		ck_assert_ptr_eq(chunk, ps__log_chunk(&log_, row));
	return found;
}

static void check_row(size_t row)
{
	uint64_t before = row > first ? times[row - 1] : 0;

	ck_assert_int_eq(find(times[row]), (ptrdiff_t)row);
	ck_assert_uint_eq(atomic_load(&words_of(row)[1]), times[row] * 3);
	ck_assert_uint_eq(ps__log_find_after(&log_, times[row]), row + 1);
	ck_assert_uint_eq(ps__log_find_after(&log_, times[row] - 1), row);
	if (times[row] - before > 1) {
		ck_assert_int_eq(find(times[row] - 1), -1);
		ck_assert_uint_eq(ps__log_find_after(&log_, before), row);
	}
}

static void check_all(void)
{
	for (size_t row = first; row < count; row++)
		check_row(row);
	ck_assert_int_eq(find(now + 1), -1);
	ck_assert_int_eq(find(UINT64_MAX), -1);
	ck_assert_int_eq(find(1), -1);
	ck_assert_uint_eq(ps__log_find_after(&log_, 0), first);
	ck_assert_uint_eq(ps__log_find_after(&log_, UINT64_MAX), count);
	for (size_t row = first < 200 ? 0 : first - 200; row < first; row++) {
		ck_assert_int_eq(find(times[row]), -1);
		ck_assert_uint_eq(ps__log_find_after(&log_, times[row]), first);
	}
}

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
	return 1 + next_random() % 300;
}

static uint64_t in_bursts(size_t row)
{
	return row % 100 == 37 ? UINT64_C(4000000000) : 100 + row % 7;
}

static uint64_t over_days(size_t row)
{
	return row % 900 == 5 ? UINT64_C(90000000000000) : 1 + (next_random() & 0xffffffffff);
}

static uint64_t ever_slower(size_t row)
{
	return 1 + row * row;
}

static uint64_t (*const patterns[])(size_t row) = {steady, without_a_gap, noisy, in_bursts, over_days, ever_slower};
#define PATTERNS ((int)(sizeof patterns / sizeof patterns[0]))

START_TEST(every_row_is_found_and_nothing_else)
{
	static const size_t looks[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 4096, 4097, 20000};
	size_t look = 0;

	for (size_t row = 0; row <= MOST_ROWS; row++) {
		if (row == looks[look]) {
			look++;
			check_all();
		}
		if (row < MOST_ROWS)
			append(patterns[_i](row));
	}
}
END_TEST

START_TEST(a_bounded_history_finds_what_it_kept)
{
	static const size_t keeps[] = {64, 192, 512, 1024, 1088};

	for (size_t row = 0; row < MOST_ROWS; row++) {
		append(patterns[_i](row));
		trim(keeps[row / (MOST_ROWS / 5 + 1)]);
		if (row % 331 == 0)
			check_all();
	}
	check_all();
}
END_TEST

START_TEST(rows_that_were_moved_are_found)
{
	for (size_t row = 0; row < 3000; row++)
		append(patterns[_i](row));
	for (int round = 0; round < 60; round++) {
		move_to_end(first + next_random() % (count - first));
		for (size_t more = next_random() % 40; more > 0; more--)
			append(patterns[_i](count));
		if (round % 10 == 9)
			check_all();
	}
}
END_TEST

/* A reading that stays the latest for long, and is restamped all the while, also as the last row of a chunk. */
START_TEST(a_row_that_was_restamped_is_found_when_others_follow)
{
	for (size_t row = 0; row < 1500; row++) {
		append(patterns[_i](row));
		if (row % 64 == 63 || row % 64 == 0 || row % 5 == 0) {
			/* Room for the next row may have been made, and the row not appended for lack of memory elsewhere. */
			ck_assert_int_eq(ps__log_make_room(&log_), 0);
			restamp_last(1000 + next_random() % 100000);
			check_row(count - 1);
		}
	}
	check_all();
}
END_TEST

/* Nobody should append those; but no row between others is lost by it, and no program ended. */
START_TEST(rows_of_one_time_harm_nothing)
{
	for (size_t row = 0; row < 1000; row++) {
		now += row % PS__CHUNK_ROWS > 50 ? 0 : 10;
		ck_assert_int_eq(ps__log_make_room(&log_), 0);
		ps__log_append(&log_, now);
		times[count++] = now;
	}
	for (size_t row = 0; row < 1000; row++) {
		ptrdiff_t found = ps__log_find(&log_, times[row]);
		ck_assert_int_ge(found, 0);
		ck_assert_uint_eq(times[found], times[row]);
	}
}
END_TEST

/* The log of bases: rows are moved to the end and taken, others come. */
START_TEST(after_rows_were_taken_off_others_are_found)
{
	for (size_t row = 0; row < 300; row++)
		append(patterns[_i](row));
	for (int round = 0; round < 400; round++) {
		size_t taken = next_random() % 70;
		for (; taken > 0 && count > 1; taken--) {
			move_to_end(next_random() % count);
			ps__log_pop(&log_);
			count--;
		}
		for (size_t more = next_random() % 75; more > 0; more--)
			append(patterns[_i](count));
		if (round % 20 == 19)
			check_all();
	}
}
END_TEST

static const struct ps__guide *guide(void)
{
	return atomic_load(&log_.directory)->guide;
}

/* Looks rows up that are in chunks which are indexed; returns how many searches were without the guide. */
static size_t look_up(size_t begin, size_t end, size_t lookups)
{
	size_t searches = atomic_load(&guide()->searches);

	for (size_t lookup = 0; lookup < lookups; lookup++) {
		size_t row = begin + next_random() % (end - begin);
		ck_assert_int_eq(find(times[row]), (ptrdiff_t)row);
	}
	return atomic_load(&guide()->searches) - searches;
}

START_TEST(searches_pay_for_a_guide_and_then_need_no_more)
{
	for (size_t row = 0; row < 10000; row++)
		append(150 + next_random() % 8);
	/* 157 chunks, of which 156 are indexed. */
	ck_assert_uint_eq(look_up(0, 9000, 19), 19);
	ck_assert_uint_eq(atomic_load(&guide()->count), 0);
	look_up(0, 9000, 2);
	ck_assert_uint_eq(atomic_load(&guide()->count), 256);
	ck_assert_uint_eq(look_up(0, 9000, 1000), 0);
	/* It grows with the log, when enough was looked up that it doesn't know. */
	for (size_t row = 0; row < 6000; row++)
		append(150 + next_random() % 8);
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

	for (size_t row = 0; row < MOST_ROWS; row++) {
		uint64_t before = atomic_load(&guide()->first);
		append(200);
		trim(4096);
		if (row % 10 == 9 && row > 4096)
			look_up(first, count - 200, 5);
		made += atomic_load(&guide()->first) != before;
	}
	ck_assert_uint_ge(made, 10);
	look_up(first, count - 1000, 100);
	/* But for those at the end of the directory's circle. */
	ck_assert_uint_le(look_up(first + 200, count - 1000, 100), 25);
}
END_TEST

/* What it says may be anything: of a log that changed since, or of another reader who is at it. */
START_TEST(a_guide_that_is_wrong_harms_nothing)
{
	for (size_t row = 0; row < 10000; row++)
		append(150);
	look_up(0, 9000, 100);
	struct ps__guide *damaged = atomic_load(&log_.directory)->guide;
	for (int round = 0; round < 200; round++) {
		uint64_t spans = atomic_load(&damaged->count);
		atomic_store(&damaged->chunks[next_random() % (spans + 1)], (uint32_t)next_random());
		if (round % 4 == 1)
			atomic_store(&damaged->first, next_random() % 300);
		if (round % 4 == 2)
			atomic_store(&damaged->start, times[0] + next_random() % 1000000);
		if (round % 4 == 3)
			atomic_store(&damaged->rate, next_random());
		look_up(0, count, 200);
	}
	check_all();
}
END_TEST

/* Nanoseconds between readings: of several scales, and on both sides of where one changes. */
static const uint64_t steps[] = {7,   28,   29,    33,      150,       152,
                                 400, 1000, 12345, 1000000, 987654321, UINT64_C(3600000000000)};
#define STEPS ((int)(sizeof steps / sizeof steps[0]))

/* What is foretold wrongly is found all the same, and only the time would tell. */
START_TEST(a_row_is_mostly_where_it_was_foretold)
{
	const size_t rows = 6400;
	uint64_t step = steps[_i];
	size_t right = 0, beside = 0;

	for (size_t row = 0; row <= rows; row++)
		append(step < 28 ? step : step - step / 8 + next_random() % (step / 4));
	const struct ps__directory *directory = atomic_load(&log_.directory);
	for (size_t row = 0; row < rows; row++) {
		const struct ps__entry *entry = ps__search_entry_of(directory, row / PS__CHUNK_ROWS);
		size_t foretold = ps__search_foretell(entry, times[row]);
		right += foretold == row % PS__CHUNK_ROWS;
		beside += foretold + 1 == row % PS__CHUNK_ROWS || foretold == row % PS__CHUNK_ROWS + 1;
	}
	ck_assert_uint_ge(right, rows * 98 / 100);
	ck_assert_uint_eq(right + beside, rows);
}
END_TEST

/* A reader who has seen where the log began, and then where it ends after a writer has gone on for long: none of the
 * chunks in between need be there. What is found doesn't matter, it is discarded; but it is looked for in the table alone. */
START_TEST(a_reader_who_was_overtaken_stays_within_the_table)
{
	for (size_t row = 0; row < MOST_ROWS; row++) {
		append(150);
		trim(64);
	}
	const struct ps__directory *directory = atomic_load(&log_.directory);
	size_t capacity = directory->capacity / PS__GROUP_ENTRIES;
	size_t end = (count - 1) / PS__CHUNK_ROWS / PS__GROUP_ENTRIES;
	ck_assert_uint_gt(end, 20 * capacity);
	for (size_t begin = 0; begin < end; begin++) {
		size_t turn = begin - begin % capacity;
		for (int newer = 0; newer < 2; newer++) {
			size_t group = ps__search_group(directory, begin, end, newer ? now : 1);
			ck_assert_uint_ge(group, begin);
			ck_assert_uint_lt(group, turn + 2 * capacity);
		}
		atomic_store(&log_.first, begin * PS__GROUP_ENTRIES * PS__CHUNK_ROWS);
		find(times[count - 1000]);
		find(1);
		ps__log_find_after(&log_, times[count - 1000]);
	}
}
END_TEST

START_TEST(chunks_that_were_taken_off_are_used_again)
{
	for (size_t row = 0; row < 640; row++)
		append(10);
	size_t bytes = fake_mapped_bytes();
	for (int round = 0; round < 200; round++) {
		for (int row = 0; row < 300; row++) {
			ps__log_pop(&log_);
			count--;
		}
		for (int row = 0; row < 300; row++)
			append(10);
	}
	check_all();
	ck_assert_uint_eq(fake_mapped_bytes(), bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("search");
	TCase *tests = tcase_create("rows");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, every_row_is_found_and_nothing_else, 0, PATTERNS);
	tcase_add_loop_test(tests, a_bounded_history_finds_what_it_kept, 0, PATTERNS);
	tcase_add_loop_test(tests, rows_that_were_moved_are_found, 0, PATTERNS);
	tcase_add_loop_test(tests, a_row_that_was_restamped_is_found_when_others_follow, 0, PATTERNS);
	tcase_add_test(tests, rows_of_one_time_harm_nothing);
	tcase_add_loop_test(tests, after_rows_were_taken_off_others_are_found, 0, PATTERNS);
	tcase_add_test(tests, searches_pay_for_a_guide_and_then_need_no_more);
	tcase_add_test(tests, a_guide_moves_on_with_the_history);
	tcase_add_test(tests, a_guide_that_is_wrong_harms_nothing);
	tcase_add_loop_test(tests, a_row_is_mostly_where_it_was_foretold, 0, STEPS);
	tcase_add_test(tests, a_reader_who_was_overtaken_stays_within_the_table);
	tcase_add_test(tests, chunks_that_were_taken_off_are_used_again);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}

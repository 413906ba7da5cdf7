/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a log: closed, still open, or cut off, also while it is read; and damaged blocks whose
 * records are counted. */
#include "snapshot/reader.h"
#include "support/small.h"
#include "test_log_blocks.h"

#include <sys/wait.h>

static enum ps_log_end read_end(bool *may_lack_end)
{
	struct ps_log_reader *reader = log_reader();
	enum ps_log_end end = ps_log_end(reader);

	*may_lack_end = ps__log_may_lack_end(reader);
	ps_log_close(reader);
	return end;
}

static void check_end(enum ps_log_end wanted, bool is_lack_wanted)
{
	bool may_lack_end;

	ck_assert_int_eq((int)read_end(&may_lack_end), (int)wanted);
	ck_assert_int_eq(may_lack_end, is_lack_wanted);
}

/* As an older perfsage left it: there is no note behind the topology. */
static void make_older(void)
{
	static const struct ps__log_close none;
	struct ps_log_reader *reader = log_reader();
	off_t at = (off_t)ps__log_close_offset(reader->header.xml_bytes);

	ps_log_close(reader);
	change_bytes(at, &none, sizeof none);
}

START_TEST(a_log_is_open_until_its_last_stream_has_ended)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(NULL);

	check_end(PS_LOG_END_OPEN, true);
	struct ps_log_stream *stream = log_stream(log, set);
	log_record(stream, 1);
	/* A kill would leave it so: nothing is missing. */
	check_end(PS_LOG_END_OPEN, false);
	ps_log_destroy(log);
	check_end(PS_LOG_END_OPEN, false);
	ps_log_stream_destroy(stream);
	check_end(PS_LOG_END_CLOSED, false);
	ps_eventset_destroy(set);
	ck_assert_int_eq((int)ps_log_end(NULL), PS_LOG_END_UNKNOWN);
}
END_TEST

START_TEST(a_cut_at_any_place_is_noticed)
{
	write_log(0);
	check_end(PS_LOG_END_CLOSED, false);
	for (off_t size = log_size() - 1; size >= BLOCK; size -= BLOCK / 2) {
		ck_assert_int_eq(truncate(log_path, size), 0);
		check_end(PS_LOG_END_CUT, true);
		/* At a boundary, too. */
		size = size / BLOCK * BLOCK;
		ck_assert_int_eq(truncate(log_path, size), 0);
		check_end(PS_LOG_END_CUT, true);
	}
}
END_TEST

START_TEST(a_ring_that_is_cut_is_noticed)
{
	write_log((size_t)BLOCKS * BLOCK);
	check_end(PS_LOG_END_CLOSED, false);
	make_older();
	check_end(PS_LOG_END_UNKNOWN, false);
	ck_assert_int_eq(truncate(log_path, log_size() - BLOCK), 0);
	check_end(PS_LOG_END_CUT, true);
}
END_TEST

START_TEST(nothing_is_claimed_of_an_older_log)
{
	write_log(0);
	make_older();
	check_end(PS_LOG_END_UNKNOWN, true);
	ck_assert_int_eq(truncate(log_path, log_size() - BLOCK), 0);
	check_end(PS_LOG_END_UNKNOWN, true);
	ck_assert_int_eq(truncate(log_path, log_size() - 1), 0);
	check_end(PS_LOG_END_CUT, true);
}
END_TEST

/* The file gets the state again in which a killed writer left it. */
static void leave_open(off_t cut_bytes)
{
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	fill_blocks(stream, 2);
	size_t size = (size_t)log_size();
	char *bytes = malloc(size);
	int fd = open(log_path, O_RDONLY);
	ck_assert_int_eq(read(fd, bytes, size), (ssize_t)size);
	close(fd);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	change_bytes(0, bytes, size);
	free(bytes);
	ck_assert_int_eq(truncate(log_path, (off_t)size - cut_bytes), 0);
}

START_TEST(a_damaged_note_of_the_end_claims_nothing)
{
	write_log(0);
	struct ps_log_reader *reader = log_reader();
	off_t at = (off_t)ps__log_close_offset(reader->header.xml_bytes);

	ps_log_close(reader);
	change_bytes(at, "X", 1);
	check_end(PS_LOG_END_UNKNOWN, true);
}
END_TEST

/* No more blocks follow one that is being filled. */
START_TEST(an_older_log_of_a_killed_program_lacks_nothing)
{
	leave_open(0);
	make_older();
	check_end(PS_LOG_END_UNKNOWN, false);
}
END_TEST

START_TEST(a_log_that_was_not_closed_may_have_been_cut)
{
	leave_open(0);
	check_end(PS_LOG_END_OPEN, false);
	unlink(log_path);
	leave_open(1);
	check_end(PS_LOG_END_OPEN, true);
	unlink(log_path);
	leave_open(BLOCK);
	check_end(PS_LOG_END_OPEN, true);
}
END_TEST

START_TEST(each_stream_of_a_log_that_was_not_closed_must_have_its_last_block)
{
	struct ps_eventset *sets[] = {scene_started(EVENT, "minor-faults", NULL),
	                              scene_started(EVENT, "minor-faults", NULL)};
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *idle = log_stream(log, sets[0]), *busy = log_stream(log, sets[1]);
	static char last[BLOCK];

	log_record(idle, 1);
	fill_blocks(busy, 2);
	check_end(PS_LOG_END_OPEN, false);
	/* The block that the busy one writes is the last of the file. */
	off_t whole = log_size();
	int fd = open(log_path, O_RDONLY);
	ck_assert_int_eq(pread(fd, last, BLOCK, whole - BLOCK), BLOCK);
	close(fd);
	ck_assert_int_eq(truncate(log_path, whole - BLOCK), 0);
	check_end(PS_LOG_END_OPEN, true);
	change_bytes(whole - BLOCK, last, BLOCK);
	check_end(PS_LOG_END_OPEN, false);
	ps_log_stream_destroy(idle);
	ps_log_stream_destroy(busy);
	ps_log_destroy(log);
	ps_eventset_destroy(sets[0]);
	ps_eventset_destroy(sets[1]);
}
END_TEST

START_TEST(a_child_does_not_close_its_parents_log)
{
	struct ps_log *log = log_of(NULL);
	pid_t child = fork();
	int status;

	if (child == 0) {
		ps_log_destroy(log);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	check_end(PS_LOG_END_OPEN, true);
	ps_log_destroy(log);
	check_end(PS_LOG_END_CLOSED, false);
}
END_TEST

/* A write beyond the limit would end the process. */
START_TEST(a_limit_of_file_sizes_leaves_it_open)
{
	struct ps_log *log = log_of(NULL);

	limit_files(100);
	ps_log_destroy(log);
	limit_files(RLIM_INFINITY);
	check_end(PS_LOG_END_OPEN, true);
}
END_TEST

/* _i: the block that is damaged, or, from BLOCKS + 1 on, that holds zeros, as a copy has that was
 * interrupted. Behind the last one nothing tells how many records it had. */
START_TEST(damage_is_counted_before_a_good_block)
{
	static const char zeros[BLOCK];
	int index = _i % (BLOCKS + 1);

	write_log(0);
	struct ps_log_reader *reader = log_reader();
	ck_assert(ps__log_counts_damage(reader));
	off_t at = (off_t)ps__log_block_offset(reader, (size_t)index);
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	uint64_t written = log_info(reader, 0).records;
	ps_log_close(reader);
	if (_i > BLOCKS)
		change_bytes(at, zeros, sizeof zeros);
	else
		change_bytes(at, "X", 1);
	reader = log_reader();
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 1);
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	struct ps_log_info info = log_info(reader, 0);
	ck_assert(ps__log_counts_damage(reader) == (index < BLOCKS));
	ck_assert((info.records + info.missing == written) == (index < BLOCKS));
	ps_log_close(reader);
}
END_TEST

static uint64_t read_rest(struct ps_log_reader *reader)
{
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	return log_info(reader, 0).records;
}

/* _i: the blocks of which at least a part stays; the last one is cut in its midst, or not. */
START_TEST(a_cut_while_it_is_read_is_noticed)
{
	for (off_t part = 0; part <= BLOCK / 2; part += BLOCK / 2) {
		write_log(0);
		struct ps_log_reader *reader = log_reader();
		ck_assert_int_eq((int)ps_log_end(reader), PS_LOG_END_CLOSED);
		off_t size = (off_t)ps__log_block_offset(reader, (size_t)_i) - part;
		ck_assert_int_eq(truncate(log_path, size), 0);
		read_rest(reader);
		ck_assert_int_eq((int)ps_log_end(reader), PS_LOG_END_CUT);
		ck_assert(ps__log_may_lack_end(reader));
		ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
		ps_log_close(reader);
		unlink(log_path);
	}
}
END_TEST

/* Also in a block that had no end yet. */
START_TEST(a_cut_of_an_open_log_while_it_is_read_is_noticed)
{
	leave_open(0);
	struct ps_log_reader *reader = log_reader();
	ck_assert_int_eq(truncate(log_path, log_size() - BLOCK / 2), 0);
	read_rest(reader);
	ck_assert_int_eq((int)ps_log_end(reader), PS_LOG_END_CUT);
	ps_log_close(reader);
}
END_TEST

/* _i: the block that another program overwrites. */
START_TEST(a_block_that_changes_while_it_is_read_is_damaged)
{
	static const char zeros[BLOCK];

	write_log(0);
	struct ps_log_reader *reader = log_reader();
	uint64_t written = read_rest(reader);
	ps_log_close(reader);
	reader = log_reader();
	change_bytes((off_t)ps__log_block_offset(reader, (size_t)_i), zeros, sizeof zeros);
	uint64_t records = read_rest(reader);
	ck_assert_uint_lt(records, written);
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 1);
	ck_assert(ps__log_counts_damage(reader) == (_i < BLOCKS));
	ck_assert_int_eq((int)ps_log_end(reader), PS_LOG_END_CLOSED);
	if (_i < BLOCKS)
		ck_assert_uint_eq(records + log_info(reader, 0).missing, written);
	ps_log_close(reader);
}
END_TEST

/* _i: the block whose words are changed, bit by bit. Those of the last one are less bound: it may
 * have lost some billions of records. */
START_TEST(numbers_of_records_that_are_impossible_are_damage)
{
	write_log(0);
	struct ps_log_reader *reader = log_reader();
	off_t at = (off_t)ps__log_block_offset(reader, (size_t)_i);
	uint64_t written = read_rest(reader);
	uint64_t good[] = {reader->entries[_i].block.records, reader->entries[_i].block.lost};
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ps_log_close(reader);
	for (int bit = 0; bit < 2 * 64; bit += ps_test_size(1, 7)) {
		int word = bit / 64;
		uint64_t changed = good[word] ^ UINT64_C(1) << bit % 64;
		off_t place = at + (off_t)offsetof(struct ps__log_block, records) + word * 8;
		if (_i == BLOCKS && word == 1 && changed <= PS__LOG_MOST_LOST)
			continue;
		change_bytes(place, &changed, sizeof changed);
		reader = log_reader();
		ck_assert_uint_eq(read_rest(reader), written);
		ck_assert_uint_eq(log_info(reader, 0).missing, 0);
		ck_assert_msg(ps_log_damaged_blocks(reader) == 1, "bit %d", bit);
		ck_assert(ps__log_counts_damage(reader) == (_i < BLOCKS));
		ps_log_close(reader);
		change_bytes(place, &good[word], sizeof good[word]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("the end of logs");
	TCase *tests = scene_case_of(suite, "end", log_setup, log_teardown);

	tcase_add_test(tests, a_log_is_open_until_its_last_stream_has_ended);
	tcase_add_test(tests, a_cut_at_any_place_is_noticed);
	tcase_add_test(tests, a_ring_that_is_cut_is_noticed);
	tcase_add_test(tests, nothing_is_claimed_of_an_older_log);
	tcase_add_test(tests, a_damaged_note_of_the_end_claims_nothing);
	tcase_add_test(tests, an_older_log_of_a_killed_program_lacks_nothing);
	tcase_add_test(tests, a_log_that_was_not_closed_may_have_been_cut);
	tcase_add_test(tests, each_stream_of_a_log_that_was_not_closed_must_have_its_last_block);
	tcase_add_test(tests, a_child_does_not_close_its_parents_log);
	tcase_add_test(tests, a_limit_of_file_sizes_leaves_it_open);
	tcase_add_loop_test(tests, damage_is_counted_before_a_good_block, 0, 2 * (BLOCKS + 1));
	tcase_add_loop_test(tests, a_cut_while_it_is_read_is_noticed, 1, BLOCKS + 1);
	tcase_add_test(tests, a_cut_of_an_open_log_while_it_is_read_is_noticed);
	tcase_add_loop_test(tests, a_block_that_changes_while_it_is_read_is_damaged, 0, BLOCKS + 1);
	tcase_add_loop_test(tests, numbers_of_records_that_are_impossible_are_damage, 0,
	                    BLOCKS + 1);
	return scene_run(suite);
}

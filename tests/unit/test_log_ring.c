/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of records that a ring has lost is known as long as the block that says it is there,
 * and not known when blocks were overwritten. */
#include "snapshot/reader.h"
#include "snapshot/stream.h"
#include "support/unmarked.h"
#include "test_log.h"

#include <errno.h>
#include <fcntl.h>

#define BLOCK 65536

static struct ps_log *ring_of(size_t blocks)
{
	const struct ps_log_options options = {
	    .size = sizeof options, .block_bytes = BLOCK, .ring_bytes = blocks * BLOCK};

	return log_of(&options);
}

/* All is read, and these are the numbers of the only stream. */
static struct ps_log_info read_all(bool is_overwritten)
{
	struct ps_log_reader *reader = log_reader();

	ck_assert_uint_eq(ps_log_stream_count(reader), 1);
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	ck_assert_int_eq(ps__log_is_overwritten(reader), is_overwritten);
	struct ps_log_info info = log_info(reader, 0);
	ps_log_close(reader);
	return info;
}

static uint64_t write_many(struct ps_log_stream *stream, unsigned count)
{
	uint64_t lost = 0;

	for (unsigned number = 0; number < count; number++) {
		check_ok(ps_log_take(stream, BEGIN));
		lost += ps_log_write(stream) != PS_OK;
	}
	return lost;
}

START_TEST(what_was_lost_in_overwritten_blocks_is_not_known)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = ring_of(2);
	struct ps_log_stream *stream = log_stream(log, set), *other = log_stream(log, set);

	/* No other block is free, so the rest is lost; and the block that says it is there. */
	uint64_t lost = write_many(stream, 5000);
	ck_assert_uint_gt(lost, 0);
	struct ps_log_reader *reader = log_reader();
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	ck_assert_uint_eq(log_info(reader, 0).missing, lost);
	ck_assert_uint_eq(log_info(reader, 0).dropped, 0);
	/* A third stream may have been there before. */
	ck_assert(ps__log_is_overwritten(reader));
	ps_log_close(reader);
	/* Both blocks are overwritten. */
	ps_log_stream_destroy(other);
	ck_assert_uint_eq(write_many(stream, 20000), 0);
	ck_assert_uint_eq(ps_log_lost(log), lost);
	struct ps_log_info info = read_all(true);
	ck_assert_uint_eq(info.missing, 0);
	ck_assert_uint_eq(info.records + info.dropped, 25000);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

/* The ring has its size already, but a write beyond the limit is a signal that ends the program. */
START_TEST(a_limit_of_file_sizes_that_came_later_loses_records)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = ring_of(3);
	struct ps_log_stream *stream = log_stream(log, set);

	limit_files(BLOCK);
	uint64_t lost = write_many(stream, 5000);
	ck_assert_uint_gt(lost, 0);
	check_detail(strerror(EFBIG));
	ck_assert_uint_eq(ps_log_lost(log), lost);
	struct ps_log_info info = read_all(false);
	ck_assert_uint_eq(info.missing, lost);
	ck_assert_uint_eq(info.records, 5000 - lost);
	limit_files(RLIM_INFINITY);
	ck_assert_uint_eq(write_many(stream, 1), 0);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	info = read_all(false);
	ck_assert_uint_eq(info.missing, lost);
	ck_assert_uint_eq(info.records, 5001 - lost);
	ps_eventset_destroy(set);
}
END_TEST

/* Nothing was dropped: its first block is there. */
START_TEST(what_was_lost_before_the_first_block_is_missing)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = ring_of(2);
	struct ps_log_stream *stream = NULL;

	check_ok(ps__log_stream_make(&stream, log, set, &log_type));
	for (int lost = 0; lost < 3; lost++)
		ck_assert_int_eq(ps__log_lose(stream, PS_ESYS), PS_ESYS);
	check_ok(ps_log_set_integer(stream, 0, 1));
	check_ok(ps_log_write(stream));
	struct ps_log_info info = read_all(false);
	ck_assert_uint_eq(info.missing, 3);
	ck_assert_uint_eq(info.dropped, 0);
	ck_assert_uint_eq(info.records, 1);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

/* Nothing in it can be read, but it is there. */
START_TEST(the_records_of_a_damaged_oldest_block_are_missing)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = ring_of(3);
	struct ps_log_stream *stream = log_stream(log, set);

	write_many(stream, 20000);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	struct ps_log_info whole = read_all(true);
	struct ps_log_reader *reader = log_reader();
	uint64_t gone = reader->entries[1].block.first - reader->entries[0].block.first;
	off_t at = (off_t)(ps__log_block_offset(reader, reader->entries[0].index) +
	                   sizeof(struct ps__log_block) + reader->sources[0].description_bytes);
	ps_log_close(reader);
	int fd = open(log_path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "\377\377\377\377", 4, at), 4);
	close(fd);
	struct ps_log_info info = read_all(true);
	ck_assert_uint_eq(info.missing, gone);
	ck_assert_uint_eq(info.dropped, whole.dropped);
	ck_assert_uint_eq(info.records, whole.records - gone);
}
END_TEST

static bool is_there(const struct ps_log_reader *reader, size_t entry)
{
	const struct ps__log_entry *wanted = &reader->entries[entry];
	struct ps__log_block block;

	check_ok(ps__log_read_at(reader, ps__log_block_offset(reader, wanted->index), &block,
	                         sizeof block));
	return block.first == wanted->block.first;
}

/* The writer goes on, and takes the block behind the one that is read. */
START_TEST(what_is_overwritten_while_it_is_read_is_dropped)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = ring_of(4);
	struct ps_log_stream *stream = log_stream(log, set);

	write_many(stream, 20000);
	struct ps_log_reader *reader = log_reader();
	const struct ps__log_entry *entries = reader->entries;
	check_ok(ps_log_next(reader, NULL));
	while (is_there(reader, 1))
		write_many(stream, 100);
	ck_assert(is_there(reader, 2));
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	struct ps_log_info info = log_info(reader, 0);
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ck_assert_uint_eq(info.missing, 0);
	ck_assert_uint_eq(info.dropped,
	                  entries[0].block.first + entries[2].block.first - entries[1].block.first);
	ps_log_close(reader);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rings of logs");
	TCase *tests = scene_case_of(suite, "ring", log_setup, log_teardown);

	tcase_add_test(tests, what_was_lost_in_overwritten_blocks_is_not_known);
	tcase_add_test(tests, a_limit_of_file_sizes_that_came_later_loses_records);
	tcase_add_test(tests, what_was_lost_before_the_first_block_is_missing);
	tcase_add_test(tests, the_records_of_a_damaged_oldest_block_are_missing);
	tcase_add_test(tests, what_is_overwritten_while_it_is_read_is_dropped);
	return scene_run(suite);
}

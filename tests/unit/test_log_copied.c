/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs in which a good block stands at a wrong place: no record is read twice, and those whose
 * place it took are missing. */
#include "snapshot/reader.h"
#include "test_log_blocks.h"

static void read_bytes(off_t at, void *bytes, size_t size)
{
	int fd = open(log_path, O_RDONLY);

	ck_assert_int_eq(pread(fd, bytes, size, at), (ssize_t)size);
	close(fd);
}

static off_t offset_of_block(int index)
{
	struct ps_log_reader *reader = log_reader();
	off_t offset = (off_t)ps__log_block_offset(reader, (size_t)index);

	ps_log_close(reader);
	return offset;
}

/* Reads the log, in which no record may come twice, and which has so many damaged blocks. */
static struct ps_log_info read_once(size_t damaged, bool is_damage_counted)
{
	struct ps_log_reader *reader = log_reader();
	struct ps_log_record record = {.size = sizeof record};
	uint64_t next = 0;

	for (; ps_log_next(reader, &record) == PS_OK; next = record.number + 1)
		ck_assert_uint_ge(record.number, next);
	struct ps_log_info info = log_info(reader, 0);
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), damaged);
	ck_assert(ps__log_counts_damage(reader) == is_damage_counted);
	ps_log_close(reader);
	return info;
}

/* _i: the block that is copied, and the one that the copy stands in the place of. */
START_TEST(a_block_that_is_there_twice_is_read_once)
{
	static char copy[BLOCK];
	int from = _i / (BLOCKS + 1), to = _i % (BLOCKS + 1);

	if (from == to)
		return;
	write_log(0);
	uint64_t written = read_once(0, true).records;
	read_bytes(offset_of_block(from), copy, BLOCK);
	change_bytes(offset_of_block(to), copy, BLOCK);
	struct ps_log_info info = read_once(1, to < BLOCKS);
	ck_assert_uint_lt(info.records, written);
	ck_assert(to == BLOCKS || info.records + info.missing == written);
}
END_TEST

/* _i: a growing log, or a ring. */
START_TEST(what_stands_behind_the_last_block_is_no_part_of_the_log)
{
	static const char zeros[BLOCK];
	static char block[BLOCK];

	write_log(_i ? (size_t)BLOCKS * BLOCK : 0);
	uint64_t written = read_once(0, true).records;
	off_t end = offset_of_block(_i ? BLOCKS : BLOCKS + 1);
	ck_assert_int_eq(log_size(), end);
	change_bytes(end, zeros, BLOCK);
	ck_assert_uint_eq(read_once(0, true).records, written);
	read_bytes(offset_of_block(0), block, BLOCK);
	/* Under a number that the stream doesn't have. */
	struct ps__log_block *header = (void *)block;
	header->sequence = BLOCKS + 1;
	header->check =
	    ps__log_check(header, offsetof(struct ps__log_block, check), (void *)(header + 1),
	                  header->description_bytes / sizeof(uint64_t));
	change_bytes(end, block, BLOCK);
	struct ps_log_info info = read_once(1, true);
	ck_assert_uint_eq(info.records, written);
	ck_assert_uint_eq(info.missing, 0);
}
END_TEST

/* _i: the block of which the numbers of records are those of the block before: of another file. */
START_TEST(records_that_were_read_do_not_come_again)
{
	static union {
		char bytes[BLOCK];
		struct ps__log_block header;
	} block;

	write_log(0);
	uint64_t written = read_once(0, true).records;
	read_bytes(offset_of_block(_i - 1), block.bytes, BLOCK);
	uint64_t first = block.header.first;
	read_bytes(offset_of_block(_i), block.bytes, BLOCK);
	uint64_t *record =
	    (void *)(block.bytes + sizeof block.header + block.header.description_bytes);
	block.header.first = first;
	block.header.check = ps__log_check(&block.header, offsetof(struct ps__log_block, check),
	                                   (void *)(&block.header + 1),
	                                   block.header.description_bytes / sizeof(uint64_t));
	for (size_t length; (length = *record & PS__LOG_LENGTH) != 0; record += length)
		*record = ps__log_seal(ps__log_seed(&block.header), (uint32_t)*record, record + 1,
		                       length - 1);
	change_bytes(offset_of_block(_i), block.bytes, BLOCK);
	struct ps_log_info info = read_once(1, _i < BLOCKS);
	ck_assert_uint_lt(info.records, written);
	ck_assert(_i == BLOCKS || info.records + info.missing == written);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("copied blocks of logs");
	TCase *tests = scene_case_of(suite, "copied", log_setup, log_teardown);

	tcase_add_loop_test(tests, a_block_that_is_there_twice_is_read_once, 0,
	                    (BLOCKS + 1) * (BLOCKS + 1));
	tcase_add_loop_test(tests, what_stands_behind_the_last_block_is_no_part_of_the_log, 0, 2);
	tcase_add_loop_test(tests, records_that_were_read_do_not_come_again, 1, BLOCKS + 1);
	return scene_run(suite);
}

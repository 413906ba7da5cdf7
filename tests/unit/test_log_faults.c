/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logs when something is missing: space on the disk, blocks of a ring, memory, or the rest of a
 * call. What is lost is counted, and the rest is read.
 */
#include "support/unmarked.h"
#include "test_log.h"

#include "base/os.h"
#include "snapshot/stream.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define BLOCK   65536
#define RECORDS 700 /* more than a block has */

/* Until it is lost. */
static unsigned write_until_full(struct ps_log_stream *stream)
{
	unsigned number = 0;
	int result = PS_OK;

	while (result == PS_OK && number < 10 * RECORDS) {
		check_ok(ps_log_take(stream, BEGIN));
		fake_advance(PAGE_FAULTS, number % 100);
		check_ok(ps_log_take(stream, END));
		check_ok(ps_log_set_integer(stream, 0, number % 100));
		result = ps_log_write(stream);
		number++;
	}
	ck_assert_int_eq(result, PS_ESYS);
	return number - 1;
}

/* The same records, but `lost` of them from `first` on. */
static void check_read(uint64_t first, uint64_t lost, uint64_t count)
{
	struct ps_log_reader *reader = log_reader();
	struct ps_log_record record = {.size = sizeof record};

	for (uint64_t number = 0; number < count; number++) {
		if (number >= first && number < first + lost)
			continue;
		check_ok(ps_log_next(reader, &record));
		ck_assert_uint_eq(record.number, number);
		ck_assert_int_eq(log_count(reader, BEGIN, END), log_units(reader));
		bool has_previous = number > 0 && number != first + lost;
		ck_assert_int_eq(ps_log_time(reader, END | PS_LOG_PREVIOUS) != 0, has_previous);
	}
	check_fails(ps_log_next(reader, &record), PS_ENOEVST);
	ck_assert_uint_eq(log_info(reader, 0).records, count - lost);
	ck_assert_uint_eq(log_info(reader, 0).missing, lost);
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ps_log_close(reader);
}

START_TEST(a_full_disk_loses_records_and_says_how_many)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	limit_files((rlim_t)log_size() + BLOCK);
	unsigned written = write_until_full(stream);
	check_detail(log_path);
	ck_assert_uint_gt(written, RECORDS);
	ck_assert_uint_eq(ps_log_lost(log), 1);
	for (unsigned number = 0; number < 9; number++)
		ck_assert_int_eq(ps_log_write(stream), PS_ESYS);
	ck_assert_uint_eq(ps_log_lost(log), 10);
	/* While it is so, and at the end. */
	check_read(written, 10, written + 10);
	limit_files(RLIM_INFINITY);
	for (unsigned number = 0; number < RECORDS; number++)
		log_record(stream, number % 100);
	ck_assert_uint_eq(ps_log_lost(log), 10);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	check_read(written, 10, written + 10 + RECORDS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(there_must_be_space_for_the_beginning)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = NULL;
	struct ps_log_stream *stream = NULL;

	limit_files(1000);
	check_fails(ps_log_create(&log, log_path, scene.root, NULL), PS_ESYS);
	check_detail(log_path);
	/* Nothing stays of it. */
	ck_assert_int_eq((int)log_size(), -1);
	limit_files(RLIM_INFINITY);
	log = log_of(NULL);
	limit_files((rlim_t)log_size());
	check_fails(ps_log_stream_create(&stream, log, set, &log_type), PS_ESYS);
	limit_files(RLIM_INFINITY);
	stream = log_stream(log, set);
	log_record(stream, 1);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	check_read(0, 0, 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_ring_needs_more_blocks_than_streams)
{
	const struct ps_log_options options = {.size = sizeof options, .ring_bytes = 2 * BLOCK};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(&options);
	struct ps_log_stream *one = log_stream(log, set), *two = log_stream(log, set), *more;

	check_fails(ps_log_stream_create(&more, log, set, &log_type), PS_ESYS);
	check_detail("ring of 2 blocks");
	unsigned written = write_until_full(one);
	/* One that ends leaves its block to others. */
	ps_log_stream_destroy(two);
	for (unsigned number = 0; number < 3; number++)
		log_record(one, number);
	ps_log_stream_destroy(one);
	ps_log_destroy(log);
	check_read(written, 1, written + 4);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_record_larger_than_a_block_is_lost_alone)
{
	static char names[PS_LOG_MOST_POINTS][8];
	static const char *points[PS_LOG_MOST_POINTS];
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "wide",
	                                 .points = points,
	                                 .point_count = PS_LOG_MOST_POINTS};
	struct ps_eventset *set;
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream;
	char event[24];

	check_ok(ps_eventset_create(&set));
	fake_add_core_pmu(200);
	for (unsigned index = 0; index < 70; index++) {
		snprintf(event, sizeof event, "r%x", 0x100 + index);
		check_ok(ps_eventset_add(set, event));
	}
	for (unsigned index = 0; index < PS_LOG_MOST_POINTS; index++) {
		snprintf(names[index], sizeof names[index], "p%u", index);
		points[index] = names[index];
	}
	check_ok(ps_start(set));
	check_ok(ps_log_stream_create(&stream, log, set, &type));
	for (unsigned point = 0; point < PS_LOG_MOST_POINTS; point++) {
		fake_set_cpu((int)point % 4);
		check_ok(ps_log_take(stream, point));
	}
	check_fails(ps_log_write(stream), PS_EBUF);
	check_detail("block_bytes");
	check_fails(ps_log_write(stream), PS_EBUF);
	ck_assert_uint_eq(ps_log_lost(log), 2);
	/* No block is spent on it. */
	ck_assert_int_le(log_size(), 2 * BLOCK);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	ck_assert(!log_next(reader, 0));
	ck_assert_uint_eq(log_info(reader, 0).missing, 2);
	ps_log_close(reader);
	ps_eventset_destroy(set);
}
END_TEST

/* Each allocation fails once: of the writer, then of the reader. */
START_TEST(each_lack_of_memory_of_a_log_is_told)
{
	unsigned failed = 0;

	for (unsigned nth = 1; nth < 40; nth++) {
		struct ps_eventset *set = scene_started(EVENT, NULL);
		struct ps_log *log = NULL;
		struct ps_log_stream *stream = NULL;
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_log_create(&log, log_path, scene.root, NULL);
		if (result == PS_OK)
			result = ps_log_stream_create(&stream, log, set, &log_type);
		if (result == PS_OK)
			result = ps_log_take(stream, BEGIN);
		if (result == PS_OK)
			result = ps_log_write(stream);
		failed += result == PS_ENOMEM;
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ps_log_stream_destroy(stream);
		ps_log_destroy(log);
		unlink(log_path);
		ps_eventset_destroy(set);
	}
	ck_assert_uint_gt(failed, 8);
}
END_TEST

START_TEST(each_lack_of_memory_of_a_reader_is_told)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	unsigned failed = 0;

	for (unsigned number = 0; number < 3; number++)
		log_record(stream, number);
	for (unsigned nth = 1; nth < 80; nth++) {
		struct ps_log_reader *reader = NULL;
		struct ps_value values[2];
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = ps_log_open(&reader, log_path);
		for (unsigned number = 0; result == PS_OK && number < 3; number++) {
			result = ps_log_next(reader, NULL);
			if (result == PS_OK)
				result = ps_log_interval(reader, BEGIN, END, NULL, values, 2);
			if (result == PS_OK)
				ck_assert_int_eq(values[0].value, number);
		}
		failed += result == PS_ENOMEM;
		ck_assert_msg(result == PS_OK || result == PS_ENOMEM, "%s", ps_error_detail());
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ps_log_close(reader);
	}
	ck_assert_uint_gt(failed, 12);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static sigjmp_buf back;

static ssize_t leave(int fd, void *buffer, size_t size_bytes)
{
	(void)fd;
	(void)buffer;
	(void)size_bytes;
	ps__os.read = real_read;
	siglongjmp(back, 1);
}

/* A handler jumped out of ps_log_take: the point is as before, and the next records are whole. */
START_TEST(a_point_that_was_left_keeps_its_snapshot)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	real_read = ps__os.read;
	log_record(stream, 6);
	fake_advance(PAGE_FAULTS, 11);
	if (sigsetjmp(back, 1) == 0) {
		ps__os.read = leave;
		ps_log_take(stream, END);
		ck_abort_msg("it was left");
	}
	check_ok(ps_log_write(stream));
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_write(stream));
	log_record(stream, 4);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	ck_assert_int_eq(log_count(reader, BEGIN, END), 6);
	ck_assert(log_next(reader, 1));
	ck_assert(log_next(reader, 2));
	ck_assert_int_eq(log_count(reader, BEGIN, END), 17);
	ck_assert(log_next(reader, 3));
	ck_assert_int_eq(log_count(reader, BEGIN, END), 4);
	ck_assert_uint_eq(log_info(reader, 0).missing, 0);
	ps_log_close(reader);
	ps_eventset_destroy(set);
}
END_TEST

/* A handler jumped out of ps_log_write when the record stood there, but the stream didn't know it.
 */
START_TEST(a_record_that_was_left_is_not_overwritten)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	log_record(stream, 0);
	log_record(stream, 1);
	const struct ps_log_stream before = *stream;
	log_record(stream, 2);
	stream->next = before.next;
	stream->records = before.records;
	stream->attempts = before.attempts;
	/* Lower than any stack. */
	stream->busy = 16;
	log_record(stream, 3);
	log_record(stream, 4);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	struct ps_log_reader *reader = log_reader();
	for (unsigned number = 0; number < 5; number++) {
		ck_assert(log_next(reader, number));
		ck_assert_int_eq(log_count(reader, BEGIN, END), number);
	}
	ck_assert_uint_eq(log_info(reader, 0).records, 5);
	ck_assert_uint_eq(log_info(reader, 0).missing, 0);
	ps_log_close(reader);
	ps_eventset_destroy(set);
}
END_TEST

/* The parent goes on. */
START_TEST(a_child_does_not_write_into_its_parents_file)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	struct ps_log_stream *other;
	int status;

	log_record(stream, 7);
	pid_t child = fork();
	if (child == 0) {
		check_fails(ps_log_write(stream), PS_ESYS);
		check_detail("parent process");
		check_fails(ps_log_stream_create(&other, log, set, &log_type), PS_ESYS);
		ps_log_stream_destroy(stream);
		ps_log_destroy(log);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	log_record(stream, 8);
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	ck_assert(log_next(reader, 1));
	ck_assert_int_eq(log_count(reader, BEGIN, END), 8);
	ck_assert(!log_next(reader, 2));
	ps_log_close(reader);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}
END_TEST

/* Another stream takes the block behind the one that can't be mapped. */
static struct ps_log_stream *overtaking;

void *mmap(void *address, size_t size_bytes, int protection, int flags, int fd, off_t offset)
{
	struct ps_log_stream *other = overtaking;

	if (other && flags & MAP_SHARED && fd >= 0) {
		overtaking = NULL;
		check_ok(ps__log_next_block(other));
		return errno = ENOMEM, MAP_FAILED;
	}
	/* The kernel's call returns a pointer. */
	return (void *)syscall(SYS_mmap, address, size_bytes, protection, flags, fd, offset);
}

START_TEST(a_block_that_can_not_be_mapped_is_no_damage)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *one = log_stream(log, set), *two = log_stream(log, set);
	off_t size = log_size();

	log_record(one, 1);
	log_record(two, 2);
	overtaking = two;
	check_fails(ps__log_next_block(one), PS_ENOMEM);
	check_detail("can't be mapped");
	ck_assert_int_eq(log_size(), size + 2 * BLOCK);
	log_record(one, 3);
	log_record(two, 4);
	for (int is_closed = 0; is_closed < 2; is_closed++) {
		struct ps_log_reader *reader = log_reader();
		struct ps_log_record record = {.size = sizeof record};
		ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
		while (ps_log_next(reader, &record) == PS_OK)
			ck_assert_uint_gt((uint64_t)log_units(reader), 0);
		ck_assert_uint_eq(log_info(reader, 0).records, 2);
		ck_assert_uint_eq(log_info(reader, 0).missing, 0);
		ck_assert_uint_eq(log_info(reader, 1).records, 2);
		ps_log_close(reader);
		if (is_closed)
			break;
		ps_log_stream_destroy(one);
		ps_log_stream_destroy(two);
		ps_log_destroy(log);
	}
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log faults");
	TCase *tests = scene_case_of(suite, "faults", log_setup, log_teardown);

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_full_disk_loses_records_and_says_how_many);
	tcase_add_test(tests, there_must_be_space_for_the_beginning);
	tcase_add_test(tests, a_ring_needs_more_blocks_than_streams);
	tcase_add_test(tests, a_record_larger_than_a_block_is_lost_alone);
	tcase_add_test(tests, each_lack_of_memory_of_a_log_is_told);
	tcase_add_test(tests, each_lack_of_memory_of_a_reader_is_told);
	tcase_add_test(tests, a_point_that_was_left_keeps_its_snapshot);
	tcase_add_test(tests, a_record_that_was_left_is_not_overwritten);
	tcase_add_test(tests, a_child_does_not_write_into_its_parents_file);
	tcase_add_test(tests, a_block_that_can_not_be_mapped_is_no_damage);
	return scene_run(suite);
}

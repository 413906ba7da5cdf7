/* SPDX-License-Identifier: BSD-3-Clause */
/* A log that is read while its writer takes and fills blocks: no block is damaged, and no record is
 * missing. A ring's records that were overwritten are dropped. */
#include "snapshot/reader.h"
#include "snapshot/stream.h"
#include "support/step.h"
#include "support/unmarked.h"
#include "test_log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define BLOCK  65536
#define BLOCKS 4

static struct {
	struct ps_eventset *set;
	struct ps_log *log;
	struct ps_log_stream *stream;
	off_t first_block;
} live;

/* Until so many blocks were taken; the ring's are taken again and again. */
static void write_blocks(uint64_t count)
{
	while (live.stream->sequence < count) {
		check_ok(ps_log_take(live.stream, BEGIN));
		check_ok(ps_log_write(live.stream));
	}
}

static void live_begin(uint64_t blocks)
{
	const struct ps_log_options options = {
	    .size = sizeof options, .block_bytes = BLOCK, .ring_bytes = BLOCKS * BLOCK};

	live.set = scene_started(EVENT, NULL);
	live.log = log_of(&options);
	live.first_block = (off_t)live.log->file.first_block;
	live.stream = log_stream(live.log, live.set);
	write_blocks(blocks);
}

static void live_end(void)
{
	ps_log_stream_destroy(live.stream);
	ps_log_destroy(live.log);
	ps_eventset_destroy(live.set);
}

static off_t offset_of(size_t index)
{
	return live.first_block + (off_t)index * BLOCK;
}

/* As its writer does first, when it takes it. */
static void clear_block(size_t index)
{
	static const char zeros[BLOCK];
	int fd = open(log_path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, zeros, BLOCK, offset_of(index)), BLOCK);
	close(fd);
}

/* What the writer does meanwhile, at the reader's next call for this place. */
static struct {
	off_t offset;
	size_t size_bytes; /* 0: of any size */
	void (*before)(void);
	void (*after)(char *bytes);
} meanwhile;

ssize_t pread(int fd, void *to, size_t size_bytes, off_t offset)
{
	bool is_there = (meanwhile.before || meanwhile.after) && offset == meanwhile.offset &&
	                (!meanwhile.size_bytes || meanwhile.size_bytes == size_bytes);
	void (*before)(void) = is_there ? meanwhile.before : NULL;
	void (*after)(char *bytes) = is_there ? meanwhile.after : NULL;

	if (is_there) {
		meanwhile.before = NULL;
		meanwhile.after = NULL;
	}
	if (before)
		before();
	ssize_t got = syscall(SYS_pread64, fd, to, size_bytes, offset);
	if (after)
		after(to);
	return got;
}

/* All that was written was read, or dropped. */
static struct ps_log_info check_read(struct ps_log_reader *reader)
{
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	struct ps_log_info info = log_info(reader, 0);
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ck_assert_uint_eq(info.missing, 0);
	ps_log_close(reader);
	return info;
}

static void clear_oldest(void)
{
	clear_block(1);
}

/* The header is read, and then what it describes. */
START_TEST(a_block_that_is_taken_while_it_is_looked_at_is_not_damaged)
{
	live_begin(BLOCKS + 1);
	meanwhile.offset = offset_of(1) + (off_t)sizeof(struct ps__log_block);
	meanwhile.before = clear_oldest;
	struct ps_log_reader *reader = log_reader();
	ck_assert_ptr_null(meanwhile.before);
	ck_assert_uint_eq(reader->entry_count, BLOCKS - 1);
	ck_assert_uint_gt(check_read(reader).dropped, 0);
	live_end();
}
END_TEST

static void take_most(void)
{
	write_blocks(2 * BLOCKS + 2);
}

/* The list has block 4 of the stream, then 9, 6 and 7: 8 is at the place that block 4 had. */
START_TEST(blocks_that_are_taken_while_they_are_listed_are_dropped)
{
	live_begin(BLOCKS + 1);
	meanwhile.offset = offset_of(1);
	meanwhile.before = take_most;
	struct ps_log_reader *reader = log_reader();
	ck_assert_ptr_null(meanwhile.before);
	ck_assert_uint_eq(reader->entry_count, BLOCKS);
	struct ps_log_info info = check_read(reader);
	ck_assert_uint_gt(info.dropped, info.records);
	ck_assert_uint_eq(info.records + info.dropped, live.stream->attempts);
	live_end();
}
END_TEST

static void clear_second_half(char *bytes)
{
	memset(bytes + BLOCK / 2, 0, BLOCK / 2);
	clear_oldest();
}

START_TEST(a_block_that_is_taken_while_it_is_read_is_dropped)
{
	live_begin(BLOCKS + 1);
	struct ps_log_reader *reader = log_reader();
	meanwhile.offset = offset_of(1);
	meanwhile.size_bytes = BLOCK;
	meanwhile.after = clear_second_half;
	struct ps_log_info info = check_read(reader);
	ck_assert_ptr_null(meanwhile.after);
	ck_assert_uint_eq(info.records + info.dropped, live.stream->attempts);
	meanwhile.size_bytes = 0;
	live_end();
}
END_TEST

#ifdef STEP_IS_POSSIBLE
static const struct ps__log_block *filled;
static volatile unsigned steps, whole;

void *mmap(void *address, size_t size_bytes, int protection, int flags, int fd, off_t offset)
{
	void *memory =
	    (void *)syscall(SYS_mmap, address, size_bytes, protection, flags, fd, offset);

	if (flags & MAP_SHARED && fd >= 0 && memory != MAP_FAILED)
		filled = memory;
	return memory;
}

/* After an instruction: what the reader sees then, and what a kill leaves. */
static void look(int number)
{
	(void)number;
	steps++;
	if (!filled || filled->magic == 0)
		return;
	ck_assert_uint_eq(filled->check,
	                  ps__log_check(filled, offsetof(struct ps__log_block, check),
	                                (const uint64_t *)(filled + 1),
	                                filled->description_bytes / sizeof(uint64_t)));
	ck_assert_uint_eq(filled->records, PS__LOG_OPEN);
	whole++;
}
#endif

START_TEST(a_block_is_in_use_only_once_it_is_whole)
{
	if (!step_is_possible())
		return;
#ifdef STEP_IS_POSSIBLE
	struct sigaction action = {.sa_handler = look};

	live_begin(1);
	filled = NULL;
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	step(true);
	int result = ps__log_next_block(live.stream);
	step(false);
	check_ok(result);
	ck_assert_uint_gt(whole, 0);
	ck_assert_uint_gt(steps, whole + 100);
	live_end();
#endif
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("logs that are written");
	TCase *tests = scene_case_of(suite, "live", log_setup, log_teardown);

	tcase_add_test(tests, a_block_that_is_taken_while_it_is_looked_at_is_not_damaged);
	tcase_add_test(tests, blocks_that_are_taken_while_they_are_listed_are_dropped);
	tcase_add_test(tests, a_block_that_is_taken_while_it_is_read_is_dropped);
	tcase_add_test(tests, a_block_is_in_use_only_once_it_is_whole);
	return scene_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A file system that copies on write finds out late that its disk is full: not when a log's block
 * is reserved and cleared, but when its pages are made to be stored to. */
#include "support/unmarked.h"
#include "test_log.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define BLOCK         65536
#define POPULATE      23 /* MADV_POPULATE_WRITE */
#define RECORDS       8000
#define FIRST_REFUSED 2 /* of the blocks, from 0 */
#define LAST_REFUSED  40

static int populate_error;
static unsigned populated; /* blocks for which it was asked, since populate_error is set */

static void fail_to_populate(int error)
{
	populate_error = error;
	populated = 0;
}

int madvise(void *address, size_t size_bytes, int advice)
{
	if (advice == POPULATE && populate_error) {
		unsigned number = populated++;
		if (number >= FIRST_REFUSED && number <= LAST_REFUSED)
			return errno = populate_error, -1;
	}
	return (int)syscall(SYS_madvise, address, size_bytes, advice);
}

/* Mappings of the log. */
static unsigned count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned count = 0;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof line, maps))
		count += strstr(line, log_path) != NULL;
	fclose(maps);
	return count;
}

/* So many records, of which this number is lost. */
static uint64_t write_records(struct ps_log_stream *stream)
{
	uint64_t lost = 0;

	for (unsigned number = 0; number < RECORDS; number++) {
		check_ok(ps_log_take(stream, BEGIN));
		int result = ps_log_write(stream);
		ck_assert(result == PS_OK || result == PS_ESYS);
		lost += result != PS_OK;
	}
	return lost;
}

static void check_read(uint64_t lost)
{
	struct ps_log_reader *reader = log_reader();

	while (ps_log_next(reader, NULL) == PS_OK)
		;
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ck_assert_uint_eq(log_info(reader, 0).missing, lost);
	ck_assert_uint_eq(log_info(reader, 0).records, RECORDS - lost);
	ps_log_close(reader);
}

/* _i: blocks of the ring, of which none is overwritten; 0: the file grows. */
START_TEST(a_block_whose_pages_get_no_space_loses_records)
{
	const struct ps_log_options options = {
	    .size = sizeof options, .block_bytes = BLOCK, .ring_bytes = (uint64_t)_i * BLOCK};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(&options);
	struct ps_log_stream *stream;

	fail_to_populate(EFAULT);
	stream = log_stream(log, set);
	uint64_t lost = write_records(stream);
	check_detail("no space is left");
	ck_assert_uint_eq(lost, LAST_REFUSED - FIRST_REFUSED + 1);
	ck_assert_uint_eq(ps_log_lost(log), lost);
	ck_assert_uint_eq(count_mappings(), 1);
	check_read(lost);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ck_assert_uint_eq(count_mappings(), 0);
	check_read(lost);
	fail_to_populate(0);
	ps_eventset_destroy(set);
}
END_TEST

/* Then each page is made when it is stored to. */
START_TEST(a_kernel_that_makes_no_pages_loses_nothing)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	fail_to_populate(EINVAL);
	ck_assert_uint_eq(write_records(stream), 0);
	ck_assert_uint_gt(populated, FIRST_REFUSED);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	check_read(0);
	fail_to_populate(0);
	ps_eventset_destroy(set);
}
END_TEST

/* A file system that keeps data in place if it is asked to; the flags of the only file. */
static bool has_flags, takes_flags;
static int file_flags;
static off_t size_then; /* of the file, when its flags were set */

int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	struct stat status;

	va_start(arguments, request);
	int *flags = va_arg(arguments, int *);
	va_end(arguments);
	if (request == FS_IOC_GETFLAGS && has_flags)
		return *flags = file_flags, 0;
	if (request != FS_IOC_SETFLAGS || !has_flags)
		return (int)syscall(SYS_ioctl, fd, request, flags);
	ck_assert_int_eq(fstat(fd, &status), 0);
	size_then = status.st_size;
	if (!takes_flags)
		return errno = EOPNOTSUPP, -1;
	file_flags = *flags;
	return 0;
}

START_TEST(a_new_file_is_kept_in_place_where_that_can_be_asked_for)
{
	has_flags = true;
	file_flags = FS_NOATIME_FL;
	for (int round = 0; round < 2; round++) {
		takes_flags = round == 1;
		size_then = -1;
		ps_log_destroy(log_of(NULL));
		ck_assert_int_eq(size_then, 0);
		unlink(log_path);
	}
	has_flags = false;
	ck_assert_int_eq(file_flags, FS_NOATIME_FL | FS_NOCOW_FL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("space of logs");
	TCase *tests = scene_case_of(suite, "space", log_setup, log_teardown);

	tcase_add_loop_test(tests, a_block_whose_pages_get_no_space_loses_records, 0, 1);
	tcase_add_loop_test(tests, a_block_whose_pages_get_no_space_loses_records, 64, 65);
	tcase_add_test(tests, a_kernel_that_makes_no_pages_loses_nothing);
	tcase_add_test(tests, a_new_file_is_kept_in_place_where_that_can_be_asked_for);
	return scene_run(suite);
}

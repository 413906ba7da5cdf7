/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs whose writer is killed, jumps out of calls, or finds the disk full: what was written is
 * there.
 */
#include "log_here.h"
#include "storm.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JUMPS         ps_test_size(150, 12)
#define DISK_BYTES    (1024 * 1024)
#define MOST_FAILURES 50
#define RING_BYTES    (2 * 65536)

/* One stream has so many records, all whole. Those that made room in a ring are among them. */
static uint64_t count_records(uint64_t *missing)
{
	struct ps_log_reader *reader = NULL;
	struct ps_log_record record = {.size = sizeof record};
	struct ps_log_info info = {.size = sizeof info};

	check_ok(ps_log_open(&reader, path));
	while (ps_log_next(reader, &record) == PS_OK) {
		if (!is_whole(reader, &record))
			ck_abort_msg("record %llu", (unsigned long long)record.number);
	}
	ck_assert_uint_le(ps_log_stream_count(reader), 1);
	if (ps_log_stream_count(reader))
		check_ok(ps_log_describe(reader, 0, &info));
	*missing = info.missing;
	ps_log_close(reader);
	return info.dropped + info.records;
}

/* Writes until it is killed, and tells what it has written. */
static void write_for_ever(size_t ring_bytes, _Atomic uint64_t *written)
{
	const struct ps_log_options options = {.size = sizeof options, .ring_bytes = ring_bytes};
	struct ps_eventset *set = new_set();
	struct ps_log_stream *stream = new_stream(new_log(&options), set);

	for (uint64_t number = 0;; number++) {
		ps_log_take(stream, BEGIN);
		ps_log_take(stream, END);
		if (write_number(stream, (long long)number) != PS_OK)
			_exit(1);
		atomic_store_explicit(written, number + 1, memory_order_release);
	}
}

/* _i: 1 if the file is a ring. */
START_TEST(a_kill_at_any_moment_loses_no_record)
{
	const char *wanted = getenv("PS_TEST_KILLS");
	int kills = wanted ? atoi(wanted) : ps_test_size(60, 4);
	unsigned seed = 20261125;
	uint64_t missing, most = 0;
	_Atomic uint64_t *written =
	    mmap(NULL, sizeof *written, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!here_may_count(HERE_FAULTS))
		return;
	ck_assert(written != MAP_FAILED);
	for (int round = 0; round < kills; round++) {
		int status;
		atomic_store(written, 0);
		pid_t child = fork();
		if (child == 0)
			write_for_ever(_i ? RING_BYTES : 0, written);
		while (atomic_load_explicit(written, memory_order_acquire) == 0 &&
		       waitpid(child, &status, WNOHANG) == 0)
			usleep(100);
		/* A ring that has been full is overwritten. */
		usleep(wander_random(&seed, _i ? 20000 : 5000));
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSIGNALED(status));
		uint64_t told = atomic_load(written), found = count_records(&missing);
		ck_assert_msg(found == told || found == told + 1, "%llu of %llu",
		              (unsigned long long)found, (unsigned long long)told);
		ck_assert_uint_eq(missing, 0);
		most = told > most ? told : most;
		unlink(path);
	}
	ck_assert_uint_gt(most, 0);
	munmap((void *)written, sizeof *written);
}
END_TEST

START_TEST(records_that_jumps_left_are_whole_or_absent)
{
	volatile long long number = 0;
	uint64_t missing;

	if (!here_may_count(HERE_FAULTS))
		return;
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *volatile stream = new_stream(log, set);
	storm_begin();
	for (volatile int step = 0; storm_jumps < JUMPS && step < 3000 * JUMPS; step++) {
		/* One that was left may be there: its number says so. */
		if (sigsetjmp(storm_back, 1) != 0)
			continue;
		storm_let_jump();
		ps_log_take(stream, BEGIN);
		ps_log_take(stream, END);
		ps_log_set_integer(stream, NUMBER, number);
		ps_log_set_real(stream, NEGATIVE, (double)-number);
		storm_may_jump = 0;
		ck_assert_int_eq(ps_log_write(stream), PS_OK);
		number++;
	}
	storm_end();
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	ck_assert_int_eq((long long)count_records(&missing), number);
	ck_assert_uint_eq(missing, 0);
}
END_TEST

/* Counts the records of one stream, whose numbers must rise. */
static uint64_t count_rising(void)
{
	struct ps_log_reader *reader = NULL;
	uint64_t count = 0;
	long long last = -1;

	check_ok(ps_log_open(&reader, path));
	for (; ps_log_next(reader, NULL) == PS_OK; count++) {
		struct ps_log_value number;
		if (ps_log_value(reader, NUMBER, &number) != PS_OK || number.integer <= last)
			ck_abort_msg("%lld after %lld", number.integer, last);
		last = number.integer;
	}
	ps_log_close(reader);
	return count;
}

/* Out of ps_log_write itself: the record is there once, or not, and its number goes to the next. */
START_TEST(jumps_out_of_a_write_invent_no_record)
{
	volatile long long written = 0;
	volatile int step = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *volatile stream = new_stream(log, set);
	storm_begin();
	for (; storm_jumps < JUMPS && step < 30000 * JUMPS; step++) {
		if (sigsetjmp(storm_back, 1) != 0)
			continue;
		storm_let_jump();
		ps_log_set_integer(stream, NUMBER, step);
		int result = ps_log_write(stream);
		storm_may_jump = 0;
		ck_assert_msg(result == PS_OK, "%s", ps_error_detail());
		written++;
	}
	storm_end();
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	uint64_t found = count_rising();
	ck_assert_uint_ge(found, (uint64_t)written);
	ck_assert_uint_le(found, (uint64_t)(written + JUMPS));
}
END_TEST

/* Most of these jumps wait until the stream has its next block. _i: 1 if the file is a ring. */
START_TEST(jumps_out_of_a_write_lose_no_block)
{
	const struct ps_log_options options = {
	    .size = sizeof options, .ring_bytes = _i ? RING_BYTES : 0, .block_bytes = 65536};
	struct ps_log_reader *reader = NULL;
	volatile int step = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(&options);
	struct ps_log_stream *volatile stream = new_stream(log, set);
	storm_begin();
	for (; storm_jumps < JUMPS && step < 30000 * JUMPS; step++) {
		if (sigsetjmp(storm_back, 1) != 0)
			continue;
		storm_let_jump();
		ps_log_set_integer(stream, NUMBER, step);
		int result = ps_log_write(stream);
		storm_may_jump = 0;
		ck_assert_msg(result == PS_OK, "after %d jumps: %s", (int)storm_jumps,
		              ps_error_detail());
	}
	storm_end();
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	check_ok(ps_log_open(&reader, path));
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ps_log_close(reader);
}
END_TEST

static bool put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	bool is_done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return is_done;
}

/* In a name space of its own; a user may do it as root of another one. */
static bool leave_namespace(void)
{
	char users[32], groups[32];

	snprintf(users, sizeof users, "0 %d 1", (int)getuid());
	snprintf(groups, sizeof groups, "0 %d 1", (int)getgid());
	if (unshare(CLONE_NEWNS) == 0)
		return true;
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
	       put("/proc/self/uid_map", users) && put("/proc/self/gid_map", groups);
}

/* A small disk of the test's own. */
static bool mount_disk(void)
{
	char size[32];

	snprintf(size, sizeof size, "size=%d", DISK_BYTES);
	return leave_namespace() && mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", folder, "tmpfs", 0, size) == 0;
}

static void write_on_full_disk(void)
{
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *stream = new_stream(log, set);
	unsigned failures = 0;
	uint64_t missing;
	long long number = 0;

	for (; failures < MOST_FAILURES && number < 1000000; number++) {
		check_ok(ps_log_take(stream, BEGIN));
		check_ok(ps_log_take(stream, END));
		int result = write_number(stream, number);
		ck_assert(result == PS_OK || result == PS_ESYS);
		failures += result == PS_ESYS;
	}
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), strerror(ENOSPC)));
	ck_assert_uint_eq(ps_log_lost(log), MOST_FAILURES);
	ck_assert_uint_eq(count_records(&missing), (uint64_t)number - MOST_FAILURES);
	ck_assert_uint_eq(missing, MOST_FAILURES);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}

START_TEST(a_full_tmpfs_ends_no_program)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	if (!mount_disk()) {
		ps_test_skip("no tmpfs can be mounted here");
		return;
	}
	write_on_full_disk();
	umount2(folder, MNT_DETACH);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_checked_fixture(tests, log_setup, log_teardown);
	tcase_set_timeout(tests, getenv("PS_TEST_KILLS") ? 3600 : 120);
	tcase_add_loop_test(tests, a_kill_at_any_moment_loses_no_record, 0, 2);
	tcase_add_test(tests, records_that_jumps_left_are_whole_or_absent);
	tcase_add_test(tests, jumps_out_of_a_write_invent_no_record);
	tcase_add_loop_test(tests, jumps_out_of_a_write_lose_no_block, 0, 2);
	tcase_add_test(tests, a_full_tmpfs_ends_no_program);
}

int main(void)
{
	return wander_run("log left", add_all, NULL);
}

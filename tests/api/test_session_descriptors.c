/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptors of sessions with the real kernel: few of them do, and those that the program
 * closed are left alone. */
#include "session_here.h"

#include <fcntl.h>
#include <sys/resource.h>

/* A pipe stands under the numbers of the session's events: nothing may be read from it. */
static void put_under_events(int fd)
{
	char path[64], name[64];

	for (int other = 0; other < 256; other++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", other);
		ssize_t length = readlink(path, name, sizeof name - 1);
		if (length <= 0)
			continue;
		name[length] = '\0';
		if (strstr(name, "perf_event"))
			ck_assert_int_eq(dup2(fd, other), other);
	}
}

START_TEST(what_the_program_puts_under_a_closed_number_is_not_read)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 1);
	struct ps_session_stats stats = {.size = sizeof stats};
	uint64_t count = 77;
	char bytes[32] = "the program's own, 24 b";
	int ends[2];

	check_ok(ps_session_start(session));
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], bytes, 24), 24);
	put_under_events(ends[0]);
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ECLOST);
	ck_assert_uint_eq(count, 77);
	/* Nor is what was lost said to be 0. */
	ck_assert_int_eq(ps_session_stats(session, &stats), PS_ECLOST);
	ck_assert_int_eq(read(ends[0], bytes, sizeof bytes), 24);
	ps_session_destroy(session);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

#define NUMBERS 512

/* A file of 8 bytes stands under each number that the session had. */
struct taken {
	int file; /* beyond the numbers */
	int numbers[NUMBERS];
	size_t count;
};

static bool has_numbers(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > NUMBERS;
}

static void note_numbers(bool is_open[NUMBERS])
{
	for (int number = 0; number < NUMBERS; number++)
		is_open[number] = fcntl(number, F_GETFD) >= 0;
}

/* Closes what was opened since, as a daemon does, and opens the file instead. */
static void take_numbers(struct taken *taken, const bool was_open[NUMBERS])
{
	int file = memfd_create("program's", MFD_CLOEXEC);

	ck_assert_int_eq(write(file, "12345678", 8), 8);
	taken->file = fcntl(file, F_DUPFD_CLOEXEC, NUMBERS);
	close(file);
	taken->count = 0;
	for (int number = 0; number < NUMBERS; number++) {
		if (was_open[number] || fcntl(number, F_GETFD) < 0)
			continue;
		ck_assert_int_eq(dup2(taken->file, number), number);
		taken->numbers[taken->count++] = number;
	}
	lseek(taken->file, 0, SEEK_SET);
}

static void check_untouched(const struct taken *taken)
{
	char bytes[16];

	for (size_t i = 0; i < taken->count; i++)
		ck_assert_int_ge(fcntl(taken->numbers[i], F_GETFD), 0);
	ck_assert_int_eq(lseek(taken->file, 0, SEEK_CUR), 0);
	ck_assert_int_eq(read(taken->file, bytes, sizeof bytes), 8);
	ck_assert_int_eq(memcmp(bytes, "12345678", 8), 0);
	for (size_t i = 0; i < taken->count; i++)
		close(taken->numbers[i]);
	close(taken->file);
}

/* _i: is it started? */
START_TEST(the_programs_files_under_closed_numbers_are_left_alone)
{
	struct ps_session_options options = options_of(0);
	struct taken taken;
	bool was_open[NUMBERS];

	if (!has_numbers()) {
		ps_test_skip("this process may have few descriptors (ulimit -n)");
		return;
	}
	options.descriptors = NUMBERS / 2;
	options.ring_bytes = 32 << 10;
	options.shortage = PS_SESSION_CLOSE;
	note_numbers(was_open);
	struct ps_session *session = new_session(&options, 0, 1);
	if (_i && ps_session_start(session) != PS_OK) {
		ps_test_skip(ps_error_detail());
		ps_session_destroy(session);
		return;
	}
	take_numbers(&taken, was_open);
	ck_assert_uint_ge(taken.count, 2 + (size_t)_i);
	ck_assert_int_eq(ps_session_stop(session), PS_ECLOST);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "closed a descriptor"));
	ck_assert_int_eq(ps_session_run(session), _i ? PS_ECLOST : PS_ENOTRUN);
	if (_i)
		ck_assert_int_eq(ps_session_poll(session, -1), PS_ECLOST);
	ps_session_destroy(session);
	check_untouched(&taken);
}
END_TEST

/* An idle pipe under the session's numbers wakes nobody. */
START_TEST(the_reader_notices_that_its_descriptors_were_closed)
{
	struct ps_session_options options = options_of(0);
	bool was_open[NUMBERS];
	int ends[2];

	note_numbers(was_open);
	struct ps_session *session = new_session(&options, 0, 1);
	check_ok(ps_session_start(session));
	ck_assert_int_eq(pipe(ends), 0);
	for (int number = 0; number < NUMBERS; number++) {
		if (!was_open[number] && number != ends[0] && number != ends[1] &&
		    fcntl(number, F_GETFD) >= 0)
			ck_assert_int_eq(dup2(ends[0], number), number);
	}
	ck_assert_int_eq(ps_session_run(session), PS_ECLOST);
	ck_assert_int_eq(ps_session_poll(session, -1), PS_ECLOST);
	ps_session_destroy(session);
	for (int number = 0; number < NUMBERS; number++) {
		if (!was_open[number])
			close(number);
	}
}
END_TEST

/* The kernel gives a new pipe the numbers of the old one. */
START_TEST(a_session_leaves_the_one_that_was_made_under_its_numbers_alone)
{
	struct ps_session_options options = options_of(0);
	bool was_open[NUMBERS];
	uint64_t count = 0;

	if (!has_numbers()) {
		ps_test_skip("this process may have few descriptors (ulimit -n)");
		return;
	}
	options.descriptors = NUMBERS / 2;
	options.ring_bytes = 32 << 10;
	note_numbers(was_open);
	struct ps_session *session = new_session(&options, 0, 1);
	if (ps_session_start(session) != PS_OK) {
		ps_test_skip(ps_error_detail());
		ps_session_destroy(session);
		return;
	}
	for (int number = 0; number < NUMBERS; number++)
		if (!was_open[number])
			close(number);
	struct ps_session *next = new_session(&options, 0, 1);
	check_ok(ps_session_start(next));
	ck_assert_int_eq(ps_session_stop(session), PS_ECLOST);
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ECLOST);
	ps_session_destroy(session);
	check_ok(ps_session_poll(next, 0));
	check_ok(ps_session_count(next, 0, &count));
	check_ok(ps_session_stop(next));
	check_ok(ps_session_run(next));
	ps_session_destroy(next);
}
END_TEST

static size_t descriptors_of_budget(struct ps_session_options *options, size_t descriptors)
{
	options->descriptors = descriptors;
	options->ring_bytes = 32 << 10;
	return here_count_descriptors();
}

START_TEST(too_few_descriptors_are_refused_with_nothing_left_open)
{
	struct ps_session_options options = options_of(0);
	size_t before = descriptors_of_budget(&options, 3);
	struct ps_session *session = new_session(&options, 0, 1);

	ck_assert_int_eq(ps_session_start(session), PS_ECOUNT);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "PS_SESSION_CLOSE"));
	ck_assert_uint_eq(here_count_descriptors(), before + 2);
	ps_session_destroy(session);
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

START_TEST(closed_descriptors_keep_their_events_and_the_inheritance)
{
	struct ps_session_options options = options_of(0);
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	size_t before = descriptors_of_budget(&options, cpus + 4);
	options.shortage = PS_SESSION_CLOSE;
	struct ps_session *session = new_session(&options, 0, 1);
	uint64_t count;

	run_workers(session, true);
	ck_assert_uint_le(stats_of(session).descriptors, cpus + 4);
	ck_assert_uint_le(here_count_descriptors(), before + cpus + 4);
	/* Small rings can't take the sanitizer's page faults. */
	if (!PS_TEST_HAS_THREAD_SANITIZER) {
		/* A slow machine's reader comes late: what it lost is counted. */
		ck_assert_uint_le(heard.in_pages, THREADS * PAGES);
		ck_assert_uint_ge(heard.in_pages + stats_of(session).lost, THREADS * PAGES);
	}
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ENOSUPP);
	ps_session_destroy(session);
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

/* The kernel tells of a loss in front of the ring's next record: here there is none. _i: do the
 * rings have room for all? */
START_TEST(a_loss_that_no_record_tells_of_is_told_by_the_ring)
{
	struct ps_session_options options = options_of(0);
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	char *pages = map_pages(2000);

	descriptors_of_budget(&options, cpus + 4);
	options.shortage = PS_SESSION_CLOSE;
	options.ring_bytes = _i ? 1 << 20 : 1;
	struct ps_session *session = new_session(&options, 0, 1);
	if (ps_session_start(session) != PS_OK) {
		ps_test_skip(ps_error_detail());
		ps_session_destroy(session);
		return;
	}
	touch(pages, 2000);
	check_ok(ps_session_poll(session, 0));
	struct ps_session_stats stats = stats_of(session);
	if (_i) {
		ck_assert_uint_ge(stats.samples, 2000);
		ck_assert_uint_eq(stats.full_rings, 0);
	} else {
		ck_assert_uint_lt(stats.samples + stats.lost, 2000);
		ck_assert_uint_ge(stats.full_rings, 1);
	}
	ck_assert_uint_eq(stats.lost, 0);
	munmap(pages, 2000 * (size_t)sysconf(_SC_PAGESIZE));
	ps_session_destroy(session);
}
END_TEST

static const struct {
	rlim_t left; /* numbers that this process has left */
	enum ps_session_shortage shortage;
} shortages[] = {{24, PS_SESSION_REFUSE},
                 {24, PS_SESSION_CLOSE},
                 {64, PS_SESSION_REFUSE},
                 {64, PS_SESSION_CLOSE}};

/* Leaves so many numbers to this process, and none below them. */
static bool leave_numbers(rlim_t left)
{
	struct rlimit limit = {0};
	int number = dup(0);

	ck_assert_int_ge(number, 0);
	close(number);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)number + left;
	return limit.rlim_cur <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* The first thread has two events on each CPU; one stays open with PS_SESSION_CLOSE. */
START_TEST(what_24_and_64_descriptors_suffice_for_is_observed_and_more_is_refused)
{
	struct ps_session_options options = options_of(0);
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF), before = here_count_descriptors();
	rlim_t left = shortages[_i].left;
	bool is_closing = shortages[_i].shortage == PS_SESSION_CLOSE;
	size_t needed = is_closing ? cpus + 4 : 2 * cpus + 2;

	options.shortage = shortages[_i].shortage;
	options.descriptors = left;
	options.ring_bytes = 32 << 10;
	if (!leave_numbers(left)) {
		ps_test_skip("this process may have few descriptors (ulimit -n)");
		return;
	}
	struct ps_session *session = new_session(&options, 0, 1);
	if (needed > left) {
		ck_assert_int_eq(ps_session_start(session), PS_ECOUNT);
		ck_assert_uint_eq(here_count_descriptors(), before + 2);
	} else if (!PS_TEST_HAS_THREAD_SANITIZER) {
		run_workers(session, false);
		ck_assert_uint_le(heard.in_pages, THREADS * PAGES);
		ck_assert_uint_ge(heard.in_pages + stats_of(session).lost, THREADS * PAGES);
	}
	ps_session_destroy(session);
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session descriptors");
	TCase *tests = here_case(suite, "session descriptors");

	tcase_add_test(tests, what_the_program_puts_under_a_closed_number_is_not_read);
	tcase_add_loop_test(tests, the_programs_files_under_closed_numbers_are_left_alone, 0, 2);
	tcase_add_test(tests, the_reader_notices_that_its_descriptors_were_closed);
	tcase_add_test(tests, a_session_leaves_the_one_that_was_made_under_its_numbers_alone);
	tcase_add_test(tests, too_few_descriptors_are_refused_with_nothing_left_open);
	tcase_add_test(tests, closed_descriptors_keep_their_events_and_the_inheritance);
	tcase_add_loop_test(tests, a_loss_that_no_record_tells_of_is_told_by_the_ring, 0, 2);
	tcase_add_loop_test(tests,
	                    what_24_and_64_descriptors_suffice_for_is_observed_and_more_is_refused,
	                    0, sizeof shortages / sizeof *shortages);
	return here_run_if_counted(suite);
}

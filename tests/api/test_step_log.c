/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A jump out of each single instruction of the calls on a stream of a log: the processor stops
 * after every one (the trap flag), and the handler leaves the call at the first, the second, and
 * so on until the call's end. No record that was written later is lost, a text is one that was
 * set, no point is said to be taken for two records, and the file and the log tell of as many lost
 * records. x86-64 alone.
 */
#include "log_here.h"
#include "support/small.h"
#include "support/step.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

/* More than any of the calls takes. */
#define MOST_STEPS 20000
#define LAST_STEPS 60

#ifdef STEP_IS_POSSIBLE

enum {
	TEXT
};

static sigjmp_buf back;
static volatile long steps_left;

/* A trap can't be held, but the signals can whose handlers jump: not out of there. */
static void count_step(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	(void)number;
	(void)info;
	if (sigismember(&interrupted->uc_sigmask, SIGALRM) == 0 && --steps_left == 0)
		siglongjmp(back, 1);
}

/* In the C library's place: a full disk; and signals that were held and may come again, from which
 * on each instruction is a step. */
static bool is_full;

__attribute__((visibility("default"))) int posix_fallocate(int fd, off_t offset, off_t size)
{
	if (is_full)
		return ENOSPC;
	return fallocate(fd, 0, offset, size) < 0 ? errno : 0;
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t *signals,
                                                           sigset_t *before)
{
	int error = sigprocmask(how, signals, before) < 0 ? errno : 0;

	if (is_full && how == SIG_SETMASK)
		step(true);
	return error;
}

static void begin_steps(void)
{
	struct sigaction action = {.sa_sigaction = count_step, .sa_flags = SA_SIGINFO};

	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
}

static struct ps_log_stream *new_text_stream(struct ps_log *log, struct ps_eventset *set)
{
	static const char *const points[] = {"begin", "end"};
	static const struct ps_log_field fields[] = {{"text", PS_LOG_TEXT}};
	static const struct ps_log_type type = {sizeof type, "work", points, 2, fields, 1};
	struct ps_log_stream *stream = NULL;

	check_ok(ps_log_stream_create(&stream, log, set, &type));
	return stream;
}

/* One letter, so many times that two texts one after the other differ in length. */
static int set_text(struct ps_log_stream *stream, long number)
{
	char text[PS_LOG_TEXT_BYTES + 1] = "";

	memset(text, 'a' + (int)(number % 26), number % 2 ? PS_LOG_TEXT_BYTES - 3 : 3);
	return ps_log_set_text(stream, TEXT, text);
}

typedef int calling(struct ps_log_stream *stream, long number);

static int take(struct ps_log_stream *stream, long number)
{
	(void)number;
	return ps_log_take(stream, END);
}

static int write_only(struct ps_log_stream *stream, long number)
{
	(void)number;
	return ps_log_write(stream);
}

static void prepare(struct ps_log_stream *stream, long number)
{
	check_ok(ps_log_take(stream, BEGIN));
	check_ok(ps_log_take(stream, END));
	check_ok(set_text(stream, number));
}

/* True: the call was left after so many steps. False: it was done before, with this result. */
static bool leave_after(calling *call, struct ps_log_stream *stream, long number, long steps,
                        int expected)
{
	volatile int result = PS_OK;

	steps_left = steps;
	if (sigsetjmp(back, 1) != 0)
		return true;
	step(!is_full);
	result = call(stream, number);
	step(false);
	ck_assert_msg(result == expected, "%d: %s", result, ps_error_detail());
	return false;
}

static void check_record(const struct ps_log_reader *reader, const struct ps_log_record *record)
{
	static uint64_t end;
	struct ps_log_value text;

	check_ok(ps_log_value(reader, TEXT, &text));
	ck_assert_msg(strspn(text.text, (char[]){text.text[0], '\0'}) == strlen(text.text), "%s",
	              text.text);
	if (!(record->points & 1u << END))
		return;
	ck_assert_msg(ps_log_time(reader, END) > end, "record %llu has the end of another one",
	              (unsigned long long)record->number);
	end = ps_log_time(reader, END);
}

static void check_log(uint64_t least)
{
	struct ps_log_reader *reader = NULL;
	struct ps_log_record record = {.size = sizeof record};
	struct ps_log_info info = {.size = sizeof info};

	check_ok(ps_log_open(&reader, path));
	while (ps_log_next(reader, &record) == PS_OK)
		check_record(reader, &record);
	check_ok(ps_log_describe(reader, 0, &info));
	ck_assert_uint_eq(info.missing, 0);
	ck_assert_uint_ge(info.records, least);
	ps_log_close(reader);
}

/* At each `stride`th instruction. */
static void leave_each(calling *call, int stride)
{
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *stream = new_text_stream(log, set);
	long steps = 0;
	uint64_t written = 0;
	bool was_left = true;

	begin_steps();
	while (was_left && steps < MOST_STEPS) {
		/* Two whole records come first, so that the call that is left takes the fast path.
		 */
		for (int i = 0; i < 2; i++) {
			prepare(stream, 3 * steps + i);
			check_ok(ps_log_write(stream));
		}
		if (call != set_text)
			prepare(stream, 3 * steps + 2);
		was_left = leave_after(call, stream, 3 * steps + 2, steps + 1, PS_OK);
		steps += stride * ps_test_size(1, 5);
		check_ok(ps_log_write(stream));
		written += 3;
	}
	signal(SIGTRAP, SIG_DFL);
	ck_assert_int_lt(steps, MOST_STEPS);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	check_log(written);
}

/* Beside other work a thread that isn't bound is switched out while it reads of switches, step by
 * step: it reads of ever more. */
static const struct {
	calling *call;
	bool is_bound;
	int stride;
} rows[] = {{take, false, 43}, {take, true, 1}, {set_text, true, 1}, {write_only, true, 1}};

START_TEST(a_jump_at_any_instruction_leaves_a_log_whole)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	bool is_bound = rows[_i].is_bound;
	if (is_bound)
		here_pin();
	leave_each(rows[_i].call, rows[_i].stride);
}
END_TEST

/* The loss is noted at the end of a call that has many instructions: only the last are left. */
START_TEST(a_jump_out_of_a_write_that_fails_leaves_one_number_of_lost_records)
{
	struct ps_log_info info = {.size = sizeof info};
	struct ps_log_reader *reader = NULL;

	if (!here_may_count(HERE_FAULTS))
		return;
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *stream = new_text_stream(log, set);
	bool was_left = true;
	begin_steps();
	prepare(stream, 0);
	check_ok(ps_log_write(stream));
	is_full = true;
	int written = 0;
	while (ps_log_write(stream) == PS_OK && written < 100000)
		written++;
	step(false);
	ck_assert(!leave_after(write_only, stream, 0, MOST_STEPS, PS_ESYS));
	long count = MOST_STEPS - steps_left;
	ck_assert_int_gt(count, LAST_STEPS);
	for (long steps = count - LAST_STEPS; was_left && steps < MOST_STEPS; steps++)
		was_left = leave_after(write_only, stream, 0, steps, PS_ESYS);
	ck_assert(!was_left);
	is_full = false;
	signal(SIGTRAP, SIG_DFL);
	uint64_t lost = ps_log_lost(log);
	ck_assert_uint_ge(lost, 2);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	check_ok(ps_log_open(&reader, path));
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	check_ok(ps_log_describe(reader, 0, &info));
	ck_assert_uint_eq(info.missing, lost);
	ps_log_close(reader);
}
END_TEST

/* True: the write was left after so many steps, and nothing was written after it. */
static bool end_after(struct ps_eventset *set, long steps)
{
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *stream = new_text_stream(log, set);

	for (int i = 0; i < 2; i++) {
		prepare(stream, i);
		check_ok(ps_log_write(stream));
	}
	prepare(stream, 2);
	bool was_left = leave_after(write_only, stream, 2, steps, PS_OK);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	return was_left;
}

/* The record is there or not; none is missing, and no block is damaged. */
static void check_end(bool was_left)
{
	struct ps_log_reader *reader = NULL;
	struct ps_log_info info = {.size = sizeof info};

	check_ok(ps_log_open(&reader, path));
	while (ps_log_next(reader, NULL) == PS_OK)
		;
	check_ok(ps_log_describe(reader, 0, &info));
	ck_assert_uint_eq(ps_log_damaged_blocks(reader), 0);
	ck_assert_uint_eq(info.missing, 0);
	ck_assert_uint_le(info.records, 3);
	ck_assert_uint_ge(info.records, was_left ? 2 : 3);
	ps_log_close(reader);
}

START_TEST(a_stream_that_ends_after_a_jump_tells_how_many_records_it_has)
{
	bool was_left = true;
	long steps = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	struct ps_eventset *set = new_set();
	here_pin();
	begin_steps();
	while (was_left && steps < MOST_STEPS) {
		was_left = end_after(set, ++steps);
		check_end(was_left);
		unlink(path);
	}
	signal(SIGTRAP, SIG_DFL);
	ck_assert(!was_left);
	ps_eventset_destroy(set);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_checked_fixture(tests, log_setup, log_teardown);
	tcase_set_timeout(tests, STEP_LONGEST_S);
	tcase_add_test(tests, a_jump_out_of_a_write_that_fails_leaves_one_number_of_lost_records);
	tcase_add_test(tests, a_stream_that_ends_after_a_jump_tells_how_many_records_it_has);
	tcase_add_loop_test(tests, a_jump_at_any_instruction_leaves_a_log_whole, 0,
	                    (int)(sizeof rows / sizeof *rows));
}

static int run(void)
{
	return wander_run("step log", add_all, NULL);
}

#else

static int run(void)
{
	return EXIT_SUCCESS;
}

#endif

int main(void)
{
	return step_is_possible() ? run() : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A jump out of each single instruction of the calls on a stream of a log: the processor stops
 * after every one (the trap flag), and the handler leaves the call at the first, the second, and
 * so on until the call's end. No record that was written later is lost, a text is one that was
 * set, and no point is said to be taken for two records. x86-64 alone.
 */
#include "log_here.h"
#include "support/step.h"

#include <setjmp.h>
#include <signal.h>

/* More than any of the calls takes. */
#define MOST_STEPS 20000

#ifdef STEP_IS_POSSIBLE

enum {
	TEXT
};

static sigjmp_buf back;
static volatile long steps_left;

static void count_step(int number)
{
	(void)number;
	if (--steps_left == 0)
		siglongjmp(back, 1);
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

/* True: the call was left after so many steps. False: it was done before. */
static bool leave_after(calling *call, struct ps_log_stream *stream, long number, long steps)
{
	volatile int result = PS_OK;

	steps_left = steps;
	if (sigsetjmp(back, 1) != 0)
		return true;
	step(true);
	result = call(stream, number);
	step(false);
	check_ok(result);
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

static void leave_each(calling *call)
{
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *stream = new_text_stream(log, set);
	long steps = 0;
	uint64_t written = 0;
	bool was_left = true;

	signal(SIGTRAP, count_step);
	while (was_left && steps < MOST_STEPS) {
		/* Two whole records come first, so that the call that is left takes the fast path.
		 */
		for (int i = 0; i < 2; i++) {
			prepare(stream, 3 * steps + i);
			check_ok(ps_log_write(stream));
		}
		if (call != set_text)
			prepare(stream, 3 * steps + 2);
		was_left = leave_after(call, stream, 3 * steps + 2, steps + 1);
		steps++;
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

static calling *const calls[] = {take, set_text, write_only};

/* _i: the call that is left */
START_TEST(a_jump_at_any_instruction_leaves_a_log_whole)
{
	here_skip_unless_counted(HERE_FAULTS) leave_each(calls[_i]);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_checked_fixture(tests, log_setup, log_teardown);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, a_jump_at_any_instruction_leaves_a_log_whole, 0,
	                    (int)(sizeof calls / sizeof *calls));
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

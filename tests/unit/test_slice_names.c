/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of tasks: COMM records give them, and a second play knows the last ones from the
 * start. */
#include "test_slices.h"

#include <stdlib.h>
#include <string.h>

static struct ps__buffer names;

static void setup_names(void)
{
	setup();
	names = (struct ps__buffer){0};
}

static void teardown_names(void)
{
	ps__buffer_clear(&names);
	teardown();
}

static void is_named(uint64_t time, uint32_t tid, uint32_t cpu, const char *name)
{
	struct ps_record record = at(time, tid, cpu);

	record.text = name;
	hear(listener.comm, record, SIZE_MAX);
}

/* "10 now=last " for each span. */
static int write_names(const struct tool_span *span, void *context)
{
	const struct tool_slices *first = context;
	const struct tool_task *task = tool_slices_task(first, span->task->index);

	ck_assert_uint_eq(task->tid, span->task->tid);
	ps__buffer_add(&names, "%u %s=%s ", task->tid, span->task->name, task->name);
	return write_span(span, NULL);
}

/* Plays twice. Both plays must visit the same spans. */
static void check_names(pid_t exec_pid, const char *wanted)
{
	const struct tool_slices_play again = {
	    .end_ns = END_NS, .exec_pid = exec_pid, .visit = write_names, .context = slices};

	play(exec_pid);
	char *spans = strdup(ps__buffer_text(&seen));
	uint64_t end_ns = tool_slices_end_ns(slices);
	ps__buffer_restart(&seen);
	ck_assert_int_eq(tool_slices_play_again(slices, &again), PS_OK);
	ck_assert_str_eq(ps__buffer_text(&seen), spans);
	ck_assert_str_eq(ps__buffer_text(&names), wanted);
	ck_assert_uint_eq(tool_slices_end_ns(slices), end_ns);
	check_sums();
	free(spans);
}

START_TEST(a_thread_has_its_creators_name_until_it_has_one)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	forks(120, 12, 10, 0);
	is_named(130, 12, 0, "given"); /* by its creator */
	in(140, 11, 1);
	is_named(150, 11, 1, "own");
	waits(160, 11, 1);
	is_named(170, 10, 0, "late");
	forks(180, 13, 10, 0);
	exits(200, 10, 0);
	check_names(10, "11 prog=own 11 own=own 10 late=late 11 own=own 12 given=given "
	                "13 late=late ");
	ck_assert_str_eq(tool_slices_task(slices, 0)->name, "late");
	ck_assert_str_eq(tool_slices_task(slices, 2)->name, "given");
}
END_TEST

START_TEST(a_process_has_the_name_of_its_last_program)
{
	executes(100, 10, 0, "sh");
	waits(110, 10, 0);
	in(120, 10, 0);
	executes(130, 10, 0, "prog");
	exits(200, 10, 0);
	check_names(10, "10 sh=prog 10 sh=prog 10 prog=prog ");
	ck_assert_ptr_eq(tool_slices_first_thread(slices, 10), tool_slices_task(slices, 0));
}
END_TEST

START_TEST(the_next_task_with_a_number_does_not_name_the_one_before)
{
	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	is_named(125, 11, 1, "one");
	exits(130, 11, 1);
	forks(200, 11, 10, 0);
	in(220, 11, 1);
	is_named(225, 11, 1, "two");
	exits(230, 11, 1);
	exits(300, 10, 0);
	check_names(10, "11 prog=one 11 one=one 11 prog=two 11 two=two 10 prog=prog ");
	ck_assert_ptr_null(tool_slices_first_thread(slices, 11)); /* a thread of process 10 */
}
END_TEST

START_TEST(a_play_after_one_with_reads_and_holes_is_the_same)
{
	executes(0, 10, 0, "prog");
	forks(110, 11, 10, 0);
	in(120, 11, 1);
	exits(200, 11, 1);
	reads(203, 0, 1, 7);
	counts(150, 77, 0, 1);
	reads(250, 10, 0, 5);
	loses(400, 1);
	in(410, 10, 1);
	reads(420, 10, 1, 3);
	check_names(10, "11 prog=prog 11 prog=prog 10 prog=prog 10 prog=prog 10 prog=prog ");
	ck_assert_uint_eq(tool_slices_task(slices, 0)->counts[0], 8);
	ck_assert_uint_eq(tool_slices_foreign(slices, 1), 1);
}
END_TEST

/* One allocation of the second play fails. */
START_TEST(a_lack_of_memory_leaves_the_first_play)
{
	const struct tool_slices_play again = {.end_ns = END_NS, .exec_pid = 10};

	executes(100, 10, 0, "prog");
	forks(110, 11, 10, 0);
	loses(120, 1);
	exits(300, 10, 0);
	play(10);
	int result = PS_ENOMEM;
	for (unsigned nth = 1; result == PS_ENOMEM; nth++) {
		ck_assert_uint_lt(nth, 100);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		result = tool_slices_play_again(slices, &again);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_uint_eq(tool_slices_task_count(slices), 2);
	}
	ck_assert_int_eq(result, PS_OK);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slice_names");
	TCase *tests = scene_case_of(suite, "slice_names", setup_names, teardown_names);

	tcase_add_test(tests, a_thread_has_its_creators_name_until_it_has_one);
	tcase_add_test(tests, a_process_has_the_name_of_its_last_program);
	tcase_add_test(tests, the_next_task_with_a_number_does_not_name_the_one_before);
	tcase_add_test(tests, a_play_after_one_with_reads_and_holes_is_the_same);
	tcase_add_test(tests, a_lack_of_memory_leaves_the_first_play);
	return scene_run(suite);
}
